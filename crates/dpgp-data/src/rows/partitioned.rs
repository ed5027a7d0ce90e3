//! Rows of a file whose path names some of their columns.

use super::parquet::ParquetRows;
use super::text::TextRows;
use super::{Beside, FileRows, Partition, ReadColumns, RowFile};
use crate::DataError;
use crate::missing::Missing;
use crate::own::is_parquet;
use crate::person::PersonId;
use crate::table_error::{CellProblem, TableError};
use crate::text_layout::TextLayout;

/// Rows with cells that are the same in all of them. A witness is shown those by [`RowFile::show`].
struct PartitionedRows {
    rows: Box<dyn FileRows>,
    partitions: Vec<Partition>,
    /// For each column that is asked for its number, or none if it stands in the file.
    numbers: Vec<Option<f64>>,
    /// The person of all rows, if the path names it.
    person: Option<PathPerson>,
}

/// The person that a path names; nobody where that is missing and may be.
#[derive(Clone, Copy)]
struct PathPerson(Option<PersonId>);

/// Opens a file: Parquet by its ending, text otherwise.
///
/// # Errors
/// [`DataError`] for a file that cannot be read, lacks a column, or has one that its path names.
pub(super) fn open(
    file: &RowFile,
    layout: &TextLayout,
    columns: &ReadColumns,
) -> Result<Box<dyn FileRows>, DataError> {
    let mut inside = columns.clone();
    inside.numbers.retain(|name| file.partition(name).is_none());
    inside.person = inside.person.filter(|name| file.partition(name).is_none());
    let rows = open_inside(file, layout, &inside);
    if file.partitions.is_empty() {
        return rows;
    }
    let rows = rows.map_err(|error| naming_partitions(error, file))?;
    match PartitionedRows::new(file, rows, columns) {
        Ok(rows) => Ok(Box::new(rows)),
        Err(problem) => Err(DataError::table(&file.path, problem)),
    }
}

fn open_inside(
    file: &RowFile,
    layout: &TextLayout,
    columns: &ReadColumns,
) -> Result<Box<dyn FileRows>, DataError> {
    Ok(match is_parquet(&file.path) {
        true => Box::new(ParquetRows::open(&file.path, columns)?),
        false => Box::new(TextRows::open(&file.path, layout, columns)?),
    })
}

/// The error for a column that is not there lists those that the path names, too.
fn naming_partitions(error: DataError, file: &RowFile) -> DataError {
    match error {
        DataError::Table { file: path, problem } => match *problem {
            TableError::UnknownColumn { column, mut known, .. } => {
                known.extend(file.partitions.iter().map(|partition| partition.name.clone()));
                DataError::table(&path, TableError::unknown_column(&column, known))
            }
            problem => DataError::table(&path, problem),
        },
        other => other,
    }
}

impl PartitionedRows {
    fn new(file: &RowFile, rows: Box<dyn FileRows>, columns: &ReadColumns) -> Result<Self, TableError> {
        file.ensure_apart(&rows.columns())?;
        let numbers = columns.numbers.iter().map(|name| file.number(name, &columns.rules));
        let numbers = numbers.collect::<Result<_, _>>()?;
        let person = columns.person.as_ref().and_then(|name| file.partition(name));
        let person = person.map(|person| person_of(person, columns.rules.missing)).transpose()?;
        Ok(Self { rows, partitions: file.partitions.clone(), numbers, person })
    }
}

fn person_of(partition: &Partition, missing: Missing) -> Result<PathPerson, TableError> {
    let person = partition.value.as_deref().and_then(PersonId::of);
    if missing == Missing::Drop {
        return Ok(PathPerson(person));
    }
    let (column, problem) = (partition.name.clone(), CellProblem::NoPerson);
    person.map(|person| PathPerson(Some(person))).ok_or(TableError::PathCell { column, problem })
}

impl FileRows for PartitionedRows {
    fn read(
        &mut self,
        columns: &mut [Vec<f64>],
        most: usize,
        beside: Beside<'_>,
    ) -> Result<usize, DataError> {
        let inside = columns.iter_mut().zip(&self.numbers).filter(|(_, number)| number.is_none());
        let mut inside: Vec<Vec<f64>> = inside.map(|(column, _)| std::mem::take(column)).collect();
        let Beside { witness, mut persons } = beside;
        let of_file = if self.person.is_none() { persons.as_deref_mut() } else { None };
        let rows = self.rows.read(&mut inside, most, Beside { witness, persons: of_file })?;
        let mut inside = inside.into_iter();
        for (column, number) in columns.iter_mut().zip(&self.numbers) {
            match number {
                Some(number) => column.resize(column.len() + rows, *number),
                None => *column = inside.next().unwrap_or_default(),
            }
        }
        if let (Some(persons), Some(PathPerson(person))) = (persons, self.person) {
            persons.resize(persons.len() + rows, person);
        }
        Ok(rows)
    }

    fn skip(&mut self, rows: u64) -> Result<u64, DataError> {
        self.rows.skip(rows)
    }

    fn seen(&self) -> Vec<String> {
        let named = self.partitions.iter().map(|partition| partition.name.clone());
        named.chain(self.rows.seen()).collect()
    }

    fn columns(&self) -> Vec<String> {
        self.rows.columns()
    }

    fn share(&self) -> f64 {
        self.rows.share()
    }
}

/// How many rows a file has: by the footer of a Parquet file, by reading any other once.
///
/// # Errors
/// [`DataError`] for a file that cannot be read.
pub(super) fn count(file: &RowFile, layout: &TextLayout) -> Result<u64, DataError> {
    match is_parquet(&file.path) {
        true => ParquetRows::count(&file.path),
        false => TextRows::count(&file.path, layout),
    }
}
