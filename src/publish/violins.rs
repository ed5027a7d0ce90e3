//! Private predictions of a class over one input: frequencies, and violins of probabilities and of latent means.

use plotters::style::{BLACK, Color};

use super::axis::Axis;
use super::canvas::Canvas;
use super::clip::Rect;
use super::contour::distinct;
use super::density::density;
use super::figure::FigureError;
use super::legend::Sample;
use super::palette::{COLOURS, GREY};
use super::panels::{Group, Layout, groups, lettered};
use super::pen::{Pen, Stroke};
use super::plot::Plot;
use super::report::Report;
use crate::spec::ViolinsFigure;
use crate::task::Frame;

const HEIGHT: f64 = 700.0;
/// The parts of the height, and the gap between them in pixels.
const PARTS: [f64; 3] = [0.24, 0.38, 0.38];
const GAP: f64 = 26.0;
/// Half the width of a bar and of a violin, as parts of the room of a value.
const BAR: f64 = 0.32;
const VIOLIN: f64 = 0.42;

/// Draws the figure as SVG text.
pub(super) fn draw(report: &Report<'_>, setting: &ViolinsFigure) -> Result<String, FigureError> {
    let mut panels = groups(report, None, None);
    panels.retain(|group| report.frames_of(group.cells[0], "samples").next().is_some());
    let sheet = Sheet::new(report, setting, panels);
    let layout = Layout::new(sheet.panels.len(), Some(sheet.panels.len()), HEIGHT);
    layout.draw(&report.experiment.meta.title, sheet.legend(), |canvas, i, rect| sheet.panel(canvas, i, rect))
}

/// What all panels share.
struct Sheet<'a> {
    report: &'a Report<'a>,
    setting: &'a ViolinsFigure,
    panels: Vec<Group>,
    x: Axis,
    /// The room of a value on the x axis.
    room: f64,
    rows: Axis,
    latent: Axis,
}

impl<'a> Sheet<'a> {
    fn new(report: &'a Report<'a>, setting: &'a ViolinsFigure, panels: Vec<Group>) -> Self {
        let frames =
            |name| report.frames.iter().map(|(_, frame)| frame).filter(move |f: &&Frame| f.name == name);
        let inputs: Vec<f64> =
            frames("samples").chain(frames("counts")).flat_map(|f| f.column("x1")).copied().collect();
        let room = distinct(&inputs).windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
        let room = if room.is_finite() { room } else { 1.0 };
        let x = Axis::tight(inputs.iter().copied());
        let x = Axis { low: x.low - 0.7 * room, high: x.high + 0.7 * room, ..x };
        let rows = frames("counts").flat_map(|f| f.column("positive").iter().zip(f.column("negative")));
        let rows = Axis::of(false, rows.map(|(p, n)| p + n).chain([0.0])).within(Some(0.0), None);
        let latent = frames("samples").flat_map(|f| f.columns_named("latent")).flatten();
        let latent = latent.chain(frames("classes").flat_map(|f| f.column("latent"))).copied();
        let latent = Axis::of(false, latent);
        Self { report, setting, panels, x, room, rows, latent }
    }

    fn panel(&self, canvas: &Canvas<'_>, i: usize, rect: Rect) -> Result<(), FigureError> {
        let Group { title, cells } = &self.panels[i];
        let axes = [self.rows, Axis::between((-0.02, 1.02)), self.latent];
        let probability = format!("probability of {}", self.setting.label);
        let labels = ["number of rows", &probability, "mean of the latent function"];
        let parts = stacked(rect);
        for (part, (y, label)) in axes.into_iter().zip(labels).enumerate() {
            let plot = Plot { canvas, rect: parts[part], x: self.x, y };
            plot.y_ticks(label, true)?;
            match part {
                0 => plot.title(&lettered(title, i, self.panels.len())).and_then(|()| self.counts(&plot)),
                1 => self.violins(&plot, cells[0], "probability"),
                _ => self.violins(&plot, cells[0], "latent"),
            }?;
            if part == 2 { plot.x_ticks(&self.setting.x_label) } else { plot.x_line() }?;
        }
        Ok(())
    }

    /// The rows of both classes at each value, one upon the other.
    fn counts(&self, plot: &Plot<'_, '_>) -> Result<(), FigureError> {
        let frame = self.report.frames.iter().map(|(_, frame)| frame).find(|frame| frame.name == "counts");
        let Some(frame) = frame else { return Ok(()) };
        let counts = frame.column("positive").iter().zip(frame.column("negative"));
        for (x, (positive, negative)) in frame.column("x1").iter().zip(counts) {
            plot.area(self.bar(*x, 0.0, *positive), COLOURS[1].to_rgba())?;
            plot.area(self.bar(*x, *positive, positive + negative), GREY.mix(0.6))?;
        }
        Ok(())
    }

    fn bar(&self, x: f64, from: f64, to: f64) -> [(f64, f64); 4] {
        let (left, right) = (x - BAR * self.room, x + BAR * self.room);
        [(left, from), (right, from), (right, to), (left, to)]
    }

    /// The private values of each input as a violin, and the value without privacy as a cross.
    fn violins(&self, plot: &Plot<'_, '_>, cell: usize, column: &str) -> Result<(), FigureError> {
        for frame in self.report.frames_of(cell, "samples") {
            let samples: Vec<&[f64]> = frame.columns_named(column).collect();
            for (row, x) in frame.column("x1").iter().enumerate() {
                let values: Vec<f64> = samples.iter().filter_map(|sample| sample.get(row)).copied().collect();
                self.violin(plot, *x, &values)?;
            }
        }
        let Some(frame) = self.classes(cell) else { return Ok(()) };
        let exact = frame.column("x1").iter().zip(frame.column(column)).map(|(x, value)| (*x, *value));
        plot.marks(exact, Stroke::Times, 4.0, Pen::new(BLACK, 1.75))
    }

