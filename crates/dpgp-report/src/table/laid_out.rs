//! A table in the layout of the paper, in Markdown.

use std::fmt::Write;

use super::markdown::escape_markdown;
use super::terminal::{format_own_value, format_printed};
use crate::report::{Report, ReportRow, label_with_axis};
use dpgp_spec::{BestDirection, TableLayout};

/// A cell of the grid on some axes: their labels.
type GridLabels = Vec<String>;

/// The meaning of the marks behind a printed number.
const LEGEND: &str = "Ours ± spread, with the printed number below: ✓ agrees, ✗ differs, ~ inconclusive or not judged, \
    ≈ fitted, ○ other data.";

/// The tables of a layout, one for each combination of labels on the axes that it does not name.
pub fn layout_markdown(report: &Report<'_>, layout: &TableLayout) -> String {
    let [rows, columns] = [&layout.rows, &layout.columns].map(|names| axes(report, names));
    let others: Vec<usize> =
        (0..report.experiment.axes.len()).filter(|axis| !rows.contains(axis) && !columns.contains(axis)).collect();
    let shown: Vec<&ReportRow> = report.rows.iter().filter(|row| row.row.metric == layout.metric).collect();
    let mut text = String::new();
    for part in distinct_labels(&shown, &others) {
        let own: Vec<&ReportRow> = shown.iter().copied().filter(|row| labels(row, &others) == part).collect();
        let table = LayoutTable { report, layout, rows: &rows, columns: &columns, shown: own };
        text.push_str(&table.markdown(&heading(report, &others, &part)));
    }
    let beside = shown.iter().any(|row| row.published.is_some());
    if beside {
        let _ = writeln!(text, "{LEGEND}\n");
    }
    text
}

/// One table.
struct LayoutTable<'a> {
    report: &'a Report<'a>,
    layout: &'a TableLayout,
    rows: &'a [usize],
    columns: &'a [usize],
    shown: Vec<&'a ReportRow>,
}

impl LayoutTable<'_> {
    fn markdown(&self, title: &str) -> String {
        let columns = distinct_labels(&self.shown, self.columns);
        let names = self.rows.iter().map(|axis| escape_markdown(&self.report.experiment.axes[*axis].name));
        let tops = columns.iter().map(|labels| heading(self.report, self.columns, labels));
        let mut text = if title.is_empty() { String::new() } else { format!("{title}:\n\n") };
        text.push_str(&markdown_line(names.chain(tops)));
        text.push_str(&markdown_line((0..self.rows.len() + columns.len()).map(|_| "---".to_owned())));
        for left in distinct_labels(&self.shown, self.rows) {
            let cells = columns.iter().map(|top| self.cell(&left, top));
            text.push_str(&markdown_line(left.iter().map(|label| escape_markdown(label)).chain(cells)));
        }
        format!("{text}\n")
    }

    /// Ours, and what the paper prints, with a mark for the verdict; bold where ours is the best of its column.
    fn cell(&self, left: &GridLabels, top: &GridLabels) -> String {
        let Some(row) = self.find_row(left, top) else { return String::new() };
        let ours = format_own_value(row);
        let ours = if self.is_best(row, top) { format!("**{ours}**") } else { ours };
        match &row.published {
            None => ours,
            Some(judged) => {
                format!("{ours}<br>{} {}", format_printed(&judged.counterpart), judged.verdict.mark())
            }
        }
    }

    fn find_row(&self, left: &GridLabels, top: &GridLabels) -> Option<&ReportRow> {
        let is_there = |row: &&&ReportRow| labels(row, self.rows) == *left && labels(row, self.columns) == *top;
        self.shown.iter().find(is_there).copied()
    }

    /// Of the rows of a column; where some guarantee privacy, what guarantees none is there to compare with and is not best.
    fn is_best(&self, row: &ReportRow, top: &GridLabels) -> bool {
        let column = self.shown.iter().filter(|other| labels(other, self.columns) == *top);
        let (private, others): (Vec<&ReportRow>, Vec<&ReportRow>) =
            column.partition(|other| other.row.certificate.guarantee.is_some());
        let rivals = if private.is_empty() { &others } else { &private };
        let rivals: Vec<&ReportRow> = rivals.iter().copied().filter(|rival| rival.row.undefined.is_none()).collect();
        if !rivals.iter().any(|rival| std::ptr::eq(*rival, row)) {
            return false;
        }
        let mut values = rivals.iter().map(|rival| rival.row.value);
        match self.layout.best {
            None => false,
            Some(BestDirection::Least) => values.all(|value| row.row.value <= value),
            Some(BestDirection::Greatest) => values.all(|value| row.row.value >= value),
        }
    }
}

fn axes(report: &Report<'_>, names: &[String]) -> Vec<usize> {
    names.iter().filter_map(|name| report.axis(name)).collect()
}

fn labels(row: &ReportRow, axes: &[usize]) -> GridLabels {
    axes.iter().map(|axis| row.labels[*axis].clone()).collect()
}

/// The labels that rows have on some axes, in the order of the grid.
fn distinct_labels(rows: &[&ReportRow], axes: &[usize]) -> Vec<GridLabels> {
    let mut all: Vec<GridLabels> = Vec::new();
    for row in rows {
        let own = labels(row, axes);
        if !all.contains(&own) {
            all.push(own);
        }
    }
    all
}

fn heading(report: &Report<'_>, axes: &[usize], labels: &GridLabels) -> String {
    let named = axes.iter().zip(labels).map(|(axis, label)| label_with_axis(&report.experiment.axes[*axis], label));
    escape_markdown(&named.collect::<Vec<_>>().join(", "))
}

fn markdown_line(cells: impl Iterator<Item = String>) -> String {
    let escaped: Vec<String> = cells.map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", escaped.join(" | "))
}
