//! The discs of a map: predictions that fade with their noise.

use plotters::style::{Color, RGBAColor, RGBColor};

use super::contour::Surface;
use super::figure::FigureError;
use super::legend::Sample;
use super::number::{brief, exact};
use super::palette::{COLOURS, ramp};
use super::plot::Plot;
use crate::spec::MapFigure;
use crate::task::Frame;

/// Steps of the colour bar and of the fading that the legend shows.
const COLOUR_STEPS: usize = 5;
const FADING_STEPS: usize = 4;

/// How discs are sized, coloured and faded.
pub(super) struct Discs<'a> {
    setting: &'a MapFigure,
    least: f64,
    largest: f64,
}

impl<'a> Discs<'a> {
    pub fn new(setting: &'a MapFigure, maps: &[&Frame]) -> Self {
        let means = || maps.iter().flat_map(|frame| frame.column("mean")).copied();
        let largest = setting.largest.unwrap_or_else(|| means().fold(f64::MIN_POSITIVE, f64::max));
        Self { setting, least: means().fold(f64::INFINITY, f64::min).min(largest), largest }
    }

    /// A disc for each row of a frame.
    pub fn paint(&self, plot: &Plot<'_, '_>, frame: &Frame) -> Result<(), FigureError> {
        let full = Surface::of(frame).map_or(6.0, |surface| full_radius(plot, &surface));
        let noise = frame.column("noise-sd").iter().copied().chain(std::iter::repeat(0.0));
        let places = frame.column("x1").iter().zip(frame.column("x2"));
        for (((x, y), mean), sd) in places.zip(frame.column("mean")).zip(noise) {
            let colour = self.colour(*mean).mix(self.opacity(sd));
            plot.disc((*x, *y), full * self.size(*mean), colour)?;
        }
        Ok(())
    }

    /// The radius as a part of the full one: by the mean, unless colours show that.
    fn size(&self, mean: f64) -> f64 {
        if self.setting.colours { 1.0 } else { (mean / self.largest).clamp(0.0, 1.0) }
    }

    fn colour(&self, mean: f64) -> RGBColor {
        let span = self.largest - self.least;
        let fraction = if span > 0.0 { (mean - self.least) / span } else { 0.0 };
        if self.setting.colours { ramp(fraction) } else { COLOURS[0] }
    }

    fn opacity(&self, sd: f64) -> f64 {
        (1.0 - sd / self.setting.vanish).clamp(0.0, 1.0)
    }

    pub fn legend(&self) -> Vec<(Sample, String)> {
        let disc = |colour: RGBAColor, text: String| (Sample::Disc(8.0, colour), text);
        let mut entries = Vec::new();
        if self.setting.colours {
            for i in 0..COLOUR_STEPS {
                let t = i as f64 / (COLOUR_STEPS - 1) as f64;
                entries.push(disc(ramp(t).to_rgba(), brief(self.least + t * (self.largest - self.least))));
            }
        } else {
            let text = format!("discs: prediction, radius by value ({} in full)", brief(self.largest));
            entries.push(disc(COLOURS[0].to_rgba(), text));
        }
        for i in 1..FADING_STEPS {
            let sd = self.setting.vanish * i as f64 / FADING_STEPS as f64;
            let text = match i {
                1 => format!("noise sd {}", brief(sd)),
                _ if i + 1 < FADING_STEPS => brief(sd),
                _ => format!("{} (invisible from {})", brief(sd), exact(self.setting.vanish)),
            };
            let middle = 0.5 * (self.least + self.largest);
            entries.push(disc(self.colour(middle).mix(self.opacity(sd)), text));
        }
        entries
    }
}

/// The radius with which neighbours of the grid just do not touch.
fn full_radius(plot: &Plot<'_, '_>, surface: &Surface) -> f64 {
    let (from, to) = (plot.at((surface.x[0], surface.y[0])), plot.at((surface.x[1], surface.y[1])));
    0.48 * (to.0 - from.0).abs().min((to.1 - from.1).abs())
}
