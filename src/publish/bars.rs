//! Candidates of a private selection: bars as wide as their probabilities and as high as their values.

use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor};

use super::axis::Axis;
use super::canvas::Canvas;
use super::clip::Rect;
use super::figure::FigureError;
use super::legend::Sample;
use super::number::short;
use super::palette::COLOURS;
use super::panels::{Group, Layout, groups, lettered};
use super::pen::Pen;
use super::plot::Plot;
use super::report::Report;
use crate::spec::BarsFigure;

const HEIGHT: f64 = 320.0;
const BAR: RGBColor = COLOURS[0];
const EXPECTED: RGBColor = COLOURS[1];
/// The probability of the candidates that the magnified part shows whole, unless its height is asked for.
const MAGNIFIED: f64 = 0.9;

/// Draws the figure as SVG text.
pub(super) fn draw(report: &Report<'_>, setting: &BarsFigure) -> Result<String, FigureError> {
    let panels: Vec<(Group, Vec<Bar>)> = groups(report, setting.panels.as_deref(), None)
        .into_iter()
        .map(|group| (bars(report, &group), group))
        .filter(|(bars, _)| !bars.is_empty())
        .map(|(bars, group)| (group, bars))
        .collect();
    let layout = Layout::new(4 * panels.len(), Some(2), HEIGHT);
    layout.draw(&report.experiment.meta.title, legend(), |canvas, i, rect| {
        let (group, bars) = &panels[i / 4];
        let part = Part { setting, title: &group.title, bars, letter: i - i / 4, letters: 3 * panels.len() };
        match i % 4 {
            0 => part.paint(canvas, rect, "as the mechanism selects", bars, None),
            1 => part.paint(canvas, rect, "all equally probable", &equal(bars), None),
            2 => {
                let wide = Rect { width: layout.plot(i + 1, 0.0).right() - rect.left, ..rect };
                let most = setting.most.unwrap_or_else(|| magnified(bars));
                part.paint(canvas, wide, "as the mechanism selects, magnified", bars, Some(most))
            }
            _ => Ok(()),
        }
    })
}

/// A candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bar {
    probability: f64,
    value: f64,
}

/// The candidates of a cell by increasing value.
fn bars(report: &Report<'_>, group: &Group) -> Vec<Bar> {
    let Some(frame) = report.frames_of(group.cells[0], "candidates").next() else { return Vec::new() };
    let columns = frame.column("probability").iter().zip(frame.column("value"));
    let mut bars: Vec<Bar> =
        columns.map(|(probability, value)| Bar { probability: *probability, value: *value }).collect();
    bars.sort_by(|a, b| a.value.total_cmp(&b.value));
    bars
}

fn equal(bars: &[Bar]) -> Vec<Bar> {
    let probability = 1.0 / bars.len() as f64;
    bars.iter().map(|bar| Bar { probability, ..*bar }).collect()
}

fn expected(bars: &[Bar]) -> f64 {
    bars.iter().map(|bar| bar.probability * bar.value).sum()
}

/// The sum of the probabilities; exactly 1 if they are rounded.
fn total(bars: &[Bar]) -> f64 {
    let sum: f64 = bars.iter().map(|bar| bar.probability).sum();
    if (sum - 1.0).abs() < 1e-3 { 1.0 } else { sum.max(f64::MIN_POSITIVE) }
}

/// The largest value among the best candidates that together have most of the probability, and the expected one.
fn magnified(bars: &[Bar]) -> f64 {
    let mut sum = 0.0;
    let mut likely = bars.iter().take_while(|bar| {
        let before = sum;
        sum += bar.probability;
        before < MAGNIFIED
    });
    1.1 * likely.by_ref().last().map_or(1.0, |bar| bar.value).max(expected(bars))
}

/// The three panels of a cell.
struct Part<'a> {
    setting: &'a BarsFigure,
    title: &'a str,
    bars: &'a [Bar],
    letter: usize,
    letters: usize,
}

