//! Missing cells: the content of a cell, the reading of cells in sequence, and the rows to keep.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;

use polars::prelude::{AnyValue, Series};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::DataError;
use super::identity::RowFingerprinter;
use super::person::PersonId;
use super::table_error::{TableCellError, TableError};

/// The treatment of rows with a missing cell in a column that the spec uses. A cell is missing if it is null, empty, or one of
/// the words `NA`, `NaN` and `null`, regardless of case. Blanks around the word are ignored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MissingCellPolicy {
    /// A row with a missing cell is an error.
    #[default]
    Refuse,
    /// Rows with a missing cell are left out.
    Drop,
}

/// Words for a missing value, in any case.
const WORDS: [&str; 3] = ["NA", "NaN", "null"];

/// Whether a text that is not empty stands for a missing value.
pub(super) fn is_missing_word(text: &str) -> bool {
    WORDS.iter().any(|word| word.eq_ignore_ascii_case(text.trim()))
}

/// Whether there is nothing in a cell, whatever is expected there.
pub(super) fn is_missing_cell(cell: &AnyValue<'_>) -> bool {
    cell_to_text(cell).is_none_or(|text| is_missing_word(&text))
}

impl MissingCellPolicy {
    /// A number, or NaN for a missing one that may be left out.
    fn or_nan(self, number: Result<f64, TableCellError>) -> Result<f64, TableCellError> {
        match number {
            Err(problem) if self == Self::Drop && problem.is_missing() => Ok(f64::NAN),
            number => number,
        }
    }
}

/// Content expected in the cells of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedCell<'c> {
    /// Finite numbers.
    Number,
    /// Words from a list, even a word that means a missing value elsewhere.
    Code(&'c [String]),
    /// People, identified by any word or number.
    Person,
}

impl ExpectedCell<'_> {
    /// Whether a cell is missing.
    ///
    /// # Errors
    /// [`TableCellError`] for one that is there, and is not what is expected.
    pub(super) fn is_missing(self, cell: &AnyValue<'_>) -> Result<bool, TableCellError> {
        match self {
            Self::Number => MissingCellPolicy::Drop.or_nan(cell_to_number(cell)).map(f64::is_nan),
            Self::Code(codes) => match cell_to_text(cell) {
                Some(word) if codes.iter().any(|code| *code == *word) => Ok(false),
                Some(word) if !is_missing_word(&word) => Err(TableCellError::NoCode(codes.to_vec())),
                _ => Ok(true),
            },
            Self::Person => Ok(is_missing_cell(cell)),
        }
    }
}

impl DataError {
    /// The same error, which names `data.missing = "drop"` as a way out where a cell is missing in any column but `kept`.
    ///
    /// ```
    /// use dpgp_data::{Table, CsvLayout};
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("rows.csv");
    /// std::fs::write(&path, "x,y\n1,NA\n")?;
    /// let table = Table::read(&path, &CsvLayout::default().to_csv_format())?;
    /// let error = || table.numeric_column("y").unwrap_err();
    /// assert!(error().suggest_dropping_rows(None).to_string().ends_with("data.missing = \"drop\""));
    /// assert!(!error().suggest_dropping_rows(Some("y")).to_string().contains("drop"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn suggest_dropping_rows(mut self, kept: Option<&str>) -> Self {
        if let Self::Table { problem, .. } = &mut self
            && let TableError::Cell { column, problem, .. } | TableError::PathCell { column, problem } = &mut **problem
            && problem.is_missing()
        {
            let cause = Box::new(problem.clone());
            *problem = match kept == Some(column.as_str()) {
                true => TableCellError::MissingTarget(cause),
                false => TableCellError::Refused(cause),
            };
        }
        self
    }
}

/// A cell that is no number, and its row in its column, from 0.
pub(super) struct BadCell {
    pub row: usize,
    pub problem: TableCellError,
}

/// Appends the cells of a column. All must be finite numbers, except missing ones that may be left out: NaN.
pub(super) fn append_numbers(column: &Series, missing: MissingCellPolicy, to: &mut Vec<f64>) -> Result<(), BadCell> {
    // A stream of `DOUBLE` is copied as it stands: looking at its cells one by one takes longer than decoding them.
    if let Some(numbers) = column.f64().ok().and_then(|column| column.cont_slice().ok())
        && numbers.iter().all(|number| number.is_finite())
    {
        to.extend_from_slice(numbers);
        return Ok(());
    }
    for (row, cell) in column.iter().enumerate() {
        to.push(missing.or_nan(cell_to_number(&cell)).map_err(|problem| BadCell { row, problem })?);
    }
    Ok(())
}

/// A cell as a finite number: of a type that holds numbers, or text that says one.
pub(super) fn cell_to_number(cell: &AnyValue<'_>) -> Result<f64, TableCellError> {
    match cell {
        AnyValue::Float64(value) if value.is_nan() => Err(TableCellError::Absent),
        AnyValue::Float64(value) => finite(*value).ok_or(TableCellError::NotFinite),
        AnyValue::Int64(value) => Ok(*value as f64),
        AnyValue::UInt64(value) => Ok(*value as f64),
        cell => parse_finite_number(cell_to_text(cell).as_deref().unwrap_or_default()),
    }
}

