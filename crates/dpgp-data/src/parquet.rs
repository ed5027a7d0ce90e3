//! Parquet files on this machine or in a cloud: columns in types that represent every cell exactly, with decimals rounded
//! to the nearest double. Guards the decoding of damaged files.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use parquet::basic::CompressionCodec;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType as Physical, FixedLenByteArray};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::{FileReader, SerializedFileReader};
use polars::prelude::{Float64Chunked, Int64Chunked, IntoSeries, Series, StringChunked, UInt64Chunked};

use super::error::{DataError, FileAction, IoErrorContext};
use super::format::{detect_non_text_format, find_repeated_name};
use super::parquet_schema::{ParquetCellType, ParquetField, ParquetWriterNotes};
use super::rows::{cloud, is_cloud_address, open_file};
use super::table_error::TableError;

/// The most cells that there is room for before the first is read: a damaged file may claim any number.
const ROOM: usize = 1 << 20;

/// A Parquet file.
pub(super) struct ParquetFile {
    path: PathBuf,
    source: Box<dyn ParquetSource>,
    notes: ParquetWriterNotes,
}

/// A column of one row group, read from its first row on.
pub(super) struct ParquetColumnReader {
    reader: ColumnReader,
    /// How its cells are read.
    cells: ParquetCellType,
    /// The definition level of the cells that are there.
    present: i16,
}

impl ParquetFile {
    /// Opens a file and reads its schema, whose names must be distinct.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let source = open_source(path)?;
        let notes = ParquetWriterNotes::from_footer(source.metadata().file_metadata());
        let file = Self { path: path.to_owned(), source, notes };
        let names: Vec<String> = file.fields().into_iter().map(|field| field.name).collect();
        if let Some(column) = find_repeated_name(&names) {
            return Err(file.wrap_table_error(TableError::RepeatedColumn(column.to_owned())));
        }
        file.ensure_known_codecs()?;
        file.ensure_row_counts_match()?;
        Ok(file)
    }

    /// Fails if a column uses an unsupported compression: better now than after hours of other files.
    fn ensure_known_codecs(&self) -> Result<(), DataError> {
        for group in self.source.metadata().row_groups() {
            for column in group.columns() {
                let codec = column.compression_codec();
                if matches!(codec, CompressionCodec::BROTLI | CompressionCodec::LZO) {
                    let (column, codec) = (column.column_path().string(), format!("{codec:?}"));
                    return Err(self.wrap_table_error(TableError::Codec { column, codec }));
                }
            }
        }
        Ok(())
    }

    /// Fails if the row groups do not have the rows of the file: some of them would be passed over.
    fn ensure_row_counts_match(&self) -> Result<(), DataError> {
        let metadata = self.source.metadata();
        let groups = metadata.row_groups().iter().map(|group| i128::from(group.num_rows()));
        let is_possible = metadata.row_groups().iter().all(|group| group.num_rows() >= 0);
        if is_possible && groups.sum::<i128>() == i128::from(metadata.file_metadata().num_rows()) {
            return Ok(());
        }
        Err(self.decoding_error(ParquetError::General(
            "the rows of its row groups do not add up to its number of rows".to_owned(),
        )))
    }

    /// Fails if a column of a row group stands outside the file, or does not have the rows of the group.
    fn ensure_column_in_file(&self, group: usize, place: usize) -> Result<(), DataError> {
        let group = self.source.metadata().row_group(group);
        let Some(column) = group.columns().get(place) else {
            return Err(self.decoding_error(ParquetError::General("a row group has too few columns".to_owned())));
        };
        let is_inside = chunk_range(column).is_some_and(|range| range.end <= self.source.file_size());
        if is_inside && column.num_values() == group.num_rows() {
            return Ok(());
        }
        Err(self.decoding_error(ParquetError::General("a column has an invalid position or number of rows".to_owned())))
    }

    /// The columns.
    pub fn fields(&self) -> Vec<ParquetField> {
        let schema = self.source.metadata().file_metadata().schema_descr();
        schema.columns().iter().map(|column| ParquetField::from_column(column, &self.notes)).collect()
    }

    /// The columns that number the rows, as the program says that wrote the file.
    pub fn index_columns(&self) -> BTreeSet<String> {
        self.notes.index.clone()
    }

    /// The names of the columns that a table can hold, those apart that are named.
    pub fn representable_columns_except(&self, named: &[String]) -> Vec<String> {
        let others = self.fields().into_iter().filter(|field| field.holds.is_some());
        others.map(|field| field.name).filter(|name| !named.contains(name)).collect()
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        usize::try_from(self.source.metadata().file_metadata().num_rows()).unwrap_or(0)
    }

    /// The number of rows of each row group.
    pub fn row_group_sizes(&self) -> Vec<usize> {
        let groups = self.source.metadata().row_groups().iter();
        groups.map(|group| usize::try_from(group.num_rows()).unwrap_or(0)).collect()
    }

    /// A column of a row group, by its place in the file.
    pub fn column(&self, group: usize, place: usize) -> Result<ParquetColumnReader, DataError> {
        let column = self.source.metadata().file_metadata().schema_descr().column(place);
        let field = ParquetField::from_column(&column, &self.notes);
        let Some(cells) = ParquetCellType::from_column(&column).filter(|_| field.holds.is_some()) else {
            return Err(self.wrap_table_error(field.into_type_error()));
        };
        self.ensure_column_in_file(group, place)?;
        let reader = self.source.column(&self.path, group, place)?;
        Ok(ParquetColumnReader { reader, cells, present: column.max_def_level() })
    }

    /// The error for a file whose contents cannot be decoded.
    pub fn decoding_error(&self, cause: ParquetError) -> DataError {
        self.wrap_table_error(TableError::Parquet(Box::new(cause)))
    }

    /// The error for a problem of this file.
    pub fn wrap_table_error(&self, problem: TableError) -> DataError {
        DataError::from_table_error(&self.path, problem)
    }
}

