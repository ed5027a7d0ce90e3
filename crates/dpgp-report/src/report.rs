//! The rows of an experiment, beside the numbers from papers and other sources.

use std::collections::BTreeMap;

use super::table::claims::{ClaimOutcome, ClaimOutcomeKind, ClaimRow, check_claim};
use super::table::row_standard_error;
use super::table::verdict::{ComparisonConditions, NumberVerdict, ReferenceComparison, standard_error};
use dpgp_number::text::format_exact;
use dpgp_run::FailedCell;
use dpgp_spec::{DeviationKind, ExperimentAxis, FIXED_COLUMNS, ReferenceValue, ReferenceValueOwner, SpreadKind};
use dpgp_task::{Experiment, FigureTable, MetricSummary};

/// A row with its labels and the numbers of others.
#[derive(Debug, Clone)]
pub struct ReportRow {
    /// The cell's identity.
    pub cell_id: String,
    /// The cell's label on each axis.
    pub labels: Vec<String>,
    /// The result.
    pub row: MetricSummary,
    /// The paper's number.
    pub published: Option<ReferenceComparison>,
    /// The number in its authors' files or code.
    pub authors: Option<ReferenceComparison>,
    /// The number of an independent computation.
    pub reference: Option<ReferenceComparison>,
}

/// From so many replicates on, they give the error of their mean themselves.
pub(super) const ENOUGH_REPLICATES: usize = 5;

impl ReportRow {
    /// The verdict on the paper's number.
    pub fn verdict(&self) -> NumberVerdict {
        self.published.as_ref().map_or(NumberVerdict::None, |judged| judged.verdict)
    }

    /// All numbers that stand beside it, the paper's first.
    pub fn reference_comparisons(&self) -> impl Iterator<Item = &ReferenceComparison> {
        [&self.published, &self.authors, &self.reference].into_iter().flatten()
    }

    /// The standard error of the mean for a figure: over replicates if there are enough, else from the spread over folds, which is larger
    /// but does not vary as much as that of two or three replicates. Zero where there is no spread.
    pub(super) fn standard_error(&self) -> f64 {
        let MetricSummary { spread, spread_kind, repeats, .. } = self.row;
        match spread_kind == SpreadKind::SdFolds && self.row.replicates.len() >= ENOUGH_REPLICATES {
            true => row_standard_error(&self.row),
            false => standard_error(spread, spread_kind, repeats),
        }
    }

    /// Its place along an axis, infinite for an infinite label; none if the label is not a number.
    pub(super) fn axis_value(&self, axis: usize) -> Option<f64> {
        self.labels[axis].parse().ok().filter(|x: &f64| !x.is_nan())
    }

    fn to_claim_row(&self) -> ClaimRow<'_> {
        ClaimRow::new(&self.labels, &self.row, self.published.as_ref())
    }
}

/// Everything that a table, a figure or a page shows of one experiment.
#[derive(Debug, Clone)]
pub struct Report<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Its rows, in grid order.
    pub rows: Vec<ReportRow>,
    /// The further data of its figure: the index of a cell and one of its frames, in grid order.
    pub frames: Vec<(usize, FigureTable)>,
    /// Its claims, checked.
    pub claims: Vec<ClaimOutcome>,
    /// The cells that could not be computed, and so have no row.
    pub failed: Vec<FailedCell>,
}

impl<'a> Report<'a> {
    /// Puts the rows beside the numbers of others.
    pub fn new(experiment: &'a Experiment, rows: Vec<MetricSummary>, frames: Vec<(usize, FigureTable)>) -> Self {
        let beside = ReferenceIndex::from_experiment(experiment);
        let mut report_rows = Vec::with_capacity(rows.len());
        for row in rows {
            let cell = &experiment.cells[row.cell];
            report_rows.push(ReportRow {
                cell_id: cell.id().short(),
                labels: cell.labels().to_vec(),
                published: beside.compare_row(&row, ReferenceValueOwner::Paper),
                authors: beside.compare_row(&row, ReferenceValueOwner::Authors),
                reference: beside.compare_row(&row, ReferenceValueOwner::Reference),
                row,
            });
        }
        let rows = report_rows;
        let seen: Vec<ClaimRow<'_>> = rows.iter().map(ReportRow::to_claim_row).collect();
        let claims =
            experiment.claims.iter().map(|claim| check_claim(claim, &seen, beside.conditions.stand_in)).collect();
        Self { experiment, rows, frames, claims, failed: Vec::new() }
    }

