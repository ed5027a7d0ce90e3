//! Rows in memory without a file, checked and recorded like those of a file.

use std::path::{Path, PathBuf};

use super::RowStream;
use crate::identity::{HmacKey, RowFingerprinter, RowsFingerprint};
use crate::table_error::{LineOrRow, TableCellError, TableError};
use crate::{DataError, MissingCellPolicy};

/// Rows of a table that a program holds. Every cell must be a finite number, as in a file; with a key the rows are known by
/// the same digests as in a file with these columns.
///
/// ```
/// use dpgp_data::{HmacKey, MissingCellPolicy};
/// use dpgp_data::rows::{CheckedTableRows, InMemoryRows, RowStream};
///
/// let names = ["x", "y"].map(str::to_owned);
/// let key = HmacKey::new(b"k");
/// let mut rows = InMemoryRows::new(vec![&[1.0, 2.0], &[3.0, 4.0]]);
/// let mut held = CheckedTableRows::new(&mut rows, "rows".as_ref(), &names, Some(&key));
/// let mut columns = vec![Vec::new(); 2];
/// assert_eq!(held.read(&mut columns, 9)?, 2);
/// assert_eq!(held.rows_read(), 2);
/// assert_eq!(held.into_fingerprint().map(|rows_read| rows_read.all_rows_digest().rows), Some(2));
///
/// let mut rows = InMemoryRows::new(vec![&[1.0], &[f64::NAN]]);
/// let error = CheckedTableRows::new(&mut rows, "rows".as_ref(), &names, None).read(&mut columns, 9).unwrap_err();
/// assert!(error.to_string().starts_with("rows: row 1, column \"y\""), "{error}");
///
/// let mut rows = InMemoryRows::new(vec![&[1.0], &[f64::NAN]]);
/// let mut held = CheckedTableRows::new(&mut rows, "rows".as_ref(), &names, Some(&key)).with_missing_policy(MissingCellPolicy::Drop);
/// assert_eq!(held.read(&mut columns, 9)?, 1);
/// # Ok::<(), dpgp_data::DataError>(())
/// ```
pub struct CheckedTableRows<'r> {
    rows: &'r mut dyn RowStream,
    name: PathBuf,
    columns: Vec<String>,
    witness: Option<RowFingerprinter>,
    /// The other columns of the table.
    others: Option<&'r mut dyn ExtraColumns>,
    /// The columns that the witness sees as numbers, each once, and whether each of the others is one that is asked for.
    numbers: Vec<usize>,
    read_others: Vec<bool>,
    missing: MissingCellPolicy,
    read: u64,
}

/// A cell of a column that is not summed.
#[derive(Debug, Clone, PartialEq)]
pub enum ExtraCell {
    /// A number; one that is none stands for a missing cell.
    Number(f64),
    /// Text.
    Text(Vec<u8>),
}

/// The columns of a table that are not summed, but belong to its rows.
pub trait ExtraColumns: Send {
    /// Their names.
    fn names(&self) -> Vec<String>;

    /// The cells of the next rows, for each column as many.
    fn next_cells(&mut self, rows: usize) -> Vec<Vec<ExtraCell>>;
}

impl<'r> CheckedTableRows<'r> {
    /// Unread rows with the requested columns, in their order. Messages call them `name`.
    pub fn new(rows: &'r mut dyn RowStream, name: &Path, columns: &[String], key: Option<&HmacKey>) -> Self {
        let asked: Vec<&str> = columns.iter().map(String::as_str).collect();
        let witness = key.map(|key| RowFingerprinter::new(key, columns, &asked));
        let (name, columns) = (name.to_path_buf(), columns.to_vec());
        let (others, numbers, read_others) = (None, Vec::new(), Vec::new());
        Self { rows, name, columns, witness, others, numbers, read_others, missing: MissingCellPolicy::Refuse, read: 0 }
            .begin_fingerprint()
    }

    /// The same rows with the other columns of their table, by which they are known, too. One with the name of a column that is asked
    /// for holds the cells of that as they stand in the table: words, whose places are read.
    #[must_use]
    pub fn with_extra_columns(self, key: Option<&HmacKey>, others: &'r mut dyn ExtraColumns) -> Self {
        let all: Vec<String> = self.columns.iter().cloned().chain(others.names()).collect();
        let asked: Vec<&str> = self.columns.iter().map(String::as_str).collect();
        let witness = key.map(|key| RowFingerprinter::new(key, &all, &asked));
        Self { witness, others: Some(others), ..self }.begin_fingerprint()
    }

    /// Begins the table; each column is seen once.
    fn begin_fingerprint(mut self) -> Self {
        let others = self.others.as_ref().map(|others| others.names()).unwrap_or_default();
        self.numbers = (0..self.columns.len())
            .filter(|place| !self.columns[..*place].contains(&self.columns[*place]))
            .filter(|place| !others.contains(&self.columns[*place]))
            .collect();
        self.read_others = others.iter().map(|name| self.columns.contains(name)).collect();
        let numbers = self.numbers.iter().map(|place| self.columns[*place].clone());
        let all: Vec<String> = numbers.chain(others).collect();
        self.witness.iter_mut().for_each(|witness| witness.begin_file(0, &all));
        self
    }

