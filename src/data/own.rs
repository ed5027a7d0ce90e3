//! A table of the user's own: Parquet by the end of its name, CSV otherwise.

use std::fs;
use std::path::Path;

use super::error::{Action, DataError};
use super::format::{CsvFormat, Separator};
use super::parquet::ParquetFile;
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

/// The columns of a file, and for each whether it holds numbers (true), text (false), or what no table can hold (none).
/// A column of a CSV file holds numbers if all its cells are numbers or empty. Only names and types are told.
///
/// # Errors
/// As [`read_own`].
pub fn column_types(path: &Path) -> Result<Vec<(String, Option<bool>)>, DataError> {
    if is_parquet(path) {
        return Ok(ParquetFile::open(path)?.columns());
    }
    let table = read_own(path, &[])?;
    let is_number = |cell: &Option<String>| cell.as_deref().is_none_or(|cell| cell.parse::<f64>().is_ok());
    let of = |name: String| {
        let cells = table.text(&name)?;
        let numbers = cells.iter().any(Option::is_some) && cells.iter().all(is_number);
        Ok((name, Some(numbers)))
    };
    table.columns().into_iter().map(of).collect()
}

/// The separator of a CSV file: of comma, semicolon and tab the one that its first line holds most often.
///
/// # Errors
/// [`DataError::Io`].
pub fn guess_separator(path: &Path) -> Result<u8, DataError> {
    let bytes = fs::read(path).map_err(|source| DataError::io(Action::Read, path, source))?;
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let count = |separator: u8| line.iter().filter(|byte| **byte == separator).count();
    // The last of equals is taken.
    let most = [b'\t', b';', b','].into_iter().max_by_key(|separator| count(*separator));
    Ok(most.unwrap_or(b','))
}
