//! Rows with a mark on those that are used.

use super::Rows;
use crate::{DataError, KeptRows};

/// Rows with one more column, the last: 1 for a row that is kept, 0 for any other. All rows keep their numbers.
///
/// ```
/// use dpgp_data::KeptRows;
/// use dpgp_data::rows::{InMemory, MarkedRows, Rows};
/// let mut kept = KeptRows::default();
/// kept.insert(2);
/// let mut rows = InMemory::new(vec![&[5.0, 6.0, 7.0]]);
/// let mut marked = MarkedRows::new(&mut rows, &kept);
/// let mut columns = vec![Vec::new(); 2];
/// assert_eq!((marked.skip(1)?, marked.read(&mut columns, 9)?), (1, 2));
/// assert_eq!(columns, [[6.0, 7.0], [0.0, 1.0]]);
/// # Ok::<(), dpgp_data::DataError>(())
/// ```
pub struct MarkedRows<'r> {
    rows: &'r mut dyn Rows,
    kept: &'r KeptRows,
    next: u64,
}

impl<'r> MarkedRows<'r> {
    /// Rows of which none has been read or passed over yet.
    pub fn new(rows: &'r mut dyn Rows, kept: &'r KeptRows) -> Self {
        Self { rows, kept, next: 0 }
    }
}

impl Rows for MarkedRows<'_> {
    fn read(&mut self, columns: &mut [Vec<f64>], most: usize) -> Result<usize, DataError> {
        let Some((marks, columns)) = columns.split_last_mut() else { return self.rows.read(columns, most) };
        let rows = self.rows.read(columns, most)?;
        marks.extend(self.kept.marks(self.next, rows));
        self.next += rows as u64;
        Ok(rows)
    }

    fn skip(&mut self, rows: u64) -> Result<u64, DataError> {
        let passed = self.rows.skip(rows)?;
        self.next += passed;
        Ok(passed)
    }
}

/// Rows with one more column, the last: 0 for a row with a missing cell (NaN), 1 for any other. All rows keep their numbers.
///
/// ```
/// use dpgp_data::rows::{InMemory, PresentRows, Rows};
/// let mut rows = InMemory::new(vec![&[5.0, 6.0, f64::NAN], &[f64::NAN, 1.0, 2.0]]);
/// let mut marked = PresentRows::new(&mut rows);
/// let mut columns = vec![Vec::new(); 3];
/// assert_eq!(marked.read(&mut columns, 9)?, 3);
/// assert_eq!(columns[2], [0.0, 1.0, 0.0]);
/// # Ok::<(), dpgp_data::DataError>(())
/// ```
pub struct PresentRows<'r> {
    rows: &'r mut dyn Rows,
}

impl<'r> PresentRows<'r> {
    /// Rows of which some may lack a cell.
    pub fn new(rows: &'r mut dyn Rows) -> Self {
        Self { rows }
    }
}

impl Rows for PresentRows<'_> {
    fn read(&mut self, columns: &mut [Vec<f64>], most: usize) -> Result<usize, DataError> {
        let Some((marks, columns)) = columns.split_last_mut() else { return self.rows.read(columns, most) };
        let rows = self.rows.read(columns, most)?;
        let first = marks.len();
        marks.resize(first + rows, 1.0);
        for column in columns {
            let last = &column[column.len() - rows..];
            let lacking = marks[first..].iter_mut().zip(last).filter(|(_, cell)| cell.is_nan());
            lacking.for_each(|(mark, _)| *mark = 0.0);
        }
        Ok(rows)
    }

    fn skip(&mut self, rows: u64) -> Result<u64, DataError> {
        self.rows.skip(rows)
    }
}
