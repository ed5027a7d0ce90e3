//! Loads the sample of a data section: own tables, inline rows, and datasets of the manifest (tables, images,
//! trips). For private releases, errors must not reveal private cells.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use nalgebra::DMatrix;

use super::memory::ensure_memory;
use super::own_tables::{limit_person_rows, own_files};
use super::{BlockReplicate, Project, RunError};
use dpgp_data::{
    DataError, DataFile, DatasetFormat, ExpectedCell, FilterValue, IdxArray, ImageDownscaler, MissingCellPolicy,
    PersonId, Progress, RowFilter, Table, TableCellError, TableError, TripTable, read_points_table,
};
use dpgp_mechanisms::CellSections;
use dpgp_spec::TextDigest;
use dpgp_spec::setting::{DataSetting, ImagesSetting, PersonRowChoiceBasis, SourceSetting, SpecProblem, TripsSetting};
use dpgp_task::{Cell, Experiment, ModelMemory, PredictionPoints, RequestData, Sample, TaskSetting};

/// Reads the data of an experiment; datasets that are not here are fetched.
pub(super) struct DataLoader<'a> {
    pub experiment: &'a Experiment,
    pub project: &'a Project,
    pub progress: &'a dyn Progress,
}

/// A path that holds wherever a program runs.
pub(super) fn absolute_path(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// Identity of the sample of a cell: its data section, and the rule that chooses the rows of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SampleId {
    data: TextDigest,
    chosen_by: PersonRowChoiceBasis,
}

impl SampleId {
    pub fn from_cell(cell: &Cell) -> Self {
        let setting = cell.setting();
        // Where no rows are left out, all cells with the same data section share a sample.
        let data = &setting.data;
        let chosen_by = match data.rows_per_person_limit().is_some() || data.drops_missing() {
            true => setting.privacy.mechanism.person_row_choice_basis(),
            false => PersonRowChoiceBasis::Inputs,
        };
        Self { data: cell.data_id(), chosen_by }
    }
}

/// The sample of one data section, as a release by its mechanism uses it; a missing dataset is fetched.
///
/// # Errors
/// [`RunError`] if data are missing, do not verify, lack a column, or hold a cell that is no number.
pub fn load_sample(
    experiment: &Experiment,
    setting: &CellSections,
    project: &Project,
    progress: &dyn Progress,
) -> Result<Sample, RunError> {
    let (data, chosen_by) = (&*setting.data, setting.privacy.mechanism.person_row_choice_basis());
    let loader = DataLoader { experiment, project, progress };
    match loader.read_unfiltered_rows(data, ParquetColumns::Used)? {
        SourceRows::Tables(tables) => release_sample_from_tables(tables, data, chosen_by),
        SourceRows::Inline(columns) => Ok(sample_from_columns(columns, data, chosen_by)),
        SourceRows::Other(sample) => Ok(sample),
    }
}

/// The inputs of a data section in another file, a row each: points to predict at, with the weights in another column.
///
/// # Errors
/// [`RunError::Data`] if the file cannot be read, lacks a column, or holds a cell that is no number.
pub fn load_prediction_points(
    path: &Path,
    data: &DataSetting,
    weights: Option<&str>,
) -> Result<PredictionPoints, RunError> {
    // An input may be the weight, too.
    let names: BTreeSet<&str> = data.inputs.iter().map(String::as_str).chain(weights).collect();
    let table = read_points_table(path, &names.into_iter().collect::<Vec<_>>()).map_err(Box::new)?;
    let columns = input_columns(&table, data).map_err(Box::new)?;
    let weights = weights.map(|column| table.numeric_column(column)).transpose().map_err(Box::new)?;
    Ok(PredictionPoints { inputs: DMatrix::from_fn(table.row_count(), columns.len(), |i, j| columns[j][i]), weights })
}

