//! Which columns of a file `dpgp new --data` takes.

use std::collections::BTreeSet;

use clap::Args;
use thiserror::Error;

use dpgp_data::suggest::closest;
use dpgp_data::{ColumnKind, ColumnType};

/// The columns that the user names.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct ChosenColumns {
    /// The column that is predicted [default: the last column of numbers that is no input]
    #[arg(long, value_name = "COLUMN", requires = "data")]
    target: Option<String>,
    /// The columns that it is predicted from, with commas between [default: all other columns of numbers]
    #[arg(long, value_name = "NAMES", requires = "data", value_delimiter = ',', value_parser = column_name)]
    inputs: Vec<String>,
}

/// A name that is not empty.
pub(super) fn column_name(name: &str) -> Result<String, String> {
    match name.trim() {
        "" => Err("a column has no name".to_owned()),
        name => Ok(name.to_owned()),
    }
}

/// Why columns cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ColumnError {
    /// The file has no such column.
    #[error("there is no column {name:?}{meant}; {known}")]
    Unknown { name: String, meant: String, known: String },
    /// Its cells are no numbers.
    #[error("the column {name:?} does not hold numbers: {why}; {known}")]
    NoNumbers { name: String, why: String, known: String },
    /// It is several times an input, or the target, too.
    #[error("the column {0:?} is named twice among the inputs and the target")]
    Twice(String),
    /// The inputs are all that there is, or the target is.
    #[error("no column of numbers is left for the {0}")]
    NoneLeft(&'static str),
}

/// The columns of a file by what a spec does with them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Roles {
    pub target: String,
    pub inputs: Vec<String>,
    /// Columns of numbers that are neither.
    pub unused: Vec<String>,
    /// Columns that number the rows, and are not named.
    pub index: Vec<String>,
    pub text: Vec<String>,
    pub others: Vec<String>,
    pub told_target: bool,
    pub told_inputs: bool,
}

impl ChosenColumns {
    /// The columns that may be inputs or the target: of numbers, those that number the rows if they are named.
    pub fn usable(&self, columns: &[ColumnType]) -> Vec<String> {
        let named: BTreeSet<&String> = self.target.iter().chain(&self.inputs).collect();
        let usable = columns.iter().filter(|column| match column.kind {
            ColumnKind::Numbers => true,
            ColumnKind::Index => named.contains(&column.name),
            _ => false,
        });
        usable.map(|column| column.name.clone()).collect()
    }

    /// What each column of a file is for. What was not told is chosen: the last column of numbers is the target, the others are the
    /// inputs. A column that numbers the rows is neither, unless it is named.
    pub fn roles(&self, columns: &[ColumnType]) -> Result<Roles, ColumnError> {
        use ColumnKind as K;
        let [numbers, index, text] = [K::Numbers, K::Index, K::Text].map(|kind| of_kinds(columns, &[kind]));
        let others = of_kinds(columns, &[K::Nothing, K::Times, K::Other]);
        let mut taken: Vec<&String> = Vec::new();
        for name in self.target.iter().chain(&self.inputs) {
            known(name, columns)?;
            if taken.contains(&name) {
                return Err(ColumnError::Twice(name.clone()));
            }
            taken.push(name);
        }
        let mut free = numbers.iter().filter(|name| !taken.contains(name)).rev();
        let target = self.target.as_ref().or_else(|| free.next()).ok_or(ColumnError::NoneLeft("target"))?;
        let told_inputs = !self.inputs.is_empty();
        let inputs = if told_inputs { self.inputs.clone() } else { free.rev().cloned().collect() };
        if inputs.is_empty() {
            return Err(ColumnError::NoneLeft("inputs"));
        }
        let used: BTreeSet<&String> = inputs.iter().chain([target]).collect();
        let [unused, index] = [&numbers, &index]
            .map(|names| names.iter().filter(|name| !used.contains(name)).cloned().collect());
        Ok(Roles {
            unused,
            index,
            target: target.clone(),
            inputs,
            text,
            others,
            told_target: self.target.is_some(),
            told_inputs,
        })
    }
}

