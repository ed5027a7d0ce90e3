//! Rows of numbers, written in pieces, and small tables as the bytes of a Parquet file.

use std::fs::File;
use std::io::{BufWriter, Error, Result, Write};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::Result as ParquetResult;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use super::own::is_parquet;

/// Writes columns of numbers to a file: Parquet, or comma-separated text with a header.
pub struct RowWriter(RowFormatWriter);

enum RowFormatWriter {
    Text(BufWriter<File>),
    Parquet(SerializedFileWriter<File>),
}

impl RowWriter {
    /// Writes what comes before the rows; the ending of `path` decides on the form.
    ///
    /// # Errors
    /// The I/O error.
    pub fn new(file: File, path: &Path, columns: &[&str]) -> Result<Self> {
        if is_parquet(path) {
            return create_parquet_writer(file, columns)
                .map(|writer| Self(RowFormatWriter::Parquet(writer)))
                .map_err(Error::other);
        }
        let mut text = BufWriter::with_capacity(1 << 20, file);
        writeln!(text, "{}", columns.join(","))?;
        Ok(Self(RowFormatWriter::Text(text)))
    }

    /// Writes rows, one list of numbers a column; a row group of Parquet.
    ///
    /// # Errors
    /// The I/O error.
    pub fn write(&mut self, columns: &[Vec<f64>]) -> Result<()> {
        match &mut self.0 {
            RowFormatWriter::Text(text) => write_csv_lines(text, columns),
            RowFormatWriter::Parquet(writer) => write_row_group(writer, columns).map_err(Error::other),
        }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The I/O error.
    pub fn finish(self) -> Result<()> {
        match self.0 {
            RowFormatWriter::Text(mut text) => text.flush(),
            RowFormatWriter::Parquet(writer) => writer.close().map(|_| ()).map_err(Error::other),
        }
    }
}

fn create_parquet_writer(file: File, columns: &[&str]) -> ParquetResult<SerializedFileWriter<File>> {
    let schema = parquet_schema(columns.iter().map(|name| parquet_field(name, Physical::DOUBLE, None)))?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).set_dictionary_enabled(false);
    SerializedFileWriter::new(file, schema, Arc::new(properties.build()))
}

fn parquet_schema(fields: impl Iterator<Item = ParquetResult<Type>>) -> ParquetResult<Arc<Type>> {
    let fields = fields.map(|field| field.map(Arc::new)).collect::<ParquetResult<_>>()?;
    Type::group_type_builder("rows").with_fields(fields).build().map(Arc::new)
}

fn parquet_field(name: &str, physical: Physical, logical: Option<LogicalType>) -> ParquetResult<Type> {
    let builder = Type::primitive_type_builder(name, physical);
    builder.with_repetition(Repetition::REQUIRED).with_logical_type(logical).build()
}

fn write_row_group(writer: &mut SerializedFileWriter<File>, columns: &[Vec<f64>]) -> ParquetResult<()> {
    let mut group = writer.next_row_group()?;
    for values in columns {
        if let Some(mut column) = group.next_column()? {
            column.typed::<DoubleType>().write_batch(values, None, None)?;
            column.close()?;
        }
    }
    group.close().map(|_| ())
}

fn write_csv_lines(text: &mut impl Write, columns: &[Vec<f64>]) -> Result<()> {
    for row in 0..columns.first().map_or(0, Vec::len) {
        for (i, column) in columns.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            write!(text, "{comma}{}", column[row])?;
        }
        writeln!(text)?;
    }
    Ok(())
}

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

fn encode_columns(columns: &[OutputColumn]) -> ParquetResult<Vec<u8>> {
    let schema = parquet_schema(columns.iter().map(|OutputColumn { name, cells }| match cells {
        OutputCells::Numbers(_) => parquet_field(name, Physical::DOUBLE, None),
        OutputCells::Words(_) => parquet_field(name, Physical::BYTE_ARRAY, Some(LogicalType::String)),
    }))?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for OutputColumn { cells, .. } in columns {
        if let Some(column) = group.next_column()? {
            write_cells(column, cells)?;
        }
    }
    group.close()?;
    writer.into_inner()
}

fn write_cells(mut column: SerializedColumnWriter<'_>, cells: &OutputCells) -> ParquetResult<()> {
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
