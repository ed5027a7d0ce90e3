//! The rows of one experiment on the page.

use std::collections::BTreeMap;

use serde::Serialize;

use super::anchor;
use crate::publish::Committed;
use crate::publish::table::notes::GuaranteeNotes;
use crate::publish::{exact, short};
use crate::spec::FIXED_COLUMNS;

/// A column of the page's table.
#[derive(Debug, Serialize)]
pub(super) struct PageColumn {
    name: String,
    numeric: bool,
}

/// A row of the page's table.
#[derive(Debug, Serialize)]
pub(super) struct PageRow {
    anchor: String,
    verdict: String,
    cells: Vec<PageCell>,
}

/// What a cell shows, and the number that it is sorted by.
#[derive(Debug, Serialize)]
struct PageCell {
    text: String,
    sort: Option<f64>,
}

/// How a number of the table is shown.
type NumberText = fn(f64) -> String;

/// The columns after the axes: their name on the page, the column of the table, that of the spread beside it, and how
/// numbers are shown: as they were given, or rounded.
const AFTER_AXES: [(&str, &str, &str, NumberText); 15] = [
    ("epsilon", "epsilon", "", exact),
    ("metric", "metric", "", exact),
    ("ours", "value", "spread", short),
    ("one run from", "interval_low", "", short),
    ("to", "interval_high", "", short),
    ("published", "published", "published_spread", exact),
    ("verdict", "verdict", "", exact),
    ("its spread", "spread_verdict", "", exact),
    ("authors", "authors", "", exact),
    ("on authors", "authors_verdict", "", exact),
    ("reference", "reference", "reference_spread", exact),
    ("on reference", "reference_verdict", "", exact),
    ("exact delta", "delta_exact", "", short),
    ("gap", "gap", "", short),
    ("guarantee", "guarantee", "", exact),
];

/// The columns, the first `shown` rows, and the guarantees that they refer to by number.
pub(super) fn rows(
    committed: &Committed,
    shown: usize,
    place: &str,
) -> (Vec<PageColumn>, Vec<PageRow>, Vec<String>) {
    let axes: Vec<&str> =
        committed.headings.iter().map(String::as_str).filter(|h| !FIXED_COLUMNS.contains(h)).collect();
    let mut guarantees = GuaranteeNotes::default();
    let mut anchors = BTreeMap::new();
    let mut rows = Vec::with_capacity(shown);
    for row in &committed.rows[..shown] {
        let mut cells: Vec<PageCell> =
            axes.iter().map(|axis| cell(committed.field(row, axis), "", exact)).collect();
        for (name, column, spread, shown) in AFTER_AXES {
            let (text, spread) = (committed.field(row, column), committed.field(row, spread));
            cells.push(if name == "guarantee" {
                PageCell { text: guarantees.reference(text), sort: None }
            } else {
                cell(text, spread, shown)
            });
        }
        let anchor =
            anchor(&format!("{place}-{}-{}", committed.field(row, "cell"), committed.field(row, "metric")));
        let seen: &mut usize = anchors.entry(anchor.clone()).or_default();
        *seen += 1;
        let anchor = if *seen == 1 { anchor } else { format!("{anchor}-{seen}") };
        rows.push(PageRow { anchor, verdict: committed.field(row, "verdict").to_owned(), cells });
    }
    let names = axes.iter().copied().chain(AFTER_AXES.iter().map(|(name, ..)| *name));
    let columns = names.enumerate().map(|(at, name)| PageColumn {
        name: name.to_owned(),
        numeric: rows.iter().any(|row| row.cells[at].sort.is_some()),
    });
    let mut columns: Vec<PageColumn> = columns.collect();
    drop_empty(&mut columns, &mut rows);
    (columns, rows, guarantees.texts)
}

/// Leaves out the columns in which no row says anything.
fn drop_empty(columns: &mut Vec<PageColumn>, rows: &mut [PageRow]) {
    let mut kept = vec![false; columns.len()];
    for row in rows.iter() {
        kept.iter_mut().zip(&row.cells).for_each(|(kept, cell)| *kept |= !cell.text.is_empty());
    }
    let mut of_column = kept.iter();
    columns.retain(|_| of_column.next() == Some(&true));
    for row in rows {
        let mut of_cell = kept.iter();
        row.cells.retain(|_| of_cell.next() == Some(&true));
    }
}

fn cell(text: &str, spread: &str, shown: NumberText) -> PageCell {
    let sort = number(text);
    let mut text = sort.map_or_else(|| text.to_owned(), shown);
    if !spread.is_empty() {
        text = format!("{text} ± {}", number(spread).map_or_else(|| spread.to_owned(), shown));
    }
    PageCell { text, sort }
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|x: &f64| x.is_finite())
}
