//! Rows of a Parquet file.

use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::basic::Type;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::Rows;
use super::place::places;
use crate::data::error::{Action, DataError};
use crate::data::table_error::{CellProblem, RowUnit, TableError};

/// The rows of a Parquet file, one row group after the other.
pub(super) struct ParquetRows {
    file: PathBuf,
    reader: SerializedFileReader<File>,
    names: Vec<String>,
    places: Vec<usize>,
    /// The definition level of values that are there, by column.
    levels: Vec<i16>,
    /// The readers of the open row group.
    open: Vec<ColumnReader>,
    /// Rows of it that are not read yet.
    left: usize,
    /// The row group after it.
    next: usize,
    /// Rows read or passed over.
    row: u64,
}

impl ParquetRows {
    /// Reads the schema.
    pub fn open(file: &Path, columns: &[String]) -> Result<Self, DataError> {
        let reader = reader(file)?;
        let schema = reader.metadata().file_metadata().schema_descr();
        let known: Vec<String> = schema.columns().iter().map(|column| column.path().string()).collect();
        let places = places(columns, &known).map_err(|problem| DataError::table(file, problem))?;
        for (place, column) in places.iter().zip(columns) {
            let found = schema.column(*place);
            let numeric =
                matches!(found.physical_type(), Type::DOUBLE | Type::FLOAT | Type::INT32 | Type::INT64);
            if !numeric || found.max_rep_level() > 0 {
                let (column, found) = (column.clone(), found.physical_type().to_string());
                return Err(DataError::table(file, TableError::NotNumeric { column, found }));
            }
        }
        let levels = places.iter().map(|place| schema.column(*place).max_def_level()).collect();
        let (names, open) = (columns.to_vec(), Vec::new());
        Ok(Self { file: file.to_owned(), reader, names, places, levels, open, left: 0, next: 0, row: 0 })
    }

    /// Opens the next row group; whether there was one.
    fn advance(&mut self) -> Result<bool, DataError> {
        while self.left == 0 {
            if self.next == self.reader.num_row_groups() {
                return Ok(false);
            }
            let broken = |error| unreadable(&self.file, error);
            let group = self.reader.get_row_group(self.next).map_err(broken)?;
            let readers: Result<Vec<ColumnReader>, ParquetError> =
                self.places.iter().map(|place| group.get_column_reader(*place)).collect();
            self.left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            self.open = readers.map_err(broken)?;
            self.next += 1;
        }
        Ok(true)
    }
}

impl Rows for ParquetRows {
    fn read(&mut self, columns: &mut [Vec<f64>], most: usize) -> Result<usize, DataError> {
        let mut done = 0;
        while done < most && self.advance()? {
            let rows = self.left.min(most - done);
            for (i, (reader, column)) in self.open.iter_mut().zip(columns.iter_mut()).enumerate() {
                let before = column.len();
                let size = (rows, self.levels[i]);
                let gap = numbers(reader, column, size).map_err(|error| unreadable(&self.file, error))?;
                let infinite = column[before..].iter().position(|value| !value.is_finite());
                let problem = match (gap, infinite) {
                    (None, None) => continue,
                    (Some(at), None) => (at, CellProblem::Missing),
                    (_, Some(at)) => (at, CellProblem::NotFinite(format!("{}", column[before + at]))),
                };
                let (row, column) = (self.row + problem.0 as u64 + 1, self.names[i].clone());
                let problem =
                    TableError::Cell { unit: RowUnit::Row, line: row as usize, column, problem: problem.1 };
                return Err(DataError::table(&self.file, problem));
            }
            self.left -= rows;
            self.row += rows as u64;
            done += rows;
        }
        Ok(done)
    }

    fn skip(&mut self, rows: u64) -> Result<u64, DataError> {
        let mut done = 0;
        while done < rows && self.advance()? {
            let some = self.left.min(usize::try_from(rows - done).unwrap_or(usize::MAX));
            if some < self.left {
                let skipped: Result<(), ParquetError> = self.open.iter_mut().try_for_each(|r| pass(r, some));
                skipped.map_err(|error| unreadable(&self.file, error))?;
            }
            self.left -= some;
            self.row += some as u64;
            done += some as u64;
        }
        Ok(done)
    }
}

/// The rows of a file, by its footer.
pub(super) fn count(file: &Path) -> Result<u64, DataError> {
    let rows = reader(file)?.metadata().file_metadata().num_rows();
    Ok(u64::try_from(rows).unwrap_or(0))
}

fn reader(file: &Path) -> Result<SerializedFileReader<File>, DataError> {
    let opened = File::open(file).map_err(|source| DataError::io(Action::Read, file, source))?;
    SerializedFileReader::new(opened).map_err(|error| unreadable(file, error))
}

