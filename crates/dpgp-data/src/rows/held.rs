//! Rows in memory without a file, checked and recorded like those of a file.

use std::path::{Path, PathBuf};

use super::Rows;
use crate::identity::{DataKey, Fingerprint, RowWitness};
use crate::table_error::{CellProblem, RowUnit, TableError};
use crate::{DataError, Missing};

/// Rows of a table that a program holds. Every cell must be a finite number, as in a file; with a key the rows are known by
/// the same digests as in a file with these columns.
///
/// ```
/// use dpgp_data::{DataKey, Missing};
/// use dpgp_data::rows::{HeldRows, InMemory, Rows};
///
/// let names = ["x", "y"].map(str::to_owned);
/// let key = DataKey::new(b"k");
/// let mut rows = InMemory::new(vec![&[1.0, 2.0], &[3.0, 4.0]]);
/// let mut held = HeldRows::new(&mut rows, "rows".as_ref(), &names, Some(&key));
/// let mut columns = vec![Vec::new(); 2];
/// assert_eq!(held.read(&mut columns, 9)?, 2);
/// assert_eq!(held.rows(), 2);
/// assert_eq!(held.fingerprint().map(|rows| rows.whole().rows), Some(2));
///
/// let mut rows = InMemory::new(vec![&[1.0], &[f64::NAN]]);
/// let error = HeldRows::new(&mut rows, "rows".as_ref(), &names, None).read(&mut columns, 9).unwrap_err();
/// assert!(error.to_string().starts_with("rows: row 1, column \"y\""), "{error}");
///
/// let mut rows = InMemory::new(vec![&[1.0], &[f64::NAN]]);
/// let mut held = HeldRows::new(&mut rows, "rows".as_ref(), &names, Some(&key)).lacking(Missing::Drop);
/// assert_eq!(held.read(&mut columns, 9)?, 1);
/// # Ok::<(), dpgp_data::DataError>(())
/// ```
pub struct HeldRows<'r> {
    rows: &'r mut dyn Rows,
    name: PathBuf,
    columns: Vec<String>,
    witness: Option<RowWitness>,
    /// The other columns of the table.
    others: Option<&'r mut dyn OtherColumns>,
    /// The columns that the witness sees as numbers, each once, and whether each of the others is one that is asked for.
    numbers: Vec<usize>,
    read_others: Vec<bool>,
    missing: Missing,
    read: u64,
}

/// A cell of a column that is not summed.
#[derive(Debug, Clone, PartialEq)]
pub enum OtherCell {
    /// A number; one that is none stands for a missing cell.
    Number(f64),
    /// Text.
    Text(Vec<u8>),
}

/// The columns of a table that are not summed, but belong to its rows.
pub trait OtherColumns: Send {
    /// Their names.
    fn names(&self) -> Vec<String>;

    /// The cells of the next rows, for each column as many.
    fn take(&mut self, rows: usize) -> Vec<Vec<OtherCell>>;
}

impl<'r> HeldRows<'r> {
    /// Unread rows with the requested columns, in their order. Messages call them `name`.
    pub fn new(rows: &'r mut dyn Rows, name: &Path, columns: &[String], key: Option<&DataKey>) -> Self {
        let asked: Vec<&str> = columns.iter().map(String::as_str).collect();
        let witness = key.map(|key| RowWitness::new(key, columns, &asked));
        let (name, columns) = (name.to_path_buf(), columns.to_vec());
        let (others, numbers, read_others) = (None, Vec::new(), Vec::new());
        Self { rows, name, columns, witness, others, numbers, read_others, missing: Missing::Refuse, read: 0 }
            .begun()
    }

    /// The same rows with the other columns of their table, by which they are known, too. One with the name of a column that is asked
    /// for holds the cells of that as they stand in the table: words, whose places are read.
    #[must_use]
    pub fn with_others(self, key: Option<&DataKey>, others: &'r mut dyn OtherColumns) -> Self {
        let all: Vec<String> = self.columns.iter().cloned().chain(others.names()).collect();
        let asked: Vec<&str> = self.columns.iter().map(String::as_str).collect();
        let witness = key.map(|key| RowWitness::new(key, &all, &asked));
        Self { witness, others: Some(others), ..self }.begun()
    }