/// Reads the footer of a file on this machine or in a cloud.
fn open_source(path: &Path) -> Result<Box<dyn ParquetSource>, DataError> {
    if is_cloud_address(path) {
        return cloud::open_parquet(path);
    }
    Ok(Box::new(LocalParquet::open(path)?))
}

impl ParquetColumnReader {
    /// The cells of the next rows. Whole numbers are read exactly, `FLOAT` as the `DOUBLE` of the same value, `DECIMAL` as
    /// the `DOUBLE` next to it.
    pub fn read(&mut self, rows: usize) -> Result<Series, ParquetError> {
        catch_decoding_panic(|| self.decode_cells(rows))
    }

    fn decode_cells(&mut self, rows: usize) -> Result<Series, ParquetError> {
        use ColumnReader as R;
        use ParquetCellType as C;
        let present = self.present;
        Ok(match (&mut self.reader, self.cells) {
            (R::DoubleColumnReader(reader), _) => {
                read_typed_cells::<_, _, Float64Chunked>(reader, rows, present, |x| *x)?.into_series()
            }
            (R::FloatColumnReader(reader), _) => {
                read_typed_cells::<_, _, Float64Chunked>(reader, rows, present, |x| f64::from(*x))?.into_series()
            }
            (R::Int32ColumnReader(reader), C::Unsigned) => {
                read_typed_cells::<_, _, UInt64Chunked>(reader, rows, present, |n| u64::from(n.cast_unsigned()))?
                    .into_series()
            }
            (R::Int64ColumnReader(reader), C::Unsigned) => {
                read_typed_cells::<_, _, UInt64Chunked>(reader, rows, present, |n| n.cast_unsigned())?.into_series()
            }
            (R::Int32ColumnReader(reader), C::Decimal(scale)) => {
                read_typed_cells::<_, _, Float64Chunked>(reader, rows, present, |n| {
                    decimal_to_double(i128::from(*n), scale)
                })?
                .into_series()
            }
            (R::Int64ColumnReader(reader), C::Decimal(scale)) => {
                read_typed_cells::<_, _, Float64Chunked>(reader, rows, present, |n| {
                    decimal_to_double(i128::from(*n), scale)
                })?
                .into_series()
            }
            (R::FixedLenByteArrayColumnReader(reader), C::Decimal(scale)) => {
                read_typed_cells::<_, _, Float64Chunked>(reader, rows, present, |n| decode_decimal_bytes(n, scale))?
                    .into_series()
            }
            (R::Int32ColumnReader(reader), _) => {
                read_typed_cells::<_, _, Int64Chunked>(reader, rows, present, |n| i64::from(*n))?.into_series()
            }
            (R::Int64ColumnReader(reader), _) => {
                read_typed_cells::<_, _, Int64Chunked>(reader, rows, present, |n| *n)?.into_series()
            }
            (R::ByteArrayColumnReader(reader), _) => {
                read_typed_cells::<_, _, StringChunked>(reader, rows, present, decode_text)?.into_series()
            }
            _ => {
                return Err(ParquetError::General(
                    "the type of a column differs from its type in the schema".to_owned(),
                ));
            }
        })
    }

    /// Passes over rows.
    pub fn skip(&mut self, rows: usize) -> Result<usize, ParquetError> {
        catch_decoding_panic(|| self.skip_records(rows))
    }

    fn skip_records(&mut self, rows: usize) -> Result<usize, ParquetError> {
        use ColumnReader as R;
        match &mut self.reader {
            R::DoubleColumnReader(reader) => reader.skip_records(rows),
            R::FloatColumnReader(reader) => reader.skip_records(rows),
            R::Int32ColumnReader(reader) => reader.skip_records(rows),
            R::Int64ColumnReader(reader) => reader.skip_records(rows),
            R::ByteArrayColumnReader(reader) => reader.skip_records(rows),
            R::FixedLenByteArrayColumnReader(reader) => reader.skip_records(rows),
            _ => Ok(0),
        }
    }
}

