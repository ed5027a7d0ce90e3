//! Rows of numbers, read in pieces: files of any length in constant memory.
//!
//! Files are CSV (or any other separator) with a header, or Parquet.
mod files;
mod memory;
mod parquet;
mod place;
mod text;
mod write;

pub use files::Files;
pub use memory::InMemory;
pub(super) use place::places;
pub use write::RowWriter;

use super::error::DataError;
use super::identity::RowWitness;

/// Rows that come one after the other.
pub trait Rows: Send {
    /// Appends the next rows, at most `most`, to the columns (one each, in the order they were asked for) and returns
    /// how many there were: fewer than `most` only at the end.
    ///
    /// # Errors
    /// [`DataError`] for a cell that is missing or no finite number, and for a file that cannot be read.
    fn read(&mut self, columns: &mut [Vec<f64>], most: usize) -> Result<usize, DataError>;

    /// Passes over rows without a look at their cells and returns how many there were: fewer than `rows` only at the
    /// end.
    ///
    /// # Errors
    /// [`DataError`] for a file that cannot be read.
    fn skip(&mut self, rows: u64) -> Result<u64, DataError>;
}

/// The rows of one file, which a witness may see.
trait FileRows: Send {
    /// As [`Rows::read`]; the witness sees every cell of the rows that are read.
    fn read(
        &mut self,
        columns: &mut [Vec<f64>],
        most: usize,
        witness: Option<&mut RowWitness>,
    ) -> Result<usize, DataError>;

    /// As [`Rows::skip`].
    fn skip(&mut self, rows: u64) -> Result<u64, DataError>;

    /// The names of the columns that a witness sees.
    fn seen(&self) -> Vec<String>;
}
