//! A table of the user's own: Parquet by the end of its name, CSV otherwise.

use std::io::{BufRead, Read};
use std::path::Path;

use polars::prelude::DataType;

use super::error::DataError;
use super::format::{CsvFormat, Separator};
use super::parquet::ParquetFile;
use super::parquet_type::ParquetField;
use super::rows::RowText;
use super::table::Table;
use super::text::{LONGEST, unread};

/// Whether a file is Parquet, by the end of its name.
pub fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet"))
}

/// Reads the columns named from a Parquet file, or all columns of a CSV file whose separator is guessed.
///
/// # Errors
/// As [`Table::read`] and [`Table::read_parquet`].
pub fn read_own(path: &Path, columns: &[&str]) -> Result<Table, DataError> {
    if is_parquet(path) {
        return Table::read_parquet(path, columns);
    }
    let separator = Separator::Byte(guess_separator(path)?);
    Table::read(path, &CsvFormat { separator, ..CsvFormat::default() })
}

/// A column of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnType {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: ColumnKind,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Numbers.
    Numbers,
    /// Text.
    Text,
    /// What no table can hold.
    Other,
}

/// The columns of a file. A column of a CSV file holds numbers if all its cells are numbers or empty, some number among
/// them. Only names and types are told.
///
/// # Errors
/// As [`read_own`].
pub fn column_types(path: &Path) -> Result<Vec<ColumnType>, DataError> {
    if is_parquet(path) {
        return Ok(ParquetFile::open(path)?.fields().into_iter().map(column_type).collect());
    }
    let table = read_own(path, &[])?;
    let mut types = Vec::new();
    for name in table.columns() {
        let cells = table.text(&name)?;
        let mut words = cells.iter().flatten().peekable();
        let numbers = words.peek().is_some() && words.all(|word| word.parse::<f64>().is_ok());
        types.push(ColumnType { name, kind: if numbers { ColumnKind::Numbers } else { ColumnKind::Text } });
    }
    Ok(types)
}

fn column_type(field: ParquetField) -> ColumnType {
    let kind = match field.holds {
        None => ColumnKind::Other,
        Some(DataType::String) => ColumnKind::Text,
        Some(_) => ColumnKind::Numbers,
    };
    ColumnType { name: field.name, kind }
}

/// The separator of a CSV file: of comma, semicolon and tab the one that its first line holds most often.
///
/// # Errors
/// [`DataError::Io`]; [`DataError::Table`] for a gzip file that is damaged.
pub fn guess_separator(path: &Path) -> Result<u8, DataError> {
    let mut line = Vec::new();
    RowText::open(path)?.take(LONGEST).read_until(b'\n', &mut line).map_err(|cause| unread(path, cause))?;
    // The last of equals is taken.
    let most = [b'\t', b';', b',']
        .into_iter()
        .max_by_key(|separator| line.iter().filter(|b| *b == separator).count());
    Ok(most.unwrap_or(b','))
}
