//! Rows of a Parquet file.

use std::path::Path;

use polars::prelude::{AnyValue, Series};

use super::source::column_indices;
use super::{FileRows, RequestedColumns, RowSideOutputs};
use crate::error::DataError;
use crate::identity::RowFingerprinter;
use crate::missing::{CellParsingRules, MissingCellPolicy, cell_to_person, fingerprint_cell, is_missing_cell};
use crate::parquet::{ParquetColumnReader, ParquetFile};
use crate::person::PersonId;
use crate::table_error::{LineOrRow, TableError};

/// The rows of a Parquet file, one row group after the other.
pub(super) struct ParquetRows {
    file: ParquetFile,
    names: Vec<String>,
    places: Vec<usize>,
    /// The columns of the open row group.
    open: Vec<ParquetColumnReader>,
    /// The columns that only a witness sees.
    others: Vec<usize>,
    /// Those of the open row group.
    open_others: Vec<ParquetColumnReader>,
    /// The column that says whose row it is, if there is one.
    person: Vec<usize>,
    /// That of the open row group.
    open_person: Vec<ParquetColumnReader>,
    /// Rows of it that are not read yet.
    left: usize,
    /// The row groups after it: how many rows each has.
    groups: std::iter::Enumerate<std::vec::IntoIter<usize>>,
    /// Rows read or passed over.
    row: usize,
    /// How cells are read.
    rules: CellParsingRules,
}

impl ParquetRows {
    /// Reads the schema; the other columns are read too if a witness is to see them.
    pub fn open(path: &Path, columns: &RequestedColumns) -> Result<Self, DataError> {
        let file = ParquetFile::open(path)?;
        let known: Vec<String> = file.fields().into_iter().map(|field| field.name).collect();
        let names = columns.numbers.clone();
        let find = |names: &[String]| column_indices(names, &known).map_err(|problem| file.wrap_table_error(problem));
        let places = find(&names)?;
        for place in &places {
            let field = file.fields().swap_remove(*place);
            let is_read = match columns.rules.column_categories(&field.name) {
                Some(_) => field.holds.is_some(),
                None => field.is_numeric(),
            };
            if !is_read {
                return Err(file.wrap_table_error(field.into_type_error()));
            }
        }
        let others = if columns.witnessed { file.representable_columns_except(&names) } else { Vec::new() };
        let others = find(&others)?;
        let person: Vec<String> = columns.person.iter().cloned().collect();
        let person = find(&person)?;
        for place in &person {
            let field = file.fields().swap_remove(*place);
            if field.holds.is_none() {
                return Err(file.wrap_table_error(field.into_type_error()));
            }
        }
        let groups = file.row_group_sizes().into_iter().enumerate();
        let (open, open_others, open_person) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self {
            file,
            names,
            places,
            open,
            others,
            open_others,
            person,
            open_person,
            left: 0,
            groups,
            row: 0,
            rules: columns.rules.clone(),
        })
    }

    /// How many rows there are.
    pub fn count_rows(path: &Path) -> Result<u64, DataError> {
        Ok(ParquetFile::open(path)?.rows() as u64)
    }

    /// Opens the next row group if the open one is read; whether there are rows.
    fn advance_row_group(&mut self) -> Result<bool, DataError> {
        while self.left == 0 {
            let Some((group, rows)) = self.groups.next() else { return Ok(false) };
            let columns = self.places.iter().map(|place| self.file.column(group, *place));
            self.open = columns.collect::<Result<_, _>>()?;
            let others = self.others.iter().map(|place| self.file.column(group, *place));
            self.open_others = others.collect::<Result<_, _>>()?;
            let person = self.person.iter().map(|place| self.file.column(group, *place));
            self.open_person = person.collect::<Result<_, _>>()?;
            self.left = rows;
        }
        Ok(true)
    }

    /// The columns that are asked for; one that is asked for twice counts once.
    fn requested_columns(&self) -> Vec<usize> {
        let all = 0..self.places.len();
        all.filter(|column| !self.places[..*column].contains(&self.places[*column])).collect()
    }

    /// Whose the next rows are.
    fn read_persons(&mut self, rows: usize, persons: &mut Vec<Option<PersonId>>) -> Result<(), DataError> {
        for (from, place) in self.open_person.iter_mut().zip(&self.person) {
            let cells = from.read(rows).map_err(|cause| self.file.decoding_error(cause))?;
            for (row, cell) in cells.iter().enumerate() {
                if self.rules.missing == MissingCellPolicy::Drop && is_missing_cell(&cell) {
                    persons.push(None);
                    continue;
                }
                persons.push(Some(cell_to_person(&cell).map_err(|problem| {
                    let column = self.file.fields().swap_remove(*place).name;
                    let line = self.row + row + 1;
                    self.file.wrap_table_error(TableError::Cell { unit: LineOrRow::Row, line, column, problem })
                })?));
            }
        }
        Ok(())
    }

    /// Shows the last rows of the columns to a witness, with their cells as they were read and those in the other columns.
    fn fingerprint_rows(
        &mut self,
        columns: &[Vec<f64>],
        rows: usize,
        read: &[Series],
        witness: &mut RowFingerprinter,
    ) -> Result<(), DataError> {
        let others = self.open_others.iter_mut().map(|column| column.read(rows));
        let others = others.collect::<Result<Vec<_>, _>>().map_err(|cause| self.file.decoding_error(cause))?;
        let mut others: Vec<_> = others.iter().map(|column| column.iter()).collect();
        let asked = self.requested_columns();
        for row in 0..rows {
            for column in &asked {
                let numbers = &columns[*column];
                let number = numbers[numbers.len() - rows + row];
                match number.is_nan() || self.rules.column_categories(&self.names[*column]).is_some() {
                    true => fingerprint_cell(&read[*column].get(row).unwrap_or(AnyValue::Null), witness, true),
                    false => witness.add_number(number, true),
                }
            }
            for cells in &mut others {
                fingerprint_cell(&cells.next().unwrap_or(AnyValue::Null), witness, false);
            }
            witness.end_row();
        }
        Ok(())
    }
}

