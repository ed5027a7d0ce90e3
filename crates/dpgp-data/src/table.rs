//! Tables: columns of text or numbers, and the starting line of each row. Text cells stay text until they are
//! read as numbers, so that a message names the exact line and cell.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use polars::prelude::{
    AnyValue, BooleanChunked, Column, DataFrame, Float64Chunked, IdxCa, IdxSize, IntoSeries, NewChunkedArray,
    PolarsError, Series, StringChunkedBuilder,
};

use super::error::{DataError, FileAction, IoErrorContext};
use super::format::{CsvFormat, find_repeated_name};
use super::identity::RowFingerprinter;
use super::missing::{
    ExpectedCell, FilterValue, MissingCellPolicy, RowFilter, append_numbers, cell_to_number, cell_to_person,
    cell_to_text, fingerprint_cell, is_missing_word,
};
use super::own::is_parquet;
use super::parquet::ParquetFile;
use super::person::PersonId;
use super::rows::{PathPartition, RowFile, column_indices, unzip_first_csv};
use super::table_error::{LineOrRow, TableCellError, TableError};
use super::text::CsvRowReader;

/// A table, and the line that each row began in.
#[derive(Debug, Clone)]
pub struct Table {
    file: PathBuf,
    frame: DataFrame,
    lines: Vec<usize>,
    /// The unit of `lines`.
    unit: LineOrRow,
    /// How many of the last columns the path of the file names.
    in_path: usize,
}

impl Table {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// [`DataError::Io`] when it cannot be read, [`DataError::Table`] when it is no table of this format.
    pub fn read(path: &Path, format: &CsvFormat) -> Result<Self, DataError> {
        Self::from_text(path, CsvRowReader::open(path, format)?)
    }

    /// Reads the text of a CSV file that a program holds; messages call it `name`.
    ///
    /// ```
    /// use dpgp_data::{CsvFormat, Table};
    /// let table = Table::parse_text("rows".as_ref(), "x,y\n1,2.5\n", &CsvFormat::default())?;
    /// assert_eq!(table.numeric_column("y")?, [2.5]);
    /// # Ok::<(), dpgp_data::DataError>(())
    /// ```
    ///
    /// # Errors
    /// [`DataError::Table`] when it is no table of this format.
    pub fn parse_text(name: &Path, text: &str, format: &CsvFormat) -> Result<Self, DataError> {
        Self::from_text(name, CsvRowReader::new(name, text.as_bytes(), format)?)
    }

    /// Reads the first CSV file of the zip archive at `path`.
    ///
    /// # Errors
    /// As [`Table::read`]; an archive that cannot be read, or holds no CSV file, is no table.
    pub fn read_zipped(path: &Path, format: &CsvFormat) -> Result<Self, DataError> {
        let file = File::open(path).with_io_context(FileAction::Read, path)?;
        let bytes = unzip_first_csv(file).map_err(|problem| DataError::from_table_error(path, problem))?;
        Self::from_text(path, CsvRowReader::new(path, bytes.as_slice(), format)?)
    }

    /// Reads some columns of the Parquet file at `path`; messages count its rows from 1.
    ///
    /// # Errors
    /// [`DataError::Io`] when it cannot be read, [`DataError::Table`] when it is no Parquet file, or a column is not there
    /// or holds neither numbers nor text.
    pub fn read_parquet(path: &Path, columns: &[&str]) -> Result<Self, DataError> {
        let columns = columns.iter().map(|name| (*name).to_owned()).collect();
        Self::from_parquet(path, &ParquetFile::open(path)?, columns)
    }

    /// The same with every other column that a table can hold.
    ///
    /// # Errors
    /// As [`Table::read_parquet`].
    pub fn read_whole_parquet(path: &Path, columns: &[&str]) -> Result<Self, DataError> {
        let file = ParquetFile::open(path)?;
        let mut names: Vec<String> = columns.iter().map(|name| (*name).to_owned()).collect();
        names.extend(file.representable_columns_except(&names));
        Self::from_parquet(path, &file, names)
    }

