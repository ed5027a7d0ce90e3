//! Tables of text cells: the only module that touches polars.
//!
//! Every cell is read as text and parsed when it is asked for, so that a message names the very line and cell.

use std::error::Error;
use std::fs;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use polars::prelude::{
    BooleanChunked, Column, CsvParseOptions, CsvReadOptions, DataFrame, DataFrameJoinOps, DataType,
    IntoSeries, JoinArgs, JoinType, JoinValidation, MaintainOrderJoin, PolarsResult, Schema, SerReader,
    StringChunked,
};

use super::error::{Action, DataError};
use super::filter::{Filter, FilterValue};
use super::format::{CsvFormat, Separator, repeated};
use super::lines::{Record, byte, cells, names, records, stray_quote};
use super::parquet::{ParquetFile, TextColumn};
use super::suggest::closest;
use super::table_error::{CellProblem, RowUnit, TableError};

/// A table of text cells, and the line that each row began in.
#[derive(Debug, Clone)]
pub struct Table {
    file: PathBuf,
    frame: DataFrame,
    lines: Vec<usize>,
    /// What `lines` counts.
    unit: RowUnit,
}

impl Table {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// [`DataError::Io`] when it cannot be read, [`DataError::Table`] when it is no table of this format.
    pub fn read(path: &Path, format: &CsvFormat) -> Result<Self, DataError> {
        let bytes = fs::read(path).map_err(|source| DataError::io(Action::Read, path, source))?;
        Self::from_bytes(path, &bytes, format)
    }

    /// Reads the first CSV file of the zip archive at `path`.
    ///
    /// # Errors
    /// As [`Table::read`]; an archive that cannot be read, or holds no CSV file, is no table.
    pub fn read_zipped(path: &Path, format: &CsvFormat) -> Result<Self, DataError> {
        let file = fs::File::open(path).map_err(|source| DataError::io(Action::Read, path, source))?;
        let bytes = unzipped(file).map_err(|cause| DataError::table(path, TableError::Body(cause)))?;
        Self::from_bytes(path, &bytes, format)
    }

    /// Reads some columns of the Parquet file at `path`; messages count its rows from 1.
    ///
    /// # Errors
    /// [`DataError::Io`] when it cannot be read, [`DataError::Table`] when it is no Parquet file, or a column is not there
    /// or holds neither numbers nor text.
    pub fn read_parquet(path: &Path, columns: &[&str]) -> Result<Self, DataError> {
        let file = ParquetFile::open(path)?;
        let column = |(name, cells): TextColumn| -> Column {
            let cells: StringChunked = cells.into_iter().collect();
            cells.with_name(name.as_str().into()).into_series().into()
        };
        let columns: Vec<Column> = file.read(columns)?.into_iter().map(column).collect();
        let rows = file.rows();
        let frame = DataFrame::new(rows, columns).map_err(|error| DataError::table(path, body(error)))?;
        Ok(Self { file: path.to_owned(), frame, lines: (1..=rows).collect(), unit: RowUnit::Row })
    }

    fn from_bytes(path: &Path, bytes: &[u8], format: &CsvFormat) -> Result<Self, DataError> {
        let table = || -> Result<Self, TableError> {
            let text = utf8(bytes)?;
            let mut rows = records(text, format)?;
            let columns = columns(&mut rows, format)?;
            check_widths(&rows, columns.len(), format)?;
            let frame = frame(&rows, &columns, format)?;
            let lines = rows.iter().map(|row| row.line).collect();
            Ok(Self { file: path.to_owned(), frame, lines, unit: RowUnit::Line })
        };
        table().map_err(|problem| DataError::table(path, problem))
    }

    /// The file that the table was read from.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The names of the columns, in the order of the file.
    #[must_use]
    pub fn columns(&self) -> Vec<String> {
        self.frame.get_column_names().iter().map(ToString::to_string).collect()
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.lines.len()
    }

    /// The line of the file that each row began in, counted from 1.
    #[must_use]
    pub fn lines(&self) -> &[usize] {
        &self.lines
    }

    /// The rows that pass the filter, in their order.
    ///
    /// # Errors
    /// [`DataError::Table`] for a column that is not there, or a cell that is no number but compared with one.
    pub fn filter(&self, filter: &Filter) -> Result<Self, DataError> {
        let keep: Vec<bool> = match &filter.value {
            FilterValue::Number(value) => self.map(&filter.column, |cell| match number(cell) {
                Err(CellProblem::Missing) => Ok(false),
                found => Ok(filter.is.holds(found?.partial_cmp(value))),
            })?,
            FilterValue::Text(value) => self.map(&filter.column, |cell| {
                Ok(cell.is_some_and(|cell| filter.is.holds(Some(cell.cmp(value.as_str())))))
            })?,
        };
        self.keep(&keep)
    }

