//! Parquet files in a cloud: reads the footer, then the chunks of the needed columns.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bytes::{Buf, Bytes};
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::FOOTER_SIZE;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;

use super::object::CloudObject;
use crate::DataError;
use crate::error::{FileAction, IoErrorContext};
use crate::parquet::{ParquetSource, catch_decoding_panic, chunk_range, parquet_decoding_error};

/// The bytes that are fetched from the end of a file: most footers are shorter.
const TAIL: u64 = 1 << 16;

/// A Parquet file with its footer in memory, and one row group's chunks of the open columns.
struct CloudParquet {
    object: CloudObject,
    metadata: ParquetMetaData,
}

/// The bytes of a file from one place to another.
struct FetchedBytes {
    start: u64,
    bytes: Bytes,
}

/// Reads the footer of a file.
///
/// # Errors
/// As [`CloudObject::open`]; that it is no Parquet file.
pub(crate) fn open_parquet(path: &Path) -> Result<Box<dyn ParquetSource>, DataError> {
    let object = CloudObject::open(path)?;
    let tail =
        object.fetch_bytes(object.bytes.saturating_sub(TAIL)..object.bytes).with_io_context(FileAction::Read, path)?;
    let length = footer_length(&tail).map_err(|cause| parquet_decoding_error(path, cause))?;
    let Some(start) = object.bytes.checked_sub(length + FOOTER_SIZE as u64) else {
        return Err(parquet_decoding_error(path, ParquetError::EOF("the footer is longer than the file".to_owned())));
    };
    let footer =
        object.fetch_bytes(start..object.bytes - FOOTER_SIZE as u64).with_io_context(FileAction::Read, path)?;
    let metadata = catch_decoding_panic(|| ParquetMetaDataReader::decode_metadata(&footer))
        .map_err(|cause| parquet_decoding_error(path, cause))?;
    Ok(Box::new(CloudParquet { object, metadata }))
}

/// The length of what stands before the last eight bytes: that length and the name of the format.
fn footer_length(tail: &[u8]) -> ParquetResult<u64> {
    match tail.last_chunk::<FOOTER_SIZE>() {
        Some([a, b, c, d, b'P', b'A', b'R', b'1']) => Ok(u32::from_le_bytes([*a, *b, *c, *d]).into()),
        _ => Err(ParquetError::General("it does not end with a Parquet footer".to_owned())),
    }
}

impl ParquetSource for CloudParquet {
    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }

    fn length(&self) -> u64 {
        self.object.bytes
    }

    fn column(&self, path: &Path, group: usize, place: usize) -> Result<ColumnReader, DataError> {
        let rows = self.metadata.row_group(group);
        let Some(Range { start, end }) = chunk_range(rows.column(place)) else {
            return Err(parquet_decoding_error(path, ParquetError::EOF("a column has an invalid position".to_owned())));
        };
        let bytes = self.object.fetch_bytes(start..end).with_io_context(FileAction::Read, path)?;
        let window = Arc::new(FetchedBytes { start, bytes });
        let count = usize::try_from(rows.num_rows()).unwrap_or_default();
        let pages = catch_decoding_panic(|| SerializedPageReader::new(window, rows.column(place), count, None));
        let pages = pages.map_err(|cause| parquet_decoding_error(path, cause))?;
        Ok(get_column_reader(rows.schema_descr_ptr().column(place), Box::new(pages)))
    }
}

impl FetchedBytes {
    /// The bytes from a place in the file on.
    fn bytes_from(&self, start: u64) -> ParquetResult<Bytes> {
        let skipped = start.checked_sub(self.start).and_then(|skipped| usize::try_from(skipped).ok());
        let Some(skipped) = skipped.filter(|skipped| *skipped <= self.bytes.len()) else {
            return Err(ParquetError::EOF("a page lies outside its column chunk".to_owned()));
        };
        Ok(self.bytes.slice(skipped..))
    }
}

impl Length for FetchedBytes {
    fn len(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl ChunkReader for FetchedBytes {
    type T = bytes::buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(self.bytes_from(start)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let mut bytes = self.bytes_from(start)?;
        if length > bytes.len() {
            return Err(ParquetError::EOF("a page is longer than its column chunk".to_owned()));
        }
        Ok(bytes.split_to(length))
    }
}
