//! Small tables as the bytes of a Parquet file.

use std::io::{Error, Result};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

/// The cells of a column, one for each row.
#[derive(Debug, Clone, PartialEq)]
pub enum WrittenCells {
    /// `DOUBLE`.
    Numbers(Vec<f64>),
    /// Text.
    Words(Vec<String>),
}

/// A column to write.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenColumn {
    /// Its name.
    pub name: String,
    /// Its cells.
    pub cells: WrittenCells,
}

/// The bytes of a Parquet file with these columns, all of one length, in one row group.
///
/// ```
/// use dpgp_data::{Table, WrittenCells, WrittenColumn, parquet_table};
/// let column = WrittenColumn { name: "x".to_owned(), cells: WrittenCells::Numbers(vec![0.1, -2.5]) };
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("x.parquet");
/// std::fs::write(&path, parquet_table(&[column])?)?;
/// assert_eq!(Table::read_parquet(&path, &["x"])?.numeric("x")?, [0.1, -2.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error`] for columns of different lengths.
pub fn parquet_table(columns: &[WrittenColumn]) -> Result<Vec<u8>> {
    written(columns).map_err(Error::other)
}

fn written(columns: &[WrittenColumn]) -> std::result::Result<Vec<u8>, ParquetError> {
    let mut fields = Vec::new();
    for column in columns {
        fields.push(Arc::new(field(column)?));
    }
    let schema = Type::group_type_builder("rows").with_fields(fields).build()?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for WrittenColumn { cells, .. } in columns {
        if let Some(column) = group.next_column()? {
            write_cells(column, cells)?;
        }
    }
    group.close()?;
    writer.into_inner()
}

fn field(column: &WrittenColumn) -> std::result::Result<Type, ParquetError> {
    let (physical, logical) = match &column.cells {
        WrittenCells::Numbers(_) => (Physical::DOUBLE, None),
        WrittenCells::Words(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let builder = Type::primitive_type_builder(&column.name, physical);
    builder.with_repetition(Repetition::REQUIRED).with_logical_type(logical).build()
}

fn write_cells(
    mut column: SerializedColumnWriter<'_>,
    cells: &WrittenCells,
) -> std::result::Result<(), ParquetError> {
    match cells {
        WrittenCells::Numbers(numbers) => {
            column.typed::<DoubleType>().write_batch(numbers, None, None)?;
        }
        WrittenCells::Words(words) => {
            let words: Vec<ByteArray> = words.iter().map(|word| ByteArray::from(word.as_str())).collect();
            column.typed::<ByteArrayType>().write_batch(&words, None, None)?;
        }
    }
    column.close()
}