    fn violin(&self, plot: &Plot<'_, '_>, x: f64, values: &[f64]) -> Result<(), FigureError> {
        let density = density(values);
        let widest = density.iter().map(|(_, d)| *d).fold(0.0, f64::max);
        let side =
            |sign: f64| move |(value, d): &(f64, f64)| (x + sign * VIOLIN * self.room * d / widest, *value);
        let outline: Vec<(f64, f64)> =
            density.iter().map(side(-1.0)).chain(density.iter().rev().map(side(1.0))).collect();
        plot.area(outline.iter().copied(), COLOURS[0].mix(0.35))?;
        let level = values.first().filter(|_| density.is_empty());
        let ends = level.into_iter().flat_map(|y| [-1.0, 1.0].map(|side| (x + side * BAR * self.room, *y)));
        plot.line(ends, Pen::new(COLOURS[0], 1.5))?;
        plot.line(outline.iter().chain(outline.first()).copied(), Pen::new(COLOURS[0], 1.0))
    }

    /// What holds without privacy: of the cell that has the most labels in common.
    fn classes(&self, cell: usize) -> Option<&Frame> {
        let cells = &self.report.experiment.cells;
        let differences = |other: usize| {
            let labels = cells[cell].labels().iter().zip(cells[other].labels());
            labels.filter(|(a, b)| a != b).count()
        };
        let frames = self.report.frames.iter().filter(|(_, frame)| frame.name == "classes");
        frames.min_by_key(|(other, _)| differences(*other)).map(|(_, frame)| frame)
    }

    fn legend(&self) -> Vec<(Sample, String)> {
        vec![
            (Sample::Area(COLOURS[1].to_rgba()), self.setting.positive.clone()),
            (Sample::Area(GREY.mix(0.6)), self.setting.negative.clone()),
            (Sample::Area(COLOURS[0].mix(0.35)), "distribution of private means".to_owned()),
            (Sample::Mark(Stroke::Times, 4.0, Pen::new(BLACK, 1.75)), "mean without privacy".to_owned()),
        ]
    }
}

/// The rectangle cut into parts, one below the other.
fn stacked(rect: Rect) -> [Rect; 3] {
    let free = rect.height - GAP * (PARTS.len() - 1) as f64;
    let mut top = rect.top;
    PARTS.map(|part| {
        let cut = Rect { top, height: part * free, ..rect };
        top += part * free + GAP;
        cut
    })
}

#[cfg(test)]
mod tests {
    use super::super::fabricated::{count, experiment, lines_of, normals, svg};
    use crate::task::Frame;

    const FIGURE: &str = "[figure.violins]\nx_label = \"delinquent credit lines\"\nlabel = \"default\"\n\
                          positive = \"defaulted\"\nnegative = \"repaid\"\n";

    fn latent(x: usize) -> f64 {
        -1.0 + 0.5 * x as f64 - 0.02 * (x * x) as f64
    }

    fn logistic(f: f64) -> f64 {
        1.0 / (1.0 + (-f).exp())
    }

    fn frames() -> Vec<(usize, Frame)> {
        let x = || (0..15usize).map(|x| x as f64);
        let counts = Frame::new("counts")
            .with("x1", x())
            .with("positive", (0..15).map(|x| f64::from(20 - x)))
            .with("negative", (0..15).map(|x| 30.0 - 2.0 * f64::from(x)));
        let classes = Frame::new("classes")
            .with("x1", x())
            .with("probability", (0..15).map(|x| logistic(latent(x))))
            .with("latent", (0..15).map(latent));
        let draws: Vec<f64> = normals(100).collect();
        let of = |x: usize, z: f64| latent(x) + z * 0.05 * (1 + x * x / 2) as f64;
        let samples =
            draws.iter().enumerate().fold(Frame::new("samples").with("x1", x()), |frame, (i, z)| {
                frame
                    .with(format!("probability{}", i + 1), (0..15).map(|x| logistic(of(x, *z))))
                    .with(format!("latent{}", i + 1), (0..15).map(|x| of(x, *z)))
            });
        vec![(0, classes), (0, counts), (1, samples)]
    }

    #[test]
    fn bars_violins_and_crosses_for_each_value() {
        let svg = svg("violins", &experiment(&["none", "private"], FIGURE), frames());
        assert_eq!(count(&svg, "polygon"), 2 * 15 + 2 * 15, "two bars and two violins each");
        let crosses = svg.split('<').filter(|e| e.contains("stroke=\"#000000\" stroke-width=\"7\"")).count();
        assert_eq!(crosses, 2 * (2 * 15 + 1), "crosses and their sample");
        assert_eq!(lines_of(&svg, "#005FAA"), 2 * 15, "outlines");
    }

    #[test]
    fn nothing_to_show_and_equal_samples() {
        let experiment = experiment(&["none", "private"], FIGURE);
        svg("violins-empty", &experiment, Vec::new());
        svg("violins-bare", &experiment, vec![(0, Frame::new("samples")), (0, Frame::new("counts"))]);
        let equal =
            Frame::new("samples").with("x1", [1.0]).with("probability1", [0.5]).with("probability2", [0.5]);
        let svg = svg("violins-equal", &experiment, vec![(1, equal)]);
        assert_eq!(lines_of(&svg, "#005FAA"), 1, "a stroke instead of a violin");
    }
}
