//! Rows of a text file with a header.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use super::FileRows;
use super::place::places;
use crate::data::cell::parsed;
use crate::data::error::DataError;
use crate::data::format::{CsvFormat, Separator};
use crate::data::identity::RowWitness;
use crate::data::table_error::{CellProblem, RowUnit, TableError};
use crate::data::text::TextReader;

/// The rows of a file of separated values.
pub(super) struct TextRows {
    reader: TextReader<BufReader<File>>,
    names: Vec<String>,
    places: Vec<usize>,
    /// For each column of the file its place among those that are asked for.
    asked: Vec<Option<usize>>,
}

impl TextRows {
    /// Reads the header.
    pub fn open(path: &Path, separator: u8, columns: &[String]) -> Result<Self, DataError> {
        let format = CsvFormat { separator: Separator::Byte(separator), ..CsvFormat::default() };
        let reader = TextReader::open(path, &format)?;
        let places = places(columns, reader.names()).map_err(|problem| reader.wrong(problem))?;
        let all = 0..reader.names().len();
        let asked = all.map(|column| places.iter().position(|place| *place == column)).collect();
        Ok(Self { reader, names: columns.to_vec(), places, asked })
    }

    /// How many rows there are.
    pub fn count(path: &Path, separator: u8) -> Result<u64, DataError> {
        Self::open(path, separator, &[])?.skip(u64::MAX)
    }

    /// Shows the row to a witness; the last numbers of the columns are its own.
    fn show(&self, columns: &[Vec<f64>], witness: &mut RowWitness) {
        for (place, asked) in self.asked.iter().enumerate() {
            match asked.and_then(|column| columns[column].last()) {
                Some(number) => witness.number(*number, true),
                None => witness.text(self.reader.cell(place), false),
            }
        }
        witness.end_row();
    }

    /// A cell of the row as a number. Only columns that are asked for need be UTF-8.
    fn number(&self, column: usize) -> Result<f64, DataError> {
        let cell = self.reader.cell(self.places[column]);
        let number = match std::str::from_utf8(cell) {
            Ok(text) => parsed(text),
            Err(_) => Err(CellProblem::NotANumber(String::from_utf8_lossy(cell).trim().to_owned())),
        };
        number.map_err(|problem| {
            let (line, column) = (self.reader.line(), self.names[column].clone());
            self.reader.wrong(TableError::Cell { unit: RowUnit::Line, line, column, problem })
        })
    }
}

impl FileRows for TextRows {
    fn read(
        &mut self,
        columns: &mut [Vec<f64>],
        most: usize,
        mut witness: Option<&mut RowWitness>,
    ) -> Result<usize, DataError> {
        for row in 0..most {
            if !self.reader.advance()? {
                return Ok(row);
            }
            for (i, column) in columns.iter_mut().enumerate() {
                column.push(self.number(i)?);
            }
            if let Some(witness) = &mut witness {
                self.show(columns, witness);
            }
        }
        Ok(most)
    }

    fn skip(&mut self, rows: u64) -> Result<u64, DataError> {
        for row in 0..rows {
            if !self.reader.advance()? {
                return Ok(row);
            }
        }
        Ok(rows)
    }

    fn seen(&self) -> Vec<String> {
        self.reader.names().to_vec()
    }
}