    /// Begins the table; each column is seen once.
    fn begun(mut self) -> Self {
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
    pub fn lacking(self, missing: Missing) -> Self {
        Self { missing, ..self }
    }

    /// How many rows were read or passed over.
    pub fn rows(&self) -> u64 {
        self.read
    }

    /// Fingerprint of the rows that were read, if there is a key.
    pub fn fingerprint(self) -> Option<Fingerprint> {
        self.witness.map(|witness| witness.fingerprint(1))
    }

    /// Fails at the first of the last rows with a cell that is no finite number.
    fn ensure_finite(&self, columns: &[Vec<f64>], rows: usize) -> Result<(), DataError> {
        let drops = self.missing == Missing::Drop;
        let mut bad: Option<(usize, usize)> = None;
        for (place, column) in columns.iter().enumerate() {
            let last = &column[column.len() - rows..];
            let found =
                last.iter().position(|x| !(x.is_finite() || drops && x.is_nan())).map(|row| (row, place));
            bad = [bad, found].into_iter().flatten().min();
        }
        let Some((row, place)) = bad else { return Ok(()) };
        let line = self.read as usize + row + 1;
        let column = self.columns.get(place).cloned().unwrap_or_default();
        let problem = CellProblem::NotFinite;
        Err(DataError::table(&self.name, TableError::Cell { unit: RowUnit::Row, line, column, problem }))
    }

    /// Shows the last rows to the witness; a column that is asked for twice counts once.
    fn show(&mut self, columns: &[Vec<f64>], rows: usize) {
        let Some(witness) = &mut self.witness else { return };
        let others = self.others.as_mut().map(|others| others.take(rows)).unwrap_or_default();
        let numbers: Vec<&[f64]> = self
            .numbers
            .iter()
            .filter_map(|place| columns.get(*place))
            .map(|column| &column[column.len() - rows..])
            .collect();
        for row in 0..rows {
            numbers.iter().for_each(|column| match column[row] {
                cell if cell.is_nan() => witness.missing(true),
                cell => witness.number(cell, true),
            });
            let others = others.iter().zip(&self.read_others);
            others.for_each(|(cells, read)| show(cells.get(row), *read, witness));
            witness.end_row();
        }
    }
}

/// Shows a cell of another column; `read` is whether a spec reads it.
fn show(cell: Option<&OtherCell>, read: bool, witness: &mut RowWitness) {
    match cell {
        Some(OtherCell::Number(number)) if !number.is_nan() => witness.number(*number, read),
        Some(OtherCell::Text(text)) => witness.text(text, read),
        _ => witness.missing(read),
    }
}

impl Rows for HeldRows<'_> {
    fn read(&mut self, columns: &mut [Vec<f64>], most: usize) -> Result<usize, DataError> {
        let rows = self.rows.read(columns, most)?;
        self.ensure_finite(columns, rows)?;
        self.show(columns, rows);
        self.read += rows as u64;
        Ok(rows)
    }

    fn skip(&mut self, rows: u64) -> Result<u64, DataError> {
        let passed = self.rows.skip(rows)?;
        self.others.iter_mut().for_each(|others| drop(others.take(passed as usize)));
        self.read += passed;
        Ok(passed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::InMemory;

    /// Words of a column that is read by their places, beside a column that is not read.
    struct Words;

    impl OtherColumns for Words {
        fn names(&self) -> Vec<String> {
            ["sex", "who"].map(str::to_owned).to_vec()
        }

        fn take(&mut self, rows: usize) -> Vec<Vec<OtherCell>> {
            ["F", "somebody"].map(|word| vec![OtherCell::Text(word.into()); rows]).to_vec()
        }
    }

    #[test]
    fn rows_are_known_by_words_where_their_places_are_read() {
        let (key, names) = (DataKey::new(b"k"), ["x", "sex"].map(str::to_owned));
        let (mut rows, mut columns) = (InMemory::new(vec![&[1.0], &[0.0]]), vec![Vec::new(); 2]);
        let mut words = Words;
        let mut held =
            HeldRows::new(&mut rows, "rows".as_ref(), &names, None).with_others(Some(&key), &mut words);
        assert!(held.read(&mut columns, 9).is_ok_and(|rows| rows == 1));
        assert_eq!(columns, [[1.0], [0.0]]);
        let all = ["sex", "who", "x"].map(str::to_owned);
        let mut file = RowWitness::new(&key, &all, &["x", "sex"]);
        file.begin_file(0, &all);
        file.text(b"F", true);
        file.text(b"somebody", false);
        file.number(1.0, true);
        file.end_row();
        assert_eq!(held.fingerprint(), Some(file.fingerprint(1)));
    }
}
