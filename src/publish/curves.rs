//! Curves over one input: means with bands, draws and the data behind them.

use plotters::style::Color;

use super::axis::Axis;
use super::canvas::Canvas;
use super::clip::Rect;
use super::curve::{around, beside, extremes, pairs};
use super::curve_pens::{Pens, legend, overlay_pens, pens};
use super::figure::FigureError;
use super::palette::DARK;
use super::panels::{Group, Layout, groups, lettered};
use super::pen::{Pen, Stroke};
use super::plot::Plot;
use super::report::Report;
use crate::spec::CurvesFigure;
use crate::task::Frame;

const HEIGHT: f64 = 340.0;

/// What a panel shows.
enum Panel {
    /// The curves of some cells.
    Curves(Group),
    /// The lengthscale of a cell along the input.
    Lengthscale(String, usize),
}

/// Draws the figure as SVG text.
pub(super) fn draw(report: &Report<'_>, setting: &CurvesFigure) -> Result<String, FigureError> {
    let sheet = Sheet::new(report, setting);
    let layout = Layout::new(sheet.panels.len(), setting.columns, HEIGHT);
    layout.draw(&report.experiment.meta.title, legend(report, setting), |canvas, i, rect| {
        sheet.panel(canvas, i, rect)
    })
}

/// What all panels share.
struct Sheet<'a> {
    report: &'a Report<'a>,
    setting: &'a CurvesFigure,
    panels: Vec<Panel>,
    pens: Pens,
    x: Axis,
    y: Axis,
}

impl<'a> Sheet<'a> {
    fn new(report: &'a Report<'a>, setting: &'a CurvesFigure) -> Self {
        let mut shown = groups(report, setting.panels.as_deref(), setting.overlay.as_deref());
        shown
            .retain(|group| group.cells.iter().any(|cell| report.frames_of(*cell, "curve").next().is_some()));
        let frames =
            |name| report.frames.iter().map(|(_, frame)| frame).filter(move |f: &&Frame| f.name == name);
        let x = Axis::tight(frames("curve").flat_map(|frame| frame.column("x1")).copied());
        let heights = frames("curve").flat_map(|frame| extremes(frame, setting.overlay.is_some()));
        let heights = heights.chain(frames("data").flat_map(|frame| frame.column("y").to_vec()));
        let bins =
            frames("histogram").flat_map(|frame| [frame.column("value"), frame.column("noisy")].concat());
        let heights = heights.chain(bins);
        let y = Axis::of(false, heights).within(setting.least, setting.most);
        let panels = with_lengthscales(report, shown);
        Self { report, setting, panels, pens: pens(), x, y }
    }

    fn panel(&self, canvas: &Canvas<'_>, i: usize, rect: Rect) -> Result<(), FigureError> {
        let plot = Plot { canvas, rect, x: self.x, y: self.y };
        match &self.panels[i] {
            Panel::Lengthscale(title, cell) => self.lengthscale(plot, *cell, &self.title(i, title)),
            Panel::Curves(group) => {
                plot.axes(&self.title(i, &group.title), &self.setting.x_label, &self.setting.label)?;
                let overlaid = self.setting.overlay.is_some();
                group.cells.iter().enumerate().try_for_each(|(number, &cell)| {
                    if overlaid { self.overlaid(&plot, number, cell) } else { self.alone(&plot, cell) }
                })
            }
        }
    }

    fn title(&self, i: usize, title: &str) -> String {
        lettered(title, i, self.panels.len())
    }

    fn frames<'b>(&'b self, cell: usize, name: &'b str) -> impl Iterator<Item = &'b Frame> {
        self.report.frames_of(cell, name)
    }

    /// A cell in a panel of its own.
    fn alone(&self, plot: &Plot<'_, '_>, cell: usize) -> Result<(), FigureError> {
        self.frames(cell, "curve").try_for_each(|frame| self.behind(plot, frame))?;
        self.histogram(plot, cell)?;
        self.data(plot, cell, self.pens.data)?;
        self.frames(cell, "curve").try_for_each(|frame| self.mean(plot, frame))?;
        self.frames(cell, "inducing").try_for_each(|frame| self.inducing(plot, frame))
    }

    /// Draws and the band of the model.
    fn behind(&self, plot: &Plot<'_, '_>, frame: &Frame) -> Result<(), FigureError> {
        let x = frame.column("x1");
        plot.area(around(frame, "gp-sd", 2.0), self.pens.band)?;
        frame.columns_named("draw").try_for_each(|draw| plot.line(pairs(x, draw), self.pens.draw))
    }

