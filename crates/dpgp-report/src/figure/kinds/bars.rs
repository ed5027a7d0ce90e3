//! Candidates of a private selection: the width of a bar is its probability, and the height its value.

use std::iter::zip;

use super::*;
use dpgp_spec::BarsFigure;

const HEIGHT: f64 = 320.0;
const INSIDE: Colour = COLOURS[0].with_opacity(0.35);
const OTHERS: Pen = Pen::new(BLACK, 1.25);
/// The place of the words for the first number of another owner, and the step to the next, as fractions of the width.
const FIRST: f64 = 0.4;
const NEXT: f64 = 0.2;
const OUTLINE: Pen = Pen::new(COLOURS[0].with_opacity(0.8), 0.75);
const EXPECTED: Pen = Pen::new(COLOURS[1], 2.0);
/// The probability of the candidates that the magnified part shows whole, unless its height is asked for.
const MAGNIFIED: f64 = 0.9;

#[derive(Debug, Clone, Copy, PartialEq)]
struct CandidateBar {
    probability: f64,
    value: f64,
}

/// The frame `candidates`, by increasing value.
fn read_candidates(columns: &mut FrameColumns<'_>) -> Result<Vec<CandidateBar>, FigureError> {
    let columns = zip(columns.require_column("probability")?, columns.require_column("value")?);
    let mut candidates: Vec<CandidateBar> =
        columns.map(|(probability, value)| CandidateBar { probability: *probability, value: *value }).collect();
    candidates.sort_by(|a, b| a.value.total_cmp(&b.value));
    Ok(candidates)
}

/// The expected value of a selection: of its bars, or the mean of a metric over replicates and what others have for it.
struct ExpectedValueWithReferences {
    name: String,
    value: f64,
    /// The number of replicates in the mean.
    repeats: Option<usize>,
    others: Vec<(ReferenceValueOwner, f64)>,
}

impl ExpectedValueWithReferences {
    fn new(report: &Report<'_>, cell: usize, metric: Option<&str>, bars: &[CandidateBar]) -> Self {
        let mut rows = report.rows.iter().filter(|row| row.row.cell == cell);
        match rows.find(|row| Some(row.row.metric.as_str()) == metric) {
            None => {
                Self { name: "expected".to_owned(), value: expected_value(bars), repeats: None, others: Vec::new() }
            }
            Some(row) => Self {
                name: report.display_name(&row.row.metric).to_owned(),
                value: row.row.value,
                repeats: Some(row.row.repeats),
                others: row
                    .reference_comparisons()
                    .map(|judged| (judged.counterpart.owner, judged.counterpart.value))
                    .collect(),
            },
        }
    }

    fn largest_own_or_reference_value(&self) -> f64 {
        self.others.iter().map(|(_, value)| *value).fold(self.value, f64::max)
    }

    /// The value and those of others as lines across with words above them, over a plot so wide.
    fn marks(&self, width: f64) -> Vec<Mark> {
        let name = format!("{}: {}", self.name, format_four_digits(self.value));
        let mut marks =
            vec![Mark::Across(self.value, EXPECTED), text_mark(name, PlotPoint::new(0.0, self.value), EXPECTED.colour)];
        for (i, (owner, value)) in self.others.iter().enumerate() {
            let at = PlotPoint::new(width * (FIRST + NEXT * i as f64), *value);
            marks.push(Mark::Across(*value, owner_pen(*owner)));
            marks.push(text_mark(format!("{}: {}", owner_name(*owner), format_exact(*value)), at, OTHERS.colour));
        }
        marks
    }
}

/// The line of a number of another owner.
fn owner_pen(owner: ReferenceValueOwner) -> Pen {
    match owner {
        ReferenceValueOwner::Paper => OTHERS.dashed(),
        ReferenceValueOwner::Authors | ReferenceValueOwner::Reference => OTHERS.dotted(),
    }
}

