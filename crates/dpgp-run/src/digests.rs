//! The data files behind each cell and their digests, and caveats about a guarantee from the data and the
//! public settings.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::PathBuf;

use super::load::DataLoader;
use super::own_tables::own_files;
use super::program::version_line;
use super::{Project, RunError, StateFolder};
use dpgp_data::rows::keyed_file_tag;
use dpgp_data::{Digest, Progress};
use dpgp_number::Positive;
use dpgp_spec::setting::{
    DataSetting, ImagesSetting, NormaliseSetting, PersonRowChoiceBasis, SourceSetting, SpecProblem, TripsSetting,
};
use dpgp_spec::{SpecError, TextDigest};
use dpgp_task::{Cell, CellSetting, CommandTask, Experiment, GivenNumbersTask, Sample, TaskSetting};

/// A data file and its digest: SHA-256 of a dataset that anybody can have, and HMAC-SHA-256 under the key of the state folder
/// of a file of the user's own, so that nobody can check a guess of its rows.
pub type FileDigest = (String, String);

/// Prefix of the digests under the key.
const KEYED: &str = "hmac-sha256:";

/// Description of a data file that others may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicFileRecord {
    /// The file, as it was named.
    pub file: String,
    /// Its SHA-256; none of a file of the user's own.
    pub sha256: Option<String>,
}

/// The files of each data block; none while a digest is not known because a file has not been fetched yet.
#[derive(Debug, Clone)]
pub struct DataDigests {
    blocks: BTreeMap<TextDigest, Option<Vec<FileDigest>>>,
    /// The files of each program, by the cell.
    programs: BTreeMap<TextDigest, Vec<FileDigest>>,
}

impl DataDigests {
    /// The digests of what the cells of an experiment read: those of the manifest or of the lock file, or
    /// computed from a file of the user's own under the key of the state folder. Nothing is fetched.
    ///
    /// # Errors
    /// [`RunError::Data`] if a file of the user's own or the lock file cannot be read; [`RunError::State`] without a key.
    pub fn read_local(experiment: &Experiment, project: &Project) -> Result<Self, RunError> {
        let (mut blocks, mut programs) = (BTreeMap::new(), BTreeMap::new());
        let mut of_programs = BTreeMap::new();
        for cell in &experiment.cells {
            if let Entry::Vacant(vacant) = blocks.entry(cell.data_id()) {
                vacant.insert(known_source_file_digests(experiment, &cell.setting().data, project)?);
            }
            // Cells of one program or table differ in what they ask of it, so that its files are read once.
            let found = match &*cell.setting().task {
                TaskSetting::Command(CommandTask { files, run, version, .. }) => {
                    let asked = version.then(|| run[0].as_str());
                    let key = ("task.command.files", files.as_slice(), asked);
                    of_programs.entry(key).or_insert_with(|| digest_program_files(experiment, key)).clone()
                }
                TaskSetting::Given(GivenNumbersTask { table: Some(table), .. }) => {
                    let key = ("task.given.table", std::slice::from_ref(table), None);
                    of_programs.entry(key).or_insert_with(|| digest_program_files(experiment, key)).clone()
                }
                _ => continue,
            };
            programs.insert(cell.id(), found.map_err(Box::new)?);
        }
        Ok(Self { blocks, programs })
    }

    /// The same; files without a recorded digest are fetched, which records it.
    ///
    /// # Errors
    /// [`RunError::Data`], also of the download.
    pub fn fetch_missing(
        experiment: &Experiment,
        project: &Project,
        progress: &dyn Progress,
    ) -> Result<Self, RunError> {
        let known = Self::read_local(experiment, project)?;
        if known.blocks.values().all(Option::is_some) {
            return Ok(known);
        }
        for name in experiment.datasets() {
            let dataset = project.manifest.get(name).map_err(Box::new)?;
            project.cache.ensure_dataset_files(dataset, progress).map_err(Box::new)?;
        }
        Self::read_local(experiment, project)
    }

    /// The files of a data block, if all their digests are known.
    pub fn data_files(&self, block: &TextDigest) -> Option<&[FileDigest]> {
        self.blocks.get(block)?.as_deref()
    }

    /// The files that a cell depends on, with those of its program, if all digests of its data are known.
    pub fn cell_files(&self, cell: &Cell) -> Option<Vec<FileDigest>> {
        let mut files = self.data_files(&cell.data_id())?.to_vec();
        files.extend(self.programs.get(&cell.id()).into_iter().flatten().cloned());
        Some(files)
    }

    /// Every file, once.
    pub fn files(&self) -> Vec<FileDigest> {
        let data = self.blocks.values().flatten().flatten();
        let mut files: Vec<FileDigest> = data.chain(self.programs.values().flatten()).cloned().collect();
        files.sort();
        files.dedup();
        files
    }

    /// Every file, once, as others may read it.
    pub fn public_file_records(&self) -> Vec<PublicFileRecord> {
        let mut public = Vec::new();
        for (file, digest) in self.files() {
            let sha256 = (!digest.starts_with(KEYED)).then_some(digest);
            public.push(PublicFileRecord { file, sha256 });
        }
        public
    }
}

