//! Parquet files: their columns, in types that hold every cell exactly.

use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::basic::CompressionCodec;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType as Physical, FixedLenByteArray};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use polars::prelude::{Float64Chunked, Int64Chunked, IntoSeries, Series, StringChunked, UInt64Chunked};

use super::decimal::{big_endian, decimal};
use super::error::{Action, DataError, Doing};
use super::format::repeated;
use super::parquet_type::{ParquetCells, ParquetField};
use super::table_error::TableError;

/// A Parquet file.
pub(super) struct ParquetFile {
    path: PathBuf,
    reader: SerializedFileReader<File>,
}

/// A column of one row group, read from its first row on.
pub(super) struct ParquetColumn {
    reader: ColumnReader,
    /// How its cells are read.
    cells: ParquetCells,
    /// The definition level of the cells that are there.
    present: i16,
}

impl ParquetFile {
    /// Opens a file and reads its schema, whose names must be distinct.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let file = File::open(path).doing(Action::Read, path)?;
        let path = path.to_owned();
        let file = match SerializedFileReader::new(file) {
            Ok(reader) => Self { path, reader },
            Err(cause) => return Err(DataError::table(&path, TableError::Parquet(Box::new(cause)))),
        };
        let names: Vec<String> = file.fields().into_iter().map(|field| field.name).collect();
        if let Some(column) = repeated(&names) {
            return Err(file.wrong(TableError::RepeatedColumn(column.to_owned())));
        }
        file.ensure_known_codecs()?;
        Ok(file)
    }

    /// Fails if a column is compressed in a way that cannot be read: better now than after hours of other files.
    fn ensure_known_codecs(&self) -> Result<(), DataError> {
        for group in self.reader.metadata().row_groups() {
            for column in group.columns() {
                let codec = column.compression_codec();
                if matches!(codec, CompressionCodec::BROTLI | CompressionCodec::LZO) {
                    let (column, codec) = (column.column_path().string(), format!("{codec:?}"));
                    return Err(self.wrong(TableError::Codec { column, codec }));
                }
            }
        }
        Ok(())
    }

    /// The columns.
    pub fn fields(&self) -> Vec<ParquetField> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        schema.columns().iter().map(|column| ParquetField::of(column)).collect()
    }

    /// The names of the columns that a table can hold, those apart that are named.
    pub fn others(&self, named: &[String]) -> Vec<String> {
        let others = self.fields().into_iter().filter(|field| field.holds.is_some());
        others.map(|field| field.name).filter(|name| !named.contains(name)).collect()
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        usize::try_from(self.reader.metadata().file_metadata().num_rows()).unwrap_or(0)
    }

    /// The number of rows of each row group.
    pub fn groups(&self) -> Vec<usize> {
        let groups = self.reader.metadata().row_groups().iter();
        groups.map(|group| usize::try_from(group.num_rows()).unwrap_or(0)).collect()
    }

    /// A column of a row group, by its place in the file.
    pub fn column(&self, group: usize, place: usize) -> Result<ParquetColumn, DataError> {
        let column = self.reader.metadata().file_metadata().schema_descr().column(place);
        let reader = self.reader.get_row_group(group).and_then(|group| group.get_column_reader(place));
        let Some(cells) = ParquetCells::of(&column) else {
            return Err(self.wrong(ParquetField::of(&column).refused()));
        };
        let reader = reader.map_err(|cause| self.broken(cause))?;
        Ok(ParquetColumn { reader, cells, present: column.max_def_level() })
    }

    /// The error for a file whose contents cannot be decoded.
    pub fn broken(&self, cause: ParquetError) -> DataError {
        self.wrong(TableError::Parquet(Box::new(cause)))
    }

    /// The error for a problem of this file.
    pub fn wrong(&self, problem: TableError) -> DataError {
        DataError::table(&self.path, problem)
    }
}

impl ParquetColumn {
    /// The cells of the next rows. Whole numbers are read exactly, `FLOAT` as the `DOUBLE` of the same value, `DECIMAL` as
    /// the `DOUBLE` next to it.
    pub fn read(&mut self, rows: usize) -> Result<Series, ParquetError> {
        use ColumnReader as R;
        use ParquetCells as C;
        let present = self.present;
        Ok(match (&mut self.reader, self.cells) {
            (R::DoubleColumnReader(reader), _) => {
                cells::<_, _, Float64Chunked>(reader, rows, present, |x| *x)?.into_series()
            }
            (R::FloatColumnReader(reader), _) => {
                cells::<_, _, Float64Chunked>(reader, rows, present, |x| f64::from(*x))?.into_series()
            }
            (R::Int32ColumnReader(reader), C::Unsigned) => {
                cells::<_, _, UInt64Chunked>(reader, rows, present, |n| u64::from(n.cast_unsigned()))?
                    .into_series()
            }
            (R::Int64ColumnReader(reader), C::Unsigned) => {
                cells::<_, _, UInt64Chunked>(reader, rows, present, |n| n.cast_unsigned())?.into_series()
            }
            (R::Int32ColumnReader(reader), C::Decimal(scale)) => {
                cells::<_, _, Float64Chunked>(reader, rows, present, |n| decimal(i128::from(*n), scale))?
                    .into_series()
            }
            (R::Int64ColumnReader(reader), C::Decimal(scale)) => {
                cells::<_, _, Float64Chunked>(reader, rows, present, |n| decimal(i128::from(*n), scale))?
                    .into_series()
            }
            (R::FixedLenByteArrayColumnReader(reader), C::Decimal(scale)) => {
                cells::<_, _, Float64Chunked>(reader, rows, present, |n| wide_decimal(n, scale))?
                    .into_series()
            }
            (R::Int32ColumnReader(reader), _) => {
                cells::<_, _, Int64Chunked>(reader, rows, present, |n| i64::from(*n))?.into_series()
            }
            (R::Int64ColumnReader(reader), _) => {
                cells::<_, _, Int64Chunked>(reader, rows, present, |n| *n)?.into_series()
            }
            (R::ByteArrayColumnReader(reader), _) => {
                cells::<_, _, StringChunked>(reader, rows, present, text)?.into_series()
            }
            _ => {
                return Err(ParquetError::General(
                    "a column is not of the type that the schema says".to_owned(),
                ));
            }
        })
    }

    /// Passes over rows.
    pub fn skip(&mut self, rows: usize) -> Result<usize, ParquetError> {
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

fn wide_decimal(bytes: &FixedLenByteArray, scale: u32) -> f64 {
    decimal(big_endian(bytes.data()), scale)
}

fn text(bytes: &ByteArray) -> String {
    String::from_utf8_lossy(bytes.data()).into_owned()
}

/// The next cells of a column, none where it holds null.
fn cells<T: Physical, V, C: FromIterator<Option<V>>>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    present: i16,
    value: impl Fn(&T::T) -> V,
) -> Result<C, ParquetError> {
    let (mut levels, mut values) = (Vec::new(), Vec::with_capacity(rows));
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