    /// The rows in which every one of these columns has a cell.
    ///
    /// # Errors
    /// [`DataError::Table`] for a column that is not there.
    pub fn without_missing(&self, columns: &[&str]) -> Result<Self, DataError> {
        let mut keep = vec![true; self.rows()];
        for column in columns {
            let there = self.map(column, |cell| Ok(cell.is_some()))?;
            keep.iter_mut().zip(there).for_each(|(keep, there)| *keep &= there);
        }
        self.keep(&keep)
    }

    /// The cells of a column as numbers.
    ///
    /// # Errors
    /// [`DataError::Table`] for a column that is not there, or a cell that is missing, no number, or not finite.
    pub fn numeric(&self, column: &str) -> Result<Vec<f64>, DataError> {
        self.map(column, number)
    }

    /// The cells of a column as numbers: each one's place in a list, from 0.
    ///
    /// # Errors
    /// [`DataError::Table`] for a column that is not there, or a cell that is missing or not in the list.
    pub fn coded(&self, column: &str, codes: &[String]) -> Result<Vec<f64>, DataError> {
        self.map(column, |cell| {
            let cell = cell.ok_or(CellProblem::Missing)?;
            let place = codes.iter().position(|code| code == cell);
            place.map(|at| at as f64).ok_or_else(|| CellProblem::NoCode(cell.to_owned(), codes.to_vec()))
        })
    }

    /// The cells of a column as text, without blanks around them; `None` where a cell is missing.
    ///
    /// # Errors
    /// [`DataError::Table`] for a column that is not there.
    pub fn text(&self, column: &str) -> Result<Vec<Option<String>>, DataError> {
        self.map(column, |cell| Ok(cell.map(str::to_owned)))
    }

    /// The table with another name for a column.
    ///
    /// # Errors
    /// [`DataError::Table`] for a column that is not there.
    pub fn renamed(mut self, column: &str, name: &str) -> Result<Self, DataError> {
        self.cells(column)?;
        self.frame.rename(column, name.into()).map_err(|error| DataError::table(&self.file, body(error)))?;
        Ok(self)
    }

    /// The table with these columns alone.
    ///
    /// # Errors
    /// [`DataError::Table`] for a column that is not there.
    pub fn only(&self, columns: &[&str]) -> Result<Self, DataError> {
        columns.iter().try_for_each(|column| self.cells(column).map(|_| ()))?;
        let frame = self.frame.select(columns.iter().copied());
        let frame = frame.map_err(|error| DataError::table(&self.file, body(error)))?;
        Ok(Self { file: self.file.clone(), frame, lines: self.lines.clone(), unit: self.unit })
    }

    /// The table with a column of numbers, in place of one of that name.
    ///
    /// # Errors
    /// [`DataError::Table`] if there are not as many numbers as rows.
    pub fn with_numbers(mut self, name: &str, values: &[f64]) -> Result<Self, DataError> {
        let cells: StringChunked = values.iter().map(|value| Some(format!("{value:?}"))).collect();
        let column = cells.with_name(name.into()).into_series().into();
        self.frame.with_column(column).map_err(|error| DataError::table(&self.file, body(error)))?;
        Ok(self)
    }

    /// Each row with the columns of that row of `other` whose `key` equals its cell in `column`; they are missing where
    /// there is none. Keys must not repeat.
    ///
    /// # Errors
    /// [`DataError::Table`] for a column that is not there, or a key that is there twice.
    pub fn joined(&self, column: &str, other: &Self, key: &str) -> Result<Self, DataError> {
        self.cells(column)?;
        other.cells(key)?;
        let mut args = JoinArgs::new(JoinType::Left);
        args.validation = JoinValidation::ManyToOne;
        args.maintain_order = MaintainOrderJoin::Left;
        let frame = self.frame.join(&other.frame, [column], [key], args, None);
        let frame = frame.map_err(|error| DataError::table(&self.file, body(error)))?;
        Ok(Self { file: self.file.clone(), frame, lines: self.lines.clone(), unit: self.unit })
    }

    /// The cells of a column as `read` understands them; `None` stands for a missing one.
    pub(super) fn cells_as<T>(
        &self,
        column: &str,
        read: impl Fn(Option<&str>) -> Result<T, CellProblem>,
    ) -> Result<Vec<T>, DataError> {
        self.map(column, read)
    }

    /// Applies `read` to each cell of a column; `None` stands for a missing one.
    fn map<T>(
        &self,
        column: &str,
        read: impl Fn(Option<&str>) -> Result<T, CellProblem>,
    ) -> Result<Vec<T>, DataError> {
        let cell = |(cell, &line): (Option<&str>, &usize)| {
            let cell = cell.map(str::trim).filter(|cell| !cell.is_empty());
            read(cell).map_err(|problem| {
                let column = column.to_owned();
                DataError::table(&self.file, TableError::Cell { unit: self.unit, line, column, problem })
            })
        };
        self.cells(column)?.iter().zip(&self.lines).map(cell).collect()
    }

