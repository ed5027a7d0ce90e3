//! From the data section of a spec to a sample.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use nalgebra::DMatrix;

use super::{RunError, Unit};
use crate::data::{
    Cache, CsvFormat, DataError, DataFile, Downscale, Filter, FilterValue, Format, IdxArray, Manifest,
    Progress, Separator, Table, TableError, Trips, read_own,
};
use crate::setting::{DataSetting, FilterSetting, ImagesSetting, SourceSetting, TripsSetting};
use crate::spec::Identity;
use crate::task::Experiment;
use crate::task::Sample;

/// The samples that units of work read, by the data identity of their cells; missing datasets are fetched.
///
/// # Errors
/// [`RunError`] if data are missing, do not verify, lack a column, hold a cell that is no number, or have
/// fewer rows than a split has folds.
pub fn load(
    experiment: &Experiment,
    units: &[Unit],
    manifest: &Manifest,
    cache: &Cache,
    progress: &dyn Progress,
) -> Result<BTreeMap<Identity, Sample>, RunError> {
    let mut samples = BTreeMap::new();
    let cells = || units.iter().flat_map(|unit| &unit.missing).map(|&cell| &experiment.cells[cell]);
    for cell in cells() {
        if let Entry::Vacant(vacant) = samples.entry(cell.data_id()) {
            let loader = Loader { experiment, manifest, cache, progress };
            vacant.insert(loader.sample(&cell.setting().data)?);
        }
    }
    for cell in cells() {
        if let Some(sample) = samples.get(&cell.data_id()) {
            let fits = cell.check_rows(sample.rows());
            fits.map_err(|fault| Box::new(experiment.fault(&fault.path, fault.problem)))?;
        }
    }
    Ok(samples)
}

/// The sample of one data section; a missing dataset is fetched.
///
/// # Errors
/// As [`load`].
pub fn load_sample(
    experiment: &Experiment,
    data: &DataSetting,
    manifest: &Manifest,
    cache: &Cache,
    progress: &dyn Progress,
) -> Result<Sample, RunError> {
    Loader { experiment, manifest, cache, progress }.sample(data)
}

/// The inputs of a data section in another file, a row each: points to predict at.
///
/// # Errors
/// [`RunError::Data`] if the file cannot be read, lacks an input, or holds a cell that is no number.
pub fn load_points(path: &Path, data: &DataSetting) -> Result<DMatrix<f64>, RunError> {
    let names: Vec<&str> = data.inputs.iter().map(String::as_str).collect();
    let table = read_own(path, &names).map_err(Box::new)?;
    let columns: Result<Vec<Vec<f64>>, _> =
        data.inputs.iter().map(|name| numbers(&table, data, name)).collect();
    let columns = columns.map_err(Box::new)?;
    Ok(DMatrix::from_fn(table.rows(), columns.len(), |i, j| columns[j][i]))
}

struct Loader<'a> {
    experiment: &'a Experiment,
    manifest: &'a Manifest,
    cache: &'a Cache,
    progress: &'a dyn Progress,
}

