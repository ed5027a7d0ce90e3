//! A committed table with some axes as rows and others as columns.

use super::constant::{SpreadDescription, legend};
use super::terminal::{UNDEFINED, with_spread};
use crate::report::label_with_axis;
use crate::results::CommittedResults;
use dpgp_number::text::format_short;
use dpgp_spec::{Axis, SpreadKind, TableLayout};
use dpgp_task::Experiment;

/// Labels on some axes.
type PivotLabels = Vec<String>;

/// A table as text, cell by cell: the headings first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PivotTable {
    /// The labels on the axes that stand neither at the left nor at the top.
    pub title: String,
    /// The number of columns with labels.
    pub label_columns: usize,
    /// The headings, then the rows; all have the same number of cells.
    pub lines: Vec<Vec<String>>,
    /// The meaning of `±` for all tables, on the last one; empty on the others.
    pub legend: String,
}

impl PivotTable {
    /// The tables of a layout, one for each combination of labels on the axes that it does not name; rows of another metric
    /// are left out. A value has as many digits as its spread makes known: those of two digits of the spread.
    pub fn from_layout(experiment: &Experiment, committed: &CommittedResults, layout: &TableLayout) -> Vec<Self> {
        let [left, top] = [&layout.rows, &layout.columns].map(|names| axes(experiment, names));
        let named_axis = |axis: &&Axis| layout.rows.contains(&axis.name) || layout.columns.contains(&axis.name);
        let others: Vec<&Axis> = experiment.axes.iter().filter(|axis| !named_axis(axis)).collect();
        let of_metric = committed.rows.iter().filter(|row| committed.field(row, "metric") == layout.metric);
        let source = PivotSource { committed, rows: of_metric.map(Vec::as_slice).collect() };
        let parts = source.distinct_labels(&others);
        let pivots =
            parts.iter().map(|part| source.select_rows(&others, part).pivot(&left, &top, heading(&others, part)));
        let mut pivots: Vec<Self> = pivots.collect();
        if let Some(last) = pivots.last_mut() {
            last.legend = source.legend();
        }
        pivots
    }
}

fn axes<'a>(experiment: &'a Experiment, names: &[String]) -> Vec<&'a Axis> {
    names.iter().filter_map(|name| experiment.axes.iter().find(|axis| axis.name == *name)).collect()
}

fn heading(axes: &[&Axis], labels: &PivotLabels) -> String {
    let parts = axes.iter().zip(labels).map(|(axis, label)| label_with_axis(axis, label));
    parts.collect::<Vec<_>>().join(", ")
}

/// Rows of one metric.
struct PivotSource<'a> {
    committed: &'a CommittedResults,
    rows: Vec<&'a [String]>,
}

impl<'a> PivotSource<'a> {
    fn labels(&self, row: &[String], axes: &[&Axis]) -> PivotLabels {
        axes.iter().map(|axis| self.committed.label(row, axis).to_owned()).collect()
    }

    /// The labels that rows have on some axes, in the order of the table.
    fn distinct_labels(&self, axes: &[&Axis]) -> Vec<PivotLabels> {
        let mut all: Vec<PivotLabels> = Vec::new();
        for row in &self.rows {
            let own = self.labels(row, axes);
            if !all.contains(&own) {
                all.push(own);
            }
        }
        all
    }

    /// The rows with these labels.
    fn select_rows(&self, axes: &[&Axis], labels: &PivotLabels) -> PivotSource<'a> {
        let own = self.rows.iter().copied().filter(|row| self.labels(row, axes) == *labels);
        PivotSource { committed: self.committed, rows: own.collect() }
    }

    fn pivot(&self, left: &[&Axis], top: &[&Axis], title: String) -> PivotTable {
        let columns = self.distinct_labels(top);
        let names = left.iter().map(|axis| axis.name.clone());
        let mut lines = vec![names.chain(columns.iter().map(|labels| heading(top, labels))).collect()];
        for labels in self.distinct_labels(left) {
            let line = self.select_rows(left, &labels);
            let cells: Vec<String> = columns.iter().map(|column| line.select_rows(top, column).cell()).collect();
            lines.push(labels.into_iter().chain(cells).collect());
        }
        PivotTable { title, label_columns: left.len(), lines, legend: String::new() }
    }

    /// The meaning of the spreads; empty if there are none.
    fn legend(&self) -> String {
        legend(&self.rows.iter().filter_map(|row| self.spread(row)).collect::<Vec<_>>())
    }

    fn spread(&self, row: &[String]) -> Option<SpreadDescription> {
        let kind = SpreadKind::named(self.committed.field(row, "spread_kind"))?;
        let spread = self.committed.field(row, "spread").parse::<f64>().ok()?;
        let repeats = self.committed.field(row, "repeats").parse().ok()?;
        (spread > 0.0 && kind != SpreadKind::None).then_some(SpreadDescription { kind, repeats })
    }

    /// The content of the first row; empty without one.
    fn cell(&self) -> String {
        let Some(row) = self.rows.first() else { return String::new() };
        let [value, spread] = ["value", "spread"].map(|column| self.committed.field(row, column).parse().ok());
        value.map_or_else(|| UNDEFINED.to_owned(), |value| format_value(value, spread))
    }
}

/// Decimals after which a number is read no more: what is so small is written with a power of ten.
const MOST_DECIMALS: usize = 9;

/// A value with the digits that two digits of its spread make known; without a spread, four digits.
fn format_value(value: f64, spread: Option<f64>) -> String {
    match spread {
        Some(spread) if spread > 0.0 && spread.is_finite() && value.is_finite() => {
            // The second digit of the spread; rounding up to the next power of ten moves it by one place.
            let rounded: f64 = format!("{spread:.1e}").parse().unwrap_or(spread);
            let digits = (1.0 - rounded.log10().floor()).max(0.0) as usize;
            if digits > MOST_DECIMALS {
                return with_spread(format_short(value), Some(format_short(spread)));
            }
            with_spread(format!("{value:.digits$}"), Some(format!("{spread:.digits$}")))
        }
        _ => format_short(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_digits_that_their_spread_makes_known() {
        assert_eq!(format_value(12.3456, Some(0.0234)), "12.346 ± 0.023");
        assert_eq!(format_value(12.3456, Some(0.0999)), "12.35 ± 0.10");
        assert_eq!(format_value(217_813.4, Some(4645.2)), "217813 ± 4645");
        assert_eq!(format_value(1.0, Some(0.0)), "1.000");
        assert_eq!(format_value(0.5, None), "0.5000");
        assert_eq!(format_value(0.5, Some(1e-8)), "0.500000000 ± 0.000000010");
        assert_eq!(format_value(-5e-17, Some(1.25e-16)), "-5.00e-17 ± 1.25e-16");
    }
}