    /// The same, where NaN is a missing cell: it is an error, or passed on for the row to be left out.
    #[must_use]
    pub fn with_missing_policy(self, missing: MissingCellPolicy) -> Self {
        Self { missing, ..self }
    }

    /// How many rows were read or passed over.
    pub fn rows_read(&self) -> u64 {
        self.read
    }

    /// Fingerprint of the rows that were read, if there is a key.
    pub fn into_fingerprint(self) -> Option<RowsFingerprint> {
        self.witness.map(|witness| witness.into_fingerprint(1))
    }

    /// Fails at the first of the last rows with a cell that is no finite number.
    fn ensure_finite(&self, columns: &[Vec<f64>], rows: usize) -> Result<(), DataError> {
        let drops = self.missing == MissingCellPolicy::Drop;
        let mut bad: Option<(usize, usize)> = None;
        for (place, column) in columns.iter().enumerate() {
            let last = &column[column.len() - rows..];
            let found = last.iter().position(|x| !(x.is_finite() || drops && x.is_nan())).map(|row| (row, place));
            bad = [bad, found].into_iter().flatten().min();
        }
        let Some((row, place)) = bad else { return Ok(()) };
        let line = self.read as usize + row + 1;
        let column = self.columns.get(place).cloned().unwrap_or_default();
        let problem = TableCellError::NotFinite;
        Err(DataError::from_table_error(&self.name, TableError::Cell { unit: LineOrRow::Row, line, column, problem }))
    }

    /// Shows the last rows to the witness; a column that is asked for twice counts once.
    fn fingerprint_rows(&mut self, columns: &[Vec<f64>], rows: usize) {
        let Some(witness) = &mut self.witness else { return };
        let others = self.others.as_mut().map(|others| others.next_cells(rows)).unwrap_or_default();
        let numbers: Vec<&[f64]> = self
            .numbers
            .iter()
            .filter_map(|place| columns.get(*place))
            .map(|column| &column[column.len() - rows..])
            .collect();
        for row in 0..rows {
            numbers.iter().for_each(|column| match column[row] {
                cell if cell.is_nan() => witness.add_missing_cell(true),
                cell => witness.add_number(cell, true),
            });
            let others = others.iter().zip(&self.read_others);
            others.for_each(|(cells, read)| fingerprint_extra_cell(cells.get(row), *read, witness));
            witness.end_row();
        }
    }
}

/// Shows a cell of another column; `read` is whether a spec reads it.
fn fingerprint_extra_cell(cell: Option<&ExtraCell>, read: bool, witness: &mut RowFingerprinter) {
    match cell {
        Some(ExtraCell::Number(number)) if !number.is_nan() => witness.add_number(*number, read),
        Some(ExtraCell::Text(text)) => witness.add_text(text, read),
        _ => witness.add_missing_cell(read),
    }
}

impl RowStream for CheckedTableRows<'_> {
    fn read(&mut self, columns: &mut [Vec<f64>], most: usize) -> Result<usize, DataError> {
        let rows = self.rows.read(columns, most)?;
        self.ensure_finite(columns, rows)?;
        self.fingerprint_rows(columns, rows);
        self.read += rows as u64;
        Ok(rows)
    }

    fn skip(&mut self, rows: u64) -> Result<u64, DataError> {
        let passed = self.rows.skip(rows)?;
        self.others.iter_mut().for_each(|others| drop(others.next_cells(passed as usize)));
        self.read += passed;
        Ok(passed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::InMemoryRows;

    /// Words of a column that is read by their places, beside a column that is not read.
    struct Words;

    impl ExtraColumns for Words {
        fn names(&self) -> Vec<String> {
            ["sex", "who"].map(str::to_owned).to_vec()
        }

        fn next_cells(&mut self, rows: usize) -> Vec<Vec<ExtraCell>> {
            ["F", "somebody"].map(|word| vec![ExtraCell::Text(word.into()); rows]).to_vec()
        }
    }

    #[test]
    fn rows_are_known_by_words_where_their_places_are_read() {
        let (key, names) = (HmacKey::new(b"k"), ["x", "sex"].map(str::to_owned));
        let (mut rows, mut columns) = (InMemoryRows::new(vec![&[1.0], &[0.0]]), vec![Vec::new(); 2]);
        let mut words = Words;
        let mut held =
            CheckedTableRows::new(&mut rows, "rows".as_ref(), &names, None).with_extra_columns(Some(&key), &mut words);
        assert!(held.read(&mut columns, 9).is_ok_and(|rows| rows == 1));
        assert_eq!(columns, [[1.0], [0.0]]);
        let all = ["sex", "who", "x"].map(str::to_owned);
        let mut file = RowFingerprinter::new(&key, &all, &["x", "sex"]);
        file.begin_file(0, &all);
        file.add_text(b"F", true);
        file.add_text(b"somebody", false);
        file.add_number(1.0, true);
        file.end_row();
        assert_eq!(held.into_fingerprint(), Some(file.into_fingerprint(1)));
    }
}