impl Loader<'_> {
    fn sample(&self, data: &DataSetting) -> Result<Sample, RunError> {
        let table = match &data.source {
            SourceSetting::Inline(columns) => return Ok(inline(columns, data)),
            // Generated anew in each replicate.
            SourceSetting::Synthetic(_) => {
                return Ok(Sample::new(&vec![Vec::new(); data.inputs.len()], Vec::new()));
            }
            SourceSetting::Images(images) => return self.images(images),
            SourceSetting::Trips(trips) => return self.trips(trips, data),
            SourceSetting::Csv { path, separator } => self.csv(path, *separator)?,
            SourceSetting::Parquet { path } => {
                let path = self.experiment.beside(path);
                Table::read_parquet(&path, &used(data)).map_err(Box::new)?
            }
            SourceSetting::Dataset(name) => self.dataset(name)?,
        };
        Ok(extract(table, data).map_err(Box::new)?)
    }

    /// A file of the user's own, its path relative to the spec.
    fn csv(&self, path: &str, separator: char) -> Result<Table, RunError> {
        let separator = u8::try_from(separator).map_or(Separator::Byte(b','), Separator::Byte);
        let format = CsvFormat { separator, ..CsvFormat::default() };
        Ok(Table::read(&self.experiment.beside(path), &format).map_err(Box::new)?)
    }

    /// The scaled images of a dataset as inputs, a pixel each, and their labels as targets.
    fn images(&self, setting: &ImagesSetting) -> Result<Sample, RunError> {
        let dataset = self.manifest.get(&setting.dataset).map_err(Box::new)?;
        let paths = self.cache.ensure(dataset, self.progress).map_err(Box::new)?;
        let read = |name: &str| {
            let found = dataset.files.iter().zip(&paths).find(|(file, _)| file.path == name);
            found.map(|(_, path)| Ok((path, IdxArray::read(path).map_err(Box::new)?)))
        };
        let missing = |key: &str| {
            let problem = crate::setting::Problem::NotATable { name: setting.dataset.clone() };
            RunError::from(Box::new(self.experiment.fault(&format!("data.source.images.{key}"), problem)))
        };
        let (path, images) = read(&setting.images).unwrap_or_else(|| Err(missing("images")))?;
        let (_, labels) = read(&setting.labels).unwrap_or_else(|| Err(missing("labels")))?;
        let unfit = |reason| Box::new(DataError::table(path, TableError::NotIdx(reason)));
        Ok(scaled(&images, &labels, setting.side).map_err(unfit)?)
    }

    /// The trips of one file or of all, joined with their stations; says how many have none.
    fn trips(&self, setting: &TripsSetting, data: &DataSetting) -> Result<Sample, RunError> {
        let dataset = self.manifest.get(&setting.dataset).map_err(Box::new)?;
        let paths = self.cache.ensure(dataset, self.progress).map_err(Box::new)?;
        let files = || dataset.files.iter().zip(&paths);
        let list = setting.stations.as_ref();
        let stations = files().find(|(file, _)| Some(&file.path) == list).map(|(_, path)| path.as_path());
        let wanted = |file: &DataFile| match &setting.journeys {
            Some(name) => file.path == *name,
            None => Some(&file.path) != list,
        };
        let mut parts = Vec::new();
        for (file, path) in files().filter(|(file, _)| wanted(file)) {
            let table = self.journeys(setting, &file.path, (path, stations))?;
            parts.push(extract(table, data).map_err(Box::new)?);
        }
        if parts.is_empty() {
            let problem = crate::setting::Problem::NotATable { name: setting.dataset.clone() };
            return Err(Box::new(self.experiment.fault("data.source.trips.journeys", problem)).into());
        }
        Ok(Sample::concat(&parts))
    }

    fn journeys(
        &self,
        setting: &TripsSetting,
        name: &str,
        (path, stations): (&Path, Option<&Path>),
    ) -> Result<Table, RunError> {
        let Trips { table, dropped } = Trips::read(path, stations).map_err(Box::new)?;
        if dropped > 0 {
            let list = setting.stations.as_deref().unwrap_or_default();
            self.progress
                .note(&format!("{name}: {dropped} trips left out, their stations are not in {list}"));
        }
        Ok(table)
    }

    fn dataset(&self, name: &str) -> Result<Table, RunError> {
        let dataset = self.manifest.get(name).map_err(Box::new)?;
        let paths = self.cache.ensure(dataset, self.progress).map_err(Box::new)?;
        let readable = |(file, path): (&DataFile, PathBuf)| match &file.format {
            Format::Csv(format) => Some((path, format.clone())),
            Format::IdxGz | Format::Zip => None,
        };
        let Some((path, format)) = dataset.files.iter().zip(paths).find_map(readable) else {
            let problem = crate::setting::Problem::NotATable { name: name.to_owned() };
            return Err(Box::new(self.experiment.fault("data.source.dataset", problem)).into());
        };
        Ok(Table::read(&path, &format).map_err(Box::new)?)
    }
}

fn scaled(images: &IdxArray, labels: &IdxArray, side: usize) -> Result<Sample, &'static str> {
    let [count, height, width] = images.shape[..] else { return Err("images have three dimensions") };
    if height != width || height < side || side == 0 {
        return Err("the images are not square, or smaller than asked for");
    }
    if labels.shape != [count] {
        return Err("there are not as many labels as images");
    }
    let scale = Downscale::new(height, side);
    let mut pixels = Vec::with_capacity(count * side * side);
    images.bytes.chunks_exact(height * width).for_each(|image| pixels.extend(scale.apply(image)));
    let inputs = DMatrix::from_row_slice(count, side * side, &pixels);
    Ok(Sample { inputs, targets: labels.bytes.iter().map(|label| f64::from(*label)).collect() })
}

fn inline(columns: &BTreeMap<String, Vec<f64>>, data: &DataSetting) -> Sample {
    let column = |name: &String| columns.get(name).map(Vec::as_slice).unwrap_or_default();
    let passes = |row: usize| {
        let holds = |f: &FilterSetting| f.is.holds(column(&f.column)[row].partial_cmp(&f.value));
        data.filter.iter().all(holds)
    };
    let kept = |name: &String| {
        let rows = column(name).iter().enumerate().filter(|(row, _)| passes(*row));
        rows.map(|(_, value)| *value).collect::<Vec<f64>>()
    };
    let inputs: Vec<Vec<f64>> = data.inputs.iter().map(kept).collect();
    Sample::new(&inputs, kept(&data.target))
}

fn extract(mut table: Table, data: &DataSetting) -> Result<Sample, crate::data::DataError> {
    for filter in &data.filter {
        let value = FilterValue::Number(filter.value);
        table = table.filter(&Filter { column: filter.column.clone(), is: filter.is, value })?;
    }
    let column = |name: &String| numbers(&table, data, name);
    let inputs: Result<Vec<Vec<f64>>, _> = data.inputs.iter().map(column).collect();
    Ok(Sample::new(&inputs?, column(&data.target)?))
}

/// A column as numbers, or as codes where it has some.
fn numbers(table: &Table, data: &DataSetting, name: &str) -> Result<Vec<f64>, DataError> {
    match data.encode.get(name) {
        Some(codes) => table.coded(name, codes),
        None => table.numeric(name),
    }
}

/// The columns that a data section reads, each once.
fn used(data: &DataSetting) -> Vec<&str> {
    let filters = data.filter.iter().map(|filter| &filter.column);
    let all = data.inputs.iter().chain([&data.target]).chain(filters);
    let distinct: BTreeSet<&str> = all.map(String::as_str).collect();
    distinct.into_iter().collect()
}
