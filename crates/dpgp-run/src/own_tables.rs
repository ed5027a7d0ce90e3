//! The user's own tables and rows per person in memory, their targets outside the public bounds and inputs outside the
//! public box, and the owner of a project, who controls what the program reads and writes.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::load::{DataLoader, ParquetColumns, required_columns};
use super::{Project, RunError};
use dpgp_data::rows::{RowFile, find_row_files, is_cloud_address};
use dpgp_data::{DataError, PersonId, PersonRowSampler, Progress, Table, report_outside_file};
use dpgp_mechanisms::{MomentsSetting, SumsSetting};
use dpgp_spec::setting::{
    DataSetting, NormaliseSetting, PersonRowChoiceBasis, PersonRowLimit, SourceSetting, prior_mean,
};
use dpgp_task::{CellSetting, Experiment, Sample};

/// The user's own files that a spec names, directly, by folder or by pattern, relative to the spec; none if it names none. Reports
/// the files outside the folder of the spec.
///
/// # Errors
/// [`RunError::Data`] if a folder or a pattern matches no file.
pub(super) fn own_files(experiment: &Experiment, source: &SourceSetting) -> Result<Vec<RowFile>, RunError> {
    let names: Vec<&str> = source.own_file().into_iter().collect();
    let folder = experiment.resolve_path("");
    // To ask what stands at an address is to read it.
    for name in names.iter().map(Path::new).filter(|name| is_cloud_address(name)) {
        report_outside_file(name, &folder, "spec");
    }
    let files = find_row_files(&folder, &names).map_err(Box::new)?;
    files.iter().for_each(|file| report_outside_file(&file.path, &folder, "spec"));
    Ok(files)
}

/// Whether a path is one of the user's own files that a setting reads, under whatever name.
///
/// # Errors
/// [`RunError::Data`] if a folder or a pattern matches no file.
pub fn is_own_file(experiment: &Experiment, data: &DataSetting, path: &Path) -> Result<bool, RunError> {
    let Ok(path) = path.canonicalize() else { return Ok(false) };
    let own = own_files(experiment, &data.source)?;
    Ok(own.iter().any(|file| is_same_file(&file.path, &path)))
}

#[cfg(unix)]
fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |path: &Path| path.metadata().map(|found| (found.dev(), found.ino())).ok();
    identity(one).is_some_and(|one| Some(one) == identity(other))
}

#[cfg(not(unix))]
fn is_same_file(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|one| one == other)
}

/// Says which of the files that the first cell of an experiment reads lie outside the folder of its spec.
///
/// # Errors
/// [`RunError::Data`] if a folder or a pattern matches no file.
pub fn report_outside_files(experiment: &Experiment) -> Result<(), RunError> {
    let first = experiment.cells.first().map(|cell| &cell.setting().data.source);
    first.map_or(Ok(()), |source| own_files(experiment, source).map(drop))
}

impl DataLoader<'_> {
    /// A table for each of the user's own files, with the columns that its path names.
    pub(super) fn own_tables(&self, data: &DataSetting, columns: ParquetColumns) -> Result<Vec<Table>, RunError> {
        let mut tables = Vec::new();
        for file in own_files(self.experiment, &data.source)? {
            let table = table(&file, data, columns).and_then(|table| table.with_partition_columns(&file));
            tables.push(table.map_err(Box::new)?);
        }
        // Of a release the number of rows may be private: it is refused only where it is not.
        match tables.first() {
            Some(first)
                if columns == ParquetColumns::Used && tables.iter().all(|table: &Table| table.row_count() == 0) =>
            {
                Err(Box::new(first.no_rows_error()).into())
            }
            _ => Ok(tables),
        }
    }
}

fn table(file: &RowFile, data: &DataSetting, columns: ParquetColumns) -> Result<Table, DataError> {
    if let SourceSetting::Csv { .. } = data.source {
        return Table::read(&file.path, &data.source.text_layout().to_csv_format());
    }
    let mut names = required_columns(data);
    names.retain(|name| file.partition(name).is_none());
    match columns {
        ParquetColumns::Used => Table::read_parquet(&file.path, &names),
        ParquetColumns::All => Table::read_whole_parquet(&file.path, &names),
    }
}

/// The projects of other users that this user trusts: folders as in `PATH`; `*` means every folder.
const SAFE: &str = "DPGP_SAFE_PROJECTS";

/// Paths that make a folder a project, the folder itself first.
const PARTS: [&str; 4] = ["", "experiments", "data", "data/datasets.toml"];

/// Fails if a project, or one of the parts that make it one, belongs to a user who is not trusted. This user and root are trusted, and
/// for root also the user who called `sudo`. In a folder without a project, only the parts that are used are checked.
///
/// # Errors
/// [`RunError::OtherOwner`].
pub(super) fn ensure_trusted_owner(folder: &Path, is_project: bool) -> Result<(), RunError> {
    let parts = PARTS.iter().skip(usize::from(!is_project));
    for path in parts.map(|part| if part.is_empty() { folder.to_path_buf() } else { folder.join(part) }) {
        if let Some(owner) = untrusted_owner(&path)
            && !is_trusted_folder(folder)
        {
            let folder = dpgp_fs::resolve_links(folder);
            return Err(RunError::OtherOwner { folder, path, owner });
        }
    }
    Ok(())
}

