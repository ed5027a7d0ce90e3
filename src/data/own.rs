//! A table of the user's own: Parquet by the end of its name, CSV otherwise.

use std::io::{BufRead, Read};
use std::path::Path;

use polars::prelude::DataType;

use super::error::DataError;
use super::missing::is_absent;
use super::parquet::ParquetFile;
use super::parquet_type::ParquetField;
use super::rows::RowText;
use super::table::Table;
use super::text::{LONGEST, TextReader, unread};
use super::text_layout::TextLayout;

/// Whether a file is Parquet, by the end of its name.
pub fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet"))
}

/// Reads the columns named from a Parquet file, or all columns of a CSV file with a header whose separator is guessed.
///
/// # Errors
/// As [`Table::read`] and [`Table::read_parquet`].
pub fn read_own(path: &Path, columns: &[&str]) -> Result<Table, DataError> {
    if is_parquet(path) {
        return Table::read_parquet(path, columns);
    }
    Table::read(path, &own_layout(path, &ColumnNames::Header)?.format())
}

/// Where the names of the columns of a CSV file come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnNames {
    /// Its first line has them.
    Header,
    /// It has none; these are they.
    Listed(Vec<String>),
    /// It has none; they are called `column1`, `column2` and so on.
    Numbered,
}

/// How a CSV file is laid out: the separator is guessed by its first line, of which nothing else is told.
///
/// # Errors
/// [`DataError::Io`]; [`DataError::Table`] for a file that is damaged, or empty where columns are to be counted.
pub fn own_layout(path: &Path, names: &ColumnNames) -> Result<TextLayout, DataError> {
    let separator = guess_separator(path)?;
    let columns = match names {
        ColumnNames::Header => None,
        ColumnNames::Listed(names) => Some(names.clone()),
        ColumnNames::Numbered => Some(numbered(path, separator)?),
    };
    Ok(TextLayout { separator, columns })
}

/// A name for each cell of the first row.
fn numbered(path: &Path, separator: u8) -> Result<Vec<String>, DataError> {
    let headed = TextLayout { separator, columns: None };
    let cells = TextReader::open(path, &headed.format())?.names().len();
    Ok((1..=cells).map(|number| format!("column{number}")).collect())
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

/// What is told of a file: no cell, no range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnColumns {
    /// Its columns.
    pub columns: Vec<ColumnType>,
    /// How many rows it has.
    pub rows: usize,
}

/// The columns of a file with a header.
///
/// # Errors
/// As [`read_own`].
pub fn column_types(path: &Path) -> Result<Vec<ColumnType>, DataError> {
    let layout =
        if is_parquet(path) { TextLayout::default() } else { own_layout(path, &ColumnNames::Header)? };
    Ok(own_columns(path, &layout)?.columns)
}

/// The columns and the number of rows of a Parquet file, or of a CSV file in this layout. A column of a CSV file holds numbers if
/// all its cells are numbers or missing, some number among them.
///
/// # Errors
/// As [`read_own`].
pub fn own_columns(path: &Path, layout: &TextLayout) -> Result<OwnColumns, DataError> {
    if is_parquet(path) {
        let file = ParquetFile::open(path)?;
        let columns = file.fields().into_iter().map(column_type).collect();
        return Ok(OwnColumns { columns, rows: file.rows() });
    }
    let table = Table::read(path, &layout.format())?;
    let mut columns = Vec::new();
    for name in table.columns() {
        let cells = table.text(&name)?;
        let mut words = cells.iter().flatten().filter(|word| !is_absent(word)).peekable();
        let numbers = words.peek().is_some() && words.all(|word| word.parse::<f64>().is_ok());
        columns.push(ColumnType { name, kind: if numbers { ColumnKind::Numbers } else { ColumnKind::Text } });
    }
    Ok(OwnColumns { columns, rows: table.rows() })
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
fn guess_separator(path: &Path) -> Result<u8, DataError> {
    let mut line = Vec::new();
    RowText::open(path)?.take(LONGEST).read_until(b'\n', &mut line).map_err(|cause| unread(path, cause))?;
    // The last of equals is taken.
    let most = [b'\t', b';', b',']
        .into_iter()
        .max_by_key(|separator| line.iter().filter(|b| *b == separator).count());
    Ok(most.unwrap_or(b','))
}