impl DataLoader<'_> {
    /// The samples that units of work read.
    ///
    /// # Errors
    /// As [`load_sample`], and if there are fewer rows than a split has folds.
    pub fn read_samples(&self, units: &[BlockReplicate]) -> Result<BTreeMap<SampleId, Sample>, RunError> {
        let mut samples = BTreeMap::new();
        let cells = &self.experiment.cells;
        // A program reads its data itself.
        let reads_rows = |cell: &&usize| cells[**cell].setting().task.reads_rows();
        for &cell in units.iter().flat_map(|unit| &unit.missing).filter(reads_rows) {
            if let Entry::Vacant(vacant) = samples.entry(SampleId::from_cell(&cells[cell])) {
                let setting = cells[cell].setting();
                vacant.insert(self.read_sample(&setting.data, setting.privacy.mechanism.person_row_choice_basis())?);
            }
        }
        // All data are read before the first fault of a spec is reported, so that missing data come first.
        for &cell in units.iter().flat_map(|unit| &unit.missing) {
            if let Some(sample) = samples.get(&SampleId::from_cell(&cells[cell])) {
                let fits = cells[cell].check_row_count(sample.row_count());
                fits.map_err(|fault| Box::new(self.experiment.error_at_key_path(&fault.path, fault.problem)))?;
                let setting = cells[cell].setting();
                let rows = setting.data.drawn_row_count(sample.row_count());
                ensure_memory(self.experiment, ModelMemory::estimate_experiment_block(setting, rows))?;
            }
        }
        Ok(samples)
    }

    /// The data files that the programs of units of work read, by data section. Datasets that are not here are fetched.
    ///
    /// # Errors
    /// [`RunError::Data`] if a file is not there or cannot be fetched.
    pub fn fetch_program_data_files(
        &self,
        units: &[BlockReplicate],
    ) -> Result<BTreeMap<TextDigest, RequestData>, RunError> {
        let mut data = BTreeMap::new();
        for &cell in units.iter().flat_map(|unit| &unit.missing) {
            let cell = &self.experiment.cells[cell];
            let setting = cell.setting();
            if let (TaskSetting::Command(_), Entry::Vacant(vacant)) = (&*setting.task, data.entry(cell.data_id()))
                && let Some(files) = self.data_files(&setting.data.source)?
            {
                vacant.insert(files);
            }
        }
        Ok(data)
    }

    fn data_files(&self, source: &SourceSetting) -> Result<Option<RequestData>, RunError> {
        if let Some(name) = source.dataset() {
            let dataset = self.project.manifest.get(name).map_err(Box::new)?;
            let files = self.project.cache.ensure_dataset_files(dataset, self.progress).map_err(Box::new)?;
            let digest = match dataset.files.first() {
                Some(file) => self.project.cache.expected_digest(file).map_err(Box::new)?,
                None => None,
            };
            let sha256 = digest.map(|digest| digest.to_string());
            return Ok(files.first().cloned().map(|path| RequestData { path, sha256, files }));
        }
        let own = own_files(self.experiment, source)?;
        let files: Vec<PathBuf> = own.iter().map(|file| absolute_path(&file.path)).collect();
        Ok(files.first().cloned().map(|path| RequestData { path, sha256: None, files }))
    }

    /// The sample of one data section.
    ///
    /// # Errors
    /// As [`load_sample`].
    pub fn read_sample(&self, data: &DataSetting, chosen_by: PersonRowChoiceBasis) -> Result<Sample, RunError> {
        match self.read_unfiltered_rows(data, ParquetColumns::Used)? {
            SourceRows::Tables(tables) => sample_from_tables(tables, data, chosen_by),
            SourceRows::Inline(columns) => Ok(sample_from_columns(columns, data, chosen_by)),
            SourceRows::Other(sample) => Ok(sample),
        }
    }

    /// The rows of one data section before its filters.
    pub(super) fn read_unfiltered_rows<'d>(
        &self,
        data: &'d DataSetting,
        columns: ParquetColumns,
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
            SourceSetting::Csv { .. } | SourceSetting::Parquet { .. } => {
                return Ok(SourceRows::Tables(self.own_tables(data, columns)?));
            }
            SourceSetting::Dataset(name) => self.first_dataset_table(name)?,
        };
        Ok(SourceRows::Tables(vec![table]))
    }
}

/// Which columns of a Parquet file are read; of text all are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParquetColumns {
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

/// The rows of all tables that pass the filters, as many of each person as are used.
fn sample_from_tables(
    tables: Vec<Table>,
    data: &DataSetting,
    chosen_by: PersonRowChoiceBasis,
) -> Result<Sample, RunError> {
    let (mut parts, mut persons) = (Vec::with_capacity(tables.len()), Vec::new());
    for table in tables {
        let part = sample_before_person_limit(table, data, chosen_by, &mut persons);
        parts.push(part.map_err(|error| Box::new(data.with_drop_rows_hint(error, chosen_by)))?);
    }
    let whole = match <[Sample; 1]>::try_from(parts) {
        Ok([only]) => only,
        Err(parts) => Sample::concat(&parts),
    };
    Ok(apply_person_limit(whole, &persons, data, chosen_by))
}