fn unreadable(file: &Path, error: ParquetError) -> DataError {
    DataError::table(file, TableError::Body(Box::new(error)))
}

/// Appends as many numbers; a value is there where its level is the given one. Returns the place of the first gap.
fn numbers(
    reader: &mut ColumnReader,
    to: &mut Vec<f64>,
    size: (usize, i16),
) -> Result<Option<usize>, ParquetError> {
    match reader {
        ColumnReader::DoubleColumnReader(reader) => append(reader, to, size, |v| v),
        ColumnReader::FloatColumnReader(reader) => append(reader, to, size, f64::from),
        ColumnReader::Int32ColumnReader(reader) => append(reader, to, size, f64::from),
        ColumnReader::Int64ColumnReader(reader) => append(reader, to, size, |v| v as f64),
        _ => Ok(None),
    }
}

fn append<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    to: &mut Vec<f64>,
    (rows, whole): (usize, i16),
    number: impl Fn(T::T) -> f64,
) -> Result<Option<usize>, ParquetError> {
    let (mut values, mut levels, mut done) = (Vec::with_capacity(rows), Vec::with_capacity(rows), 0);
    while done < rows {
        let (records, found, _) = reader.read_records(rows - done, Some(&mut levels), None, &mut values)?;
        if records == 0 {
            return Err(ParquetError::EOF(
                "a column has fewer values than its row group has rows".to_owned(),
            ));
        }
        if found < records {
            return Ok(levels.iter().position(|level| *level < whole));
        }
        done += records;
    }
    to.extend(values.into_iter().map(number));
    Ok(None)
}

/// Passes over rows.
fn pass(reader: &mut ColumnReader, rows: usize) -> Result<(), ParquetError> {
    match reader {
        ColumnReader::DoubleColumnReader(reader) => reader.skip_records(rows),
        ColumnReader::FloatColumnReader(reader) => reader.skip_records(rows),
        ColumnReader::Int32ColumnReader(reader) => reader.skip_records(rows),
        ColumnReader::Int64ColumnReader(reader) => reader.skip_records(rows),
        _ => Ok(0),
    }
    .map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::data_type::{DoubleType, FloatType, Int32Type, Int64Type};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    const SCHEMA: &str =
        "message rows { required float a; optional double b; required int32 c; required int64 d; }";

    /// Three row groups of 100 rows: row i holds i, i / 2, -i and 10 i.
    fn written(path: &Path) {
        let schema = std::sync::Arc::new(parse_message_type(SCHEMA).unwrap());
        let mut writer =
            SerializedFileWriter::new(File::create(path).unwrap(), schema, Default::default()).unwrap();
        for start in [0, 100, 200] {
            let rows: Vec<i32> = (start..start + 100).collect();
            let mut group = writer.next_row_group().unwrap();
            macro_rules! column {
                ($kind:ty, $value:expr, $levels:expr) => {
                    let mut column = group.next_column().unwrap().unwrap();
                    let values: Vec<_> = rows.iter().map($value).collect();
                    column.typed::<$kind>().write_batch(&values, $levels, None).unwrap();
                    column.close().unwrap();
                };
            }
            column!(FloatType, |i| *i as f32, None);
            column!(DoubleType, |i| f64::from(*i) / 2.0, Some(&[1; 100]));
            column!(Int32Type, |i| -*i, None);
            column!(Int64Type, |i| 10 * i64::from(*i), None);
            group.close().unwrap();
        }
        writer.close().unwrap();
    }

    #[test]
    fn every_kind_of_number_is_read_from_any_row() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.parquet");
        written(&path);
        assert_eq!(count(&path).unwrap(), 300);
        let names = ["d", "a", "b", "c"].map(str::to_owned);
        for (skipped, most) in
            [(0, 1000), (0, 7), (99, 64), (100, 3), (150, 200), (299, 5), (300, 1), (999, 1)]
        {
            let mut rows = ParquetRows::open(&path, &names).unwrap();
            assert_eq!(rows.skip(skipped).unwrap(), skipped.min(300));
            let mut columns = vec![Vec::new(); 4];
            while rows.read(&mut columns, most).unwrap() == most {}
            let expected: Vec<f64> = (skipped.min(300)..300).map(|i| i as f64).collect();
            let scaled = |by: f64| expected.iter().map(|i| i * by).collect::<Vec<f64>>();
            assert_eq!(columns, [scaled(10.0), scaled(1.0), scaled(0.5), scaled(-1.0)], "{skipped} {most}");
        }
    }
}
