//! The roles of columns in a spec: target, inputs, and those that are left out, with the reason.

use std::collections::BTreeSet;

use thiserror::Error;

use dpgp_data::suggest::closest_name;
use dpgp_data::{ColumnDescription, ColumnKind};

/// The columns that the user names.
#[derive(Debug, Clone, Default)]
pub struct ChosenColumns {
    /// The column to predict; by default the last numeric column that is not an input.
    pub target: Option<String>,
    /// The columns to predict from; by default all other numeric columns.
    pub inputs: Vec<String>,
    /// Inputs that hold text, each with its categories. Without named inputs, these columns are the inputs.
    pub categories: Vec<(String, Vec<String>)>,
}

/// A reason why columns cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ColumnError {
    /// The file has no such column.
    #[error("there is no column {name:?}{meant}; {known}")]
    Unknown {
        /// The name that was given.
        name: String,
        /// The most similar column, in words.
        meant: String,
        /// All columns, by kind.
        known: String,
    },
    /// Its cells are not numbers.
    #[error("the column {name:?} is not numeric: {why}; {known}")]
    NoNumbers {
        /// The column.
        name: String,
        /// The reason.
        why: String,
        /// All columns, by kind.
        known: String,
    },
    /// It is named several times.
    #[error("the column {0:?} is named twice among the inputs and the target")]
    Twice(String),
    /// Categories of a column that is no input.
    #[error("--categories lists categories of {0:?}, which is not among --inputs")]
    CategoriesOfNoInput(String),
    /// Numbers of bins for other inputs.
    #[error("--bins lists {bins} numbers, but the number of numeric inputs is {inputs}")]
    Bins {
        /// Numbers of bins given.
        bins: usize,
        /// Numeric inputs that rows are counted by.
        inputs: usize,
    },
    /// The target or the inputs use all numeric columns.
    #[error("no numeric column is left for the {0}")]
    NoneLeft(&'static str),
}

/// The columns of a file by their roles in a spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnRoles {
    /// The target; none where rows are counted.
    pub target: Option<String>,
    /// The inputs.
    pub inputs: Vec<String>,
    /// Other numeric columns.
    pub unused: Vec<String>,
    /// Columns that number the rows and that the user does not name.
    pub index: Vec<String>,
    /// Columns of words.
    pub text: Vec<String>,
    /// Columns with neither numbers nor words.
    pub others: Vec<String>,
    /// Numeric columns that are not used because their names are those of identifiers.
    pub identifiers: Vec<String>,
    /// Whether the user named the target.
    pub told_target: bool,
    /// Whether the user named the inputs.
    pub told_inputs: bool,
}

impl ChosenColumns {
    /// Returns the columns that may be inputs or the target: numeric ones, and those that number the rows if the user names them.
    pub(super) fn usable_columns(&self, columns: &[ColumnDescription]) -> Vec<String> {
        let named: BTreeSet<&String> = self.target.iter().chain(&self.inputs).collect();
        let usable = columns.iter().filter(|column| match column.kind {
            ColumnKind::Numbers => true,
            ColumnKind::Index => named.contains(&column.name),
            _ => false,
        });
        usable.map(|column| column.name.clone()).collect()
    }

