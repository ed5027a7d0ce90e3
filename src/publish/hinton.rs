//! Blocks of circles: many private predictions of a class at each place.

use plotters::style::{BLACK, Color, RGBColor, WHITE};

use super::axis::Axis;
use super::canvas::Canvas;
use super::clip::{Point, Rect};
use super::contour::distinct;
use super::figure::FigureError;
use super::legend::Sample;
use super::palette::COLOURS;
use super::panels::{Group, Layout, groups, lettered};
use super::pen::{Pen, Stroke};
use super::plot::Plot;
use super::report::Report;
use crate::spec::HintonFigure;
use crate::task::Frame;

const GROUND: RGBColor = RGBColor(135, 135, 135);
const POSITIVE: RGBColor = COLOURS[0];
const NEGATIVE: RGBColor = RGBColor(215, 40, 40);
/// The part of the room of a place that its block fills.
const BLOCK: f64 = 0.86;
const ARM: f64 = 4.0;

/// Draws the figure as SVG text.
pub(super) fn draw(report: &Report<'_>, setting: &HintonFigure) -> Result<String, FigureError> {
    let mut panels = groups(report, setting.panels.as_deref(), None);
    panels.retain(|group| report.frames_of(group.cells[0], "samples").next().is_some());
    let sheet = Sheet::new(report, setting, panels);
    let layout = Layout::shaped(sheet.panels.len(), sheet.ratio());
    layout.draw(&report.experiment.meta.title, legend(), |canvas, i, rect| sheet.panel(canvas, i, rect))
}

/// What all panels share.
struct Sheet<'a> {
    report: &'a Report<'a>,
    setting: &'a HintonFigure,
    panels: Vec<Group>,
    x: Axis,
    y: Axis,
    /// The room of a place.
    room: (f64, f64),
}

impl<'a> Sheet<'a> {
    fn new(report: &'a Report<'a>, setting: &'a HintonFigure, panels: Vec<Group>) -> Self {
        let frames = report.frames.iter().filter(|(_, frame)| frame.name == "samples");
        let values =
            |column| frames.clone().flat_map(|(_, f)| f.column(column)).copied().collect::<Vec<f64>>();
        let ((x, across), (y, along)) = (places(&values("x1")), places(&values("x2")));
        Self { report, setting, panels, x, y, room: (across, along) }
    }

    /// Height by width.
    fn ratio(&self) -> f64 {
        let places = |axis: &Axis, room: f64| (axis.high - axis.low) / room;
        places(&self.y, self.room.1) / places(&self.x, self.room.0)
    }

    fn panel(&self, canvas: &Canvas<'_>, i: usize, rect: Rect) -> Result<(), FigureError> {
        let plot = Plot { canvas, rect, x: self.x, y: self.y };
        canvas.rectangle(rect, GROUND.to_rgba())?;
        plot.y_ticks(&self.setting.y_label, false)?;
        plot.x_ticks(&self.setting.x_label)?;
        plot.title(&lettered(&self.panels[i].title, i, self.panels.len()))?;
        let frames = |name| self.report.frames_of(self.panels[i].cells[0], name);
        frames("samples").try_for_each(|frame| self.blocks(&plot, frame))?;
        frames("training").try_for_each(|frame| training(&plot, frame))
    }

    fn blocks(&self, plot: &Plot<'_, '_>, frame: &Frame) -> Result<(), FigureError> {
        let samples: Vec<&[f64]> = frame.columns_named("probability").collect();
        let side = (samples.len() as f64).sqrt().ceil();
        let (from, to) = (plot.at((0.0, 0.0)), plot.at(self.room));
        let step = BLOCK / side * (to.0 - from.0).abs().min((to.1 - from.1).abs());
        for (row, place) in frame.column("x1").iter().zip(frame.column("x2")).enumerate() {
            let centre = plot.at((*place.0, *place.1));
            for (k, sample) in samples.iter().enumerate() {
                let at = within(centre, k, side, step);
                sample.get(row).map_or(Ok(()), |p| circle(plot.canvas, at, step, *p))?;
            }
        }
        Ok(())
    }
}

/// The axis of places and the room of each.
fn places(values: &[f64]) -> (Axis, f64) {
    let distinct = distinct(values);
    let room = distinct.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    let room = if room.is_finite() { room } else { 1.0 };
    let (low, high) = (distinct.first().unwrap_or(&0.0), distinct.last().unwrap_or(&0.0));
    (Axis::between((low - room / 2.0, high + room / 2.0)), room)
}