    fn from_parquet(path: &Path, file: &ParquetFile, columns: Vec<String>) -> Result<Self, DataError> {
        let known: Vec<String> = file.fields().into_iter().map(|field| field.name).collect();
        let places = column_indices(&columns, &known).map_err(|problem| file.wrap_table_error(problem))?;
        ensure_cell_limit(file.rows(), places.len()).map_err(|problem| file.wrap_table_error(problem))?;
        let columns = places.into_iter().map(|place| read_parquet_column(file, place));
        let (columns, rows) = (columns.collect::<Result<Vec<Column>, _>>()?, file.rows());
        let frame = map_polars_error(path, DataFrame::new(rows, columns))?;
        Ok(Self { file: path.to_owned(), frame, lines: (1..=rows).collect(), unit: LineOrRow::Row, in_path: 0 })
    }

    fn from_text<R: BufRead>(path: &Path, mut reader: CsvRowReader<R>) -> Result<Self, DataError> {
        if let Some(column) = find_repeated_name(reader.column_names()) {
            return Err(reader.wrap_table_error(TableError::RepeatedColumn(column.to_owned())));
        }
        let names = reader.column_names().iter().map(|name| name.as_str().into());
        let mut columns: Vec<_> = names.map(|name| StringChunkedBuilder::new(name, 0)).collect();
        let mut lines = Vec::new();
        while reader.advance_row()? {
            lines.push(reader.line_number());
            ensure_cell_limit(lines.len(), columns.len()).map_err(|problem| reader.wrap_table_error(problem))?;
            for (place, column) in columns.iter_mut().enumerate() {
                column.append_value(reader.cell_text(place)?);
            }
        }
        let columns = columns.into_iter().map(|column| column.finish().into_series().into()).collect();
        let frame = map_polars_error(path, DataFrame::new(lines.len(), columns))?;
        Ok(Self { file: path.to_owned(), frame, lines, unit: LineOrRow::Line, in_path: 0 })
    }

    /// The file that the table was read from.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The names of the columns, in the order of the file.
    #[must_use]
    pub fn column_names(&self) -> Vec<String> {
        self.frame.get_column_names().iter().map(ToString::to_string).collect()
    }

    /// How many rows there are.
    #[must_use]
    pub fn row_count(&self) -> usize {
        self.lines.len()
    }

    /// The error for a table in which there must be a row.
    #[must_use]
    pub fn no_rows_error(&self) -> DataError {
        DataError::from_table_error(&self.file, TableError::NoRows)
    }

    /// The line of the file that each row began in, counted from 1.
    #[must_use]
    pub fn line_numbers(&self) -> &[usize] {
        &self.lines
    }

    /// Shows all rows to a witness.
    pub fn fingerprint_rows(&self, witness: &mut RowFingerprinter) {
        let names = self.column_names();
        let read: Vec<bool> = names.iter().map(|name| witness.is_spec_column(name)).collect();
        let columns = self.frame.columns().iter();
        let mut cells: Vec<_> = columns.map(|column| column.as_materialized_series().iter()).collect();
        let own = cells.len() - self.in_path;
        for _ in 0..self.row_count() {
            for (place, (cells, read)) in cells.iter_mut().zip(&read).enumerate() {
                let cell = cells.next().unwrap_or(AnyValue::Null);
                fingerprint_cell(&cell, witness, *read);
                if place >= own {
                    witness.mark_last_cell_from_path();
                } else if let (LineOrRow::Line, Some(text)) = (self.unit, cell_to_text(&cell)) {
                    witness.add_line_text(text.as_bytes());
                }
            }
            witness.end_row();
        }
    }

    /// The rows that pass the filter, in their order.
    ///
    /// # Errors
    /// [`DataError::Table`] for a column that is not there, or a cell that is no number but compared with one.
    pub fn filter(&self, filter: &RowFilter) -> Result<Self, DataError> {
        let keep = match &filter.value {
            FilterValue::Number(value) => self.map_cells(&filter.column, |cell| match cell_to_number(cell) {
                Err(TableCellError::Missing) => Ok(false),
                found => Ok(filter.is.holds(found?.partial_cmp(value))),
            })?,
            FilterValue::Text(value) => self.map_text_cells(&filter.column, |cell| {
                Ok(cell.is_some_and(|cell| filter.is.holds(Some(cell.cmp(value.as_str())))))
            })?,
        };
        self.keep_marked_rows(&keep)
    }