/// The names of the columns of some kinds.
fn of_kinds(columns: &[ColumnType], kinds: &[ColumnKind]) -> Vec<String> {
    let own = columns.iter().filter(|column| kinds.contains(&column.kind));
    own.map(|column| column.name.clone()).collect()
}

/// Refuses a name of no column of numbers, with the columns that there are.
fn known(name: &str, columns: &[ColumnType]) -> Result<(), ColumnError> {
    let names = columns.iter().map(|column| column.name.as_str());
    match columns.iter().find(|column| column.name == name) {
        Some(column) if [ColumnKind::Numbers, ColumnKind::Index].contains(&column.kind) => Ok(()),
        Some(column) => {
            let why = why_left_out(column).unwrap_or_default();
            Err(ColumnError::NoNumbers { name: name.to_owned(), why, known: listing(columns) })
        }
        None => {
            let meant = closest(name, names).map(|other| format!(" (did you mean {other:?}?)"));
            let meant = meant.unwrap_or_default();
            Err(ColumnError::Unknown { name: name.to_owned(), meant, known: listing(columns) })
        }
    }
}

/// The columns by kind.
fn listing(columns: &[ColumnType]) -> String {
    use ColumnKind as K;
    let kinds = [
        (&[K::Numbers][..], "columns of numbers"),
        (&[K::Index], "columns that number the rows"),
        (&[K::Text], "columns of text"),
        (&[K::Nothing, K::Times, K::Other], "other columns"),
    ];
    let mut parts = Vec::new();
    for (kinds, what) in kinds {
        let names = of_kinds(columns, kinds);
        if !names.is_empty() {
            parts.push(format!("{what}: {}", some_names(&names, MOST_LISTED)));
        }
    }
    parts.join("; ")
}

/// The most columns that are listed on a terminal.
const MOST_LISTED: usize = 50;

/// The first names of a list, and how many more there are.
pub(super) fn some_names(names: &[String], most: usize) -> String {
    let shown: Vec<String> = names.iter().take(most).map(|name| format!("{name:?}")).collect();
    match names.len().saturating_sub(most) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Why a column is not taken where nobody names it; none for one of numbers. For the holder of the file alone: what stands in a cell is not
/// told, but that it is no number is.
pub(super) fn why_left_out(column: &ColumnType) -> Option<String> {
    Some(match (column.kind, column.no_number) {
        (ColumnKind::Numbers, _) => return None,
        (_, Some((line, what))) => format!("in line {line} the cell is {what}"),
        (ColumnKind::Index, _) => {
            "it numbers the rows, as pandas and R write it beside them; --inputs or --target may name it"
                .to_owned()
        }
        (ColumnKind::Text, None) => "it holds text".to_owned(),
        (ColumnKind::Nothing, None) => "it is empty".to_owned(),
        (ColumnKind::Times, None) => {
            "it holds dates or times; write them as numbers of days, hours or seconds".to_owned()
        }
        (ColumnKind::Other, None) => "it holds neither numbers nor text".to_owned(),
    })
}

/// A line for each of the first columns that are not taken where nobody names them.
pub(super) fn left_out(columns: &[ColumnType], used: &[String]) -> Vec<String> {
    let used: BTreeSet<&String> = used.iter().collect();
    let left = columns.iter().filter(|column| !used.contains(&column.name));
    left.filter_map(|column| Some(format!("column {:?}: {}", column.name, why_left_out(column)?))).collect()
}

/// The most columns that are told one by one.
const MOST_TOLD: usize = 10;

/// Lines below another one, of many the first.
pub(super) fn below(lines: &[String]) -> String {
    let mut text: String = lines.iter().take(MOST_TOLD).map(|line| format!("\n  {line}")).collect();
    if let Some(more) = lines.len().checked_sub(MOST_TOLD).filter(|more| *more > 0) {
        text.push_str(&format!("\n  and {more} more"));
    }
    text
}
