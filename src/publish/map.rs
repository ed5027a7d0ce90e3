//! A function of two inputs: contours of its mean, and discs that fade with the noise.

use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{BLACK, Color, WHITE};

use super::axis::Axis;
use super::canvas::{Canvas, text_width};
use super::clip::{Point, Rect};
use super::contour::Surface;
use super::curve::pairs;
use super::figure::FigureError;
use super::legend::Sample;
use super::map_discs::Discs;
use super::number::brief;
use super::palette::{COLOURS, DARK};
use super::panels::{Group, Layout, groups, lettered};
use super::pen::{Pen, Stroke};
use super::plot::Plot;
use super::report::Report;
use crate::spec::MapFigure;
use crate::task::Frame;

const HEIGHT: f64 = 400.0;
const LEVEL_TEXT: f64 = 11.0;

/// Draws the figure as SVG text.
pub(super) fn draw(report: &Report<'_>, setting: &MapFigure) -> Result<String, FigureError> {
    let mut panels = groups(report, setting.panels.as_deref(), None);
    panels.retain(|group| report.frames_of(group.cells[0], "map").next().is_some());
    let sheet = Sheet::new(report, setting, panels);
    let layout = Layout::new(sheet.panels.len(), None, HEIGHT);
    layout.draw(&report.experiment.meta.title, sheet.legend(), |canvas, i, rect| sheet.panel(canvas, i, rect))
}

/// What all panels share.
struct Sheet<'a> {
    report: &'a Report<'a>,
    setting: &'a MapFigure,
    panels: Vec<Group>,
    discs: Discs<'a>,
    x: Axis,
    y: Axis,
}

impl<'a> Sheet<'a> {
    fn new(report: &'a Report<'a>, setting: &'a MapFigure, panels: Vec<Group>) -> Self {
        let maps: Vec<&Frame> =
            report.frames.iter().map(|(_, frame)| frame).filter(|frame| frame.name == "map").collect();
        let values = |column| maps.iter().flat_map(move |frame| frame.column(column)).copied();
        let (x, y) = (Axis::tight(values("x1")).roomy(), Axis::tight(values("x2")).roomy());
        Self { report, setting, discs: Discs::new(setting, &maps), x, y, panels }
    }

    fn panel(&self, canvas: &Canvas<'_>, i: usize, rect: Rect) -> Result<(), FigureError> {
        let plot = Plot { canvas, rect, x: self.x, y: self.y };
        let title = lettered(&self.panels[i].title, i, self.panels.len());
        plot.y_ticks(&self.setting.y_label, false)?;
        plot.x_ticks(&self.setting.x_label)?;
        plot.title(&title)?;
        let cell = self.panels[i].cells[0];
        let frames = |name| self.report.frames_of(cell, name);
        frames("map").try_for_each(|frame| self.discs.paint(&plot, frame))?;
        let surface = frames("surface").chain(frames("map")).find_map(Surface::of);
        surface.iter().try_for_each(|surface| self.contours(&plot, surface))?;
        let dots = |frame: &'a Frame| pairs(frame.column("x1"), frame.column("x2"));
        frames("data").flat_map(dots).try_for_each(|at| plot.disc(at, 1.4, BLACK.to_rgba()))?;
        plot.marks(frames("inducing").flat_map(dots), Stroke::Times, 5.0, inducing())
    }

    /// The contours, with their levels.
    fn contours(&self, plot: &Plot<'_, '_>, surface: &Surface) -> Result<(), FigureError> {
        let mut taken = Vec::new();
        for level in surface.levels(self.setting.step) {
            let lines = surface.lines(level);
            lines.iter().try_for_each(|line| plot.line(line.iter().copied(), contour()))?;
            let longest = lines.iter().max_by_key(|line| line.len());
            longest.map_or(Ok(()), |line| level_text(plot, line, level, &mut taken))?;
        }
        Ok(())
    }

    fn legend(&self) -> Vec<(Sample, String)> {
        let has = |name: &str| self.report.frames.iter().any(|(_, f)| f.name == name && f.rows() > 0);
        let mut entries = vec![(Sample::Line(contour()), format!("contours: {}", self.setting.label))];
        entries.extend(self.discs.legend());
        if has("data") {
            entries.push((Sample::Disc(2.0, BLACK.to_rgba()), "training inputs".to_owned()));
        }
        if has("inducing") {
            entries.push((Sample::Mark(Stroke::Times, 5.0, inducing()), "inducing inputs".to_owned()));
        }
        entries
    }
}

fn contour() -> Pen {
    Pen::new(DARK, 1.25)
}

fn inducing() -> Pen {
    Pen::new(COLOURS[1], 2.5)
}