/// The files that names and patterns mean, relative to the spec. A name that is there is never a pattern.
fn expand_file_patterns(experiment: &Experiment, key: &str, names: &[String]) -> Result<Vec<String>, SpecError> {
    let folder = experiment.resolve_path("");
    let mut files = Vec::new();
    for name in names {
        let whole = experiment.resolve_path(name);
        if !name.contains(['*', '?', '[']) || whole.exists() {
            files.push(name.clone());
            continue;
        }
        let wrong =
            |why: String| experiment.error_at_key_path(key, SpecProblem::Shape(format!("names {name:?}, {why}")));
        let pattern = whole.to_string_lossy().into_owned();
        let paths = glob::glob(&pattern).map_err(|cause| wrong(format!("which is not a valid pattern: {cause}")))?;
        let found: Vec<PathBuf> = paths.flatten().filter(|path| path.is_file()).collect();
        if found.is_empty() {
            return Err(wrong("which matches no file".to_owned()));
        }
        let relative = |path: &PathBuf| path.strip_prefix(&folder).unwrap_or(path).to_string_lossy().into_owned();
        files.extend(found.iter().map(relative));
    }
    files.sort();
    files.dedup();
    Ok(files)
}

/// The digests of the files that a key names, and of the version of a program.
fn digest_program_files(
    experiment: &Experiment,
    (key, files, program): (&str, &[String], Option<&str>),
) -> Result<Vec<FileDigest>, SpecError> {
    let mut digests = Vec::with_capacity(files.len());
    for file in &expand_file_patterns(experiment, key, files)? {
        let bytes = std::fs::read(experiment.resolve_path(file)).map_err(|cause| {
            experiment
                .error_at_key_path(key, SpecProblem::Shape(format!("names {file:?}, which cannot be read: {cause}")))
        })?;
        digests.push((file.clone(), Digest::of_bytes(&bytes).to_string()));
    }
    if let Some(program) = program {
        let line = version_line(&experiment.resolve_path("."), program).map_err(|why| {
            experiment.error_at_key_path("task.command.version", SpecProblem::Shape(format!("cannot be read: {why}")))
        })?;
        digests.push((format!("{program} --version"), Digest::of_bytes(line.as_bytes()).to_string()));
    }
    Ok(digests)
}

/// The digests of the user's own files that a spec names.
fn own_file_digests(experiment: &Experiment, source: &SourceSetting) -> Result<Vec<FileDigest>, RunError> {
    // Files that are not there make no key.
    let (found, folder) = (own_files(experiment, source)?, experiment.resolve_path(""));
    let key = StateFolder::open()?.key().for_purpose("dpgp files");
    let mut digests = Vec::new();
    for file in found {
        let mut tag = keyed_file_tag(&file.path, &key).map_err(Box::new)?;
        if !file.partitions.is_empty() {
            // The columns that its path names are rows as well.
            tag = key.tag(&[&tag, file.name_with_partitions().as_bytes()].concat());
        }
        let name = file.path.strip_prefix(&folder).unwrap_or(&file.path);
        digests.push((name.to_string_lossy().into_owned(), format!("{KEYED}{}", hex::encode(tag))));
    }
    Ok(digests)
}

fn known_source_file_digests(
    experiment: &Experiment,
    data: &DataSetting,
    project: &Project,
) -> Result<Option<Vec<FileDigest>>, RunError> {
    match &data.source {
        SourceSetting::Inline(_) | SourceSetting::Synthetic(_) => Ok(Some(Vec::new())),
        SourceSetting::Csv { .. } | SourceSetting::Parquet { .. } => {
            own_file_digests(experiment, &data.source).map(Some)
        }
        SourceSetting::Dataset(name)
        | SourceSetting::Images(ImagesSetting { dataset: name, .. })
        | SourceSetting::Trips(TripsSetting { dataset: name, .. }) => {
            let dataset = project.manifest.get(name).map_err(Box::new)?;
            let mut files = Vec::new();
            for file in &dataset.files {
                let known = project.cache.expected_digest(file).map_err(Box::new)?;
                files.push(known.map(|digest| (file.path.clone(), digest.to_string())));
            }
            Ok(files.into_iter().collect())
        }
    }
}

/// Fewer rows than this show no copy.
const FEW: usize = 10;
/// A correlation above this is a copy.
const COPY: f64 = 1.0 - 1e-9;