/// The same for a private release, whose rows are refused by public rules alone.
pub(super) fn release_sample_from_tables(
    tables: Vec<Table>,
    data: &DataSetting,
    chosen_by: PersonRowChoiceBasis,
) -> Result<Sample, RunError> {
    let mut released_tables = Vec::with_capacity(tables.len());
    for table in tables {
        let table = apply_release_row_rules(table, data, chosen_by);
        released_tables.push(table.map_err(|error| Box::new(data.with_drop_rows_hint(error, chosen_by)))?);
    }
    sample_from_tables(released_tables, data, chosen_by)
}

/// The rows of a table that are used, before those of a person are limited; whose they are follows in the list.
fn sample_before_person_limit(
    table: Table,
    data: &DataSetting,
    chosen_by: PersonRowChoiceBasis,
    persons: &mut Vec<PersonId>,
) -> Result<Sample, DataError> {
    let table = match data.missing {
        MissingCellPolicy::Refuse => filter_table(table, data)?,
        MissingCellPolicy::Drop => drop_incomplete_rows(table, data, chosen_by)?,
    };
    let sample = extract_sample(&table, data)?;
    if let Some(limit) = data.rows_per_person_limit() {
        persons.extend(table.persons(limit.column)?);
    }
    Ok(sample)
}

/// The rows of columns in the spec that pass the filters, as many of each person as are used.
pub(super) fn sample_from_columns(
    columns: &BTreeMap<String, Vec<f64>>,
    data: &DataSetting,
    chosen_by: PersonRowChoiceBasis,
) -> Sample {
    let mut kept: Vec<usize> = (0..columns.get(data.target_column()).map_or(0, Vec::len)).collect();
    for filter in &data.filter {
        let column = columns.get(&filter.column).map(Vec::as_slice).unwrap_or_default();
        kept.retain(|&row| filter.is.holds(column[row].partial_cmp(&filter.value)));
    }
    let inputs: Vec<Vec<f64>> = data.inputs.iter().map(|name| column_values(columns, name, &kept)).collect();
    let targets = match &data.target {
        Some(target) => column_values(columns, target, &kept),
        None => vec![1.0; kept.len()],
    };
    let sample = Sample::new(&inputs, targets);
    let persons = data.person.iter().flat_map(|name| column_values(columns, name, &kept));
    // All numbers of a spec are finite.
    let persons: Vec<PersonId> = persons.filter_map(PersonId::of_number).collect();
    apply_person_limit(sample, &persons, data, chosen_by)
}

/// As many rows of each person as are used; all rows where they are not those of persons.
fn apply_person_limit(
    sample: Sample,
    persons: &[PersonId],
    data: &DataSetting,
    chosen_by: PersonRowChoiceBasis,
) -> Sample {
    match data.rows_per_person_limit() {
        Some(limit) => limit_person_rows(&sample, persons, limit, chosen_by),
        None => sample,
    }
}

fn column_values(columns: &BTreeMap<String, Vec<f64>>, name: &str, rows: &[usize]) -> Vec<f64> {
    let column = columns.get(name).map(Vec::as_slice).unwrap_or_default();
    rows.iter().filter_map(|&row| column.get(row).copied()).collect()
}

/// The rows of a table that pass the filters.
fn filter_table(mut table: Table, data: &DataSetting) -> Result<Table, DataError> {
    for filter in &data.filter {
        let value = FilterValue::Number(filter.value);
        table = table.filter(&RowFilter { column: filter.column.clone(), is: filter.is, value })?;
    }
    Ok(table)
}

/// Inputs and targets of a table.
fn extract_sample(table: &Table, data: &DataSetting) -> Result<Sample, DataError> {
    let inputs = input_columns(table, data)?;
    let targets = match &data.target {
        Some(target) => numeric_or_coded_column(table, data, target)?,
        None => vec![1.0; table.row_count()],
    };
    Ok(Sample::new(&inputs, targets))
}

fn input_columns(table: &Table, data: &DataSetting) -> Result<Vec<Vec<f64>>, DataError> {
    data.inputs.iter().map(|name| numeric_or_coded_column(table, data, name)).collect()
}

/// A column as numbers, or as codes where it has some.
pub(super) fn numeric_or_coded_column(table: &Table, data: &DataSetting, name: &str) -> Result<Vec<f64>, DataError> {
    match data.encode.get(name) {
        Some(codes) => table.category_indices(name, codes),
        None => table.numeric_column(name),
    }
}