    /// Assigns a role to each column. By default the last numeric column is the target, and the others are the inputs. A column that
    /// numbers the rows is unused unless the user names it.
    ///
    /// Where rows are counted, no column is the target, and the first two are the inputs.
    pub(super) fn assign_roles(&self, columns: &[ColumnDescription], counts: bool) -> Result<ColumnRoles, ColumnError> {
        use ColumnKind as K;
        let [numbers, index, text] = [K::Numbers, K::Index, K::Text].map(|kind| columns_of_kinds(columns, &[kind]));
        let others = columns_of_kinds(columns, &[K::MostlyNumbers, K::Nothing, K::Times, K::Other]);
        let mut taken: Vec<&String> = Vec::new();
        let told_inputs = !self.inputs.is_empty();
        let with_categories: Vec<&String> = self.categories.iter().map(|(name, _)| name).collect();
        let named = if told_inputs { self.inputs.clone() } else { with_categories.iter().copied().cloned().collect() };
        let is_again = |place: &usize| with_categories[..*place].contains(&with_categories[*place]);
        if let Some(place) = (0..with_categories.len()).find(is_again) {
            return Err(ColumnError::Twice(with_categories[place].clone()));
        }
        if let Some(other) = with_categories.iter().copied().find(|name| !named.contains(*name)) {
            return Err(ColumnError::CategoriesOfNoInput(other.clone()));
        }
        for name in self.target.iter().chain(&named) {
            match with_categories.contains(&name) {
                true => ensure_column_exists(name, columns)?,
                false => ensure_numeric_column(name, columns)?,
            }
            if taken.contains(&name) {
                return Err(ColumnError::Twice(name.clone()));
            }
            taken.push(name);
        }
        let is_free = |name: &&String| !taken.contains(name);
        let is_identifier = |name: &&String| is_free(name) && is_identifier_name(name);
        let identifiers: Vec<&String> = numbers.iter().filter(is_identifier).collect();
        // Where nothing else is left, they are used.
        let others_left = numbers.iter().filter(is_free).count() - identifiers.len();
        let needed = usize::from(self.target.is_none() && !counts) + usize::from(named.is_empty());
        let identifiers = if others_left < needed { Vec::new() } else { identifiers };
        let mut free = numbers.iter().filter(|name| is_free(name) && !identifiers.contains(name)).rev();
        let target = match counts {
            true => None,
            false => {
                let target = self.target.as_ref().or_else(|| free.next());
                Some(target.ok_or(ColumnError::NoneLeft("target"))?)
            }
        };
        let most = if counts { COUNTED_BY } else { usize::MAX };
        let inputs = if named.is_empty() { free.rev().take(most).cloned().collect() } else { named.clone() };
        if inputs.is_empty() {
            return Err(ColumnError::NoneLeft("inputs"));
        }
        let used: BTreeSet<&String> = inputs.iter().chain(target).collect();
        let identifiers = identifiers.into_iter().cloned().collect();
        let [unused, index, text] =
            [&numbers, &index, &text].map(|names| names.iter().filter(|name| !used.contains(name)).cloned().collect());
        Ok(ColumnRoles {
            unused,
            index,
            target: target.cloned(),
            inputs,
            text,
            others,
            identifiers,
            told_target: self.target.is_some(),
            told_inputs: !named.is_empty(),
        })
    }
}

/// Whether a name is that of an identifier, such as `patient_id` or `Customer`: by its last word, never by its cells.
fn is_identifier_name(name: &str) -> bool {
    const WORDS: [&str; 12] = [
        "id",
        "ids",
        "uid",
        "uuid",
        "identifier",
        "patient",
        "person",
        "participant",
        "subject",
        "customer",
        "client",
        "user",
    ];
    let last = name.trim().rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    let before = ["Id", "ID"].iter().find_map(|end| last.strip_suffix(end));
    let camel = before.is_some_and(|before| before.ends_with(|c: char| c.is_ascii_lowercase()));
    camel || WORDS.contains(&last.to_ascii_lowercase().as_str())
}

/// The inputs that rows are counted by, unless the user names others.
const COUNTED_BY: usize = 2;

/// Returns the names of the columns of some kinds.
fn columns_of_kinds(columns: &[ColumnDescription], kinds: &[ColumnKind]) -> Vec<String> {
    let own = columns.iter().filter(|column| kinds.contains(&column.kind));
    own.map(|column| column.name.clone()).collect()
}

