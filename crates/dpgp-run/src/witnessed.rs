//! A sample, and which rows it is of.

use std::collections::BTreeMap;

use super::load::{Columns, Loader, SourceRows, inline, joined_for_release, used};
use super::state::passing_key;
use super::{Project, RunError};
use dpgp_data::{DataError, DataKey, Fingerprint, Progress, RowWitness, Table};
use dpgp_mechanisms::Sections;
use dpgp_spec::setting::DataSetting;
use dpgp_task::{Experiment, Sample};

/// A sample, and the identity of all rows of its data, also of those that no filter lets pass.
pub struct WitnessedSample {
    /// The rows that are used.
    pub sample: Sample,
    /// All rows, with all their columns, as they were parsed for the sample.
    pub fingerprint: Fingerprint,
}

/// The sample of one data section for a private release, with the identity of its rows under a key.
///
/// Before a cell is read by the rules of the spec, `allowed` sees which rows they are.
///
/// # Errors
/// As [`super::load_sample`], and if two of its files hold the same rows; those of `allowed`.
pub fn load_witnessed<E: From<RunError>>(
    experiment: &Experiment,
    setting: &Sections,
    project: &Project,
    progress: &dyn Progress,
    key: &DataKey,
    allowed: impl FnOnce(&Fingerprint) -> Result<(), E>,
) -> Result<WitnessedSample, E> {
    let (data, chosen_by) = (&*setting.data, setting.privacy.mechanism.chosen_by());
    let loader = Loader { experiment, project, progress };
    match loader.rows(data, Columns::All)? {
        SourceRows::Tables(tables) => {
            let fingerprint = witnessed(&tables, data, key);
            allowed(&fingerprint)?;
            ensure_distinct(&tables, &fingerprint).map_err(|error| RunError::from(Box::new(error)))?;
            Ok(WitnessedSample { sample: joined_for_release(tables, data, chosen_by)?, fingerprint })
        }
        SourceRows::Inline(columns) => {
            let fingerprint = witnessed_inline(columns, data, key);
            allowed(&fingerprint)?;
            Ok(WitnessedSample { sample: inline(columns, data, chosen_by), fingerprint })
        }
        SourceRows::Other(sample) => {
            let fingerprint = RowWitness::new(key, &[], &[]).fingerprint(0);
            Ok(WitnessedSample { sample, fingerprint })
        }
    }
}

/// The sample of one data section, for which nothing remembers its rows: its files are compared with each other alone.
///
/// # Errors
/// As [`load_witnessed`].
pub fn load_compared(
    experiment: &Experiment,
    setting: &Sections,
    project: &Project,
    progress: &dyn Progress,
) -> Result<Sample, RunError> {
    let all = |_: &Fingerprint| Ok::<(), RunError>(());
    Ok(load_witnessed(experiment, setting, project, progress, &passing_key()?, all)?.sample)
}

/// The identity of the rows of tables.
fn witnessed(tables: &[Table], data: &DataSetting, key: &DataKey) -> Fingerprint {
    let columns = tables.first().map(Table::columns).unwrap_or_default();
    let mut witness = RowWitness::new(key, &columns, &used(data)).of_files(tables.len());
    for (number, table) in tables.iter().enumerate() {
        witness.begin_file(number, &table.columns());
        table.show(&mut witness);
    }
    witness.fingerprint(tables.len())
}

/// Fails if two files hold the same rows: the guarantee is about rows that are used once.
fn ensure_distinct(tables: &[Table], fingerprint: &Fingerprint) -> Result<(), DataError> {
    let Some((first, second)) = fingerprint.repeated() else { return Ok(()) };
    let [first, second] = [first, second].map(|place| tables[place].file().to_path_buf());
    Err(DataError::SameRows { first, second })
}

/// The identity of the rows of columns in the spec. They are known among rows of specs alone: whether guessed rows stand in a
/// file is not to be asked by writing them into a spec.
fn witnessed_inline(columns: &BTreeMap<String, Vec<f64>>, data: &DataSetting, key: &DataKey) -> Fingerprint {
    let names: Vec<String> = columns.keys().cloned().collect();
    let mut witness =
        RowWitness::new(&key.for_purpose("dpgp rows of specs"), &names, &used(data)).named_by(key);
    witness.begin_file(0, &names);
    for row in 0..columns.get(&data.target).map_or(0, Vec::len) {
        for (name, column) in columns {
            let read = witness.reads(name);
            match column.get(row) {
                Some(number) => witness.number(*number, read),
                None => witness.missing(read),
            }
        }
        witness.end_row();
    }
    witness.fingerprint(1)
}