impl Part<'_> {
    fn paint(
        &self,
        canvas: &Canvas<'_>,
        rect: Rect,
        what: &str,
        bars: &[Bar],
        most: Option<f64>,
    ) -> Result<(), FigureError> {
        let x = Axis::between((0.0, total(bars)));
        let values = self.bars.iter().map(|bar| bar.value).chain([0.0]);
        let plot = Plot { canvas, rect, x, y: Axis::of(false, values).within(Some(0.0), most) };
        let comma = if self.title.is_empty() { "" } else { ", " };
        let title = lettered(&format!("{}{comma}{what}", self.title), self.letter, self.letters);
        plot.axes(&title, &self.setting.x_label, &self.setting.label)?;
        let mut left = 0.0;
        for bar in bars {
            let right = left + bar.probability;
            self.bar(&plot, left, right, bar.value)?;
            left = right;
        }
        expectation(&plot, expected(bars))
    }

    fn bar(&self, plot: &Plot<'_, '_>, left: f64, right: f64, value: f64) -> Result<(), FigureError> {
        let corners = [(left, 0.0), (left, value), (right, value), (right, 0.0)];
        plot.area(corners, BAR.mix(0.35))?;
        plot.line(corners, Pen::new(BAR.mix(0.8), 0.75))
    }
}

/// The expected value as a line across, and in words above it.
fn expectation(plot: &Plot<'_, '_>, value: f64) -> Result<(), FigureError> {
    plot.line([(plot.x.low, value), (plot.x.high, value)], Pen::new(EXPECTED, 2.0))?;
    let (x, y) = plot.at((plot.x.low, value));
    let text = format!("expected: {}", short(value));
    if !plot.rect.holds((x, y)) {
        return Ok(());
    }
    plot.canvas.coloured(&text, (x + 8.0, y - 5.0), 13.0, (HPos::Left, VPos::Bottom), EXPECTED)
}

fn legend() -> Vec<(Sample, String)> {
    vec![
        (Sample::Area(BAR.mix(0.35)), "a candidate: as wide as its probability".to_owned()),
        (Sample::Line(Pen::new(EXPECTED, 2.0)), "expected value of the selected candidate".to_owned()),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::fabricated::{count, experiment, scattered, svg};
    use super::*;
    use crate::task::Frame;

    const FIGURE: &str = "[figure.bars]\nlabel = \"RMSE (cm)\"\n";

    fn candidates() -> Frame {
        let value: Vec<f64> = scattered(80).map(|u| 14.5 + 3.0 * u + 300.0 * u.powi(4)).collect();
        let weights: Vec<f64> = value.iter().map(|v| (-v / 8.0).exp()).collect();
        let sum: f64 = weights.iter().sum();
        Frame::new("candidates").with("probability", weights.iter().map(|w| w / sum)).with("value", value)
    }

    #[test]
    fn each_candidate_has_a_bar_in_each_part() {
        let svg = svg("bars", &experiment(&["only"], FIGURE), vec![(0, candidates())]);
        assert_eq!(count(&svg, "polygon"), 3 * 80);
        assert_eq!(svg.matches("expected: ").count(), 3);
        assert!(svg.contains("(C) as the mechanism selects, magnified") && !svg.contains("(D)"));
    }

    #[test]
    fn expectations_and_magnification() {
        let bar = |probability, value| Bar { probability, value };
        let bars = [bar(0.5, 1.0), bar(0.45, 2.0), bar(0.05, 20.0)];
        assert!((expected(&bars) - 2.4).abs() < 1e-12);
        assert!((expected(&equal(&bars)) - 23.0 / 3.0).abs() < 1e-12);
        assert!((magnified(&bars) - 1.1 * 2.4).abs() < 1e-12);
        assert!((magnified(&bars[..2]) - 2.2).abs() < 1e-12);
    }

    #[test]
    fn nothing_to_show_is_an_empty_figure() {
        let experiment = experiment(&["a", "b"], FIGURE);
        svg("bars-empty", &experiment, Vec::new());
        svg("bars-bare", &experiment, vec![(0, Frame::new("candidates"))]);
        let zero = Frame::new("candidates").with("probability", [1.0]).with("value", [0.0]);
        svg("bars-zero", &experiment, vec![(0, candidates()), (1, zero)]);
    }
}