/// Writes a level on its line: as near the middle as other levels leave room.
fn level_text(
    plot: &Plot<'_, '_>,
    line: &[(f64, f64)],
    level: f64,
    taken: &mut Vec<Point>,
) -> Result<(), FigureError> {
    let text = brief(level);
    let half = text_width(&text, LEVEL_TEXT) / 2.0 + 2.0;
    let room = |at: &Point| {
        let ends = [(at.0 - half, at.1 - 7.0), (at.0 + half, at.1 + 7.0)];
        ends.iter().all(|end| plot.rect.holds(*end))
            && taken.iter().all(|other| (other.0 - at.0).abs() > 3.0 * half || (other.1 - at.1).abs() > 18.0)
    };
    let middle = line.len() / 2;
    let order = (0..line.len()).map(|k| if k % 2 == 0 { middle + k / 2 } else { middle - k.div_ceil(2) });
    let places = order.filter(|i| *i < line.len()).map(|i| plot.at(line[i]));
    let Some(at) = places.into_iter().find(room) else { return Ok(()) };
    taken.push(at);
    let ground = Rect { left: at.0 - half, top: at.1 - 6.5, width: 2.0 * half, height: 13.0 };
    plot.canvas.rectangle(ground, WHITE.mix(0.8))?;
    plot.canvas.text(&text, at, LEVEL_TEXT, (HPos::Center, VPos::Center))
}

#[cfg(test)]
mod tests {
    use super::super::fabricated::{count, experiment, lines_of, scattered, svg};
    use crate::task::Frame;

    const FIGURE: &str = "[figure.map]\nx_label = \"age (years)\"\ny_label = \"weight (kg)\"\nlabel = \"height (cm)\"\n\
                          step = 20.0\nvanish = 40.0\n";

    fn height(x: f64, y: f64) -> f64 {
        40.0 + 25.0 * y.sqrt() * 0.7 + 30.0 * (1.0 - (-x / 15.0).exp())
    }

    fn grid(name: &str, columns: usize, rows: usize) -> Frame {
        let axis = |n: usize, most: f64| (0..n).map(move |i| most * i as f64 / (n - 1) as f64);
        let points: Vec<(f64, f64)> =
            axis(columns, 90.0).flat_map(|x| axis(rows, 60.0).map(move |y| (x, y))).collect();
        let noise = points.iter().map(|(x, y)| (y - 60.0 * (1.0 - (-x / 12.0).exp())).abs() * 1.2 + x / 9.0);
        Frame::new(name)
            .with("x1", points.iter().map(|p| p.0))
            .with("x2", points.iter().map(|p| p.1))
            .with("mean", points.iter().map(|p| height(p.0, p.1)))
            .with("noise-sd", noise)
    }

    fn points(name: &str, n: usize) -> Frame {
        let x: Vec<f64> = scattered(n).map(|u| 80.0 * u).collect();
        let y =
            x.iter().zip(scattered(n + 7).skip(7)).map(|(x, u)| 50.0 * (1.0 - (-x / 12.0).exp()) + 10.0 * u);
        Frame::new(name).with("x2", y.collect::<Vec<_>>()).with("x1", x)
    }

    #[test]
    fn discs_contours_and_data() {
        let experiment = experiment(&["standard", "sparse"], FIGURE);
        let map = grid("map", 19, 13);
        let visible = map.column("noise-sd").iter().filter(|sd| **sd < 40.0).count();
        assert!((50..240).contains(&visible), "some vanish: {visible}");
        let frames = vec![
            (0, map),
            (0, grid("surface", 46, 31)),
            (0, points("data", 60)),
            (1, grid("map", 19, 13)),
            (1, points("inducing", 5)),
        ];
        let svg = svg("map", &experiment, frames);
        assert_eq!(count(&svg, "circle"), 2 * visible + 60 + 1 + 3 + 1, "discs, data and their samples");
        assert_eq!(lines_of(&svg, "#C85000"), 2 * 5 + 2, "inducing inputs and their sample");
        assert!(lines_of(&svg, "#5A5A5A") >= 2 * 6, "levels 60 to 160");
        assert_eq!(svg.matches("\n120\n").count(), 2, "a level in each panel");
    }

    #[test]
    fn colours_show_the_mean() {
        let experiment = experiment(&["price"], &format!("{FIGURE}colours = true\nlargest = 200.0\n"));
        let svg = svg("map-colours", &experiment, vec![(0, grid("map", 19, 13))]);
        let radii = svg.split(" r=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
        assert_eq!(radii.collect::<std::collections::BTreeSet<_>>().len(), 2, "discs and samples");
        assert!(svg.contains("\n200\n"));
    }

    #[test]
    fn nothing_to_show_is_an_empty_figure() {
        let experiment = experiment(&["standard"], FIGURE);
        svg("map-empty", &experiment, Vec::new());
        svg("map-bare", &experiment, vec![(0, Frame::new("map")), (0, Frame::new("data"))]);
        let one = Frame::new("map").with("x1", [1.0]).with("x2", [1.0]).with("mean", [0.0]);
        svg("map-one", &experiment, vec![(0, one)]);
    }
}