    /// The rows in which every one of these columns has a cell.
    ///
    /// # Errors
    /// [`DataError::Table`] for a column that is not there.
    pub fn drop_rows_with_missing(&self, columns: &[&str]) -> Result<Self, DataError> {
        let mut keep = vec![true; self.row_count()];
        for column in columns {
            let there = self.map_text_cells(column, |cell| Ok(cell.is_some()))?;
            keep.iter_mut().zip(there).for_each(|(keep, there)| *keep &= there);
        }
        self.keep_marked_rows(&keep)
    }

    /// Whether each cell of a column is missing.
    ///
    /// # Errors
    /// [`DataError::Table`] for a column that is not there, or a cell that is there and is not what is expected.
    pub fn missing_mask(&self, column: &str, expected: ExpectedCell<'_>) -> Result<Vec<bool>, DataError> {
        self.map_cells(column, |cell| expected.is_missing(cell))
    }

    /// Fails at the first cell of a column that is missing, for a reason.
    ///
    /// # Errors
    /// As [`Table::missing_mask`].
    pub fn ensure_complete(
        &self,
        column: &str,
        expected: ExpectedCell<'_>,
        reason: &TableCellError,
    ) -> Result<(), DataError> {
        let missing = self.missing_mask(column, expected)?;
        let first = missing.iter().position(|missing| *missing);
        first.map_or(Ok(()), |row| Err(self.bad_cell_error(column, row, reason.clone())))
    }

    /// The cells of a column as numbers.
    ///
    /// # Errors
    /// [`DataError::Table`] for a column that is not there, or a cell that is missing, no number, or not finite.
    pub fn numeric_column(&self, column: &str) -> Result<Vec<f64>, DataError> {
        let mut numbers = Vec::with_capacity(self.row_count());
        let found = append_numbers(self.column(column)?, MissingCellPolicy::Refuse, &mut numbers);
        found.map_err(|bad| self.bad_cell_error(column, bad.row, bad.problem))?;
        Ok(numbers)
    }

    /// The cells of a column as numbers: each one's place in a list, from 0.
    ///
    /// # Errors
    /// [`DataError::Table`] for a column that is not there, or a cell that is missing or not in the list.
    pub fn category_indices(&self, column: &str, codes: &[String]) -> Result<Vec<f64>, DataError> {
        self.map_text_cells(column, |cell| {
            let cell = cell.ok_or(TableCellError::Missing)?;
            let place = codes.iter().position(|code| code == cell);
            place.map(|at| at as f64).ok_or_else(|| TableCellError::NoCode(codes.to_vec()))
        })
    }

    /// The rows in which a column holds one of some words, or nothing: rows with other words are left out.
    ///
    /// # Errors
    /// [`DataError::Table`] for a column that is not there.
    pub fn drop_unlisted_categories(&self, column: &str, codes: &[String]) -> Result<Self, DataError> {
        let listed = |word: &str| is_missing_word(word) || codes.iter().any(|code| code == word);
        self.keep_marked_rows(&self.map_text_cells(column, |cell| Ok(cell.is_none_or(listed)))?)
    }

    /// The table with the first of some words in place of any other word in a column; as it is, if there are none.
    ///
    /// # Errors
    /// [`DataError::Table`] for a column that is not there.
    pub fn replace_unlisted_categories(mut self, column: &str, codes: &[String]) -> Result<Self, DataError> {
        let Some(first) = codes.first() else { return Ok(self) };
        let cells = self.map_text_cells(column, |cell| {
            let listed = |word: &str| is_missing_word(word) || codes.iter().any(|code| code == word);
            Ok(cell.map(|word| if listed(word) { word.to_owned() } else { first.clone() }))
        })?;
        let mut words = StringChunkedBuilder::new(column.into(), self.row_count());
        cells.iter().for_each(|word| words.append_option(word.as_deref()));
        let column = words.finish().into_series().into();
        map_polars_error(&self.file, self.frame.with_column(column))?;
        Ok(self)
    }