/// Text as a finite number, blanks around it apart.
fn parse_finite_number(text: &str) -> Result<f64, TableCellError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(TableCellError::Missing);
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ if is_missing_word(text) => Err(TableCellError::Absent),
        Ok(_) => Err(TableCellError::NotFinite),
        Err(_) => Err(TableCellError::NotANumber),
    }
}

/// A cell as text without blanks around it; none if it is missing.
pub(super) fn cell_to_text<'a>(cell: &AnyValue<'a>) -> Option<Cow<'a, str>> {
    match cell {
        AnyValue::Null => None,
        AnyValue::String(text) => Some(text.trim()).filter(|text| !text.is_empty()).map(Cow::Borrowed),
        // The shortest digits that are read as the same number.
        AnyValue::Float64(value) => Some(Cow::Owned(format!("{value:?}"))),
        whole => Some(Cow::Owned(whole.to_string())),
    }
}

/// The person that a cell names.
pub(super) fn cell_to_person(cell: &AnyValue<'_>) -> Result<PersonId, TableCellError> {
    let found = match cell {
        AnyValue::Float64(value) => PersonId::of_number(*value),
        cell => cell_to_text(cell).as_deref().and_then(PersonId::parse),
    };
    found.ok_or(TableCellError::NoPerson)
}

/// Shows a cell to a witness; `read` is whether a spec reads its column.
pub(super) fn fingerprint_cell(cell: &AnyValue<'_>, witness: &mut RowFingerprinter, read: bool) {
    match cell {
        AnyValue::Float64(value) => witness.add_number(*value, read),
        AnyValue::Int64(value) => witness.add_number(*value as f64, read),
        AnyValue::UInt64(value) => witness.add_number(*value as f64, read),
        cell => witness.add_text(cell_to_text(cell).as_deref().unwrap_or_default().as_bytes(), read),
    }
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// Which columns hold words of a list, and what becomes of a row that lacks a cell.
///
/// ```
/// use dpgp_data::{CellParsingRules, MissingCellPolicy};
/// assert_eq!(CellParsingRules::from(MissingCellPolicy::Drop), CellParsingRules { missing: MissingCellPolicy::Drop, ..CellParsingRules::default() });
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CellParsingRules {
    /// The treatment of rows with a missing cell.
    pub missing: MissingCellPolicy,
    /// The list of categories for each text column. A category is read as its position in the list, counted from 0.
    pub codes: BTreeMap<String, Vec<String>>,
}

impl From<MissingCellPolicy> for CellParsingRules {
    fn from(missing: MissingCellPolicy) -> Self {
        Self { missing, codes: BTreeMap::new() }
    }
}

impl CellParsingRules {
    /// The words of a column; none if it holds numbers.
    pub(super) fn column_categories(&self, column: &str) -> Option<&[String]> {
        self.codes.get(column).map(Vec::as_slice)
    }

    /// A text in a column as a number, or NaN for a missing one that may be left out.
    ///
    /// # Errors
    /// [`TableCellError`] for one that is none, or is missing and must not be.
    pub(super) fn parse_number(&self, column: &str, text: &str) -> Result<f64, TableCellError> {
        match self.column_categories(column) {
            Some(codes) => self.category_index(codes, Some(text.trim())),
            None => self.missing.or_nan(parse_finite_number(text)),
        }
    }

    /// Appends the cells of a column.
    pub(super) fn append_cells(&self, column: &str, cells: &Series, to: &mut Vec<f64>) -> Result<(), BadCell> {
        let Some(codes) = self.column_categories(column) else {
            return append_numbers(cells, self.missing, to);
        };
        for (row, cell) in cells.iter().enumerate() {
            to.push(self.cell_category_index(codes, &cell).map_err(|problem| BadCell { row, problem })?);
        }
        Ok(())
    }

    fn cell_category_index(&self, codes: &[String], cell: &AnyValue<'_>) -> Result<f64, TableCellError> {
        self.category_index(codes, cell_to_text(cell).as_deref())
    }

    /// The place of a word. One that the list lacks is a missing cell where rows that lack one are left out, and counts as the first word
    /// elsewhere: what is summed are private records, and an error, or a row less, would tell of the word. A word of the list is there,
    /// whatever it stands for elsewhere.
    fn category_index(&self, codes: &[String], word: Option<&str>) -> Result<f64, TableCellError> {
        let word = word.filter(|word| !word.is_empty());
        let place = word.and_then(|word| codes.iter().position(|code| code == word));
        match (place, word) {
            (Some(place), _) => Ok(place as f64),
            (None, _) if self.missing == MissingCellPolicy::Drop => Ok(f64::NAN),
            (None, Some(word)) if !is_missing_word(word) => match codes.is_empty() {
                true => Err(TableCellError::NoCode(Vec::new())),
                false => Ok(0.0),
            },
            (None, Some(_)) => Err(TableCellError::Absent),
            (None, None) => Err(TableCellError::Missing),
        }
    }
}

/// Keeps the rows whose cell in `column` compares so to `value`. A row whose cell is missing is never kept.
#[derive(Debug, Clone, PartialEq)]
pub struct RowFilter {
    /// The column compared.
    pub column: String,
    /// How.
    pub is: Comparison,
    /// With what.
    pub value: FilterValue,
}

/// How a cell is compared with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub enum Comparison {
    /// The cell equals the value.
    #[serde(rename = "==")]
    Equal,
    /// The cell differs from the value.
    #[serde(rename = "!=")]
    NotEqual,
    /// The cell is less than the value.
    #[serde(rename = "<")]
    Less,
    /// The cell is at most the value.
    #[serde(rename = "<=")]
    LessOrEqual,
    /// The cell is greater than the value.
    #[serde(rename = ">")]
    Greater,
    /// The cell is at least the value.
    #[serde(rename = ">=")]
    GreaterOrEqual,
}