/// Reasons why a guarantee about one target says less than it seems to, in words: bounds that are missing, too wide for the
/// change or read from the data, and public columns that copy the target. None if records are private as a whole.
pub fn target_guarantee_caveats(
    experiment: &Experiment,
    project: &Project,
    setting: &CellSetting,
    sample: &Sample,
    progress: &dyn Progress,
) -> Vec<String> {
    let Some(change) = setting.privacy.change.map(Positive::get) else { return Vec::new() };
    let mut reasons: Vec<String> = bounds_caveat(&setting.normalise, change, &sample.targets).into_iter().collect();
    let columns = sample.inputs.column_iter();
    for (name, column) in setting.data.inputs.iter().zip(columns) {
        let column: Vec<f64> = column.iter().copied().collect();
        if are_linear_copies(&column, &sample.targets) {
            reasons.push(format!("the public input {name:?} is a copy of the target"));
        }
    }
    for column in nontarget_filter_columns(&setting.data) {
        let (filter, inputs) = (Vec::new(), vec![column.clone()]);
        let all = DataSetting { filter, inputs, person: None, rows_per_person: None, ..(*setting.data).clone() };
        let loader = DataLoader { experiment, project, progress };
        // A column that cannot be read as numbers is no copy of them. Rows that lack either show none.
        let Ok(all) = loader.read_sample(&all, PersonRowChoiceBasis::Record) else { continue };
        if are_linear_copies(all.inputs.column(0).as_slice(), &all.targets) {
            reasons.push(format!("rows are filtered by {column:?}, a copy of the target"));
        }
    }
    reasons
}

/// Caveat from the bounds of the targets, if there is one.
fn bounds_caveat(normalise: &NormaliseSetting, change: f64, targets: &[f64]) -> Option<String> {
    match *normalise {
        NormaliseSetting::None | NormaliseSetting::Constants { .. } => {
            // Without bounds the change is an assumption, which the targets of the data may refute.
            let range = target_range(targets);
            (range > change).then(|| {
                format!(
                    "targets are not clipped to public bounds and differ by {range:?}, but only changes of up to {change:?} are protected"
                )
            })
        }
        NormaliseSetting::Bounds { low, high, .. } => {
            let width = high.get() - low.get();
            if change < width {
                return Some(format!(
                    "targets may differ by up to {width:?} within their bounds, but only changes of up to {change:?} are protected"
                ));
            }
            let at_ends = [low.get(), high.get()];
            are_bounds_from_data(targets, at_ends).then(|| {
                format!(
                    "the bounds {at_ends:?} are the smallest and largest targets in the data, each from a single row"
                )
            })
        }
        // The certificate says already that private statistics were used.
        NormaliseSetting::Private { .. } | NormaliseSetting::Standardised { .. } => None,
    }
}

/// The greatest less the least.
fn target_range(targets: &[f64]) -> f64 {
    let least = targets.iter().copied().fold(f64::INFINITY, f64::min);
    targets.iter().copied().fold(f64::NEG_INFINITY, f64::max) - least
}

/// Whether both ends are extremes of the targets that one row alone has: values of two people.
fn are_bounds_from_data(targets: &[f64], [low, high]: [f64; 2]) -> bool {
    let extremes = targets.iter().all(|y| (low..=high).contains(y));
    let times = [low, high].map(|end| targets.iter().filter(|y| **y == end).count());
    extremes && times == [1, 1]
}

/// The columns that rows are filtered by, except the target, which the certificate covers.
fn nontarget_filter_columns(data: &DataSetting) -> Vec<String> {
    data.filter
        .iter()
        .map(|filter| filter.column.clone())
        .filter(|column| Some(column) != data.target.as_ref())
        .collect()
}

/// Whether one list is the other up to a shift and a factor.
fn are_linear_copies(one: &[f64], other: &[f64]) -> bool {
    let n = one.len() as f64;
    let (mean_one, mean_other) = (one.iter().sum::<f64>() / n, other.iter().sum::<f64>() / n);
    let (mut squares_one, mut squares_other, mut products) = (0.0, 0.0, 0.0);
    for (x, y) in one.iter().zip(other) {
        let (x, y) = (x - mean_one, y - mean_other);
        (squares_one, squares_other, products) = (squares_one + x * x, squares_other + y * y, products + x * y);
    }
    // A few points lie on a line by chance, or because an example is made of them.
    one.len() >= FEW && squares_one > 0.0 && products.abs() > COPY * (squares_one * squares_other).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_found_in_any_units() {
        let y: Vec<f64> = (0..12).map(|i| f64::from(i * i % 7)).collect();
        let shifted: Vec<f64> = y.iter().map(|y| 32.0 - 1.8 * y).collect();
        assert!(are_linear_copies(&y, &y) && are_linear_copies(&shifted, &y));
        let mut other = y.clone();
        other[3] += 0.1;
        assert!(
            !are_linear_copies(&other, &y)
                && !are_linear_copies(&[3.0; 12], &y)
                && !are_linear_copies(&y[..5], &y[..5])
        );
    }

    #[test]
    fn bounds_that_two_rows_give_away_are_found() {
        assert!(are_bounds_from_data(&[3.0, 9.5, 4.0], [3.0, 9.5]));
        for (targets, bounds) in
            [([3.0, 9.5, 9.5], [3.0, 9.5]), ([3.0, 9.5, 4.0], [3.0, 10.0]), ([3.0, 9.5, 11.0], [3.0, 9.5])]
        {
            assert!(!are_bounds_from_data(&targets, bounds));
        }
    }
}