    /// The persons that the cells of a column name.
    ///
    /// # Errors
    /// [`DataError::Table`] for a column that is not there, or a cell that is missing.
    pub fn persons(&self, column: &str) -> Result<Vec<PersonId>, DataError> {
        self.map_cells(column, cell_to_person)
    }

    /// The cells of a column as text, without blanks around them; `None` where a cell is missing.
    ///
    /// # Errors
    /// [`DataError::Table`] for a column that is not there.
    pub fn text_column(&self, column: &str) -> Result<Vec<Option<String>>, DataError> {
        self.map_text_cells(column, |cell| Ok(cell.map(str::to_owned)))
    }

    /// The table with another name for a column.
    ///
    /// # Errors
    /// [`DataError::Table`] for a column that is not there.
    pub fn rename_column(mut self, column: &str, name: &str) -> Result<Self, DataError> {
        self.column(column)?;
        map_polars_error(&self.file, self.frame.rename(column, name.into()))?;
        Ok(self)
    }

    /// The table with these columns alone.
    ///
    /// # Errors
    /// [`DataError::Table`] for a column that is not there.
    pub fn select_columns(&self, columns: &[&str]) -> Result<Self, DataError> {
        columns.iter().try_for_each(|column| self.column(column).map(drop))?;
        self.with_frame(self.frame.select(columns.iter().copied()))
    }

    /// The table with a column of numbers, in place of one of that name.
    ///
    /// # Errors
    /// [`DataError::Table`] if there are not as many numbers as rows.
    pub fn with_numeric_column(mut self, name: &str, values: &[f64]) -> Result<Self, DataError> {
        let column = Float64Chunked::from_slice(name.into(), values).into_series().into();
        map_polars_error(&self.file, self.frame.with_column(column))?;
        Ok(self)
    }

    /// The table with the columns that the path of its file names, one cell for all rows.
    ///
    /// # Errors
    /// [`DataError::Table`] for a column that the file has too.
    pub fn with_partition_columns(mut self, file: &RowFile) -> Result<Self, DataError> {
        if file.partitions.is_empty() {
            return Ok(self);
        }
        // Of a Parquet file not all columns may have been read.
        let columns = match is_parquet(&self.file) {
            true => ParquetFile::open(&self.file)?.fields().into_iter().map(|field| field.name).collect(),
            false => self.column_names(),
        };
        file.ensure_distinct_partitions(&columns)
            .map_err(|problem| DataError::from_table_error(&self.file, problem))?;
        for PathPartition { name, value } in &file.partitions {
            let mut cells = StringChunkedBuilder::new(name.as_str().into(), self.row_count());
            (0..self.row_count()).for_each(|_| cells.append_option(value.as_deref()));
            let column = cells.finish().into_series().into();
            map_polars_error(&self.file, self.frame.with_column(column))?;
        }
        self.in_path = file.partitions.len();
        Ok(self)
    }

    /// Each row with the columns of that row of `other` whose `key` equals its cell in `column`; they are missing where
    /// there is none. Keys must not repeat.
    ///
    /// # Errors
    /// [`DataError::Table`] for a column that is not there, or a key that is there twice.
    pub fn join_table(&self, column: &str, other: &Self, key: &str) -> Result<Self, DataError> {
        let mut keys: BTreeMap<Cow<'_, str>, IdxSize> = BTreeMap::new();
        for (row, cell) in other.column(key)?.iter().enumerate() {
            if let Some(word) = cell_to_text(&cell)
                && keys.insert(word, row as IdxSize).is_some()
            {
                return Err(other.bad_cell_error(key, row, TableCellError::RepeatedKey));
            }
        }
        let rows = self.map_text_cells(column, |cell| Ok(cell.and_then(|cell| keys.get(cell).copied())))?;
        let rows: IdxCa = rows.into_iter().collect();
        let found = other.frame.drop(key).and_then(|others| others.take(&rows));
        self.with_frame(found.and_then(|found| self.frame.hstack(found.columns())))
    }

