//! Errors of the papers on the page: words and numbers.

use serde::Serialize;

use crate::publish::{Committed, short};
use crate::spec::ErratumWords;
use crate::task::{Cell, Experiment};

/// An erratum as the page shows it.
#[derive(Debug, Serialize)]
pub(super) struct PageErratum {
    words: ErratumWords,
    claimed: String,
    found: String,
    holds: bool,
    corrected: String,
}

/// The errata among the cells of an experiment, with the numbers of its table.
pub(super) fn errata(committed: &Committed, experiment: &Experiment) -> Vec<PageErratum> {
    let cells = experiment.cells.iter();
    cells.filter_map(|cell| Some(page_erratum(committed, cell, experiment.erratum(cell)?))).collect()
}

fn page_erratum(committed: &Committed, cell: &Cell, words: &ErratumWords) -> PageErratum {
    let id = cell.id().short();
    let [claimed, found, corrected] = ["claimed", "found", "corrected"]
        .map(|metric| number(committed, &id, metric).map(short).unwrap_or_default());
    let holds = number(committed, &id, "holds") == Some(1.0);
    PageErratum { words: words.clone(), claimed, found, holds, corrected }
}

/// The value of a metric in the row of a cell; none if the table has no such row.
fn number(committed: &Committed, cell: &str, metric: &str) -> Option<f64> {
    let mut rows = committed.rows.iter();
    let row =
        rows.find(|row| committed.field(row, "cell") == cell && committed.field(row, "metric") == metric)?;
    committed.field(row, "value").parse().ok()
}
