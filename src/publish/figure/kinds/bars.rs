//! Candidates of a private selection: bars as wide as their probabilities and as high as their values.

use std::iter::zip;

use super::super::prelude::*;
use crate::spec::BarsFigure;

const HEIGHT: f64 = 320.0;
const INSIDE: Colour = COLOURS[0].faint(0.35);
const OUTLINE: Pen = Pen::new(COLOURS[0].faint(0.8), 0.75);
const EXPECTED: Pen = Pen::new(COLOURS[1], 2.0);
/// The probability of the candidates that the magnified part shows whole, unless its height is asked for.
const MAGNIFIED: f64 = 0.9;

#[derive(Debug, Clone, Copy, PartialEq)]
struct CandidateBar {
    probability: f64,
    value: f64,
}

/// The frame `candidates`, by increasing value.
fn candidates(columns: &mut FrameColumns<'_>) -> Result<Vec<CandidateBar>, FigureError> {
    let columns = zip(columns.need("probability")?, columns.need("value")?);
    let mut candidates: Vec<CandidateBar> = columns
        .map(|(probability, value)| CandidateBar { probability: *probability, value: *value })
        .collect();
    candidates.sort_by(|a, b| a.value.total_cmp(&b.value));
    Ok(candidates)
}

impl Drawing for BarsFigure {
    fn picture(&self, report: &Report<'_>) -> Result<Picture, FigureError> {
        let mut panels = Vec::new();
        for group in groups(report, self.panels.as_deref(), None) {
            let frames = frames(report, Some(group.cell()), "candidates", candidates)?;
            let Some(bars) = frames.into_iter().next().filter(|bars| !bars.is_empty()) else { continue };
            let most = self.most.unwrap_or_else(|| magnified(&bars));
            let comma = if group.title.is_empty() { "" } else { ", " };
            let title = format!("{}{comma}", group.title);
            panels.push(panel(self, format!("{title}as the mechanism selects"), &bars, None));
            panels.push(panel(self, format!("{title}all equally probable"), &equal(&bars), None));
            let wide = panel(self, format!("{title}as the mechanism selects, magnified"), &bars, Some(most));
            panels.push(Panel { span: 2, ..wide });
        }
        let legend = legend();
        Ok(Picture { legend, layout: Layout::new(HEIGHT).columns(Some(2)), panels }.lettered())
    }
}

fn panel(setting: &BarsFigure, title: String, bars: &[CandidateBar], most: Option<f64>) -> Panel {
    let x = Scale::between(0.0, total(bars));
    let y = Scale::from_zero(bars.iter().map(|bar| bar.value)).within(None, most);
    let mut marks = Vec::new();
    let mut left = 0.0;
    for bar in bars {
        let right = left + bar.probability;
        let corners = [(left, 0.0), (left, bar.value), (right, bar.value), (right, 0.0)];
        marks.extend([Mark::area(corners, INSIDE), Mark::line(corners, OUTLINE)]);
        left = right;
    }
    marks.extend(expectation(expected(bars)));
    Panel::new(title, Plot::new(Side::values(x, &setting.x_label), Side::lines(y, &setting.label), marks))
}

/// The expected value as a line across, and in words above it.
fn expectation(value: f64) -> [Mark; 2] {
    let words = Words {
        text: format!("expected: {}", short(value)),
        at: Spot::new(0.0, value),
        offset: Spot::new(8.0, -5.0),
        anchor: Anchor::BottomLeft,
        colour: EXPECTED.colour,
    };
    [Mark::Across(value, EXPECTED), Mark::Words(words)]
}

fn equal(bars: &[CandidateBar]) -> Vec<CandidateBar> {
    let probability = 1.0 / bars.len() as f64;
    bars.iter().map(|bar| CandidateBar { probability, ..*bar }).collect()
}

fn expected(bars: &[CandidateBar]) -> f64 {
    bars.iter().map(|bar| bar.probability * bar.value).sum()
}

/// The sum of the probabilities; exactly 1 if they are rounded.
fn total(bars: &[CandidateBar]) -> f64 {
    let sum: f64 = bars.iter().map(|bar| bar.probability).sum();
    if (sum - 1.0).abs() < 1e-3 { 1.0 } else { sum.max(f64::MIN_POSITIVE) }
}

/// The largest value among the best candidates that together have most of the probability, and the expected one.
fn magnified(bars: &[CandidateBar]) -> f64 {
    let (mut sum, mut largest) = (0.0, 1.0);
    for bar in bars {
        if sum >= MAGNIFIED {
            break;
        }
        sum += bar.probability;
        largest = bar.value;
    }
    1.1 * expected(bars).max(largest)
}

fn legend() -> Vec<LegendEntry> {
    vec![
        Swatch::Area(INSIDE).means("a candidate: as wide as its probability"),
        Swatch::Line(EXPECTED).means("expected value of the selected candidate"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::publish::figure::fabricated::{count, experiment, frame, svg};
    use crate::task::Frame;

    const FIGURE: &str = "[figure.bars]\nlabel = \"RMSE (cm)\"\n";

    fn candidates() -> Frame {
        frame("candidates probability value", &[[0.05, 20.0], [0.5, 1.0], [0.45, 2.0]])
    }

    #[test]
    fn each_candidate_has_a_bar_in_each_part() {
        let svg = svg("bars", &experiment(&["only"], FIGURE), vec![(0, candidates())]);
        assert_eq!(count(&svg, "polygon"), 3 * 3);
        assert_eq!(svg.matches("expected: ").count(), 3);
        assert!(svg.contains("(C) as the mechanism selects, magnified") && !svg.contains("(D)"));
    }

    #[test]
    fn expectations_and_magnification() {
        let bar = |probability, value| CandidateBar { probability, value };
        let bars = [bar(0.5, 1.0), bar(0.45, 2.0), bar(0.05, 20.0)];
        assert!((expected(&bars) - 2.4).abs() < 1e-12);
        assert!((expected(&equal(&bars)) - 23.0 / 3.0).abs() < 1e-12);
        assert!((magnified(&bars) - 1.1 * 2.4).abs() < 1e-12);
        assert!((magnified(&bars[..2]) - 2.2).abs() < 1e-12);
    }

    #[test]
    fn a_value_may_be_zero() {
        let zero = frame("candidates probability value", &[[1.0, 0.0]]);
        svg("bars-zero", &experiment(&["a", "b"], FIGURE), vec![(0, candidates()), (1, zero)]);
    }
}
