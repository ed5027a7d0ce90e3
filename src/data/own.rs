//! A table of the user's own: Parquet by the end of its name, CSV otherwise.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use polars::prelude::DataType;

use super::error::{Action, DataError, Doing};
use super::format::{CsvFormat, Separator};
use super::parquet::ParquetFile;
use super::parquet_type::ParquetField;
use super::table::Table;

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
/// [`DataError::Io`].
pub fn guess_separator(path: &Path) -> Result<u8, DataError> {
    let mut line = Vec::new();
    let file = File::open(path).and_then(|file| BufReader::new(file).read_until(b'\n', &mut line));
    file.doing(Action::Read, path)?;
    // The last of equals is taken.
    let most = [b'\t', b';', b',']
        .into_iter()
        .max_by_key(|separator| line.iter().filter(|b| *b == separator).count());
    Ok(most.unwrap_or(b','))
}
