//! Tables in Parquet files: the only module of this room that touches the format.

use std::fs::File;
use std::path::Path;

use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use super::error::{Action, DataError};
use super::suggest::closest;
use super::table_error::TableError;

/// Rows that are decoded at a time.
const BATCH: usize = 8192;

/// A column's name and its cells as text; none where it holds null.
pub(super) type TextColumn = (String, Vec<Option<String>>);

/// A Parquet file.
pub struct ParquetFile<'a> {
    path: &'a Path,
    reader: SerializedFileReader<File>,
}

impl<'a> ParquetFile<'a> {
    /// Opens a file and reads its schema.
    ///
    /// # Errors
    /// [`DataError::Io`] when it cannot be read, [`DataError::Table`] when it is no Parquet file.
    pub fn open(path: &'a Path) -> Result<Self, DataError> {
        let file = File::open(path).map_err(|source| DataError::io(Action::Read, path, source))?;
        let reader = SerializedFileReader::new(file).map_err(|cause| wrong(path, cause))?;
        Ok(Self { path, reader })
    }

    /// Every column, and whether it holds numbers (true), text (false), or what no table here can hold (none).
    pub fn columns(&self) -> Vec<(String, Option<bool>)> {
        self.descriptors().map(|column| (column.path().string(), kind(&column))).collect()
    }

    /// The number of rows.
    pub(super) fn rows(&self) -> usize {
        usize::try_from(self.reader.metadata().file_metadata().num_rows()).unwrap_or(0)
    }

    /// The cells of some columns, row groups one after the other. Whole numbers are read exactly, `FLOAT` as the
    /// `DOUBLE` of the same value.
    ///
    /// # Errors
    /// [`DataError::Table`] for a column that is not there or of a type without numbers or text.
    pub(super) fn read(&self, wanted: &[&str]) -> Result<Vec<TextColumn>, DataError> {
        wanted.iter().map(|name| Ok(((*name).to_owned(), self.column(name)?))).collect()
    }

    fn descriptors(&self) -> impl Iterator<Item = parquet::schema::types::ColumnDescPtr> {
        self.reader.metadata().file_metadata().schema_descr().columns().to_vec().into_iter()
    }

    fn column(&self, name: &str) -> Result<Vec<Option<String>>, DataError> {
        let found = self.descriptors().enumerate().find(|(_, column)| column.path().string() == name);
        let (place, descriptor) = found.ok_or_else(|| self.unknown(name))?;
        if kind(&descriptor).is_none() {
            let (column, found) = (name.to_owned(), described(&descriptor));
            return Err(DataError::table(self.path, TableError::ColumnType { column, found }));
        }
        let mut cells = Vec::with_capacity(self.rows());
        for group in 0..self.reader.num_row_groups() {
            let group = self.reader.get_row_group(group).map_err(|cause| wrong(self.path, cause))?;
            let reader = group.get_column_reader(place).map_err(|cause| wrong(self.path, cause))?;
            append(reader, &descriptor, &mut cells).map_err(|cause| wrong(self.path, cause))?;
        }
        Ok(cells)
    }

    fn unknown(&self, name: &str) -> DataError {
        let known: Vec<String> = self.descriptors().map(|column| column.path().string()).collect();
        let suggestion = closest(name, known.iter().map(String::as_str)).map(str::to_owned);
        DataError::table(self.path, TableError::UnknownColumn { column: name.to_owned(), known, suggestion })
    }
}

fn wrong(path: &Path, cause: ParquetError) -> DataError {
    DataError::table(path, TableError::Parquet(Box::new(cause)))
}

/// Whether a column holds numbers or text.
fn kind(column: &ColumnDescriptor) -> Option<bool> {
    use ConvertedType as C;
    if column.path().parts().len() > 1 || column.max_rep_level() > 0 {
        return None;
    }
    let logical = column.logical_type_ref();
    let plain = |allowed: &[C]| {
        let known = matches!(
            logical,
            None | Some(LogicalType::Integer { .. } | LogicalType::String | LogicalType::Enum)
        );
        known && allowed.contains(&column.converted_type())
    };
    let whole =
        [C::NONE, C::INT_8, C::INT_16, C::INT_32, C::INT_64, C::UINT_8, C::UINT_16, C::UINT_32, C::UINT_64];
    match column.physical_type() {
        Type::DOUBLE | Type::FLOAT => plain(&[C::NONE]).then_some(true),
        Type::INT32 | Type::INT64 => plain(&whole).then_some(true),
        Type::BYTE_ARRAY => plain(&[C::NONE, C::UTF8, C::ENUM]).then_some(false),
        Type::BOOLEAN | Type::INT96 | Type::FIXED_LEN_BYTE_ARRAY => None,
    }
}

fn described(column: &ColumnDescriptor) -> String {
    let shape = if column.max_rep_level() > 0 || column.path().parts().len() > 1 { "nested " } else { "" };
    match column.converted_type() {
        ConvertedType::NONE => format!("{shape}{}", column.physical_type()),
        meaning => format!("{shape}{} ({meaning})", column.physical_type()),
    }
}

fn append(
    reader: ColumnReader,
    descriptor: &ColumnDescriptor,
    cells: &mut Vec<Option<String>>,
) -> Result<(), ParquetError> {
    use ConvertedType as C;
    let nulls = descriptor.max_def_level();
    let unsigned = matches!(descriptor.converted_type(), C::UINT_8 | C::UINT_16 | C::UINT_32 | C::UINT_64);
    match reader {
        ColumnReader::DoubleColumnReader(reader) => typed(reader, nulls, cells, |x| format!("{x:?}")),
        ColumnReader::FloatColumnReader(reader) => {
            typed(reader, nulls, cells, |x| format!("{:?}", f64::from(*x)))
        }
        ColumnReader::Int32ColumnReader(reader) if unsigned => {
            typed(reader, nulls, cells, |x| x.cast_unsigned().to_string())
        }
        ColumnReader::Int64ColumnReader(reader) if unsigned => {
            typed(reader, nulls, cells, |x| x.cast_unsigned().to_string())
        }
        ColumnReader::Int32ColumnReader(reader) => typed(reader, nulls, cells, i32::to_string),
        ColumnReader::Int64ColumnReader(reader) => typed(reader, nulls, cells, i64::to_string),
        ColumnReader::ByteArrayColumnReader(reader) => {
            typed(reader, nulls, cells, |text: &ByteArray| String::from_utf8_lossy(text.data()).into_owned())
        }
        _ => Err(ParquetError::General("a column is not of the type that the schema says".to_owned())),
    }
}

/// The cells of a column of one row group.
fn typed<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    present: i16,
    cells: &mut Vec<Option<String>>,
    text: impl Fn(&T::T) -> String,
) -> Result<(), ParquetError> {
    loop {
        let (mut levels, mut values) = (Vec::new(), Vec::new());
        let (records, ..) = reader.read_records(BATCH, Some(&mut levels), None, &mut values)?;
        if records == 0 {
            return Ok(());
        }
        let mut values = values.iter();
        if present == 0 {
            cells.extend(values.map(|value| Some(text(value))));
        } else {
            cells.extend(
                levels.iter().map(|level| if *level == present { values.next().map(&text) } else { None }),
            );
        }
    }
}
