//! Rows of numbers, written in pieces.

use std::fs::File;
use std::io::{BufWriter, Error, Write};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, Repetition, Type as Physical};
use parquet::data_type::DoubleType;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::own::is_parquet;

/// Writes columns of numbers to a file: Parquet, or comma-separated text with a header.
pub struct RowWriter(RowFileWriter);

enum RowFileWriter {
    Text(BufWriter<File>),
    Parquet(SerializedFileWriter<File>),
}

impl RowWriter {
    /// Writes what comes before the rows; the ending of `path` decides on the form.
    ///
    /// # Errors
    /// The I/O error.
    pub fn new(file: File, path: &Path, columns: &[&str]) -> std::io::Result<Self> {
        if is_parquet(path) {
            return create_parquet_writer(file, columns)
                .map(|writer| Self(RowFileWriter::Parquet(writer)))
                .map_err(Error::other);
        }
        let mut text = BufWriter::with_capacity(1 << 20, file);
        writeln!(text, "{}", columns.join(","))?;
        Ok(Self(RowFileWriter::Text(text)))
    }

    /// Writes rows, one list of numbers a column; a row group of Parquet.
    ///
    /// # Errors
    /// The I/O error.
    pub fn write(&mut self, columns: &[Vec<f64>]) -> std::io::Result<()> {
        match &mut self.0 {
            RowFileWriter::Text(text) => write_csv_lines(text, columns),
            RowFileWriter::Parquet(writer) => write_row_group(writer, columns).map_err(Error::other),
        }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The I/O error.
    pub fn finish(self) -> std::io::Result<()> {
        match self.0 {
            RowFileWriter::Text(mut text) => text.flush(),
            RowFileWriter::Parquet(writer) => writer.close().map(|_| ()).map_err(Error::other),
        }
    }
}

fn create_parquet_writer(file: File, columns: &[&str]) -> Result<SerializedFileWriter<File>, ParquetError> {
    let mut fields = Vec::new();
    for name in columns {
        let field = Type::primitive_type_builder(name, Physical::DOUBLE);
        fields.push(Arc::new(field.with_repetition(Repetition::REQUIRED).build()?));
    }
    let schema = Type::group_type_builder("rows").with_fields(fields).build()?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).set_dictionary_enabled(false);
    SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties.build()))
}

fn write_row_group(writer: &mut SerializedFileWriter<File>, columns: &[Vec<f64>]) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for values in columns {
        if let Some(mut column) = group.next_column()? {
            column.typed::<DoubleType>().write_batch(values, None, None)?;
            column.close()?;
        }
    }
    group.close().map(|_| ())
}

fn write_csv_lines(text: &mut impl Write, columns: &[Vec<f64>]) -> std::io::Result<()> {
    for row in 0..columns.first().map_or(0, Vec::len) {
        for (i, column) in columns.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            write!(text, "{comma}{}", column[row])?;
        }
        writeln!(text)?;
    }
    Ok(())
}