fn is_trusted_folder(folder: &Path) -> bool {
    let named = std::env::var_os(SAFE).unwrap_or_default();
    let folder = dpgp_fs::resolve_links(folder);
    let mut named = std::env::split_paths(&named).filter(|path| !path.as_os_str().is_empty());
    named.any(|path| path == Path::new("*") || dpgp_fs::resolve_links(&path) == folder)
}

/// The owner of a file, or of the link in its place, if it is nobody who is trusted anyway.
#[cfg(unix)]
fn untrusted_owner(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let found = [path.symlink_metadata(), path.metadata()];
    let mut owners = found.into_iter().flatten().map(|found| found.uid());
    owners.find(|owner| !trusted_user_ids().contains(&Some(*owner))).map(user_name)
}

#[cfg(not(unix))]
fn untrusted_owner(_: &Path) -> Option<String> {
    None
}

/// Root, who could change the program itself; this user; and the one for whom root acts.
#[cfg(unix)]
fn trusted_user_ids() -> [Option<u32>; 3] {
    let own = rustix::process::geteuid().as_raw();
    let caller = std::env::var("SUDO_UID").ok().filter(|_| own == 0);
    [Some(0), Some(own), caller.and_then(|caller| caller.parse().ok())]
}

/// A user by name, where the system lists it in a file.
#[cfg(unix)]
fn user_name(owner: u32) -> String {
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let mut users = users.lines().map(|line| line.split(':'));
    let name = users.find_map(|mut user| {
        let name = user.next()?;
        (user.nth(1)?.parse() == Ok(owner)).then(|| name.to_owned())
    });
    name.map_or_else(|| format!("user {owner}"), |name| format!("{name} (user {owner})"))
}

/// A sample that passed the filters, with at most so many rows of each person, in their order.
pub(super) fn limit_person_rows(
    sample: &Sample,
    persons: &[PersonId],
    limit: PersonRowLimit<'_>,
    chosen_by: PersonRowChoiceBasis,
) -> Sample {
    let mut chosen = PersonRowSampler::new(limit.rows);
    for (row, person) in persons.iter().enumerate() {
        let mut cells: Vec<f64> = sample.inputs.row(row).iter().copied().collect();
        if chosen_by == PersonRowChoiceBasis::Record {
            cells.push(sample.targets[row]);
        }
        chosen.insert(*person, &cells, row as u64);
    }
    let kept = chosen.into_kept_rows();
    let rows: Vec<usize> = (0..sample.row_count()).filter(|row| kept.contains(*row as u64)).collect();
    let persons = assign_person_numbers(rows.iter().map(|row| persons[*row]));
    Sample { persons, ..sample.select(&rows) }
}

/// Numbers the persons from 0 by first appearance, and returns the number of each row's person.
fn assign_person_numbers(persons: impl Iterator<Item = PersonId>) -> Vec<usize> {
    let mut numbers = BTreeMap::new();
    let mut numbered = Vec::new();
    for person in persons {
        let next = numbers.len();
        numbered.push(*numbers.entry(person).or_insert(next));
    }
    numbered
}

/// How many targets lie outside public bounds and were clipped to them. The count is not private: it is for the holder
/// of the data, and no part of a release.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ClippedCounts {
    /// The lower public bound on targets.
    pub low: f64,
    /// The upper public bound on targets.
    pub high: f64,
    /// The number of targets outside the bounds.
    pub clipped: usize,
    /// The number of all targets.
    pub rows: usize,
    /// The number of rows outside the public box of private inputs, which were moved to its nearest point; none if there is no box.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<usize>,
}

impl fmt::Display for ClippedCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { low, high, clipped, rows, outside } = self;
        write!(f, "{clipped} of {rows} targets lie outside the public bounds [{low}, {high}] and were clipped")?;
        if let Some(outside) = outside.filter(|outside| *outside > 0) {
            let who =
                if outside == *rows { "all rows lie".to_owned() } else { format!("{outside} of {rows} rows lie") };
            write!(
                f,
                "; {who} outside the public box privacy.mechanism.moments.domain and were moved to the nearest point in it"
            )?;
        }
        f.write_str(" (this count is exact: do not publish it)")
    }
}

/// The count for one setting; none if it has no public bounds.
pub fn count_clipped_targets(setting: &CellSetting, sample: &Sample) -> Option<ClippedCounts> {
    let (low, high) = target_bounds(setting)?;
    let clipped = sample.targets.iter().filter(|y| !(low..=high).contains(*y)).count();
    let outside = moments_mechanism(setting).map(|moments| moments.count_outside_box(&sample.inputs));
    Some(ClippedCounts { low, high, clipped, rows: sample.row_count(), outside })
}

/// The mechanism with the box of private inputs; none if inputs have none.
fn moments_mechanism(setting: &CellSetting) -> Option<&MomentsSetting> {
    setting.privacy.mechanism.downcast()
}