/// The columns that a data section reads, that of persons among them, each once.
pub(super) fn required_columns(data: &DataSetting) -> Vec<&str> {
    let mut columns = numeric_columns(data);
    columns.extend(data.person.as_deref().filter(|person| !numeric_columns(data).contains(person)));
    columns
}

/// The columns whose numbers a data section reads, each once.
pub(super) fn numeric_columns(data: &DataSetting) -> Vec<&str> {
    let filters = data.filter.iter().map(|filter| &filter.column);
    let all = data.inputs.iter().chain(&data.target).chain(filters);
    let distinct: BTreeSet<&str> = all.map(String::as_str).collect();
    distinct.into_iter().collect()
}

/// The rows of a table that pass the filters and lack no cell that is read.
///
/// Obligation: where the target alone is private, which rows are left out depends on public columns alone; a row that they keep must
/// have a target. (The certificate names a filter by the target.)
///
/// # Errors
/// [`DataError::Table`] for a column that is not there, a cell that is there and cannot be read, and a target that is missing where
/// inputs are public.
fn drop_incomplete_rows(table: Table, data: &DataSetting, chosen_by: PersonRowChoiceBasis) -> Result<Table, DataError> {
    let filters = data.filter.iter().map(|filter| filter.column.as_str());
    let table = filter_table(without_missing(&table, filters, data)?, data)?;
    let public = data.inputs.iter().chain(&data.person).map(String::as_str);
    match chosen_by {
        PersonRowChoiceBasis::Record => without_missing(&table, public.chain(data.target.as_deref()), data),
        PersonRowChoiceBasis::Inputs => {
            let table = without_missing(&table, public, data)?;
            let target = data.target_column();
            table.ensure_complete(target, expected_cell(data, target), &TableCellError::NoTarget)?;
            Ok(table)
        }
    }
}

/// The rows that have a cell in each of these columns.
fn without_missing<'c>(
    table: &Table,
    columns: impl Iterator<Item = &'c str>,
    data: &DataSetting,
) -> Result<Table, DataError> {
    let mut keep = vec![true; table.row_count()];
    for column in columns {
        let missing = table.missing_mask(column, expected_cell(data, column))?;
        keep.iter_mut().zip(missing).for_each(|(keep, missing)| *keep &= !missing);
    }
    table.keep_marked_rows(&keep)
}

/// Content that a data section expects in a column.
pub(super) fn expected_cell<'d>(data: &'d DataSetting, column: &str) -> ExpectedCell<'d> {
    match data.encode.get(column) {
        _ if data.person.as_deref() == Some(column) => ExpectedCell::Person,
        Some(codes) => ExpectedCell::Code(codes),
        None => ExpectedCell::Number,
    }
}

/// The rows of a table by the rules of a release.
///
/// Obligation: whether a file is refused depends on whether its columns hold what the spec reads, by all rows and whatever the filters
/// are, and not on which rows pass a filter or which word a word is. *Proof.* Where whole records are private ([`PersonRowChoiceBasis::Record`]),
/// every cell that is read is looked at before any filter. A word outside of `data.encode` counts as the first of them, as a clip to
/// public bounds would have it, so that every row still counts; where rows without a cell are left out, it is a missing cell. Where the
/// target alone is private, inputs, filters and their words are public, and a target outside of its codes counts as the first.
///
/// # Errors
/// [`DataError::Table`] for a column that is not there, or a cell that is not what is expected.
fn apply_release_row_rules(
    table: Table,
    data: &DataSetting,
    chosen_by: PersonRowChoiceBasis,
) -> Result<Table, DataError> {
    match chosen_by {
        PersonRowChoiceBasis::Inputs => match data.encode.get(data.target_column()) {
            Some(codes) => table.replace_unlisted_categories(data.target_column(), codes),
            None => Ok(table),
        },
        PersonRowChoiceBasis::Record => {
            let mut table = table;
            for (column, codes) in &data.encode {
                table = match data.drops_missing() {
                    true => table.drop_unlisted_categories(column, codes)?,
                    false => table.replace_unlisted_categories(column, codes)?,
                };
            }
            for column in required_columns(data) {
                ensure_readable(&table, data, column)?;
            }
            Ok(table)
        }
    }
}

/// Fails at the first cell of a column that cannot be read, in a row that passes the filters or not.
fn ensure_readable(table: &Table, data: &DataSetting, column: &str) -> Result<(), DataError> {
    if data.drops_missing() {
        return table.missing_mask(column, expected_cell(data, column)).map(drop);
    }
    match data.person.as_deref() == Some(column) {
        true => table.persons(column).map(drop),
        false => numeric_or_coded_column(table, data, column).map(drop),
    }
}