    fn cells(&self, column: &str) -> Result<&StringChunked, DataError> {
        let cells = self.frame.column(column).and_then(|column| column.str());
        cells.map_err(|_| {
            let known = self.columns();
            let suggestion = closest(column, known.iter().map(String::as_str)).map(str::to_owned);
            let column = column.to_owned();
            DataError::table(&self.file, TableError::UnknownColumn { column, known, suggestion })
        })
    }

    fn keep(&self, keep: &[bool]) -> Result<Self, DataError> {
        let mask: BooleanChunked = keep.iter().copied().collect();
        let frame = self.frame.filter(&mask).map_err(|error| DataError::table(&self.file, body(error)))?;
        let lines = self.lines.iter().zip(keep).filter(|(_, keep)| **keep).map(|(line, _)| *line).collect();
        Ok(Self { file: self.file.clone(), frame, lines, unit: self.unit })
    }
}

fn number(cell: Option<&str>) -> Result<f64, CellProblem> {
    let cell = cell.ok_or(CellProblem::Missing)?;
    let value: f64 = cell.parse().map_err(|_| CellProblem::NotANumber(cell.to_owned()))?;
    if value.is_finite() { Ok(value) } else { Err(CellProblem::NotFinite(cell.to_owned())) }
}

/// The bytes of the first CSV file of an archive, those that the system of the archive adds apart.
fn unzipped(file: fs::File) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
    let mut archive = zip::ZipArchive::new(file)?;
    for place in 0..archive.len() {
        let mut entry = archive.by_index(place)?;
        let name = entry.name()?.to_string();
        if name.to_lowercase().ends_with(".csv") && !name.starts_with("__MACOSX") {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            return Ok(bytes);
        }
    }
    Err("the archive holds no CSV file".into())
}

fn utf8(bytes: &[u8]) -> Result<&str, TableError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        TableError::NotUtf8 { line }
    })
}

/// The names of the columns; a header is taken off the rows.
fn columns(rows: &mut Vec<Record<'_>>, format: &CsvFormat) -> Result<Vec<String>, TableError> {
    let columns = if format.header { header(rows, format)? } else { format.columns.clone() };
    match repeated(&columns) {
        Some(column) => Err(TableError::RepeatedColumn { column: column.to_owned() }),
        None if columns.is_empty() => Err(TableError::NoColumns),
        None => Ok(columns),
    }
}

fn header(rows: &mut Vec<Record<'_>>, format: &CsvFormat) -> Result<Vec<String>, TableError> {
    if rows.is_empty() {
        return Err(TableError::Empty);
    }
    let Record { line, text } = rows.remove(0);
    let found = names(&text, format).map_err(body)?;
    if format.columns.is_empty() || format.columns == found {
        Ok(found)
    } else {
        let listed = format.columns.clone();
        Err(TableError::Header { line, found, listed })
    }
}

fn check_widths(rows: &[Record<'_>], expected: usize, format: &CsvFormat) -> Result<(), TableError> {
    for row in rows {
        let found = cells(&row.text, format);
        if found != expected {
            return Err(TableError::Ragged { line: row.line, expected, found });
        }
    }
    Ok(())
}

/// The rows as columns of text.
fn frame(rows: &[Record<'_>], columns: &[String], format: &CsvFormat) -> Result<DataFrame, TableError> {
    let schema: Schema = columns.iter().map(|name| (name.as_str().into(), DataType::String)).collect();
    if rows.is_empty() {
        return Ok(DataFrame::empty_with_schema(&schema));
    }
    let mut text = String::new();
    for row in rows {
        text.push_str(&row.text);
        text.push('\n');
    }
    let cause = match parse(text, schema, format) {
        Ok(frame) if frame.height() == rows.len() => return Ok(frame),
        Ok(frame) => format!("{} were expected and {} found", rows.len(), frame.height()).into(),
        Err(cause) => cause.into(),
    };
    let stray = rows.iter().find(|row| stray_quote(&row.text, format));
    Err(stray.map_or(TableError::Body(cause), |row| TableError::StrayQuote { line: row.line }))
}

fn parse(text: String, schema: Schema, format: &CsvFormat) -> PolarsResult<DataFrame> {
    let quote = (format.separator != Separator::Whitespace).then_some(b'"');
    let layout = CsvParseOptions::default().with_separator(byte(format.separator)).with_quote_char(quote);
    CsvReadOptions::default()
        .with_has_header(false)
        .with_schema(Some(Arc::new(schema)))
        .with_n_threads(Some(1))
        .with_parse_options(layout)
        .into_reader_with_file_handle(Cursor::new(text.into_bytes()))
        .finish()
}

fn body(error: impl Error + Send + Sync + 'static) -> TableError {
    TableError::Body(Box::new(error))
}
