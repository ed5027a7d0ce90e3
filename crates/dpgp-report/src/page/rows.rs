//! The rows of one experiment on the page.

use std::collections::BTreeMap;

use serde::Serialize;

use super::anchor;
use crate::CommittedResults;
use crate::table::markdown::GuaranteeNotes;
use crate::{format_exact, format_short};
use dpgp_spec::FIXED_COLUMNS;

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

/// The content of a cell.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum PageCell {
    Text(String),
    /// A text, and the number that sorts it.
    Number(String, f64),
}

impl PageCell {
    fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Number(text, _) => text,
        }
    }

    fn is_number(&self) -> bool {
        matches!(self, Self::Number(..)) || number(self.text()).is_some()
    }
}

/// The format of a number in the table.
type CellNumberFormat = fn(f64) -> String;

/// The columns after the axes: their name on the page, the column of the table, that of the spread beside it, and how
/// numbers are shown: as they were given, or rounded.
const AFTER_AXES: [(&str, &str, &str, CellNumberFormat); 17] = [
    ("epsilon", "epsilon", "", format_exact),
    ("metric", "metric", "", format_exact),
    ("ours", "value", "spread", format_short),
    ("one run from", "interval_low", "", format_short),
    ("to", "interval_high", "", format_short),
    ("published", "published", "published_spread", format_exact),
    ("verdict", "verdict", "", format_exact),
    ("ours / print", "ratio_to_print", "", format_short),
    ("z", "z", "", format_short),
    ("its spread", "spread_verdict", "", format_exact),
    ("authors", "authors", "", format_exact),
    ("on authors", "authors_verdict", "", format_exact),
    ("reference", "reference", "reference_spread", format_exact),
    ("on reference", "reference_verdict", "", format_exact),
    ("exact delta", "delta_exact", "", format_short),
    ("gap", "gap", "", format_short),
    ("guarantee", "guarantee", "", format_exact),
];

/// The table of an experiment on the page.
#[derive(Debug, Default, Serialize)]
pub(super) struct PageTable {
    pub columns: Vec<PageColumn>,
    pub rows: Vec<PageRow>,
    /// The guarantees, which the rows refer to by number.
    pub guarantees: Vec<String>,
}

/// The table of an experiment, whose rows have addresses that begin with `place`.
pub(super) fn table(committed: &CommittedResults, place: &str) -> PageTable {
    let axes: Vec<&str> =
        committed.headings.iter().map(String::as_str).filter(|h| !FIXED_COLUMNS.contains(h)).collect();
    let mut guarantees = GuaranteeNotes::default();
    let mut anchors = BTreeMap::new();
    let mut rows = Vec::with_capacity(committed.rows.len());
    for row in &committed.rows {
        let mut cells: Vec<PageCell> =
            axes.iter().map(|axis| cell(committed.field(row, axis), "", format_exact)).collect();
        for (name, column, spread, shown) in AFTER_AXES {
            let (text, spread) = (committed.field(row, column), committed.field(row, spread));
            cells.push(if name == "guarantee" {
                PageCell::Text(guarantees.reference(text))
            } else {
                cell(text, spread, shown)
            });
        }
        let anchor = anchor(&format!("{place}-{}-{}", committed.field(row, "cell"), committed.field(row, "metric")));
        let seen: &mut usize = anchors.entry(anchor.clone()).or_default();
        *seen += 1;
        let anchor = if *seen == 1 { anchor } else { format!("{anchor}-{seen}") };
        rows.push(PageRow { anchor, verdict: committed.field(row, "verdict").to_owned(), cells });
    }
    let names = axes.iter().copied().chain(AFTER_AXES.iter().map(|(name, ..)| *name));
    let columns = names.enumerate().map(|(at, name)| PageColumn {
        name: name.to_owned(),
        numeric: rows.iter().any(|row| row.cells[at].is_number()),
    });
    let mut columns: Vec<PageColumn> = columns.collect();
    drop_empty_columns(&mut columns, &mut rows);
    PageTable { columns, rows, guarantees: guarantees.texts }
}

/// Leaves out the columns in which no row says anything.
fn drop_empty_columns(columns: &mut Vec<PageColumn>, rows: &mut [PageRow]) {
    let mut kept = vec![false; columns.len()];
    for row in rows.iter() {
        kept.iter_mut().zip(&row.cells).for_each(|(kept, cell)| *kept |= !cell.text().is_empty());
    }
    let mut of_column = kept.iter();
    columns.retain(|_| of_column.next() == Some(&true));
    for row in rows {
        let mut of_cell = kept.iter();
        row.cells.retain(|_| of_cell.next() == Some(&true));
    }
}

fn cell(text: &str, spread: &str, shown: CellNumberFormat) -> PageCell {
    let value = number(text);
    let mut text = value.map_or_else(|| text.to_owned(), shown);
    if !spread.is_empty() {
        text = format!("{text} ± {}", number(spread).map_or_else(|| spread.to_owned(), shown));
    }
    match value {
        Some(value) if number(&text) != Some(value) => PageCell::Number(text, value),
        _ => PageCell::Text(text),
    }
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|x: &f64| x.is_finite())
}
