//! Rows of a text file.

use std::path::Path;

use super::source::column_indices;
use super::{DecompressingReader, FileRows, RequestedColumns, RowSideOutputs};
use crate::error::DataError;
use crate::format::find_repeated_name;
use crate::identity::RowFingerprinter;
use crate::missing::{CellParsingRules, MissingCellPolicy};
use crate::person::PersonId;
use crate::table_error::{LineOrRow, TableCellError, TableError};
use crate::text::{CsvLayout, CsvRowReader};

/// The rows of a file of separated values.
pub(super) struct TextRows {
    reader: CsvRowReader<DecompressingReader>,
    names: Vec<String>,
    places: Vec<usize>,
    /// For each column of the file its place among those that are asked for.
    asked: Vec<Option<usize>>,
    /// The column that says whose row it is, and its place in the file.
    person: Option<PersonColumn>,
    /// How cells are read.
    rules: CellParsingRules,
}

/// The column that says whose row it is.
struct PersonColumn {
    name: String,
    place: usize,
}

impl TextRows {
    /// Reads the header, if there is one.
    pub fn open(path: &Path, layout: &CsvLayout, columns: &RequestedColumns) -> Result<Self, DataError> {
        let reader = CsvRowReader::open(path, &layout.to_csv_format())?;
        if let Some(column) = find_repeated_name(reader.column_names()) {
            return Err(reader.wrap_table_error(TableError::RepeatedColumn(column.to_owned())));
        }
        let names = columns.numbers.clone();
        let find = |names: &[String]| {
            column_indices(names, reader.column_names()).map_err(|problem| reader.wrap_table_error(problem))
        };
        let places = find(&names)?;
        let person: Vec<String> = columns.person.iter().cloned().collect();
        let found = find(&person)?;
        let person = person.into_iter().zip(found).map(|(name, place)| PersonColumn { name, place }).next();
        let mut asked = vec![None; reader.column_names().len()];
        // A column that is asked for twice is known by the first place, which is written last.
        places.iter().enumerate().rev().for_each(|(column, place)| asked[*place] = Some(column));
        Ok(Self { reader, names, places, asked, person, rules: columns.rules.clone() })
    }

    /// How many rows there are.
    pub fn count_rows(path: &Path, layout: &CsvLayout) -> Result<u64, DataError> {
        Self::open(path, layout, &RequestedColumns::default())?.skip(u64::MAX)
    }

    /// Shows the row to a witness; the last numbers of the columns are its own.
    fn fingerprint_row(&self, columns: &[Vec<f64>], witness: &mut RowFingerprinter) {
        witness.add_line_text(self.reader.joined_cell_bytes());
        for (place, asked) in self.asked.iter().enumerate() {
            match asked.and_then(|column| columns[column].last()) {
                // What stands for nothing is known by its word, and so is a word of a list.
                Some(number) if number.is_nan() || self.is_categorical(asked) => {
                    witness.add_text(self.reader.cell(place), true)
                }
                Some(number) => witness.add_number(*number, true),
                None => witness.add_text(self.reader.cell(place), false),
            }
        }
        witness.end_row();
    }

    /// Whether a column that is asked for holds words of a list.
    fn is_categorical(&self, asked: &Option<usize>) -> bool {
        asked.is_some_and(|column| self.rules.column_categories(&self.names[column]).is_some())
    }

    /// A cell of the row as a number. Only columns that are asked for need be UTF-8.
    fn numeric_cell(&self, column: usize) -> Result<f64, DataError> {
        let cell = self.reader.cell(self.places[column]);
        let number = match std::str::from_utf8(cell) {
            Ok(text) => self.rules.parse_number(&self.names[column], text),
            Err(_) => Err(TableCellError::NotANumber),
        };
        number.map_err(|problem| self.bad_cell_error(&self.names[column], problem))
    }

    /// Whose row it is; nobody's if that is missing and may be.
    fn row_person(&self, column: &PersonColumn) -> Result<Option<PersonId>, DataError> {
        let person = PersonId::parse(self.reader.cell_text(column.place)?);
        if person.is_none() && self.rules.missing == MissingCellPolicy::Refuse {
            return Err(self.bad_cell_error(&column.name, TableCellError::NoPerson));
        }
        Ok(person)
    }

    fn bad_cell_error(&self, column: &str, problem: TableCellError) -> DataError {
        let (line, column) = (self.reader.line_number(), column.to_owned());
        self.reader.wrap_table_error(TableError::Cell { unit: LineOrRow::Line, line, column, problem })
    }
}

impl FileRows for TextRows {
    fn read(
        &mut self,
        columns: &mut [Vec<f64>],
        most: usize,
        mut beside: RowSideOutputs<'_>,
    ) -> Result<usize, DataError> {
        for row in 0..most {
            if !self.reader.advance_row()? {
                return Ok(row);
            }
            for (i, column) in columns.iter_mut().enumerate() {
                column.push(self.numeric_cell(i)?);
            }
            if let Some(witness) = &mut beside.witness {
                self.fingerprint_row(columns, witness);
            }
            if let (Some(persons), Some(column)) = (&mut beside.persons, &self.person) {
                persons.push(self.row_person(column)?);
            }
        }
        Ok(most)
    }

    fn skip(&mut self, rows: u64) -> Result<u64, DataError> {
        for row in 0..rows {
            if !self.reader.advance_row()? {
                return Ok(row);
            }
        }
        Ok(rows)
    }

    fn fingerprinted_columns(&self) -> Vec<String> {
        self.column_names()
    }

    fn column_names(&self) -> Vec<String> {
        self.reader.column_names().to_vec()
    }

    fn read_fraction(&self) -> f64 {
        self.reader.read_fraction()
    }
}
