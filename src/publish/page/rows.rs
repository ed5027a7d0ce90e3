//! The rows of one experiment on the page.

use std::collections::BTreeMap;

use serde::Serialize;

use super::anchor;
use crate::publish::committed::Committed;
use crate::publish::number::{exact, short};
use crate::spec::FIXED_COLUMNS;

/// A column of the page's table.
#[derive(Debug, Serialize)]
pub(super) struct Column {
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
type Shown = fn(f64) -> String;

/// The columns after the axes: their name on the page, the column of the table, that of the spread beside it, and how
/// numbers are shown: as they were given, or rounded.
const AFTER_AXES: [(&str, &str, &str, Shown); 8] = [
    ("epsilon", "epsilon", "", exact),
    ("metric", "metric", "", exact),
    ("published", "published", "published_spread", exact),
    ("ours", "value", "spread", short),
    ("verdict", "verdict", "", exact),
    ("exact delta", "delta_exact", "", short),
    ("gap", "gap", "", short),
    ("guarantee", "guarantee", "", exact),
];

/// The columns, the first `shown` rows, and the guarantees that they refer to by number.
pub(super) fn rows(
    committed: &Committed,
    shown: usize,
    place: &str,
) -> (Vec<Column>, Vec<PageRow>, Vec<String>) {
    let axes: Vec<&str> =
        committed.headings.iter().map(String::as_str).filter(|h| !FIXED_COLUMNS.contains(h)).collect();
    let mut guarantees = Guarantees::default();
    let mut anchors = BTreeMap::new();
    let rows: Vec<PageRow> = committed.rows[..shown]
        .iter()
        .map(|row| {
            let field = |name: &str| committed.field(row, name);
            let after = AFTER_AXES.iter().map(|&(name, column, spread, shown)| match name {
                "guarantee" => guarantees.cell(field(column)),
                _ => cell(field(column), field(spread), shown),
            });
            let cells = axes.iter().map(|axis| cell(field(axis), "", exact)).chain(after).collect();
            let anchor = anchor(&format!("{place}-{}-{}", field("cell"), field("metric")));
            let seen: &mut usize = anchors.entry(anchor.clone()).or_default();
            *seen += 1;
            let anchor = if *seen == 1 { anchor } else { format!("{anchor}-{seen}") };
            PageRow { anchor, verdict: field("verdict").to_owned(), cells }
        })
        .collect();
    let names = axes.iter().copied().chain(AFTER_AXES.iter().map(|(name, ..)| *name));
    let numeric = |at: usize| rows.iter().any(|row| row.cells[at].sort.is_some());
    let columns =
        names.enumerate().map(|(at, name)| Column { name: name.to_owned(), numeric: numeric(at) }).collect();
    (columns, rows, guarantees.texts)
}

fn cell(text: &str, spread: &str, shown: Shown) -> PageCell {
    let number = |text: &str| text.parse::<f64>().ok().filter(|x| x.is_finite());
    let shown = |text: &str| number(text).map_or_else(|| text.to_owned(), shown);
    let sort = number(text);
    let text = if spread.is_empty() { shown(text) } else { format!("{} ± {}", shown(text), shown(spread)) };
    PageCell { text, sort }
}

/// The distinct guarantees, in order of appearance.
#[derive(Debug, Default)]
struct Guarantees {
    texts: Vec<String>,
}

impl Guarantees {
    fn cell(&mut self, text: &str) -> PageCell {
        if text.is_empty() || text == "none" {
            return PageCell { text: text.to_owned(), sort: None };
        }
        let known = self.texts.iter().position(|known| known == text);
        let number = known.unwrap_or_else(|| {
            self.texts.push(text.to_owned());
            self.texts.len() - 1
        });
        PageCell { text: format!("[{}]", number + 1), sort: None }
    }
}
