//! Rows that are in memory already.

use super::Rows;
use crate::DataError;

/// Columns in memory, read as if they were a file.
#[derive(Debug, Clone)]
pub struct InMemory<'a> {
    columns: Vec<&'a [f64]>,
    next: usize,
}

impl<'a> InMemory<'a> {
    /// From columns of one length.
    pub fn new(columns: Vec<&'a [f64]>) -> Self {
        Self { columns, next: 0 }
    }

    fn advance(&mut self, most: usize) -> std::ops::Range<usize> {
        let rows = self.columns.first().map_or(0, |column| column.len());
        let start = self.next;
        self.next = rows.min(start.saturating_add(most));
        start..self.next
    }
}

impl Rows for InMemory<'_> {
    fn read(&mut self, columns: &mut [Vec<f64>], most: usize) -> Result<usize, DataError> {
        let range = self.advance(most);
        for (to, from) in columns.iter_mut().zip(&self.columns) {
            to.extend_from_slice(&from[range.clone()]);
        }
        Ok(range.len())
    }

    fn skip(&mut self, rows: u64) -> Result<u64, DataError> {
        Ok(self.advance(usize::try_from(rows).unwrap_or(usize::MAX)).len() as u64)
    }
}
