//! Rows of a text file with a header.

use std::fs::File;
use std::path::{Path, PathBuf};

use csv::{ByteRecord, Reader, ReaderBuilder};

use super::Rows;
use super::place::places;
use crate::data::error::{Action, DataError};
use crate::data::table_error::{CellProblem, RowUnit, TableError};

/// Bytes that are read at a time.
const BUFFER: usize = 1 << 20;

/// The rows of a file of separated values.
pub(super) struct TextRows {
    file: PathBuf,
    reader: Reader<File>,
    record: ByteRecord,
    names: Vec<String>,
    places: Vec<usize>,
}

impl TextRows {
    /// Reads the header.
    pub fn open(file: &Path, separator: u8, columns: &[String]) -> Result<Self, DataError> {
        let opened = File::open(file).map_err(|source| DataError::io(Action::Read, file, source))?;
        let mut reader =
            ReaderBuilder::new().delimiter(separator).buffer_capacity(BUFFER).from_reader(opened);
        let known: Vec<String> = match reader.byte_headers() {
            Ok(header) => header.iter().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect(),
            Err(error) => return Err(unreadable(file, error)),
        };
        if known.is_empty() {
            return Err(DataError::table(file, TableError::Empty));
        }
        let places = places(columns, &known).map_err(|problem| DataError::table(file, problem))?;
        let (names, record) = (columns.to_vec(), ByteRecord::new());
        Ok(Self { file: file.to_owned(), reader, record, names, places })
    }

    /// Whether there was another record.
    fn advance(&mut self) -> Result<bool, DataError> {
        self.reader.read_byte_record(&mut self.record).map_err(|error| unreadable(&self.file, error))
    }

    fn problem(&self, column: usize, problem: CellProblem) -> DataError {
        let line = self.record.position().map_or(0, |position| position.line() as usize);
        let column = self.names[column].clone();
        DataError::table(&self.file, TableError::Cell { unit: RowUnit::Line, line, column, problem })
    }
}

impl Rows for TextRows {
    fn read(&mut self, columns: &mut [Vec<f64>], most: usize) -> Result<usize, DataError> {
        for row in 0..most {
            if !self.advance()? {
                return Ok(row);
            }
            for (i, (column, place)) in columns.iter_mut().zip(&self.places).enumerate() {
                let cell = self.record.get(*place).unwrap_or_default();
                column.push(number(cell).map_err(|problem| self.problem(i, problem))?);
            }
        }
        Ok(most)
    }

    fn skip(&mut self, rows: u64) -> Result<u64, DataError> {
        for row in 0..rows {
            if !self.advance()? {
                return Ok(row);
            }
        }
        Ok(rows)
    }
}

fn number(cell: &[u8]) -> Result<f64, CellProblem> {
    let cell = cell.trim_ascii();
    let text = || String::from_utf8_lossy(cell).into_owned();
    if cell.is_empty() {
        return Err(CellProblem::Missing);
    }
    match std::str::from_utf8(cell).ok().and_then(|cell| cell.parse::<f64>().ok()) {
        None => Err(CellProblem::NotANumber(text())),
        Some(value) if value.is_finite() => Ok(value),
        Some(_) => Err(CellProblem::NotFinite(text())),
    }
}

fn unreadable(file: &Path, error: csv::Error) -> DataError {
    let line = error.position().map_or(0, |position| position.line() as usize);
    match error.into_kind() {
        csv::ErrorKind::Io(source) => DataError::io(Action::Read, file, source),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            let (expected, found) = (expected_len as usize, len as usize);
            DataError::table(file, TableError::Ragged { line, expected, found })
        }
        other => DataError::table(file, TableError::Body(format!("{other:?}").into())),
    }
}
