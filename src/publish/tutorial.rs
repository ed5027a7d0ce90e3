//! What a Gaussian process is, before and after an observation: samples, the joint distribution of two places, and the
//! density at the second of them.

use plotters::style::{BLACK, Color, RGBColor};

use super::axis::Axis;
use super::canvas::Canvas;
use super::clip::Rect;
use super::curve::pairs;
use super::ellipse::Pair;
use super::figure::FigureError;
use super::legend::Sample;
use super::number::brief;
use super::palette::{COLOURS, GREY};
use super::panels::{Group, Layout, groups, lettered};
use super::pen::{Pen, Stroke};
use super::plot::Plot;
use super::report::Report;
use crate::spec::TutorialFigure;
use crate::task::Frame;

const HEIGHT: f64 = 310.0;
const OBSERVED: RGBColor = COLOURS[1];

/// Draws the figure as SVG text.
pub(super) fn draw(report: &Report<'_>, setting: &TutorialFigure) -> Result<String, FigureError> {
    let mut stages = groups(report, None, None);
    stages.retain(|group| report.frames_of(group.cells[0], "draws").next().is_some());
    let sheet = Sheet { report, setting, stages };
    let layout = Layout::new(3 * sheet.stages.len(), Some(3), HEIGHT);
    layout.draw(&report.experiment.meta.title, legend(), |canvas, i, rect| match i % 3 {
        0 => sheet.samples(canvas, i, rect),
        1 => sheet.joint(canvas, i, rect),
        _ => sheet.density(canvas, i, rect),
    })
}

/// What all panels share: a row for each stage, the first of which is the prior.
struct Sheet<'a> {
    report: &'a Report<'a>,
    setting: &'a TutorialFigure,
    stages: Vec<Group>,
}

impl Sheet<'_> {
    fn frames<'b>(&'b self, stage: usize, name: &'b str) -> impl Iterator<Item = &'b Frame> {
        self.report.frames_of(self.stages[stage].cells[0], name)
    }

    /// All values of the columns that begin so, in all stages.
    fn values<'b>(&'b self, name: &'b str, column: &'b str) -> impl Iterator<Item = f64> + Clone + 'b {
        let stages = (0..self.stages.len()).flat_map(move |stage| self.frames(stage, name));
        let values: Vec<f64> =
            stages.flat_map(|frame| frame.columns_named(column)).flatten().copied().collect();
        values.into_iter()
    }

    fn pair(&self, stage: usize) -> Option<Pair> {
        self.frames(stage, "pair").find_map(Pair::of)
    }

    fn title(&self, panel: usize, what: &str) -> String {
        lettered(&format!("{}: {what}", self.stages[panel / 3].title), panel, 3 * self.stages.len())
    }

    /// Samples of the function, the two places and what was observed.
    fn samples(&self, canvas: &Canvas<'_>, i: usize, rect: Rect) -> Result<(), FigureError> {
        let y = Axis::of(false, self.values("draws", "draw").chain(self.values("data", "y")));
        let plot = Plot { canvas, rect, x: Axis::tight(self.values("draws", "x1")), y };
        plot.axes(&self.title(i, "samples"), &self.setting.x_label, &self.setting.label)?;
        for frame in self.frames(i / 3, "draws") {
            let colours = COLOURS.iter().cycle().map(|colour| Pen::new(colour.mix(0.75), 1.25));
            frame
                .columns_named("draw")
                .zip(colours)
                .try_for_each(|(draw, pen)| plot.line(pairs(frame.column("x1"), draw), pen))?;
        }
        for place in self.pair(i / 3).iter().flat_map(|pair| pair.places) {
            plot.line([(place, y.low), (place, y.high)], Pen::new(BLACK, 1.75))?;
        }
        let data = self.frames(i / 3, "data").flat_map(|frame| pairs(frame.column("x1"), frame.column("y")));
        plot.marks(data, Stroke::Times, 6.0, observed())
    }

    /// Ellipses of one, two and three standard deviations; those of the prior again behind later ones.
    fn joint(&self, canvas: &Canvas<'_>, i: usize, rect: Rect) -> Result<(), FigureError> {
        let known = || (0..self.stages.len()).filter_map(|stage| self.pair(stage));
        let x = Axis::of(false, known().flat_map(|pair| pair.reach(0)));
        let plot = Plot { canvas, rect, x, y: Axis::of(false, known().flat_map(|pair| pair.reach(1))) };
        let name = |k: usize| self.pair(i / 3).map_or(String::new(), |pair| self.name(pair.places[k]));
        plot.axes(&self.title(i, "two places"), &name(0), &name(1))?;
        if let (Some(prior), true) = (self.pair(0), i >= 3) {
            prior.ellipses().try_for_each(|ellipse| plot.line(ellipse, before()))?;
        }
        let Some(pair) = self.pair(i / 3) else { return Ok(()) };
        for frame in self.frames(i / 3, "data") {
            let here = |(at, _): &(f64, f64)| *at == pair.places[0];
            let values = pairs(frame.column("x1"), frame.column("y")).filter(here);
            for (_, value) in values {
                plot.line([(value, plot.y.low), (value, plot.y.high)], observed().dashed())?;
            }
        }
        pair.ellipses().try_for_each(|ellipse| plot.line(ellipse, now()))
    }

    /// The density at the second place; that of the prior again behind later ones.
    fn density(&self, canvas: &Canvas<'_>, i: usize, rect: Rect) -> Result<(), FigureError> {
        let y = Axis::of(false, self.values("marginal", "density").chain([0.0])).within(Some(0.0), None);
        let plot = Plot { canvas, rect, x: Axis::tight(self.values("marginal", "value")), y };
        let name = self.pair(i / 3).map_or(String::new(), |pair| self.name(pair.places[1]));
        plot.axes(&self.title(i, "second place"), &name, "density")?;
        if i >= 3 {
            self.frames(0, "marginal").try_for_each(|frame| curve(&plot, frame, before()))?;
        }
        for frame in self.frames(i / 3, "marginal") {
            let values = frame.column("value");
            let ground = |end: Option<&f64>| end.map(|end| (*end, 0.0)).into_iter();
            let above = pairs(values, frame.column("density"));
            let outline = ground(values.first()).chain(above).chain(ground(values.last()));
            plot.area(outline, COLOURS[0].mix(0.18))?;
            curve(&plot, frame, now())?;
        }
        Ok(())
    }

    /// The function at a place.
    fn name(&self, place: f64) -> String {
        format!("f({})", brief(place))
    }
}