fn decode_decimal_bytes(bytes: &FixedLenByteArray, scale: u32) -> f64 {
    decimal_to_double(decode_big_endian_integer(bytes.data()), scale)
}

fn decode_text(bytes: &ByteArray) -> String {
    String::from_utf8_lossy(bytes.data()).into_owned()
}

/// The next cells of a column, none if it holds null.
fn read_typed_cells<T: Physical, V, C: FromIterator<Option<V>>>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    present: i16,
    value: impl Fn(&T::T) -> V,
) -> Result<C, ParquetError> {
    let (mut levels, mut values) = (Vec::new(), Vec::with_capacity(rows.min(ROOM)));
    let mut done = 0;
    // A call ends at the end of a page, so there may be several.
    while done < rows {
        let (records, ..) = reader.read_records(rows - done, Some(&mut levels), None, &mut values)?;
        if records == 0 {
            let cause = "a column has fewer values than its row group has rows";
            return Err(ParquetError::EOF(cause.to_owned()));
        }
        done += records;
    }
    let mut values = values.iter().map(value);
    if present == 0 {
        return Ok(values.map(Some).collect());
    }
    Ok(levels.iter().map(|level| if *level == present { values.next() } else { None }).collect())
}

/// Powers of ten that are exact.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// The double next to `unscaled * 10^-scale`, as of the same number in text.
fn decimal_to_double(unscaled: i128, scale: u32) -> f64 {
    match POWERS.get(scale as usize) {
        // Both are exact, so that their quotient is rounded once.
        Some(power) if unscaled.unsigned_abs() <= 1 << 53 => unscaled as f64 / power,
        _ => format!("{unscaled}e-{scale}").parse().unwrap_or(f64::NAN),
    }
}

/// A whole number whose first byte is the most significant and has the sign.
fn decode_big_endian_integer(bytes: &[u8]) -> i128 {
    let sign = if bytes.first().is_some_and(|byte| *byte >= 0x80) { -1 } else { 0 };
    bytes.iter().fold(sign, |number, byte| number << 8 | i128::from(*byte))
}

/// A Parquet file, whose footer has been read.
pub(super) trait ParquetSource: Send {
    /// Contents of its footer.
    fn metadata(&self) -> &ParquetMetaData;

    /// How long it is.
    fn file_size(&self) -> u64;

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
    let kind = first.is_empty().then_some("empty");
    let kind =
        kind.or_else(|| detect_non_text_format(&first)).or_else(|| is_text.then_some("text; rename it to end in .csv"));
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

    fn file_size(&self) -> u64 {
        self.bytes
    }

    fn column(&self, path: &Path, group: usize, place: usize) -> Result<ColumnReader, DataError> {
        let column =
            catch_decoding_panic(|| self.reader.get_row_group(group).and_then(|group| group.get_column_reader(place)));
        column.map_err(|cause| parquet_decoding_error(path, cause))
    }
}

thread_local! {
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread decodes a file. A panic is then an error of the file, and no bug of the program.
pub fn is_thread_decoding_parquet() -> bool {
    DECODING.get()
}

/// Runs the library of the format on a file. The library has assertions where bytes do not fit each other, and a panic there is
/// the error of a damaged file.
///
/// Nobody sees what a panic leaves half done: all readers of a file end with its first error.
pub(super) fn catch_decoding_panic<T>(decode: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    let before = DECODING.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(decode));
    DECODING.set(before);
    outcome.unwrap_or_else(|_| Err(ParquetError::General("its parts are inconsistent".to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_the_numbers_that_they_stand_for() {
        for (unscaled, scale, text) in [
            (12_345, 2, "123.45"),
            (-1, 3, "-0.001"),
            (7, 0, "7"),
            (0, 38, "0"),
            (123_456_789_012_345_678, 9, "123456789.012345678"),
            (9_007_199_254_740_993, 1, "900719925474099.3"),
            (-99_999_999_999_999_999_999_999_999_999_999_999_999, 38, "-0.99999999999999999999999999999999999999"),
            (1, 30, "1e-30"),
        ] {
            assert_eq!(
                decimal_to_double(unscaled, scale).to_string(),
                text.parse::<f64>().unwrap().to_string(),
                "{text}"
            );
        }
    }

    #[test]
    fn bytes_of_whole_numbers() {
        for number in [0, 1, -1, 127, 128, -128, -129, 12_345, i64::MAX, i64::MIN] {
            assert_eq!(decode_big_endian_integer(&number.to_be_bytes()), i128::from(number));
        }
        assert_eq!(
            (
                decode_big_endian_integer(&[0xff]),
                decode_big_endian_integer(&[0x00, 0x80]),
                decode_big_endian_integer(&[])
            ),
            (-1, 128, 0)
        );
        assert_eq!(decode_big_endian_integer(&i128::MIN.to_be_bytes()), i128::MIN);
    }
}