/// Values that cells are compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum FilterValue {
    /// A number. Every cell that is not missing must also be a number.
    Number(f64),
    /// Text, compared character by character, so that ISO dates are in order.
    Text(String),
}

impl Comparison {
    /// Whether a cell that stands so to the value passes.
    #[must_use]
    pub fn holds(self, cell_to_value: Option<Ordering>) -> bool {
        let Some(order) = cell_to_value else {
            return false;
        };
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}

#[cfg(test)]
mod tests {
    use polars::prelude::{IntoSeries, StringChunkedBuilder};

    use super::*;

    #[test]
    fn what_stands_for_nothing() {
        for nothing in ["", "  ", "NA", " na ", "NaN", "nan", "null", "NULL"] {
            assert!(is_missing_cell(&AnyValue::String(nothing)), "{nothing:?}");
            assert_eq!(ExpectedCell::Number.is_missing(&AnyValue::String(nothing)), Ok(true), "{nothing:?}");
        }
        assert!(is_missing_cell(&AnyValue::Null) && is_missing_cell(&AnyValue::Float64(f64::NAN)));
        for there in ["0", "-", "N/A", "none", "inf", "-nan", "nana"] {
            assert!(!is_missing_cell(&AnyValue::String(there)), "{there:?}");
            assert_ne!(ExpectedCell::Number.is_missing(&AnyValue::String(there)), Ok(true), "{there:?}");
        }
        assert_eq!(ExpectedCell::Number.is_missing(&AnyValue::Float64(f64::INFINITY)), Err(TableCellError::NotFinite));
    }

    /// A continent may be called NA.
    #[test]
    fn a_code_is_there() {
        let codes = ["NA", "SA"].map(str::to_owned);
        for (word, missing) in
            [("NA", Ok(false)), ("null", Ok(true)), ("", Ok(true)), ("EU", Err(TableCellError::NoCode(codes.to_vec())))]
        {
            assert_eq!(ExpectedCell::Code(&codes).is_missing(&AnyValue::String(word)), missing, "{word:?}");
        }
    }

    fn rules(missing: MissingCellPolicy) -> CellParsingRules {
        CellParsingRules {
            missing,
            codes: BTreeMap::from([("g".to_owned(), ["NA", "7", "b c"].map(str::to_owned).to_vec())]),
        }
    }

    #[test]
    fn words_are_read_by_their_places() {
        let refuse = rules(MissingCellPolicy::Refuse);
        for (word, place) in [("NA", 0.0), (" 7 ", 1.0), ("b c", 2.0)] {
            assert_eq!(refuse.parse_number("g", word), Ok(place), "{word}");
        }
        assert_eq!(refuse.parse_number("x", " 7 "), Ok(7.0));
        assert_eq!(refuse.parse_number("g", "7.0"), Ok(0.0), "counts as the first word");
        assert_eq!(refuse.parse_number("g", "null"), Err(TableCellError::Absent));
        assert_eq!(refuse.parse_number("g", " "), Err(TableCellError::Missing));
    }

    #[test]
    fn a_word_that_the_list_lacks_is_missing() {
        let drop = rules(MissingCellPolicy::Drop);
        for word in ["d", "", "null", "7.0"] {
            assert!(drop.parse_number("g", word).is_ok_and(f64::is_nan), "{word:?}");
        }
        assert_eq!(drop.parse_number("g", "7"), Ok(1.0));
    }

    #[test]
    fn columns_of_words_are_appended() {
        let mut numbers = Vec::new();
        let words = |words: [&str; 2]| {
            let mut cells = StringChunkedBuilder::new("g".into(), 2);
            words.iter().for_each(|word| cells.append_value(word));
            cells.finish().into_series()
        };
        assert!(rules(MissingCellPolicy::Refuse).append_cells("g", &words(["b c", "NA"]), &mut numbers).is_ok());
        assert_eq!(numbers, [2.0, 0.0]);
        assert!(rules(MissingCellPolicy::Refuse).append_cells("g", &words(["7", "d"]), &mut numbers).is_ok());
        assert_eq!(numbers, [2.0, 0.0, 1.0, 0.0]);
        let bad = rules(MissingCellPolicy::Refuse).append_cells("g", &words(["7", ""]), &mut numbers);
        assert!(bad.is_err_and(|bad| bad.row == 1));
    }
}
