//! Rows of a text file, and row files of any format.

use std::path::{Path, PathBuf};

use super::source::column_indices;
use super::{DecompressingReader, FileRows, PathPartition, RequestedColumns, RowObservers};
use crate::error::DataError;
use crate::format::find_repeated_name;
use crate::identity::RowFingerprinter;
use crate::missing::{CellParsingRules, MissingCellPolicy};
use crate::person::PersonId;
use crate::table_error::{RowUnit, TableCellError, TableError};
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
        if let Some(column) = find_repeated_name(reader.names()) {
            return Err(reader.wrap_table_error(TableError::RepeatedColumn(column.to_owned())));
        }
        let names = columns.numbers.clone();
        let places =
            self::column_indices(&names, reader.names()).map_err(|problem| reader.wrap_table_error(problem))?;
        let person: Vec<String> = columns.person.iter().cloned().collect();
        let found =
            self::column_indices(&person, reader.names()).map_err(|problem| reader.wrap_table_error(problem))?;
        let person = person.into_iter().zip(found).map(|(name, place)| PersonColumn { name, place }).next();
        let mut asked = vec![None; reader.names().len()];
        // A column that is asked for twice is known by the first place, which is written last.
        places.iter().enumerate().rev().for_each(|(column, place)| asked[*place] = Some(column));
        Ok(Self { reader, names, places, asked, person, rules: columns.rules.clone() })
    }

    /// How many rows there are.
    pub fn count_rows(path: &Path, layout: &CsvLayout) -> Result<u64, DataError> {
        let columns = RequestedColumns {
            numbers: Vec::new(),
            witnessed: false,
            person: None,
            rules: CellParsingRules::default(),
        };
        Self::open(path, layout, &columns)?.skip(u64::MAX)
    }

    /// Shows the row to a witness; the last numbers of the columns are its own.
    fn fingerprint_row(&self, columns: &[Vec<f64>], witness: &mut RowFingerprinter) {
        witness.add_line_text(self.reader.row_bytes());
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
    fn cell_number(&self, column: usize) -> Result<f64, DataError> {
        let cell = self.reader.cell(self.places[column]);
        let number = match std::str::from_utf8(cell) {
            Ok(text) => self.rules.parse_number(&self.names[column], text),
            Err(_) => Err(TableCellError::NotANumber),
        };
        number.map_err(|problem| self.bad_cell(&self.names[column], problem))
    }

    /// Whose row it is; nobody's if that is missing and may be.
    fn row_person(&self, column: &PersonColumn) -> Result<Option<PersonId>, DataError> {
        let person = PersonId::parse(self.reader.cell_text(column.place)?);
        if person.is_none() && self.rules.missing == MissingCellPolicy::Refuse {
            return Err(self.bad_cell(&column.name, TableCellError::NoPerson));
        }
        Ok(person)
    }

    fn bad_cell(&self, column: &str, problem: TableCellError) -> DataError {
        let (line, column) = (self.reader.line_number(), column.to_owned());
        self.reader.wrap_table_error(TableError::Cell { unit: RowUnit::Line, line, column, problem })
    }
}

impl FileRows for TextRows {
    fn read(
        &mut self,
        columns: &mut [Vec<f64>],
        most: usize,
        mut beside: RowObservers<'_>,
    ) -> Result<usize, DataError> {
        for row in 0..most {
            if !self.reader.advance_row()? {
                return Ok(row);
            }
            for (i, column) in columns.iter_mut().enumerate() {
                column.push(self.cell_number(i)?);
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
        self.columns()
    }

    fn columns(&self) -> Vec<String> {
        self.reader.names().to_vec()
    }

    fn read_fraction(&self) -> f64 {
        self.reader.read_fraction()
    }
}

/// A file of rows, and the columns that its path names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowFile {
    /// The file.
    pub path: PathBuf,
    /// The columns, in the order of the path.
    pub partitions: Vec<PathPartition>,
}

impl RowFile {
    /// A file that was named itself: its path names no columns.
    pub fn from_path(path: &Path) -> Self {
        Self { path: path.to_path_buf(), partitions: Vec::new() }
    }

    /// A file that was found in the folder `start` or below: all folders `name=value` below it are columns, and so are those
    /// that the path of `start` itself ends with.
    pub fn from_partitioned_path(path: PathBuf, start: &Path) -> Self {
        let mut partitions: Vec<PathPartition> = start.iter().rev().map_while(parse_partition).collect();
        partitions.reverse();
        let below = path.parent().and_then(|folder| folder.strip_prefix(start).ok());
        partitions.extend(below.into_iter().flatten().filter_map(parse_partition));
        Self { path, partitions }
    }

    /// Its name after those of its partitions: the same wherever the folder stands.
    pub fn name(&self) -> String {
        let mut name = String::new();
        for PathPartition { name: column, value } in &self.partitions {
            name.push_str(&format!("{column}={}/", value.as_deref().unwrap_or_default()));
        }
        name + &self.path.file_name().unwrap_or_default().to_string_lossy()
    }

    /// The column that the path names, if it does.
    pub fn partition(&self, column: &str) -> Option<&PathPartition> {
        self.partitions.iter().find(|partition| partition.name == column)
    }

    /// The cell of a column that the path names, as a number; NaN if it is missing and may be.
    ///
    /// # Errors
    /// [`PaperTableError::PathCell`].
    pub(crate) fn partition_number(&self, column: &str, rules: &CellParsingRules) -> Result<Option<f64>, TableError> {
        let Some(PathPartition { name, value }) = self.partition(column) else { return Ok(None) };
        rules
            .parse_number(column, value.as_deref().unwrap_or_default())
            .map(Some)
            .map_err(|problem| TableError::PathCell { column: name.clone(), problem })
    }

    /// Fails if the file has a column that its path names, or the path names a column twice.
    ///
    /// # Errors
    /// [`PaperTableError::ColumnInPath`], [`PaperTableError::RepeatedColumn`].
    pub(crate) fn ensure_distinct_partitions(&self, columns: &[String]) -> Result<(), TableError> {
        for (place, PathPartition { name, .. }) in self.partitions.iter().enumerate() {
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
    pub(super) fn fingerprint_partitions(&self, witness: &mut RowFingerprinter, read: &[String]) {
        for PathPartition { name, value } in &self.partitions {
            witness.add_text(value.as_deref().unwrap_or_default().as_bytes(), read.contains(name));
        }
        witness.repeat_cells_in_file();
    }
}

fn parse_partition(folder: &std::ffi::OsStr) -> Option<PathPartition> {
    folder.to_str().and_then(PathPartition::parse)
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
            let file = RowFile::from_partitioned_path(path.into(), start.as_ref());
            assert_eq!(file.name(), name, "{start} {path}");
        }
        assert_eq!(RowFile::from_path("year=2017/a.csv".as_ref()).name(), "a.csv");
    }
}
