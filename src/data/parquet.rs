//! Parquet files: their columns, in types that hold every cell exactly.

use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType as Physical};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;
use polars::prelude::{
    DataType, Float64Chunked, Int64Chunked, IntoSeries, Series, StringChunked, UInt64Chunked,
};

use super::error::{Action, DataError, Doing};
use super::table_error::TableError;

/// A Parquet file.
pub(super) struct ParquetFile {
    path: PathBuf,
    reader: SerializedFileReader<File>,
}

/// A column of one row group, read from its first row on.
pub(super) struct ParquetColumn {
    reader: ColumnReader,
    /// Whether whole numbers have no sign.
    unsigned: bool,
    /// The definition level of the cells that are there.
    present: i16,
}

/// What the schema says of a column.
pub(super) struct ParquetField {
    pub name: String,
    /// The type that holds its cells here; none if a table cannot hold them.
    pub holds: Option<DataType>,
    /// Its type in the words of the format.
    pub found: String,
}

impl ParquetFile {
    /// Opens a file and reads its schema.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let file = File::open(path).doing(Action::Read, path)?;
        let path = path.to_owned();
        match SerializedFileReader::new(file) {
            Ok(reader) => Ok(Self { path, reader }),
            Err(cause) => Err(DataError::table(&path, TableError::Parquet(Box::new(cause)))),
        }
    }

    /// The columns.
    pub fn fields(&self) -> Vec<ParquetField> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        schema.columns().iter().map(|column| field(column)).collect()
    }

    /// The names of the columns that a table can hold, those apart that are named and those whose name stands twice.
    pub fn others(&self, named: &[String]) -> Vec<String> {
        let fields = self.fields();
        let mut others = Vec::new();
        for field in fields.iter().filter(|field| field.holds.is_some()) {
            let alone = fields.iter().filter(|other| other.name == field.name).count() == 1;
            if alone && !named.contains(&field.name) {
                others.push(field.name.clone());
            }
        }
        others
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
        let unsigned = holds(&column) == Some(DataType::UInt64);
        Ok(ParquetColumn {
            reader: reader.map_err(|cause| self.broken(cause))?,
            unsigned,
            present: column.max_def_level(),
        })
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
    /// The cells of the next rows. Whole numbers are read exactly, `FLOAT` as the `DOUBLE` of the same value.
    pub fn read(&mut self, rows: usize) -> Result<Series, ParquetError> {
        use ColumnReader as R;
        let (unsigned, present) = (self.unsigned, self.present);
        Ok(match &mut self.reader {
            R::DoubleColumnReader(reader) => {
                cells::<_, _, Float64Chunked>(reader, rows, present, |x| *x)?.into_series()
            }
            R::FloatColumnReader(reader) => {
                cells::<_, _, Float64Chunked>(reader, rows, present, |x| f64::from(*x))?.into_series()
            }
            R::Int32ColumnReader(reader) if unsigned => {
                cells::<_, _, UInt64Chunked>(reader, rows, present, |n| u64::from(n.cast_unsigned()))?
                    .into_series()
            }
            R::Int64ColumnReader(reader) if unsigned => {
                cells::<_, _, UInt64Chunked>(reader, rows, present, |n| n.cast_unsigned())?.into_series()
            }
            R::Int32ColumnReader(reader) => {
                cells::<_, _, Int64Chunked>(reader, rows, present, |n| i64::from(*n))?.into_series()
            }
            R::Int64ColumnReader(reader) => {
                cells::<_, _, Int64Chunked>(reader, rows, present, |n| *n)?.into_series()
            }
            R::ByteArrayColumnReader(reader) => {
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
            _ => Ok(0),
        }
    }
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

fn field(column: &ColumnDescriptor) -> ParquetField {
    let nested = column.max_rep_level() > 0 || column.path().parts().len() > 1;
    let mut found = format!("{}{}", if nested { "nested " } else { "" }, column.physical_type());
    if column.converted_type() != ConvertedType::NONE {
        found.push_str(&format!(" ({})", column.converted_type()));
    }
    let holds = if nested { None } else { holds(column) };
    ParquetField { name: column.path().string(), holds, found }
}

/// The type of the cells of a column that is not nested. Dates, times and decimals are numbers in the file, but not
/// those that they stand for.
fn holds(column: &ColumnDescriptor) -> Option<DataType> {
    use ConvertedType as C;
    use LogicalType as L;
    if !matches!(column.logical_type_ref(), None | Some(L::Integer { .. } | L::String | L::Enum)) {
        return None;
    }
    match (column.physical_type(), column.converted_type()) {
        (Type::DOUBLE | Type::FLOAT, C::NONE) => Some(DataType::Float64),
        (Type::INT32 | Type::INT64, C::NONE | C::INT_8 | C::INT_16 | C::INT_32 | C::INT_64) => {
            Some(DataType::Int64)
        }
        (Type::INT32 | Type::INT64, C::UINT_8 | C::UINT_16 | C::UINT_32 | C::UINT_64) => {
            Some(DataType::UInt64)
        }
        (Type::BYTE_ARRAY, C::NONE | C::UTF8 | C::ENUM) => Some(DataType::String),
        _ => None,
    }
}
