//! Rows of numbers, read in pieces: files of any length in constant memory. A file is text in a
//! [`TextLayout`](super::TextLayout), possibly gzipped, or Parquet. Folders in its path may name columns.
pub(super) mod cloud;
mod files;
mod find;
mod held;
mod parquet;
mod source;
mod text;
mod unpacked;
mod write;

pub use files::Files;
pub use files::Partition;
pub use files::{beside, ensure_addresses, is_address};
pub use find::row_files;
pub use held::{HeldRows, OtherCell, OtherColumns};
pub use source::FileState;
pub use source::InMemory;
pub use source::RowMeter;
pub use source::keyed_tag;
pub(super) use source::open_file;
pub(super) use source::places;
pub use source::{MarkedRows, PresentRows};
pub use text::RowFile;
pub(super) use unpacked::{DamagedGzip, RowText};
pub use write::RowWriter;

use super::error::DataError;
use super::identity::RowWitness;
use super::missing::CellRules;
use super::person::PersonId;

/// Rows that come one after the other.
pub trait Rows: Send {
    /// Appends the next rows, at most `most`, to the columns (one each, in the order they were asked for) and returns
    /// how many there were: fewer than `most` only at the end. A missing cell of files whose rows may lack some is NaN.
    ///
    /// # Errors
    /// [`DataError`] for a cell that is missing or no finite number, and for a file that cannot be read.
    fn read(&mut self, columns: &mut [Vec<f64>], most: usize) -> Result<usize, DataError>;

    /// Skips rows without looking at their cells and returns how many there were: fewer than `rows` only at the end.
    ///
    /// # Errors
    /// [`DataError`] for a file that cannot be read.
    fn skip(&mut self, rows: u64) -> Result<u64, DataError>;
}

/// Facts about rows beside their numbers.
#[derive(Default)]
struct Beside<'b> {
    /// Sees every cell.
    witness: Option<&'b mut RowWitness>,
    /// Takes the person of each row; none if the cell is missing and may be.
    persons: Option<&'b mut Vec<Option<PersonId>>>,
}

/// The columns of files that are read.
#[derive(Clone)]
struct ReadColumns {
    /// Those of numbers.
    numbers: Vec<String>,
    /// Whether a witness is to see all others, too.
    witnessed: bool,
    /// The one that says whose row it is.
    person: Option<String>,
    /// How cells of these columns are read.
    rules: CellRules,
}

/// The rows of one file, which a witness may see.
trait FileRows: Send {
    /// As [`Rows::read`]; the witness sees every cell of the rows that are read.
    fn read(&mut self, columns: &mut [Vec<f64>], most: usize, beside: Beside<'_>)
    -> Result<usize, DataError>;

    /// As [`Rows::skip`].
    fn skip(&mut self, rows: u64) -> Result<u64, DataError>;

    /// The names of the columns that a witness sees, in the order in which it sees their cells.
    fn seen(&self) -> Vec<String>;

    /// The names of all columns of the file.
    fn columns(&self) -> Vec<String>;

    /// The share of the file that was read or passed over, at most 1.
    fn share(&self) -> f64;
}