    /// Adds cells that could not be computed; claims about them are undecided.
    #[must_use]
    pub fn with_failed_cells(mut self, failed: Vec<FailedCell>) -> Self {
        for (claim, outcome) in self.experiment.claims.iter().zip(&mut self.claims) {
            if outcome.outcome != ClaimOutcomeKind::StandIn
                && failed.iter().any(|failed| claim.compares_cell(self.experiment.cells[failed.cell].labels()))
            {
                outcome.outcome = ClaimOutcomeKind::Undecided;
            }
        }
        Self { failed, ..self }
    }

    /// Sentences on the cells that could not be computed.
    pub(super) fn failure_sentences(&self) -> impl Iterator<Item = String> {
        self.failed.iter().map(|failed| format!("{}: {}", self.describe_cell(failed.cell), failed.reason))
    }

    /// A cell by its labels; a number is named by its axis.
    pub(super) fn describe_cell(&self, cell: usize) -> String {
        let cell = &self.experiment.cells[cell];
        let labels = self.experiment.axes.iter().zip(cell.labels()).map(|(axis, label)| label_with_axis(axis, label));
        let labels: Vec<String> = labels.collect();
        if labels.is_empty() { cell.joined_labels() } else { labels.join(", ") }
    }

    /// The labels of a row; a number is named by its axis.
    pub fn labels(&self, row: &ReportRow) -> impl Iterator<Item = String> {
        let axes = self.experiment.axes.iter().zip(&row.labels);
        axes.map(|(axis, label)| label_with_axis(axis, label)).collect::<Vec<_>>().into_iter()
    }

    /// The part of it that its figure shows.
    pub(super) fn restrict_to_figure(&self) -> Self {
        let mut shown = self.clone();
        // Undefined numbers have no place in a figure.
        shown.rows.retain(|row| self.is_in_figure(row.row.cell) && row.row.undefined.is_none());
        shown.frames.retain(|(cell, _)| self.is_in_figure(*cell));
        shown
    }

    fn is_in_figure(&self, cell: usize) -> bool {
        self.experiment.figure_cells.selects(self.experiment.cells[cell].labels())
    }

    /// The position of an axis.
    pub(super) fn axis_index(&self, name: &str) -> Option<usize> {
        self.experiment.axes.iter().position(|axis| axis.name == name)
    }

    /// The label of a cell on an axis.
    pub(super) fn label(&self, cell: usize, axis: usize) -> &str {
        &self.experiment.cells[cell].labels()[axis]
    }

    /// The place of a cell's label among those of an axis.
    pub(super) fn label_index(&self, cell: usize, axis: usize) -> usize {
        let label = self.label(cell, axis);
        self.experiment.axes[axis].labels.iter().position(|other| other == label).unwrap_or(0)
    }

    /// The labels of an axis that cells with rows or frames have; numbers are named by the axis.
    pub(super) fn labels_with_results(&self, axis: usize) -> Vec<String> {
        let cells: Vec<usize> = (0..self.experiment.cells.len()).filter(|cell| self.has_cell(*cell)).collect();
        let axis_labels = self.experiment.axes[axis].labels.iter();
        let shown = axis_labels.filter(|label| cells.iter().any(|cell| self.label(*cell, axis) == *label));
        shown.map(|label| self.display_label_with_axis(axis, label)).collect()
    }

    /// On how many axes two cells have different labels.
    pub(super) fn count_label_differences(&self, cell: usize, other: usize) -> usize {
        let axes = 0..self.experiment.axes.len();
        axes.filter(|axis| self.label(cell, *axis) != self.label(other, *axis)).count()
    }

    /// Whether it holds a row or a frame of a cell.
    pub(super) fn has_cell(&self, cell: usize) -> bool {
        self.rows.iter().any(|row| row.row.cell == cell) || self.frames.iter().any(|(of, _)| *of == cell)
    }