/// Where the sample of a number stands in each block: row by row from the upper left.
fn within((x, y): Point, number: usize, side: f64, step: f64) -> Point {
    let (row, column) = ((number as f64 / side).floor(), number as f64 % side);
    let middle = (side - 1.0) / 2.0;
    (x + (column - middle) * step, y + (row - middle) * step)
}

/// White above a half and black below; the surer, the larger.
fn circle(canvas: &Canvas<'_>, at: Point, step: f64, p: f64) -> Result<(), FigureError> {
    let colour = if p > 0.5 { WHITE } else { BLACK };
    canvas.disc(at, 0.5 * step * (2.0 * (p - 0.5).abs()).min(1.0), colour.to_rgba())
}

fn training(plot: &Plot<'_, '_>, frame: &Frame) -> Result<(), FigureError> {
    let places = frame.column("x1").iter().zip(frame.column("x2"));
    for ((x, y), class) in places.zip(frame.column("y")) {
        let (stroke, pen) = class_mark(*class > 0.0);
        plot.marks([(*x, *y)], stroke, ARM + 0.5, Pen { colour: WHITE.mix(0.6), width: 3.5, ..pen })?;
        plot.marks([(*x, *y)], stroke, ARM, pen)?;
    }
    Ok(())
}

fn class_mark(positive: bool) -> (Stroke, Pen) {
    match positive {
        true => (Stroke::Plus, Pen::new(POSITIVE, 1.75)),
        false => (Stroke::Times, Pen::new(NEGATIVE, 1.75)),
    }
}

fn legend() -> Vec<(Sample, String)> {
    let mark = |positive| {
        let (stroke, pen) = class_mark(positive);
        Sample::Mark(stroke, ARM, pen)
    };
    let on_ground = |colour: RGBColor| Sample::Framed(6.0, colour.to_rgba(), GROUND.to_rgba());
    [
        (on_ground(WHITE), "probability above ½"),
        (on_ground(BLACK), "below ½; the larger, the surer"),
        (mark(true), "training, positive"),
        (mark(false), "training, negative"),
    ]
    .map(|(sample, text)| (sample, text.to_owned()))
    .to_vec()
}

#[cfg(test)]
mod tests {
    use super::super::fabricated::{count, experiment, lines_of, scattered, svg};
    use crate::task::Frame;

    const FIGURE: &str = "[figure.hinton]\nx_label = \"first input\"\ny_label = \"second input\"\n";

    fn samples(side: usize, draws: usize) -> Frame {
        let place = |i: usize| ((i / side) as f64, (i % side) as f64);
        let n = side * side;
        let frame = Frame::new("samples")
            .with("x1", (0..n).map(|i| place(i).0))
            .with("x2", (0..n).map(|i| place(i).1));
        (0..draws).fold(frame, |frame, k| {
            let noise: Vec<f64> = scattered(n * draws).skip(k * n).take(n).collect();
            let p = move |i: usize| {
                let (x, y) = place(i);
                let clear = 0.5 + 0.45 * ((x + y) * 0.8).sin();
                let blur = y / side as f64;
                (clear * (1.0 - blur) + noise[i] * blur).clamp(0.0, 1.0)
            };
            frame.with(format!("probability{}", k + 1), (0..n).map(p))
        })
    }

    #[test]
    fn each_place_has_a_block_of_circles() {
        let experiment = experiment(&["one-step"], FIGURE);
        let x: Vec<f64> = scattered(80).map(|u| 9.0 * u).collect();
        let y: Vec<f64> = scattered(110).skip(30).map(|u| 9.0 * u * u).collect();
        let class = x.iter().zip(&y).map(|(x, y)| if ((x + y) * 0.8).sin() > 0.0 { 1.0 } else { -1.0 });
        let class: Vec<f64> = class.collect();
        let positive = class.iter().filter(|y| **y > 0.0).count();
        let training = Frame::new("training").with("x1", x).with("x2", y).with("y", class);
        let svg = svg("hinton", &experiment, vec![(0, samples(10, 25)), (0, training)]);
        assert_eq!(count(&svg, "circle"), 2500 + 2);
        assert_eq!(lines_of(&svg, "#005FAA"), 2 * positive + 2);
        assert_eq!(lines_of(&svg, "#D72828"), 2 * (80 - positive) + 2);
    }

    #[test]
    fn panels_and_empty_frames() {
        let two = experiment(&["a", "b"], FIGURE);
        svg("hinton-two", &two, vec![(0, samples(5, 7)), (1, samples(5, 7))]);
        svg("hinton-empty", &two, Vec::new());
        svg("hinton-bare", &two, vec![(0, Frame::new("samples")), (0, Frame::new("training"))]);
    }
}