    fn mean(&self, plot: &Plot<'_, '_>, frame: &Frame) -> Result<(), FigureError> {
        let x = frame.column("x1");
        for (factor, pen) in [(0.25, self.pens.quarter), (1.0, self.pens.noise)] {
            plot.line(beside(frame, "noise-sd", factor), pen)?;
            plot.line(beside(frame, "noise-sd", -factor), pen)?;
        }
        plot.line(pairs(x, frame.column("mean")), self.pens.mean)?;
        plot.line(pairs(x, frame.column("truth")), self.pens.truth)
    }

    fn data(&self, plot: &Plot<'_, '_>, cell: usize, pen: Pen) -> Result<(), FigureError> {
        self.frames(cell, "data").try_for_each(|frame| {
            plot.marks(pairs(frame.column("x1"), frame.column("y")), Stroke::Times, 2.5, pen)
        })
    }

    /// Bins as areas from zero to their values; to their noisy values, where they have them.
    fn histogram(&self, plot: &Plot<'_, '_>, cell: usize) -> Result<(), FigureError> {
        for frame in self.frames(cell, "histogram") {
            let noisy = frame.column("noisy");
            let heights = if noisy.is_empty() { frame.column("value") } else { noisy };
            let sides = frame.column("left").iter().zip(frame.column("right"));
            for ((left, right), height) in sides.zip(heights) {
                let outline =
                    [(*left, 0.0), (*left, *height), (*right, *height), (*right, 0.0), (*left, 0.0)];
                plot.area(outline, DARK.mix(0.12))?;
                plot.line(outline, self.pens.draw)?;
            }
        }
        Ok(())
    }

    /// Inducing inputs: strokes on the lower edge, or crosses if they have outputs.
    fn inducing(&self, plot: &Plot<'_, '_>, frame: &Frame) -> Result<(), FigureError> {
        let x = frame.column("x1");
        plot.marks(pairs(x, frame.column("y")), Stroke::Plus, 5.0, self.pens.inducing)?;
        let edge = if frame.column("y").is_empty() { x } else { &[] };
        edge.iter()
            .map(|x| plot.at((*x, self.y.low)))
            .filter(|at| plot.rect.holds(*at))
            .try_for_each(|(x, y)| plot.canvas.mark((x, y - 8.0), Stroke::Tick, 7.0, self.pens.inducing))
    }

    /// A cell that shares its panel: the first is solid, the others are dashed.
    fn overlaid(&self, plot: &Plot<'_, '_>, number: usize, cell: usize) -> Result<(), FigureError> {
        let (mean, sd, data) = overlay_pens(number);
        if number == 0 {
            self.histogram(plot, cell)?;
        }
        self.data(plot, cell, data)?;
        self.frames(cell, "curve").try_for_each(|frame| {
            plot.line(beside(frame, "gp-sd", 1.0), sd)?;
            plot.line(beside(frame, "gp-sd", -1.0), sd)?;
            plot.line(pairs(frame.column("x1"), frame.column("mean")), mean)
        })
    }

    fn lengthscale(&self, plot: Plot<'_, '_>, cell: usize, title: &str) -> Result<(), FigureError> {
        let frames = || self.frames(cell, "lengthscale");
        let values = frames().flat_map(|frame| frame.column("value")).copied();
        let plot = Plot { y: Axis::of(false, values.chain([0.0])).within(Some(0.0), None), ..plot };
        let label = self.setting.lengthscale_label.as_deref().unwrap_or("lengthscale");
        plot.axes(title, &self.setting.x_label, label)?;
        frames()
            .try_for_each(|frame| plot.line(pairs(frame.column("x1"), frame.column("value")), self.pens.mean))
    }
}

