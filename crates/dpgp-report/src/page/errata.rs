//! Statements of the papers against computed numbers, on the page: words first.

use serde::Serialize;

use crate::{Committed, short};
use dpgp_spec::{ErratumKind, ErratumWords};
use dpgp_task::{Cell, Experiment};

/// An erratum as the page shows it.
#[derive(Debug, Serialize)]
pub(super) struct PageErratum {
    words: ErratumWords,
    claimed: String,
    found: String,
    corrected: String,
    /// How many times too large a bound is that holds; none of another kind.
    factor: Option<String>,
}

/// The errata among the cells of an experiment, by paper and then by kind, with the numbers of its table.
pub(super) fn errata(committed: &Committed, experiment: &Experiment) -> Vec<PageErratum> {
    let cells = experiment.cells.iter();
    let told = cells.filter_map(|cell| Some(page_erratum(committed, cell, experiment.erratum(cell)?)));
    let mut all: Vec<PageErratum> = told.collect();
    all.sort_by(|a, b| (&a.words.paper, a.words.kind).cmp(&(&b.words.paper, b.words.kind)));
    all
}

fn page_erratum(committed: &Committed, cell: &Cell, words: &ErratumWords) -> PageErratum {
    let id = cell.id().short();
    let [claimed, found, corrected, factor] = ["claimed", "found", "corrected", "factor"]
        .map(|metric| number(committed, &id, metric).map(short).unwrap_or_default());
    let factor = (words.kind == ErratumKind::Loose).then_some(factor);
    PageErratum { words: words.clone(), claimed, found, corrected, factor }
}

/// The value of a metric in the row of a cell; none if the table has no such row.
fn number(committed: &Committed, cell: &str, metric: &str) -> Option<f64> {
    let mut rows = committed.rows.iter();
    let row =
        rows.find(|row| committed.field(row, "cell") == cell && committed.field(row, "metric") == metric)?;
    committed.field(row, "value").parse().ok()
}
