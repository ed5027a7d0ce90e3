//! Cells in which nothing stands.

use polars::prelude::AnyValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cell::{number, text};
use super::error::DataError;
use super::table_error::{CellProblem, TableError};

/// What becomes of a row that lacks a cell that is read. A cell is missing if it is a null, empty, or one of the words `NA`, `NaN`
/// and `null`, in any case; blanks around it do not count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// It is an error.
    #[default]
    Refuse,
    /// It is left out.
    Drop,
}

/// What stands for nothing, in any case.
const WORDS: [&str; 3] = ["NA", "NaN", "null"];

/// Whether a text that is not empty stands for nothing.
pub(super) fn is_absent(text: &str) -> bool {
    WORDS.iter().any(|word| word.eq_ignore_ascii_case(text.trim()))
}

/// Whether there is nothing in a cell, whatever is expected there.
pub(super) fn is_nothing(cell: &AnyValue<'_>) -> bool {
    text(cell).is_none_or(|text| is_absent(&text))
}

impl Missing {
    /// A number, or NaN for a missing one that may be left out.
    pub(super) fn or_nan(self, number: Result<f64, CellProblem>) -> Result<f64, CellProblem> {
        match number {
            Err(problem) if self == Self::Drop && problem.is_missing() => Ok(f64::NAN),
            number => number,
        }
    }
}

/// What is expected in the cells of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedCell<'c> {
    /// Finite numbers.
    Number,
    /// Words of a list, even where one of them stands for nothing elsewhere.
    Code(&'c [String]),
    /// Persons, by any word or number.
    Person,
}

impl ExpectedCell<'_> {
    /// Whether a cell is missing.
    ///
    /// # Errors
    /// [`CellProblem`] for one that is there, and is not what is expected.
    pub(super) fn is_missing(self, cell: &AnyValue<'_>) -> Result<bool, CellProblem> {
        match self {
            Self::Number => Missing::Drop.or_nan(number(cell)).map(f64::is_nan),
            Self::Code(codes) => match text(cell) {
                Some(word) if codes.iter().any(|code| *code == *word) => Ok(false),
                Some(word) if !is_absent(&word) => Err(CellProblem::NoCode(codes.to_vec())),
                _ => Ok(true),
            },
            Self::Person => Ok(is_nothing(cell)),
        }
    }
}

impl DataError {
    /// The same error, which names `data.missing = "drop"` as a way out where a cell is missing in any column but `kept`.
    ///
    /// ```
    /// use dpgp_data::{Table, TextLayout};
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("rows.csv");
    /// std::fs::write(&path, "x,y\n1,NA\n")?;
    /// let table = Table::read(&path, &TextLayout::default().format())?;
    /// let error = || table.numeric("y").unwrap_err();
    /// assert!(error().offering_drop(None).to_string().ends_with("data.missing = \"drop\""));
    /// assert!(!error().offering_drop(Some("y")).to_string().contains("drop"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn offering_drop(mut self, kept: Option<&str>) -> Self {
        if let Self::Table { problem, .. } = &mut self
            && let TableError::Cell { column, problem, .. } | TableError::PathCell { column, problem } =
                &mut **problem
            && problem.is_missing()
            && kept != Some(column.as_str())
        {
            *problem = CellProblem::Refused(Box::new(problem.clone()));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_nothing() {
        for nothing in ["", "  ", "NA", " na ", "NaN", "nan", "null", "NULL"] {
            assert!(is_nothing(&AnyValue::String(nothing)), "{nothing:?}");
            assert_eq!(ExpectedCell::Number.is_missing(&AnyValue::String(nothing)), Ok(true), "{nothing:?}");
        }
        assert!(is_nothing(&AnyValue::Null) && is_nothing(&AnyValue::Float64(f64::NAN)));
        for there in ["0", "-", "N/A", "none", "inf", "-nan", "nana"] {
            assert!(!is_nothing(&AnyValue::String(there)), "{there:?}");
            assert_ne!(ExpectedCell::Number.is_missing(&AnyValue::String(there)), Ok(true), "{there:?}");
        }
        assert_eq!(
            ExpectedCell::Number.is_missing(&AnyValue::Float64(f64::INFINITY)),
            Err(CellProblem::NotFinite)
        );
    }

    /// A continent may be called NA.
    #[test]
    fn a_code_is_there() {
        let codes = ["NA", "SA"].map(str::to_owned);
        for (word, missing) in [
            ("NA", Ok(false)),
            ("null", Ok(true)),
            ("", Ok(true)),
            ("EU", Err(CellProblem::NoCode(codes.to_vec()))),
        ] {
            assert_eq!(ExpectedCell::Code(&codes).is_missing(&AnyValue::String(word)), missing, "{word:?}");
        }
    }
}