impl FileRows for ParquetRows {
    fn read(
        &mut self,
        columns: &mut [Vec<f64>],
        most: usize,
        mut beside: RowSideOutputs<'_>,
    ) -> Result<usize, DataError> {
        let mut done = 0;
        while done < most && self.advance_row_group()? {
            let rows = self.left.min(most - done);
            let mut read = Vec::with_capacity(self.open.len());
            for ((from, to), name) in self.open.iter_mut().zip(columns.iter_mut()).zip(&self.names) {
                let cells = from.read(rows).map_err(|cause| self.file.decoding_error(cause))?;
                self.rules.append_cells(name, &cells, to).map_err(|bad| {
                    let (line, column) = (self.row + bad.row + 1, name.clone());
                    let problem = bad.problem;
                    self.file.wrap_table_error(TableError::Cell { unit: LineOrRow::Row, line, column, problem })
                })?;
                read.push(cells);
            }
            if let Some(witness) = &mut beside.witness {
                self.fingerprint_rows(columns, rows, &read, witness)?;
            }
            if let Some(persons) = &mut beside.persons {
                self.read_persons(rows, persons)?;
            }
            self.left -= rows;
            self.row += rows;
            done += rows;
        }
        Ok(done)
    }

    fn fingerprinted_columns(&self) -> Vec<String> {
        let fields = self.file.fields();
        let asked = self.requested_columns().into_iter().map(|column| self.places[column]);
        asked.chain(self.others.iter().copied()).map(|place| fields[place].name.clone()).collect()
    }

    fn column_names(&self) -> Vec<String> {
        self.file.fields().into_iter().map(|field| field.name).collect()
    }

    fn read_fraction(&self) -> f64 {
        self.row as f64 / self.file.rows().max(1) as f64
    }

    fn skip(&mut self, rows: u64) -> Result<u64, DataError> {
        let mut done = 0;
        while done < rows && self.advance_row_group()? {
            let some = self.left.min(usize::try_from(rows - done).unwrap_or(usize::MAX));
            // The columns of a row group that is passed over whole are never looked at again.
            if some < self.left {
                let beside = self.open_others.iter_mut().chain(&mut self.open_person);
                for column in self.open.iter_mut().chain(beside) {
                    column.skip(some).map_err(|cause| self.file.decoding_error(cause))?;
                }
            }
            self.left -= some;
            self.row += some;
            done += some as u64;
        }
        Ok(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    use parquet::data_type::{DoubleType, FloatType, Int32Type, Int64Type};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    const SCHEMA: &str = "message rows { required float a; optional double b; required int32 c; required int64 d; }";

    /// Three row groups of 100 rows: row i holds i, i / 2, -i and 10 i.
    fn written(path: &Path) {
        let schema = std::sync::Arc::new(parse_message_type(SCHEMA).unwrap());
        let mut writer = SerializedFileWriter::new(File::create(path).unwrap(), schema, Default::default()).unwrap();
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
        assert_eq!(ParquetRows::count_rows(&path).unwrap(), 300);
        let names = ["d", "a", "b", "c"].map(str::to_owned);
        for (skipped, most) in [(0, 1000), (0, 7), (99, 64), (100, 3), (150, 200), (299, 5), (300, 1), (999, 1)] {
            let read = RequestedColumns {
                numbers: names.to_vec(),
                witnessed: false,
                person: None,
                rules: CellParsingRules::default(),
            };
            let mut rows = ParquetRows::open(&path, &read).unwrap();
            assert_eq!(rows.skip(skipped).unwrap(), skipped.min(300));
            let mut columns = vec![Vec::new(); 4];
            while rows.read(&mut columns, most, RowSideOutputs::default()).unwrap() == most {}
            let expected: Vec<f64> = (skipped.min(300)..300).map(|i| i as f64).collect();
            let scaled = |by: f64| expected.iter().map(|i| i * by).collect::<Vec<f64>>();
            assert_eq!(columns, [scaled(10.0), scaled(1.0), scaled(0.5), scaled(-1.0)], "{skipped} {most}");
        }
    }
}
