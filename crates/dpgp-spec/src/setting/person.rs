//! Whose rows the data hold, and how many of each person are used.

use super::rules::{Checked, fail};
use super::{DataSetting, Problem, SourceSetting};
use dpgp_accounting::PrivacyUnit;
use dpgp_data::Comparison;

/// How many rows of each person are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PersonLimit<'d> {
    /// The column that says whose row it is.
    pub column: &'d str,
    /// The most rows of each.
    pub rows: usize,
}

/// The cells by which the rows that are used of a person are chosen.
///
/// Obligation: where the inputs are public, which of them are used is public, too, and must not depend on a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChosenBy {
    /// The inputs, where the target alone is private.
    Inputs,
    /// The whole record, where it is private.
    Record,
}

impl DataSetting {
    /// How many rows of each person are used; none where rows are not those of persons.
    pub fn person_limit(&self) -> Option<PersonLimit<'_>> {
        let (column, rows) = (self.person.as_deref()?, self.rows_per_person?.get());
        Some(PersonLimit { column, rows })
    }

    /// What a guarantee about these data is about.
    pub fn unit(&self) -> PrivacyUnit {
        match self.person_limit() {
            None => PrivacyUnit::Record,
            Some(PersonLimit { column, rows }) => {
                PrivacyUnit::Person { column: column.to_owned(), rows: rows as u64, records_per_row: 1 }
            }
        }
    }

    /// What the columns of a stream of rows after the target are compared with: those of the filters, and the marks of the
    /// rows that are used, where there is a limit or some lack a cell.
    pub fn comparisons(&self) -> Vec<(Comparison, f64)> {
        let filters = self.filter.iter().map(|filter| (filter.is, filter.value));
        let marked = self.person_limit().is_some() || self.drops_missing();
        filters.chain(marked.then_some((Comparison::Equal, 1.0))).collect()
    }

    /// Checks the two keys, and that the rows are such that persons can have them.
    pub(super) fn check_person(&self) -> Checked {
        let column = match (&self.person, self.rows_per_person) {
            (None, None) => return Ok(()),
            (Some(_), None) => return missing("rows_per_person", "data.person"),
            (None, Some(_)) => return missing("person", "data.rows_per_person"),
            (Some(column), Some(_)) => column,
        };
        let why = if self.inputs.contains(column) {
            "is an input; what says whose row it is must not be learned from"
        } else if *column == self.target {
            "is the target; name the column that says whose row it is"
        } else if !self.source.can_hold_persons() {
            "names no persons of generated points, images or trips, which are nobody's; persons need a table of rows"
        } else if self.draw.is_some() {
            "cannot stand beside data.draw, which chooses rows by chance from those of all persons"
        } else {
            return Ok(());
        };
        fail("data.person", Problem::Shape(format!("{column:?} {why}")))
    }
}

fn missing(key: &'static str, by: &'static str) -> Checked {
    fail("data", Problem::MissingKey { key, by })
}

impl SourceSetting {
    /// Whether the rows come from a table, which may say whose they are.
    fn can_hold_persons(&self) -> bool {
        match self {
            Self::Csv { .. } | Self::Parquet { .. } | Self::Inline(_) | Self::Dataset(_) => true,
            Self::Synthetic(_) | Self::Images(_) | Self::Trips(_) => false,
        }
    }
}
