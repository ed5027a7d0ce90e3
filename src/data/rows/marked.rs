//! Rows with a mark on those that are used.

use super::Rows;
use crate::data::{DataError, KeptRows};

/// Rows with one more column, the last: 1 for a row that is kept, 0 for any other. All rows keep their numbers.
///
/// ```
/// use dpgp::data::KeptRows;
/// use dpgp::data::rows::{InMemory, MarkedRows, Rows};
/// let mut kept = KeptRows::default();
/// kept.insert(2);
/// let mut rows = InMemory::new(vec![&[5.0, 6.0, 7.0]]);
/// let mut marked = MarkedRows::new(&mut rows, &kept);
/// let mut columns = vec![Vec::new(); 2];
/// assert_eq!((marked.skip(1)?, marked.read(&mut columns, 9)?), (1, 2));
/// assert_eq!(columns, [[6.0, 7.0], [0.0, 1.0]]);
/// # Ok::<(), dpgp::data::DataError>(())
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
