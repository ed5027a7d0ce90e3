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
pub enum OutputCells {
    /// `DOUBLE`.
    Numbers(Vec<f64>),
    /// Text.
    Words(Vec<String>),
}

/// A column to write.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputColumn {
    /// Its name.
    pub name: String,
    /// Its cells.
    pub cells: OutputCells,
}

/// The bytes of a Parquet file with these columns, all of one length, in one row group.
///
/// ```
/// use dpgp_data::{Table, OutputCells, OutputColumn, encode_parquet_table};
/// let column = OutputColumn { name: "x".to_owned(), cells: OutputCells::Numbers(vec![0.1, -2.5]) };
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("x.parquet");
/// std::fs::write(&path, encode_parquet_table(&[column])?)?;
/// assert_eq!(Table::read_parquet(&path, &["x"])?.numeric_column("x")?, [0.1, -2.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error`] for columns of different lengths.
pub fn encode_parquet_table(columns: &[OutputColumn]) -> Result<Vec<u8>> {
    encode_columns(columns).map_err(Error::other)
}

fn encode_columns(columns: &[OutputColumn]) -> std::result::Result<Vec<u8>, ParquetError> {
    let mut fields = Vec::new();
    for column in columns {
        fields.push(Arc::new(parquet_field_type(column)?));
    }
    let schema = Type::group_type_builder("rows").with_fields(fields).build()?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for OutputColumn { cells, .. } in columns {
        if let Some(column) = group.next_column()? {
            write_cells(column, cells)?;
        }
    }
    group.close()?;
    writer.into_inner()
}

fn parquet_field_type(column: &OutputColumn) -> std::result::Result<Type, ParquetError> {
    let (physical, logical) = match &column.cells {
        OutputCells::Numbers(_) => (Physical::DOUBLE, None),
        OutputCells::Words(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let builder = Type::primitive_type_builder(&column.name, physical);
    builder.with_repetition(Repetition::REQUIRED).with_logical_type(logical).build()
}

fn write_cells(mut column: SerializedColumnWriter<'_>, cells: &OutputCells) -> std::result::Result<(), ParquetError> {
    match cells {
        OutputCells::Numbers(numbers) => {
            column.typed::<DoubleType>().write_batch(numbers, None, None)?;
        }
        OutputCells::Words(words) => {
            let words: Vec<ByteArray> = words.iter().map(|word| ByteArray::from(word.as_str())).collect();
            column.typed::<ByteArrayType>().write_batch(&words, None, None)?;
        }
    }
    column.close()
}
