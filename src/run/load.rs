//! From the data section of a spec to a sample.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use nalgebra::DMatrix;

use super::{Project, RunError, Unit};
use crate::data::{CsvFormat, DataError, Filter, FilterValue, Progress, Separator, Table, read_own};
use crate::setting::{DataSetting, SourceSetting};
use crate::spec::Identity;
use crate::task::{Experiment, Sample};

/// Reads the data of an experiment; datasets that are not here are fetched.
pub(super) struct Loader<'a> {
    pub experiment: &'a Experiment,
    pub project: &'a Project,
    pub progress: &'a dyn Progress,
}

/// The sample of one data section; a missing dataset is fetched.
///
/// # Errors
/// [`RunError`] if data are missing, do not verify, lack a column, or hold a cell that is no number.
pub fn load_sample(
    experiment: &Experiment,
    data: &DataSetting,
    project: &Project,
    progress: &dyn Progress,
) -> Result<Sample, RunError> {
    Loader { experiment, project, progress }.sample(data)
}

/// The inputs of a data section in another file, a row each: points to predict at.
///
/// # Errors
/// [`RunError::Data`] if the file cannot be read, lacks an input, or holds a cell that is no number.
pub fn load_points(path: &Path, data: &DataSetting) -> Result<DMatrix<f64>, RunError> {
    let names: Vec<&str> = data.inputs.iter().map(String::as_str).collect();
    let table = read_own(path, &names).map_err(Box::new)?;
    let columns = input_columns(&table, data).map_err(Box::new)?;
    Ok(DMatrix::from_fn(table.rows(), columns.len(), |i, j| columns[j][i]))
}

impl Loader<'_> {
    /// The samples that units of work read, by the data identity of their cells.
    ///
    /// # Errors
    /// As [`load_sample`], and if there are fewer rows than a split has folds.
    pub fn samples(&self, units: &[Unit]) -> Result<BTreeMap<Identity, Sample>, RunError> {
        let mut samples = BTreeMap::new();
        let cells = &self.experiment.cells;
        for &cell in units.iter().flat_map(|unit| &unit.missing) {
            if let Entry::Vacant(vacant) = samples.entry(cells[cell].data_id()) {
                vacant.insert(self.sample(&cells[cell].setting().data)?);
            }
        }
        // All data are read before the first fault of a spec is reported, so that missing data come first.
        for &cell in units.iter().flat_map(|unit| &unit.missing) {
            if let Some(sample) = samples.get(&cells[cell].data_id()) {
                let fits = cells[cell].check_rows(sample.rows());
                fits.map_err(|fault| Box::new(self.experiment.fault(&fault.path, fault.problem)))?;
            }
        }
        Ok(samples)
    }

    /// The sample of one data section.
    ///
    /// # Errors
    /// As [`load_sample`].
    pub fn sample(&self, data: &DataSetting) -> Result<Sample, RunError> {
        match self.rows(data, Columns::Used)? {
            SourceRows::Tables(tables) => joined(tables, data),
            SourceRows::Inline(columns) => Ok(inline(columns, data)),
            SourceRows::Other(sample) => Ok(sample),
        }
    }

    /// The rows of one data section before its filters.
    pub(super) fn rows<'d>(
        &self,
        data: &'d DataSetting,
        columns: Columns,
    ) -> Result<SourceRows<'d>, RunError> {
        let table = match &data.source {
            SourceSetting::Inline(columns) => return Ok(SourceRows::Inline(columns)),
            // Generated anew in each replicate.
            SourceSetting::Synthetic(_) => {
                let sample = Sample::new(&vec![Vec::new(); data.inputs.len()], Vec::new());
                return Ok(SourceRows::Other(sample));
            }
            SourceSetting::Images(images) => return Ok(SourceRows::Other(self.images(images)?)),
            SourceSetting::Trips(trips) => return Ok(SourceRows::Tables(self.trips(trips)?)),
            SourceSetting::Csv { path, separator } => {
                let separator = u8::try_from(*separator).map_or(Separator::Byte(b','), Separator::Byte);
                let format = CsvFormat { separator, ..CsvFormat::default() };
                Table::read(&self.experiment.beside(path), &format).map_err(Box::new)?
            }
            SourceSetting::Parquet { path } => {
                let path = self.experiment.beside(path);
                let table = match columns {
                    Columns::Used => Table::read_parquet(&path, &used(data)),
                    Columns::All => Table::read_whole_parquet(&path, &used(data)),
                };
                table.map_err(Box::new)?
            }
            SourceSetting::Dataset(name) => self.dataset(name)?,
        };
        Ok(SourceRows::Tables(vec![table]))
    }
}

