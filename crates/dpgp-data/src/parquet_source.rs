//! Sources of the columns of a Parquet file.

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::archive::catch_decoding_panic;
use super::error::{DataError, FileAction, IoErrorContext};
use super::format::detect_other_format;
use super::rows::open_file;
use super::table_error::TableError;

/// A Parquet file, whose footer has been read.
pub(super) trait ParquetSource: Send {
    /// Contents of its footer.
    fn metadata(&self) -> &ParquetMetaData;

    /// How long it is.
    fn length(&self) -> u64;

    /// A column of a row group, by its place in the file; messages name the file `path`.
    fn column(&self, path: &Path, group: usize, place: usize) -> Result<ColumnReader, DataError>;
}

/// A file on this machine.
pub(super) struct LocalParquet {
    reader: SerializedFileReader<File>,
    bytes: u64,
}

impl LocalParquet {
    /// Reads the footer.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let file = open_file(path)?;
        let bytes = file.metadata().with_io_context(FileAction::Read, path)?.len();
        match catch_decoding_panic(|| SerializedFileReader::new(file)) {
            Ok(reader) => Ok(Self { reader, bytes }),
            Err(cause) => Err(other_format_error(path).unwrap_or_else(|| parquet_decoding_error(path, cause))),
        }
    }
}

/// The error for a file of another kind under the name of a Parquet file; none for one that begins as Parquet does.
fn other_format_error(path: &Path) -> Option<DataError> {
    let mut first = Vec::new();
    open_file(path).ok()?.take(FIRST).read_to_end(&mut first).ok()?;
    if first.starts_with(b"PAR1") || first.starts_with(b"PARE") {
        return None;
    }
    let is_text =
        std::str::from_utf8(&first).is_ok_and(|text| !text.contains(|c: char| c.is_control() && !c.is_whitespace()));
    let kind = detect_other_format(&first).or_else(|| is_text.then_some("text; rename it to end in .csv"));
    kind.map(|kind| DataError::from_table_error(path, TableError::OtherKind(kind)))
}

/// The bytes that tell the kind of a file.
const FIRST: u64 = 64;

/// The error for a file that cannot be decoded.
pub(super) fn parquet_decoding_error(path: &Path, cause: ParquetError) -> DataError {
    DataError::from_table_error(path, TableError::Parquet(Box::new(cause)))
}

/// Where in a file a column of a row group stands; none if no file can have it.
pub(super) fn chunk_range(column: &ColumnChunkMetaData) -> Option<Range<u64>> {
    let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
    let start = u64::try_from(start).ok()?;
    let length = u64::try_from(column.compressed_size()).ok()?;
    Some(start..start.checked_add(length)?)
}

impl ParquetSource for LocalParquet {
    fn metadata(&self) -> &ParquetMetaData {
        self.reader.metadata()
    }

    fn length(&self) -> u64 {
        self.bytes
    }

    fn column(&self, path: &Path, group: usize, place: usize) -> Result<ColumnReader, DataError> {
        let column =
            catch_decoding_panic(|| self.reader.get_row_group(group).and_then(|group| group.get_column_reader(place)));
        column.map_err(|cause| parquet_decoding_error(path, cause))
    }
}
