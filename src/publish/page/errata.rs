//! Errors of the papers on the page: words and numbers.

use serde::Serialize;

use crate::publish::committed::Committed;
use crate::publish::number::short;
use crate::task::errata::{About, about};
use crate::task::{Experiment, TaskSetting};

/// An erratum as the page shows it.
#[derive(Debug, Serialize)]
pub(super) struct PageErratum {
    paper: &'static str,
    place: &'static str,
    statement: &'static str,
    claimed: String,
    example: &'static str,
    found: String,
    holds: bool,
    correction: &'static str,
    corrected: String,
    effect: &'static str,
}

/// The errata among the cells of an experiment, with the numbers of its table.
pub(super) fn errata(committed: &Committed, experiment: &Experiment) -> Vec<PageErratum> {
    let of = |cell: &crate::task::Cell| {
        let TaskSetting::Errata(task) = &*cell.setting().task else { return None };
        let (id, About { paper, place, statement, example, correction, effect }) =
            (cell.id().short(), about(task.erratum));
        let number = |metric: &str| {
            let is = |row: &&Vec<String>| {
                committed.field(row, "cell") == id && committed.field(row, "metric") == metric
            };
            committed.field(committed.rows.iter().find(is)?, "value").parse::<f64>().ok()
        };
        let shown = |metric: &str| number(metric).map(short).unwrap_or_default();
        let (claimed, found, corrected) = (shown("claimed"), shown("found"), shown("corrected"));
        let holds = number("holds") == Some(1.0);
        Some(PageErratum {
            paper,
            place,
            statement,
            claimed,
            example,
            found,
            holds,
            correction,
            corrected,
            effect,
        })
    };
    experiment.cells.iter().filter_map(of).collect()
}