/// Which columns of a Parquet file are read; of text all are.
#[derive(Debug, Clone, Copy)]
pub(super) enum Columns {
    /// Those that the spec names.
    Used,
    /// All that a table can hold.
    All,
}

/// The rows of a data section before its filters.
pub(super) enum SourceRows<'d> {
    /// Those of files, one after the other.
    Tables(Vec<Table>),
    /// Columns in the spec.
    Inline(&'d BTreeMap<String, Vec<f64>>),
    /// Rows that stand in no table.
    Other(Sample),
}

/// The rows of all tables that pass the filters.
pub(super) fn joined(tables: Vec<Table>, data: &DataSetting) -> Result<Sample, RunError> {
    let mut parts = Vec::with_capacity(tables.len());
    for table in tables {
        parts.push(extracted(table, data).map_err(Box::new)?);
    }
    match <[Sample; 1]>::try_from(parts) {
        Ok([only]) => Ok(only),
        Err(parts) => Ok(Sample::concat(&parts)),
    }
}

/// The rows of columns in the spec that pass the filters.
pub(super) fn inline(columns: &BTreeMap<String, Vec<f64>>, data: &DataSetting) -> Sample {
    let mut kept: Vec<usize> = (0..columns.get(&data.target).map_or(0, Vec::len)).collect();
    for filter in &data.filter {
        let column = columns.get(&filter.column).map(Vec::as_slice).unwrap_or_default();
        kept.retain(|&row| filter.is.holds(column[row].partial_cmp(&filter.value)));
    }
    let inputs: Vec<Vec<f64>> = data.inputs.iter().map(|name| rows_of(columns, name, &kept)).collect();
    Sample::new(&inputs, rows_of(columns, &data.target, &kept))
}

fn rows_of(columns: &BTreeMap<String, Vec<f64>>, name: &str, rows: &[usize]) -> Vec<f64> {
    let column = columns.get(name).map(Vec::as_slice).unwrap_or_default();
    rows.iter().filter_map(|&row| column.get(row).copied()).collect()
}

/// The rows of a table that pass the filters.
fn extracted(mut table: Table, data: &DataSetting) -> Result<Sample, DataError> {
    for filter in &data.filter {
        let value = FilterValue::Number(filter.value);
        table = table.filter(&Filter { column: filter.column.clone(), is: filter.is, value })?;
    }
    Ok(Sample::new(&input_columns(&table, data)?, numbers(&table, data, &data.target)?))
}

fn input_columns(table: &Table, data: &DataSetting) -> Result<Vec<Vec<f64>>, DataError> {
    data.inputs.iter().map(|name| numbers(table, data, name)).collect()
}

/// A column as numbers, or as codes where it has some.
fn numbers(table: &Table, data: &DataSetting, name: &str) -> Result<Vec<f64>, DataError> {
    match data.encode.get(name) {
        Some(codes) => table.coded(name, codes),
        None => table.numeric(name),
    }
}

/// The columns that a data section reads, each once.
pub(super) fn used(data: &DataSetting) -> Vec<&str> {
    let filters = data.filter.iter().map(|filter| &filter.column);
    let all = data.inputs.iter().chain([&data.target]).chain(filters);
    let distinct: BTreeSet<&str> = all.map(String::as_str).collect();
    distinct.into_iter().collect()
}