fn owner_name(owner: ReferenceValueOwner) -> &'static str {
    match owner {
        ReferenceValueOwner::Paper => "paper",
        ReferenceValueOwner::Authors => "authors' files",
        ReferenceValueOwner::Reference => "reference",
    }
}

/// Words above a spot and to the right of it.
fn text_mark(text: String, at: PlotPoint, colour: Colour) -> Mark {
    Mark::Words(TextLabel { text, at, offset: PlotPoint::new(8.0, -5.0), anchor: TextAnchor::BottomLeft, colour })
}

impl PictureBuilder for BarsFigure {
    fn build_picture(&self, report: &Report<'_>) -> Result<Picture, FigureError> {
        let (mut panels, mut levels) = (Vec::new(), Vec::new());
        for group in group_cells_into_panels(report, self.panels.as_deref(), &[]) {
            let frames = read_frames(report, Some(group.first_cell()), "candidates", read_candidates)?;
            let Some(bars) = frames.into_iter().next().filter(|bars| !bars.is_empty()) else { continue };
            let level = ExpectedValueWithReferences::new(report, group.first_cell(), self.expected.as_deref(), &bars);
            let same = equalise_probabilities(&bars);
            let equal_level = ExpectedValueWithReferences::new(report, group.first_cell(), self.mean.as_deref(), &same);
            let most = self
                .most
                .unwrap_or_else(|| likely_candidates_height(&bars).max(1.1 * level.largest_own_or_reference_value()));
            panels.push(panel(self, group.title_followed_by("probabilities of the mechanism"), &bars, &level));
            panels.push(panel(self, group.title_followed_by("all equally probable"), &same, &equal_level));
            let wide = panel(self, group.title_followed_by("probabilities of the mechanism, magnified"), &bars, &level);
            panels.push(Panel { span: 2, ..limit_y_axis(wide, most) });
            levels.extend([level, equal_level]);
        }
        let legend = legend(&levels);
        Ok(Picture { legend, layout: Layout::new(HEIGHT).with_columns(Some(2)), panels }.with_panel_letters())
    }
}

/// With a y axis that ends there.
fn limit_y_axis(mut panel: Panel, most: f64) -> Panel {
    for plot in &mut panel.plots {
        plot.y.scale = plot.y.scale.with_given_ends(None, Some(most));
    }
    panel
}

fn panel(setting: &BarsFigure, title: String, bars: &[CandidateBar], level: &ExpectedValueWithReferences) -> Panel {
    let x = Scale::between(0.0, total_probability(bars));
    let y = Scale::from_zero(bars.iter().map(|bar| bar.value).chain([level.largest_own_or_reference_value()]));
    let mut marks = Vec::new();
    let mut left = 0.0;
    for bar in bars {
        let right = left + bar.probability;
        let corners = [(left, 0.0), (left, bar.value), (right, bar.value), (right, 0.0)];
        marks.extend([Mark::area(corners, INSIDE), Mark::line(corners, OUTLINE)]);
        left = right;
    }
    marks.extend(level.marks(total_probability(bars)));
    Panel::new(
        title,
        Plot::new(PlotAxis::with_numbers(x, &setting.x_label), PlotAxis::with_grid_lines(y, &setting.label), marks),
    )
}

fn equalise_probabilities(bars: &[CandidateBar]) -> Vec<CandidateBar> {
    let probability = 1.0 / bars.len() as f64;
    bars.iter().map(|bar| CandidateBar { probability, ..*bar }).collect()
}

fn expected_value(bars: &[CandidateBar]) -> f64 {
    bars.iter().map(|bar| bar.probability * bar.value).sum()
}

/// The sum of the probabilities; exactly 1 if they are rounded.
fn total_probability(bars: &[CandidateBar]) -> f64 {
    let sum: f64 = bars.iter().map(|bar| bar.probability).sum();
    if (sum - 1.0).abs() < 1e-3 { 1.0 } else { sum.max(f64::MIN_POSITIVE) }
}