/// The curves, then a panel for each cell that has a lengthscale along the input.
fn with_lengthscales(report: &Report<'_>, groups: Vec<Group>) -> Vec<Panel> {
    let varies = |cell: &usize| report.frames_of(*cell, "lengthscale").next().is_some();
    let of = |group: &Group| {
        let title = format!("lengthscale of {}", group.title);
        group.cells.iter().copied().find(varies).map(|cell| Panel::Lengthscale(title, cell))
    };
    let lengthscales: Vec<Panel> = groups.iter().filter_map(of).collect();
    groups.into_iter().map(Panel::Curves).chain(lengthscales).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fabricated::{count, experiment, lines_of, normals, scattered, svg};
    use crate::task::Frame;

    const FIGURE: &str =
        "[figure.curves]\nx_label = \"age (years)\"\nlabel = \"height (cm)\"\nleast = 40.0\nmost = 190.0\n";

    fn curve(shift: f64) -> Frame {
        let x: Vec<f64> = (0..=90).map(f64::from).collect();
        let mean = |x: &f64| 160.0 - 100.0 * (-x / 9.0).exp() + shift;
        let noise: Vec<f64> = x.iter().map(|x| 4.0 + 0.0003 * x * x * x).collect();
        let frame = Frame::new("curve")
            .with("x1", x.clone())
            .with("mean", x.iter().map(mean))
            .with("gp-sd", x.iter().map(|x| 2.0 + x / 30.0))
            .with("noise-sd", noise.clone());
        normals(20).enumerate().fold(frame, |frame, (i, z)| {
            frame.with(format!("draw{}", i + 1), x.iter().zip(&noise).map(|(x, sd)| mean(x) + z * sd))
        })
    }

    fn data() -> Frame {
        let x: Vec<f64> = scattered(100).map(|u| 85.0 * u * u).collect();
        let y = x.iter().zip(normals(100)).map(|(x, z)| 160.0 - 100.0 * (-x / 9.0).exp() + 6.0 * z);
        Frame::new("data").with("y", y.collect::<Vec<_>>()).with("x1", x)
    }

    #[test]
    fn each_cell_has_a_panel_and_a_lengthscale_one_more() {
        let experiment = experiment(&["standard", "sparse", "variable-lengthscale"], FIGURE);
        let lengthscale =
            Frame::new("lengthscale").with("x1", [0.0, 40.0, 90.0]).with("value", [5.0, 20.0, 40.0]);
        let inducing = Frame::new("inducing").with("x1", [5.0, 20.0, 40.0, 60.0, 75.0]);
        let frames =
            vec![(0, curve(0.0)), (0, data()), (1, curve(-5.0)), (1, data()), (1, inducing), (2, curve(5.0))];
        let svg = svg("curves", &experiment, frames.into_iter().chain([(2, lengthscale)]).collect());
        assert_eq!(count(&svg, "polygon"), 3, "a band for each cell");
        for title in ["(A) standard", "(B) sparse", "(C) variable-lengthscale", "(D) lengthscale of variable"]
        {
            assert!(svg.contains(title), "{title}");
        }
        assert_eq!(lines_of(&svg, "#00825F"), 5 + 1, "inducing inputs and their sample");
        assert!(svg.contains("inducing inputs") && !svg.contains("truth"));
    }

    #[test]
    fn an_overlaid_axis_shares_a_panel() {
        let figure = "[figure.curves]\noverlay = \"method\"\nx_label = \"x\"\nlabel = \"y\"\n";
        let experiment = experiment(&["as-observed", "perturbed"], figure);
        let frames = vec![(0, curve(0.0)), (0, data()), (1, curve(30.0))];
        let svg = svg("curves-overlay", &experiment, frames);
        assert_eq!(count(&svg, "polygon"), 0);
        assert_eq!(lines_of(&svg, "#005FAA"), 3 + 2 * 100 + 2 + 2, "mean, sd, data and their samples");
        assert!(svg.contains("perturbed"));
    }

    #[test]
    fn only_selected_cells_are_shown() {
        let figure = format!("{FIGURE}[figure_cells]\nmethod = \"sparse\"\n");
        let experiment = experiment(&["standard", "sparse"], &figure);
        let svg = svg("curves-where", &experiment, vec![(0, curve(0.0)), (0, data()), (1, curve(-5.0))]);
        assert_eq!(count(&svg, "polygon"), 1);
        assert!(!svg.contains("standard") && !svg.contains("\ndata\n"));
    }

    #[test]
    fn bins_are_areas() {
        let experiment = experiment(&["standard"], FIGURE);
        let bins = Frame::new("histogram")
            .with("left", [10.0, 20.0, 30.0])
            .with("right", [20.0, 30.0, 40.0])
            .with("value", [80.0, 100.0, 120.0]);
        let plain = svg("curves-plain", &experiment, vec![(0, curve(0.0))]);
        let with = svg("curves-bins", &experiment, vec![(0, curve(0.0)), (0, bins)]);
        assert_eq!(count(&with, "polygon"), count(&plain, "polygon") + 3);
    }

    #[test]
    fn nothing_to_show_is_an_empty_figure() {
        let experiment = experiment(&["standard", "sparse"], FIGURE);
        svg("curves-empty", &experiment, Vec::new());
        let svg = svg("curves-bare", &experiment, vec![(0, Frame::new("curve"))]);
        assert!(svg.contains("height (cm)") && !svg.contains("(B)"), "one panel");
    }
}