/// Checks that a column has this name.
///
/// # Errors
/// [`ColumnError::Unknown`], which lists the columns.
pub fn ensure_column_exists(name: &str, columns: &[ColumnDescription]) -> Result<(), ColumnError> {
    if columns.iter().any(|column| column.name == name) {
        return Ok(());
    }
    let names = columns.iter().map(|column| column.name.as_str());
    let meant = closest_name(name, names).map(|other| format!(" (did you mean {other:?}?)")).unwrap_or_default();
    Err(ColumnError::Unknown { name: name.to_owned(), meant, known: list_columns_by_kind(columns) })
}

/// Fails if a name is not that of a numeric column, and lists the columns.
fn ensure_numeric_column(name: &str, columns: &[ColumnDescription]) -> Result<(), ColumnError> {
    ensure_column_exists(name, columns)?;
    let mut others = columns.iter().filter(|column| ![ColumnKind::Numbers, ColumnKind::Index].contains(&column.kind));
    match others.find(|column| column.name == name) {
        None => Ok(()),
        Some(column) => {
            let mut why = exclusion_reason(column).unwrap_or_default();
            if column.kind == ColumnKind::Text {
                why.push_str(
                    "; a categorical input needs a list of its categories: with --count, pass --categories NAME=A,B,C; otherwise, \
                     leave the input out here and add it to the spec by hand (see `encode` in docs/rows.md)",
                );
            }
            Err(ColumnError::NoNumbers { name: name.to_owned(), why, known: list_columns_by_kind(columns) })
        }
    }
}

/// Lists the columns by kind.
fn list_columns_by_kind(columns: &[ColumnDescription]) -> String {
    use ColumnKind as K;
    let kinds = [
        (&[K::Numbers][..], "numeric columns"),
        (&[K::Index], "columns that number the rows"),
        (&[K::Text], "text columns"),
        (&[K::MostlyNumbers], "columns with a cell that is not a number"),
        (&[K::Nothing, K::Times, K::Other], "other columns"),
    ];
    let mut parts = Vec::new();
    for (kinds, what) in kinds {
        let names = columns_of_kinds(columns, kinds);
        if !names.is_empty() {
            parts.push(format!("{what}: {}", first_names_text(&names, MOST_LISTED)));
        }
    }
    parts.join("; ")
}

/// The most columns to list.
const MOST_LISTED: usize = 50;

/// Lists the first names, and counts the others.
pub fn first_names_text(names: &[String], most: usize) -> String {
    let shown: Vec<String> = names.iter().take(most).map(|name| format!("{name:?}")).collect();
    match names.len().saturating_sub(most) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Explains why a column is not used by default; `None` for a numeric one. Only for the holder of the file: it does not quote a cell, but
/// it reveals that a cell is not a number.
fn exclusion_reason(column: &ColumnDescription) -> Option<String> {
    Some(match (column.kind, column.no_number) {
        (ColumnKind::Numbers, _) => return None,
        (_, Some((line, what))) => format!("in line {line} the cell is {what}"),
        (ColumnKind::Index, _) => {
            "it only numbers the rows, like an index column of pandas or R; use --inputs or --target to use it anyway"
                .to_owned()
        }
        (ColumnKind::Text | ColumnKind::MostlyNumbers, None) => "it holds text".to_owned(),
        (ColumnKind::Nothing, None) => "it is empty".to_owned(),
        (ColumnKind::Times, None) => {
            "it holds dates or times; convert them to numbers of days, hours or seconds".to_owned()
        }
        (ColumnKind::Other, None) => "it holds neither numbers nor text".to_owned(),
    })
}

/// Writes a line for each column that is left out, with the reason.
pub(super) fn excluded_column_lines(columns: &[ColumnDescription], used: &[String]) -> Vec<String> {
    let used: BTreeSet<&String> = used.iter().collect();
    let left = columns.iter().filter(|column| !used.contains(&column.name));
    left.filter_map(|column| Some(format!("column {:?}: {}", column.name, exclusion_reason(column)?))).collect()
}
