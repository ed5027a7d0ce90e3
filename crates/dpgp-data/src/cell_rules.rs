//! How the cells of rows that come one after the other are read.

use std::collections::BTreeMap;

use polars::prelude::{AnyValue, Series};

use super::cell::{BadCell, append_numbers, parsed, text};
use super::missing::{Missing, is_absent};
use super::table_error::CellProblem;

/// Which columns hold words of a list, and what becomes of a row that lacks a cell.
///
/// ```
/// use dpgp_data::{CellRules, Missing};
/// assert_eq!(CellRules::from(Missing::Drop), CellRules { missing: Missing::Drop, ..CellRules::default() });
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CellRules {
    /// What becomes of a row that lacks a cell.
    pub missing: Missing,
    /// The words of each column that is read as numbers by their places in a list, from 0.
    pub codes: BTreeMap<String, Vec<String>>,
}

impl From<Missing> for CellRules {
    fn from(missing: Missing) -> Self {
        Self { missing, codes: BTreeMap::new() }
    }
}

impl CellRules {
    /// The words of a column; none if it holds numbers.
    pub(super) fn codes(&self, column: &str) -> Option<&[String]> {
        self.codes.get(column).map(Vec::as_slice)
    }

    /// A text in a column as a number, or NaN for a missing one that may be left out.
    ///
    /// # Errors
    /// [`CellProblem`] for one that is none, or is missing and must not be.
    pub(super) fn number(&self, column: &str, text: &str) -> Result<f64, CellProblem> {
        match self.codes(column) {
            Some(codes) => self.code(codes, Some(text.trim())),
            None => self.missing.or_nan(parsed(text)),
        }
    }

    /// Appends the cells of a column.
    pub(super) fn append(&self, column: &str, cells: &Series, to: &mut Vec<f64>) -> Result<(), BadCell> {
        let Some(codes) = self.codes(column) else { return append_numbers(cells, self.missing, to) };
        for (row, cell) in cells.iter().enumerate() {
            to.push(self.cell_code(codes, &cell).map_err(|problem| BadCell { row, problem })?);
        }
        Ok(())
    }

    fn cell_code(&self, codes: &[String], cell: &AnyValue<'_>) -> Result<f64, CellProblem> {
        self.code(codes, text(cell).as_deref())
    }

    /// The place of a word. One that the list lacks is a missing cell where rows that lack one are left out, and counts as the first word
    /// elsewhere: what is summed are private records, and an error, or a row less, would tell of the word. A word of the list is there,
    /// whatever it stands for elsewhere.
    fn code(&self, codes: &[String], word: Option<&str>) -> Result<f64, CellProblem> {
        let word = word.filter(|word| !word.is_empty());
        let place = word.and_then(|word| codes.iter().position(|code| code == word));
        match (place, word) {
            (Some(place), _) => Ok(place as f64),
            (None, _) if self.missing == Missing::Drop => Ok(f64::NAN),
            (None, Some(word)) if !is_absent(word) => match codes.is_empty() {
                true => Err(CellProblem::NoCode(Vec::new())),
                false => Ok(0.0),
            },
            (None, Some(_)) => Err(CellProblem::Absent),
            (None, None) => Err(CellProblem::Missing),
        }
    }
}

#[cfg(test)]
mod tests {
    use polars::prelude::{IntoSeries, StringChunkedBuilder};

    use super::*;

    fn rules(missing: Missing) -> CellRules {
        CellRules {
            missing,
            codes: BTreeMap::from([("g".to_owned(), ["NA", "7", "b c"].map(str::to_owned).to_vec())]),
        }
    }

    #[test]
    fn words_are_read_by_their_places() {
        let refuse = rules(Missing::Refuse);
        for (word, place) in [("NA", 0.0), (" 7 ", 1.0), ("b c", 2.0)] {
            assert_eq!(refuse.number("g", word), Ok(place), "{word}");
        }
        assert_eq!(refuse.number("x", " 7 "), Ok(7.0));
        assert_eq!(refuse.number("g", "7.0"), Ok(0.0), "counts as the first word");
        assert_eq!(refuse.number("g", "null"), Err(CellProblem::Absent));
        assert_eq!(refuse.number("g", " "), Err(CellProblem::Missing));
    }

    #[test]
    fn a_word_that_the_list_lacks_is_missing() {
        let drop = rules(Missing::Drop);
        for word in ["d", "", "null", "7.0"] {
            assert!(drop.number("g", word).is_ok_and(f64::is_nan), "{word:?}");
        }
        assert_eq!(drop.number("g", "7"), Ok(1.0));
    }

    #[test]
    fn columns_of_words_are_appended() {
        let mut numbers = Vec::new();
        let words = |words: [&str; 2]| {
            let mut cells = StringChunkedBuilder::new("g".into(), 2);
            words.iter().for_each(|word| cells.append_value(word));
            cells.finish().into_series()
        };
        assert!(rules(Missing::Refuse).append("g", &words(["b c", "NA"]), &mut numbers).is_ok());
        assert_eq!(numbers, [2.0, 0.0]);
        assert!(rules(Missing::Refuse).append("g", &words(["7", "d"]), &mut numbers).is_ok());
        assert_eq!(numbers, [2.0, 0.0, 1.0, 0.0]);
        let bad = rules(Missing::Refuse).append("g", &words(["7", ""]), &mut numbers);
        assert!(bad.is_err_and(|bad| bad.row == 1));
    }
}
