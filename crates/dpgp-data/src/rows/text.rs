//! Rows of a text file.

use std::path::Path;

use super::place::places;
use super::{Beside, FileRows, ReadColumns, RowText};
use crate::cell_rules::CellRules;
use crate::error::DataError;
use crate::format::repeated;
use crate::identity::RowWitness;
use crate::missing::Missing;
use crate::person::PersonId;
use crate::table_error::{CellProblem, RowUnit, TableError};
use crate::text::TextReader;
use crate::text_layout::TextLayout;

/// The rows of a file of separated values.
pub(super) struct TextRows {
    reader: TextReader<RowText>,
    names: Vec<String>,
    places: Vec<usize>,
    /// For each column of the file its place among those that are asked for.
    asked: Vec<Option<usize>>,
    /// The column that says whose row it is, and its place in the file.
    person: Option<PersonColumn>,
    /// How cells are read.
    rules: CellRules,
}

/// The column that says whose row it is.
struct PersonColumn {
    name: String,
    place: usize,
}

impl TextRows {
    /// Reads the header, if there is one.
    pub fn open(path: &Path, layout: &TextLayout, columns: &ReadColumns) -> Result<Self, DataError> {
        let reader = TextReader::open(path, &layout.format())?;
        if let Some(column) = repeated(reader.names()) {
            return Err(reader.wrong(TableError::RepeatedColumn(column.to_owned())));
        }
        let names = columns.numbers.clone();
        let places = self::places(&names, reader.names()).map_err(|problem| reader.wrong(problem))?;
        let person: Vec<String> = columns.person.iter().cloned().collect();
        let found = self::places(&person, reader.names()).map_err(|problem| reader.wrong(problem))?;
        let person = person.into_iter().zip(found).map(|(name, place)| PersonColumn { name, place }).next();
        let mut asked = vec![None; reader.names().len()];
        // A column that is asked for twice is known by the first place, which is written last.
        places.iter().enumerate().rev().for_each(|(column, place)| asked[*place] = Some(column));
        Ok(Self { reader, names, places, asked, person, rules: columns.rules.clone() })
    }

    /// How many rows there are.
    pub fn count(path: &Path, layout: &TextLayout) -> Result<u64, DataError> {
        let columns =
            ReadColumns { numbers: Vec::new(), witnessed: false, person: None, rules: CellRules::default() };
        Self::open(path, layout, &columns)?.skip(u64::MAX)
    }

    /// Shows the row to a witness; the last numbers of the columns are its own.
    fn show(&self, columns: &[Vec<f64>], witness: &mut RowWitness) {
        witness.line(self.reader.cells());
        for (place, asked) in self.asked.iter().enumerate() {
            match asked.and_then(|column| columns[column].last()) {
                // What stands for nothing is known by its word, and so is a word of a list.
                Some(number) if number.is_nan() || self.is_coded(asked) => {
                    witness.text(self.reader.cell(place), true)
                }
                Some(number) => witness.number(*number, true),
                None => witness.text(self.reader.cell(place), false),
            }
        }
        witness.end_row();
    }

    /// Whether a column that is asked for holds words of a list.
    fn is_coded(&self, asked: &Option<usize>) -> bool {
        asked.is_some_and(|column| self.rules.codes(&self.names[column]).is_some())
    }

    /// A cell of the row as a number. Only columns that are asked for need be UTF-8.
    fn number(&self, column: usize) -> Result<f64, DataError> {
        let cell = self.reader.cell(self.places[column]);
        let number = match std::str::from_utf8(cell) {
            Ok(text) => self.rules.number(&self.names[column], text),
            Err(_) => Err(CellProblem::NotANumber),
        };
        number.map_err(|problem| self.bad_cell(&self.names[column], problem))
    }

    /// Whose row it is; nobody's if that is missing and may be.
    fn person(&self, column: &PersonColumn) -> Result<Option<PersonId>, DataError> {
        let person = PersonId::of(self.reader.text(column.place)?);
        if person.is_none() && self.rules.missing == Missing::Refuse {
            return Err(self.bad_cell(&column.name, CellProblem::NoPerson));
        }
        Ok(person)
    }

    fn bad_cell(&self, column: &str, problem: CellProblem) -> DataError {
        let (line, column) = (self.reader.line(), column.to_owned());
        self.reader.wrong(TableError::Cell { unit: RowUnit::Line, line, column, problem })
    }
}

impl FileRows for TextRows {
    fn read(
        &mut self,
        columns: &mut [Vec<f64>],
        most: usize,
        mut beside: Beside<'_>,
    ) -> Result<usize, DataError> {
        for row in 0..most {
            if !self.reader.advance()? {
                return Ok(row);
            }
            for (i, column) in columns.iter_mut().enumerate() {
                column.push(self.number(i)?);
            }
            if let Some(witness) = &mut beside.witness {
                self.show(columns, witness);
            }
            if let (Some(persons), Some(column)) = (&mut beside.persons, &self.person) {
                persons.push(self.person(column)?);
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
        self.columns()
    }

    fn columns(&self) -> Vec<String> {
        self.reader.names().to_vec()
    }

    fn share(&self) -> f64 {
        self.reader.share()
    }
}