/// The public bounds that targets are clipped to, in their own units; none if they are not clipped.
pub fn target_bounds(setting: &CellSetting) -> Option<(f64, f64)> {
    let mechanism = &setting.privacy.mechanism;
    if mechanism.downcast::<SumsSetting>().is_some() || mechanism.downcast::<MomentsSetting>().is_some() {
        return bounds_in_target_units(&setting.normalise, mechanism.mechanism().target_bound()?);
    }
    match *setting.normalise {
        NormaliseSetting::Bounds { low, high, .. } | NormaliseSetting::Standardised { low, high } => {
            Some((low.get(), high.get()))
        }
        NormaliseSetting::None | NormaliseSetting::Private { .. } | NormaliseSetting::Constants { .. } => None,
    }
}

/// A warning if a mechanism clips targets more tightly than their public bounds. If the centre is not the middle of the bounds, a
/// target bound of half their width reaches only one end.
pub fn clip_inside_bounds_warning(setting: &CellSetting) -> Option<String> {
    let NormaliseSetting::Bounds { low, high, centre, .. } = *setting.normalise else { return None };
    let ((least, greatest), low, high) = (target_bounds(setting)?, low.get(), high.get());
    let slack = 1e-9 * (high - low);
    (least > low + slack || greatest < high - slack).then(|| {
        let cure = if centre.is_some() { ", or omit normalise.bounds.centre" } else { "" };
        format!(
            "targets are clipped to {least:?} to {greatest:?}, although their bounds are {low:?} to {high:?}; to avoid this, raise \
             target_bound{cure}"
        )
    })
}

/// The targets, in their own units, that stay within the bound of a mechanism after normalisation by public constants.
fn bounds_in_target_units(normalise: &NormaliseSetting, bound: f64) -> Option<(f64, f64)> {
    match *normalise {
        NormaliseSetting::None => Some((-bound, bound)),
        NormaliseSetting::Constants { centre, scale } => {
            Some((centre.get() - scale.get() * bound, centre.get() + scale.get() * bound))
        }
        NormaliseSetting::Bounds { low, high, centre, scale } => {
            let (centre, half) = (prior_mean(low, high, centre), scale.get() * bound);
            Some((low.get().max(centre - half), high.get().min(centre + half)))
        }
        NormaliseSetting::Standardised { .. } | NormaliseSetting::Private { .. } => None,
    }
}

/// The counts for the user's own files in an experiment: one for each data section, its bounds and its box, in the order of the
/// cells. The files are read again, because results may all have been stored before.
///
/// # Errors
/// [`RunError`] if a file cannot be read.
pub(super) fn count_clipped_in_own_files(
    experiment: &Experiment,
    project: &Project,
    progress: &dyn Progress,
) -> Result<Vec<ClippedCounts>, RunError> {
    let loader = DataLoader { experiment, project, progress };
    let mut seen = Vec::new();
    let mut counts = Vec::new();
    for cell in &experiment.cells {
        let setting = cell.setting();
        let key = (cell.data_id(), target_bounds(setting), moments_mechanism(setting).map(|moments| &moments.domain));
        if setting.data.source.own_file().is_none() || key.1.is_none() || seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let sample = loader.read_sample(&setting.data, setting.privacy.mechanism.person_row_choice_basis())?;
        counts.extend(count_clipped_targets(setting, &sample));
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(name: &str) -> PersonId {
        PersonId::parse(name).unwrap()
    }

    fn sample_used(targets: &[f64], chosen_by: PersonRowChoiceBasis) -> Sample {
        let inputs: Vec<f64> = (0..targets.len()).map(|row| row as f64).collect();
        let persons: Vec<PersonId> = (0..targets.len()).map(|row| person(["a", "b", "c"][row % 3])).collect();
        let limit = PersonRowLimit { column: "id", rows: 2 };
        limit_person_rows(&Sample::new(&[inputs], targets.to_vec()), &persons, limit, chosen_by)
    }

    /// Where the target alone is private, which inputs are used does not depend on it.
    #[test]
    fn targets_do_not_choose_where_inputs_are_public() {
        let [one, other] =
            [1.0, -7.5].map(|factor| (0..30).map(|i| factor * f64::from(i * i % 11)).collect::<Vec<f64>>());
        let by_inputs = [&one, &other].map(|targets| sample_used(targets, PersonRowChoiceBasis::Inputs).inputs);
        assert_eq!(by_inputs[0], by_inputs[1]);
        let by_records = [&one, &other].map(|targets| sample_used(targets, PersonRowChoiceBasis::Record).inputs);
        assert_ne!(by_records[0], by_records[1]);
    }

    #[test]
    fn rows_know_their_persons() {
        let sample = sample_used(&[0.0; 30], PersonRowChoiceBasis::Inputs);
        assert_eq!((sample.row_count(), sample.persons.len()), (6, 6));
        for number in 0..3 {
            let of_one: Vec<f64> =
                (0..6).filter(|row| sample.persons[*row] == number).map(|row| sample.inputs[row] % 3.0).collect();
            assert_eq!((of_one.len(), of_one[0]), (2, of_one[1]));
        }
    }
}