/// The files of a dataset, all of them here.
type LocalDatasetFiles<'a> = Vec<(&'a DataFile, PathBuf)>;

impl DataLoader<'_> {
    fn ensure_dataset_files(&self, dataset: &str) -> Result<LocalDatasetFiles<'_>, RunError> {
        let dataset = self.project.manifest.get(dataset).map_err(Box::new)?;
        let paths = self.project.cache.ensure_dataset_files(dataset, self.progress).map_err(Box::new)?;
        Ok(dataset.files.iter().zip(paths).collect())
    }

    /// The first table of a dataset.
    pub(super) fn first_dataset_table(&self, name: &str) -> Result<Table, RunError> {
        for (file, path) in self.ensure_dataset_files(name)? {
            if let DatasetFormat::Csv(format) = &file.format {
                return Ok(Table::read(&path, format).map_err(Box::new)?);
            }
        }
        Err(self.no_table_error("data.source.dataset", name))
    }

    /// The scaled images of a dataset as inputs, a pixel each, and their labels as targets.
    pub(super) fn images(&self, setting: &ImagesSetting) -> Result<Sample, RunError> {
        let files = self.ensure_dataset_files(&setting.dataset)?;
        let (path, images) = array(&files, &setting.images)?
            .ok_or_else(|| self.no_table_error("data.source.images.images", &setting.dataset))?;
        let (_, labels) = array(&files, &setting.labels)?
            .ok_or_else(|| self.no_table_error("data.source.images.labels", &setting.dataset))?;
        let sample = downscale_images(&images, &labels, setting.side.get());
        Ok(sample.map_err(|reason| Box::new(DataError::from_table_error(path, TableError::NotIdx(reason))))?)
    }

    /// The trips of one file or of all, joined with their stations; says how many have none.
    pub(super) fn trips(&self, setting: &TripsSetting) -> Result<Vec<Table>, RunError> {
        let files = self.ensure_dataset_files(&setting.dataset)?;
        let list = setting.stations.as_ref();
        let stations = files.iter().find(|(file, _)| Some(&file.path) == list).map(|(_, path)| path.as_path());
        let (mut tables, mut without_station) = (Vec::new(), 0);
        for (file, path) in &files {
            let wanted = match &setting.journeys {
                Some(name) => file.path == *name,
                None => Some(&file.path) != list,
            };
            if !wanted {
                continue;
            }
            let TripTable { table, dropped } = TripTable::read(path, stations).map_err(Box::new)?;
            without_station += dropped;
            tables.push(table);
        }
        if without_station > 0 {
            let (dataset, list) = (&setting.dataset, list.map_or("", String::as_str));
            self.progress.note(&format!("{dataset}: dropped {without_station} trips whose stations are not in {list}"));
        }
        if tables.is_empty() {
            return Err(self.no_table_error("data.source.trips.journeys", &setting.dataset));
        }
        Ok(tables)
    }

    fn no_table_error(&self, path: &str, dataset: &str) -> RunError {
        let problem = SpecProblem::NotATable { name: dataset.to_owned() };
        Box::new(self.experiment.error_at_key_path(path, problem)).into()
    }
}

/// The array in the file of this name, if the dataset has it.
fn array<'f>(files: &'f LocalDatasetFiles<'_>, name: &str) -> Result<Option<(&'f Path, IdxArray)>, RunError> {
    let Some((_, path)) = files.iter().find(|(file, _)| file.path == name) else { return Ok(None) };
    Ok(Some((path.as_path(), IdxArray::read(path).map_err(Box::new)?)))
}

fn downscale_images(images: &IdxArray, labels: &IdxArray, side: usize) -> Result<Sample, &'static str> {
    let [count, height, width] = images.shape[..] else {
        return Err("the images do not have three dimensions");
    };
    if height != width || height < side || side == 0 {
        return Err("the images are not square, or are smaller than requested");
    }
    if labels.shape != [count] {
        return Err("the number of labels differs from the number of images");
    }
    let scale = ImageDownscaler::new(height, side);
    let mut pixels = Vec::with_capacity(count * side * side);
    images.bytes.chunks_exact(height * width).for_each(|image| pixels.extend(scale.scale_image(image)));
    let inputs = DMatrix::from_row_slice(count, side * side, &pixels);
    let targets: Vec<f64> = labels.bytes.iter().map(|label| f64::from(*label)).collect();
    Ok(Sample { inputs, targets, persons: Vec::new() })
}