    /// The frames of a cell that have this name.
    pub(super) fn frames_of<'b>(&'b self, cell: usize, name: &'b str) -> impl Iterator<Item = &'b FigureTable> {
        let own = self.frames.iter().filter(move |(of, frame)| *of == cell && frame.name == name);
        own.map(|(_, frame)| frame)
    }

    /// The largest jitter that a factorisation of any row needed; zero if none did.
    pub fn largest_jitter(&self) -> f64 {
        self.rows.iter().map(|row| row.row.jitter).fold(0.0, f64::max)
    }

    /// The axes that get a column of their own: all but those that one of the `shown` columns repeats, row by row.
    pub fn axis_columns(&self, shown: &[&str]) -> Vec<(usize, &str)> {
        let axes = self.experiment.axes.iter().enumerate();
        axes.filter(|(i, axis)| !(shown.contains(&axis.name.as_str()) && self.is_axis_repeated(*i, &axis.name)))
            .map(|(i, axis)| (i, if FIXED_COLUMNS.contains(&axis.name.as_str()) { &*axis.path } else { &*axis.name }))
            .collect()
    }

    /// Whether a column shows the labels of an axis, row by row.
    fn is_axis_repeated(&self, axis: usize, column: &str) -> bool {
        self.rows.iter().all(|row| epsilon_or_delta_as_label(row, column) == Some(row.labels[axis].clone()))
    }
}

/// The numbers beside the rows of an experiment.
struct ReferenceIndex<'a> {
    known: BTreeMap<(ReferenceValueOwner, usize, &'a str), &'a ReferenceValue>,
    conditions: ComparisonConditions,
}

impl<'a> ReferenceIndex<'a> {
    fn from_experiment(experiment: &'a Experiment) -> Self {
        let mut known = BTreeMap::new();
        for one in &experiment.counterparts {
            known.insert((one.owner, one.cell, one.metric.as_str()), one);
        }
        let stand_in = experiment.deviations.iter().any(|d| d.kind == DeviationKind::StandIn);
        Self { known, conditions: ComparisonConditions { stand_in, reduced: experiment.quick } }
    }

    fn compare_row(&self, row: &MetricSummary, owner: ReferenceValueOwner) -> Option<ReferenceComparison> {
        let counterpart = self.known.get(&(owner, row.cell, row.metric.as_str()))?;
        // Other data than the paper's do not excuse us from our own references.
        let stand_in = self.conditions.stand_in && owner != ReferenceValueOwner::Reference;
        Some(ReferenceComparison::new(row, counterpart, ComparisonConditions { stand_in, ..self.conditions }))
    }
}

/// A label as text; a number is named by its axis.
pub fn label_with_axis(axis: &ExperimentAxis, label: &str) -> String {
    match label.parse::<f64>() {
        Ok(_) => format!("{} = {label}", axis.name),
        Err(_) => label.to_owned(),
    }
}

/// The value of a row in a column that an axis may share, as a label.
fn epsilon_or_delta_as_label(row: &ReportRow, column: &str) -> Option<String> {
    let certificate = &row.row.certificate;
    match column {
        "epsilon" => Some(format_exact(certificate.epsilon())),
        "delta" => certificate.delta().map(format_exact),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpgp_accounting::Certificate;

    /// Folds differ by a standard deviation of 6 over nine folds; five replicates 1, 2, 3, 4, 5 by sqrt 2.5.
    #[test]
    fn bars_are_over_replicates_where_there_are_enough() {
        for (replicates, error) in [(vec![1.0, 5.0], 2.0), (vec![1.0, 2.0, 3.0, 4.0, 5.0], 0.5f64.sqrt())] {
            let row = MetricSummary {
                cell: 0,
                metric: "rmse".to_owned(),
                value: 3.0,
                spread: Some(6.0),
                spread_kind: SpreadKind::SdFolds,
                repeats: 9,
                replicates,
                fold_spreads: Vec::new(),
                certificate: Certificate::none(),
                jitter: 0.0,
                undefined: None,
            };
            let (cell_id, labels) = (String::new(), Vec::new());
            let row = ReportRow { cell_id, labels, row, published: None, authors: None, reference: None };
            assert!((row.standard_error() - error).abs() < 1e-12, "{error}");
        }
    }
}
