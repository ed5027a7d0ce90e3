//! Rows of a text file, and row files of any format.

use std::path::{Path, PathBuf};

use super::source::places;
use super::{Beside, FileRows, Partition, ReadColumns, RowText};
use crate::error::DataError;
use crate::format::repeated;
use crate::identity::RowWitness;
use crate::missing::{CellRules, Missing};
use crate::person::PersonId;
use crate::table_error::{CellProblem, RowUnit, TableError};
use crate::text::{TextLayout, TextReader};

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
        let person = PersonId::parse(self.reader.text(column.place)?);
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

/// A file of rows, and the columns that its path names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowFile {
    /// The file.
    pub path: PathBuf,
    /// The columns, in the order of the path.
    pub partitions: Vec<Partition>,
}

impl RowFile {
    /// A file that was named itself: its path names no columns.
    pub fn named(path: &Path) -> Self {
        Self { path: path.to_path_buf(), partitions: Vec::new() }
    }

    /// A file that was found in the folder `start` or below: all folders `name=value` below it are columns, and so are those
    /// that the path of `start` itself ends with.
    pub fn found(path: PathBuf, start: &Path) -> Self {
        let mut partitions: Vec<Partition> = start.iter().rev().map_while(partition).collect();
        partitions.reverse();
        let below = path.parent().and_then(|folder| folder.strip_prefix(start).ok());
        partitions.extend(below.into_iter().flatten().filter_map(partition));
        Self { path, partitions }
    }

    /// Its name after those of its partitions: the same wherever the folder stands.
    pub fn name(&self) -> String {
        let mut name = String::new();
        for Partition { name: column, value } in &self.partitions {
            name.push_str(&format!("{column}={}/", value.as_deref().unwrap_or_default()));
        }
        name + &self.path.file_name().unwrap_or_default().to_string_lossy()
    }

    /// The column that the path names, if it does.
    pub fn partition(&self, column: &str) -> Option<&Partition> {
        self.partitions.iter().find(|partition| partition.name == column)
    }

    /// The cell of a column that the path names, as a number; NaN if it is missing and may be.
    ///
    /// # Errors
    /// [`TableError::PathCell`].
    pub(crate) fn number(&self, column: &str, rules: &CellRules) -> Result<Option<f64>, TableError> {
        let Some(Partition { name, value }) = self.partition(column) else { return Ok(None) };
        rules
            .number(column, value.as_deref().unwrap_or_default())
            .map(Some)
            .map_err(|problem| TableError::PathCell { column: name.clone(), problem })
    }

    /// Fails if the file has a column that its path names, or the path names a column twice.
    ///
    /// # Errors
    /// [`TableError::ColumnInPath`], [`TableError::RepeatedColumn`].
    pub(crate) fn ensure_apart(&self, columns: &[String]) -> Result<(), TableError> {
        for (place, Partition { name, .. }) in self.partitions.iter().enumerate() {
            if columns.contains(name) {
                return Err(TableError::ColumnInPath(name.clone()));
            }
            if self.partitions[..place].iter().any(|other| other.name == *name) {
                return Err(TableError::RepeatedColumn(name.clone()));
            }
        }
        Ok(())
    }

    /// Shows the columns that the path names to a witness, for all rows that follow; those of `read` are read by the spec.
    pub(super) fn show(&self, witness: &mut RowWitness, read: &[String]) {
        for Partition { name, value } in &self.partitions {
            witness.text(value.as_deref().unwrap_or_default().as_bytes(), read.contains(name));
        }
        witness.share_cells();
    }
}

fn partition(folder: &std::ffi::OsStr) -> Option<Partition> {
    folder.to_str().and_then(Partition::parse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_are_columns() {
        for (start, path, name) in [
            ("parts", "parts/a.csv", "a.csv"),
            ("parts", "parts/year=2017/month=06/a.csv", "year=2017/month=06/a.csv"),
            ("parts", "parts/year=2017/of/month=06/a=b.csv", "year=2017/month=06/a=b.csv"),
            ("parts/year=2017/month=06", "parts/year=2017/month=06/a.csv", "year=2017/month=06/a.csv"),
            ("", "year=2017/a.csv", "year=2017/a.csv"),
            ("/run=3/parts", "/run=3/parts/year=2017/a.csv", "year=2017/a.csv"),
            ("x", "x/a=__HIVE_DEFAULT_PARTITION__/=1/a.csv", "a=/a.csv"),
        ] {
            let file = RowFile::found(path.into(), start.as_ref());
            assert_eq!(file.name(), name, "{start} {path}");
        }
        assert_eq!(RowFile::named("year=2017/a.csv".as_ref()).name(), "a.csv");
    }
}