fn curve(plot: &Plot<'_, '_>, frame: &Frame, pen: Pen) -> Result<(), FigureError> {
    plot.line(pairs(frame.column("value"), frame.column("density")), pen)
}

fn now() -> Pen {
    Pen::new(COLOURS[0], 2.0)
}

fn before() -> Pen {
    Pen::new(GREY, 1.25).dashed()
}

fn observed() -> Pen {
    Pen::new(OBSERVED, 2.5)
}

fn legend() -> Vec<(Sample, String)> {
    [
        (Sample::Mark(Stroke::Tick, 7.0, Pen::new(BLACK, 1.75)), "the two places"),
        (Sample::Line(now()), "1, 2 and 3 sd, and the density"),
        (Sample::Line(before()), "the same before the observation"),
        (Sample::Mark(Stroke::Times, 6.0, observed()), "observation"),
    ]
    .map(|(sample, text)| (sample, text.to_owned()))
    .to_vec()
}

#[cfg(test)]
mod tests {
    use super::super::fabricated::{count, experiment, lines_of, svg};
    use crate::task::Frame;

    const FIGURE: &str = "[figure.tutorial]\nx_label = \"x\"\nlabel = \"f(x)\"\n";

    fn stage(mean: [f64; 2], sd: [f64; 2], correlation: f64) -> Vec<Frame> {
        let x = || (0..=100).map(|i| f64::from(i) / 10.0);
        let draws = (1..=7u8).fold(Frame::new("draws").with("x1", x()), |frame, k| {
            let wave =
                x().map(|x| mean[0] * (-(x - 5.0).powi(2) / 2.0).exp() + sd[0] * (x + f64::from(k)).sin());
            frame.with(format!("draw{k}"), wave.collect::<Vec<_>>())
        });
        let pair = [
            ("x1", 5.0),
            ("x2", 6.0),
            ("mean1", mean[0]),
            ("mean2", mean[1]),
            ("sd1", sd[0]),
            ("sd2", sd[1]),
        ];
        let pair = pair.into_iter().chain([("correlation", correlation)]);
        let pair = pair.fold(Frame::new("pair"), |frame, (name, value)| frame.with(name, [value]));
        let values = || (0..=80).map(|i| f64::from(i) / 10.0 - 4.0);
        let density = values().map(|v| (-0.5 * ((v - mean[1]) / sd[1]).powi(2)).exp() / (sd[1] * 2.506_628));
        let marginal =
            Frame::new("marginal").with("value", values()).with("density", density.collect::<Vec<_>>());
        vec![draws, pair, marginal]
    }

    #[test]
    fn three_panels_before_and_three_after() {
        let experiment = experiment(&["prior", "posterior"], FIGURE);
        let data = Frame::new("data").with("x1", [5.0]).with("y", [1.0]);
        let prior = stage([0.0, 0.0], [1.0, 1.0], 0.6).into_iter().map(|frame| (0, frame));
        let posterior =
            stage([0.98, 0.6], [0.1, 0.8], 0.06).into_iter().chain([data]).map(|frame| (1, frame));
        let svg = svg("tutorial", &experiment, prior.chain(posterior).collect());
        for title in ["(A) prior: samples", "(C) prior: second", "(E) posterior: two places", "(F) posterior"]
        {
            assert!(svg.contains(title), "{title}");
        }
        assert_eq!(lines_of(&svg, "#005FAA"), 2 + 2 * 3 + 2 + 1, "draws, ellipses, densities and a sample");
        assert_eq!(count(&svg, "polygon"), 2, "below the densities");
        assert_eq!(svg.matches("\nf(6)\n").count(), 4);
    }

    #[test]
    fn nothing_to_show_is_an_empty_figure() {
        let experiment = experiment(&["prior", "posterior"], FIGURE);
        svg("tutorial-empty", &experiment, Vec::new());
        let bare = ["draws", "pair", "marginal", "data"].map(|name| (0, Frame::new(name)));
        svg("tutorial-bare", &experiment, bare.to_vec());
    }
}
