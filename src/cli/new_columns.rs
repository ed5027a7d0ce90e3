//! Which columns of a file `dpgp new --data` takes.

use clap::Args;
use thiserror::Error;

use crate::data::suggest::closest;
use crate::data::{ColumnKind, ColumnType};

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
    #[error("the column {name:?} does not hold numbers; {known}")]
    NoNumbers { name: String, known: String },
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
    pub text: Vec<String>,
    pub others: Vec<String>,
    pub told_target: bool,
    pub told_inputs: bool,
}

impl ChosenColumns {
    /// What each column of a file is for. What was not told is chosen: the last column of numbers is the target, the others are the
    /// inputs.
    pub fn roles(&self, columns: &[ColumnType]) -> Result<Roles, ColumnError> {
        let [numbers, text, others] =
            [ColumnKind::Numbers, ColumnKind::Text, ColumnKind::Other].map(|kind| of_kind(columns, kind));
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
        let unused = numbers.iter().filter(|name| *name != target && !inputs.contains(name)).cloned();
        Ok(Roles {
            unused: unused.collect(),
            target: target.clone(),
            inputs,
            text,
            others,
            told_target: self.target.is_some(),
            told_inputs,
        })
    }
}

/// The names of the columns of a kind.
fn of_kind(columns: &[ColumnType], kind: ColumnKind) -> Vec<String> {
    let own = columns.iter().filter(|column| column.kind == kind);
    own.map(|column| column.name.clone()).collect()
}

/// Refuses a name of no column of numbers, with the columns that there are.
fn known(name: &str, columns: &[ColumnType]) -> Result<(), ColumnError> {
    let names = columns.iter().map(|column| column.name.as_str());
    match columns.iter().find(|column| column.name == name) {
        Some(column) if column.kind == ColumnKind::Numbers => Ok(()),
        Some(_) => Err(ColumnError::NoNumbers { name: name.to_owned(), known: listing(columns) }),
        None => {
            let meant = closest(name, names).map(|other| format!(" (did you mean {other:?}?)"));
            let meant = meant.unwrap_or_default();
            Err(ColumnError::Unknown { name: name.to_owned(), meant, known: listing(columns) })
        }
    }
}

/// The columns by kind.
fn listing(columns: &[ColumnType]) -> String {
    let kinds = [
        (ColumnKind::Numbers, "columns of numbers"),
        (ColumnKind::Text, "columns of text"),
        (ColumnKind::Other, "other columns"),
    ];
    let mut parts = Vec::new();
    for (kind, what) in kinds {
        let names: Vec<String> = of_kind(columns, kind).iter().map(|name| format!("{name:?}")).collect();
        if !names.is_empty() {
            parts.push(format!("{what}: {}", names.join(", ")));
        }
    }
    parts.join("; ")
}
