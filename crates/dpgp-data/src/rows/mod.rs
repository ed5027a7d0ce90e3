//! Rows of numbers, read in pieces: files of any length in constant memory. A file is text in a
//! [`CsvLayout`](super::CsvLayout), possibly gzipped, or Parquet. Folders in its path may name columns.
pub(super) mod cloud;
mod files;
mod find;
mod held;
mod parquet;
mod source;
mod text;
mod unpacked;

pub(super) use files::strip_access_keys;
pub use files::{RowFilesReader, ensure_readable_addresses, is_cloud_address, resolve_in_folder};
pub use find::{PathPartition, RowFile, find_row_files};
pub use held::{CheckedTableRows, ExtraCell, ExtraColumns};
pub use source::{FileState, InMemoryRows, RowProgressBar, RowsWithCompleteFlag, RowsWithKeptFlag, keyed_file_tag};
pub(super) use source::{column_indices, open_file};
pub(super) use unpacked::{DamagedGzipError, DecompressingReader, unzip_first_csv};

pub use super::write::RowWriter;

use super::error::DataError;
use super::identity::RowFingerprinter;
use super::missing::CellParsingRules;
use super::person::PersonId;

/// Rows that come one after the other.
pub trait RowStream: Send {
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

/// Where a reader of rows puts what it finds beside the numbers: digests of cells, and persons.
#[derive(Default)]
struct RowSideOutputs<'b> {
    /// Sees every cell.
    witness: Option<&'b mut RowFingerprinter>,
    /// Takes the person of each row; none if the cell is missing and may be.
    persons: Option<&'b mut Vec<Option<PersonId>>>,
}

/// The columns of files that are read.
#[derive(Clone, Default)]
struct RequestedColumns {
    /// Those of numbers.
    numbers: Vec<String>,
    /// Whether a witness is to see all others, too.
    witnessed: bool,
    /// The one that says whose row it is.
    person: Option<String>,
    /// How cells of these columns are read.
    rules: CellParsingRules,
}

/// The rows of one file, which a witness may see.
trait FileRows: Send {
    /// As [`RowStream::read`]; the witness sees every cell of the rows that are read.
    fn read(&mut self, columns: &mut [Vec<f64>], most: usize, beside: RowSideOutputs<'_>) -> Result<usize, DataError>;

    /// As [`RowStream::skip`].
    fn skip(&mut self, rows: u64) -> Result<u64, DataError>;

    /// The names of the columns that a witness sees, in the order in which it sees their cells.
    fn fingerprinted_columns(&self) -> Vec<String>;

    /// The names of all columns of the file.
    fn column_names(&self) -> Vec<String>;

    /// The share of the file that was read or passed over, at most 1.
    fn read_fraction(&self) -> f64;
}