/// The largest value among the best candidates that together have most of the probability, and the expected one.
fn likely_candidates_height(bars: &[CandidateBar]) -> f64 {
    let (mut sum, mut largest) = (0.0, 1.0);
    for bar in bars {
        if sum >= MAGNIFIED {
            break;
        }
        sum += bar.probability;
        largest = bar.value;
    }
    1.1 * expected_value(bars).max(largest)
}

fn legend(levels: &[ExpectedValueWithReferences]) -> Vec<LegendEntry> {
    let mut legend = match levels.iter().find_map(|level| level.repeats) {
        None => vec![
            Swatch::Area(INSIDE).with_meaning("a candidate (width: its probability)"),
            Swatch::Line(EXPECTED).with_meaning("expected value of the selected candidate"),
        ],
        Some(repeats) => vec![
            Swatch::Area(INSIDE).with_meaning("a candidate of the first replicate (width: its probability)"),
            Swatch::Line(EXPECTED).with_meaning(format!("expected value, mean of {repeats} replicates")),
        ],
    };
    for owner in ReferenceValueOwner::ALL {
        if levels.iter().flat_map(|level| &level.others).any(|(other, _)| *other == owner) {
            legend.push(Swatch::Line(owner_pen(owner)).with_meaning(value_owner_legend_text(owner)));
        }
    }
    legend
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::fabricated::{count, drawn, example_table, experiment, row, svg};
    use dpgp_task::FigureTable;

    const FIGURE: &str = "[figure.bars]\nlabel = \"RMSE (cm)\"\n";

    fn candidates() -> FigureTable {
        example_table("candidates probability value", &[[0.05, 20.0], [0.5, 1.0], [0.45, 2.0]])
    }

    #[test]
    fn each_candidate_has_a_bar_in_each_part() {
        let svg = svg("bars", &experiment(&["only"], FIGURE), vec![(0, candidates())]);
        assert_eq!(count(&svg, "polygon"), 3 * 3);
        assert_eq!(svg.matches("expected: ").count(), 3);
        assert!(svg.contains("(C) probabilities of the mechanism, magnified") && !svg.contains("(D)"));
    }

    #[test]
    fn a_metric_gives_the_mean_over_replicates_and_the_numbers_of_others() {
        let published = "[published.text]\nall = { precision = 0.01, source = \"text\" }\n\
                         columns = [\"metric\", \"value\"]\nrows = [[\"rmse\", 4.25]]\n";
        let figure = format!("{FIGURE}expected = \"rmse\"\n{published}");
        let experiment = experiment(&["only"], &figure);
        let rows = vec![row(0, "rmse", 3.5, None)];
        let svg = drawn("bars-metric", &Report::new(&experiment, rows, vec![(0, candidates())]));
        assert_eq!((svg.matches("rmse: 3.5").count(), svg.matches("expected: ").count()), (2, 1));
        assert_eq!((svg.matches("paper: 4.25").count(), count(&svg, "circle")), (2, 0), "lines, no circles");
        assert!(svg.contains("mean of 5 replicates") && svg.contains("printed in the paper"));
    }

    #[test]
    fn expectations_and_magnification() {
        let bar = |probability, value| CandidateBar { probability, value };
        let bars = [bar(0.5, 1.0), bar(0.45, 2.0), bar(0.05, 20.0)];
        assert!((expected_value(&bars) - 2.4).abs() < 1e-12);
        assert!((expected_value(&equalise_probabilities(&bars)) - 23.0 / 3.0).abs() < 1e-12);
        assert!((likely_candidates_height(&bars) - 1.1 * 2.4).abs() < 1e-12);
        assert!((likely_candidates_height(&bars[..2]) - 2.2).abs() < 1e-12);
    }

    #[test]
    fn a_value_may_be_zero() {
        let zero = example_table("candidates probability value", &[[1.0, 0.0]]);
        svg("bars-zero", &experiment(&["a", "b"], FIGURE), vec![(0, candidates()), (1, zero)]);
    }
}