    /// The cells of a column as `read` understands their text; `None` stands for a missing one.
    pub(super) fn map_text_cells<T>(
        &self,
        column: &str,
        read: impl Fn(Option<&str>) -> Result<T, TableCellError>,
    ) -> Result<Vec<T>, DataError> {
        self.map_cells(column, |cell| read(cell_to_text(cell).as_deref()))
    }

    fn map_cells<T>(
        &self,
        column: &str,
        read: impl Fn(&AnyValue<'_>) -> Result<T, TableCellError>,
    ) -> Result<Vec<T>, DataError> {
        let cells = self.column(column)?.iter().enumerate();
        cells.map(|(row, cell)| read(&cell).map_err(|problem| self.bad_cell_error(column, row, problem))).collect()
    }

    fn bad_cell_error(&self, column: &str, row: usize, problem: TableCellError) -> DataError {
        let (line, column) = (self.lines[row], column.to_owned());
        DataError::from_table_error(&self.file, TableError::Cell { unit: self.unit, line, column, problem })
    }

    fn column(&self, column: &str) -> Result<&Series, DataError> {
        let found = self.frame.column(column).map(Column::as_materialized_series);
        found.map_err(|_| {
            DataError::from_table_error(&self.file, TableError::unknown_column(column, self.column_names()))
        })
    }

    /// The rows that are marked, in their order.
    ///
    /// # Errors
    /// [`DataError::Table`] if there are not as many marks as rows.
    pub fn keep_marked_rows(&self, keep: &[bool]) -> Result<Self, DataError> {
        let mask = BooleanChunked::from_slice("".into(), keep);
        let lines = self.lines.iter().zip(keep).filter(|(_, keep)| **keep).map(|(line, _)| *line).collect();
        Ok(Self { lines, ..self.with_frame(self.frame.filter(&mask))? })
    }

    /// The table with other columns for the same rows.
    fn with_frame(&self, frame: Result<DataFrame, PolarsError>) -> Result<Self, DataError> {
        let frame = map_polars_error(&self.file, frame)?;
        Ok(Self { file: self.file.clone(), frame, lines: self.lines.clone(), unit: self.unit, in_path: 0 })
    }
}

/// The most cells of a table, which stands in memory as a whole: some 5 GB where cells are short.
const MOST_CELLS: usize = 100_000_000;

fn ensure_cell_limit(rows: usize, columns: usize) -> Result<(), TableError> {
    if rows.saturating_mul(columns) <= MOST_CELLS { Ok(()) } else { Err(TableError::ManyCells(MOST_CELLS)) }
}

/// A column of a Parquet file, its row groups one after the other.
fn read_parquet_column(file: &ParquetFile, place: usize) -> Result<Column, DataError> {
    let field = file.fields().swap_remove(place);
    let Some(holds) = field.holds.clone() else { return Err(file.wrap_table_error(field.into_type_error())) };
    let mut whole = Series::new_empty(field.name.into(), &holds);
    for (group, rows) in file.row_group_sizes().into_iter().enumerate() {
        let cells = file.column(group, place)?.read(rows).map_err(|cause| file.decoding_error(cause))?;
        whole.append(&cells).map_err(|error| file.wrap_table_error(TableError::Body(Box::new(error))))?;
    }
    Ok(whole.rechunk().into())
}

/// Names the file in an error of polars.
fn map_polars_error<T>(file: &Path, outcome: Result<T, PolarsError>) -> Result<T, DataError> {
    outcome.map_err(|error| DataError::from_table_error(file, TableError::Body(Box::new(error))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_a_most_of_cells() {
        assert!(ensure_cell_limit(50_000_000, 2).is_ok() && ensure_cell_limit(0, usize::MAX).is_ok());
        for (rows, columns) in [(50_000_001, 2), (usize::MAX, 3)] {
            assert!(matches!(ensure_cell_limit(rows, columns), Err(TableError::ManyCells(100_000_000))));
        }
    }
}
