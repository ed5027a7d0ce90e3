//! Audits every block of an experiment that claims privacy, in parallel, and fingerprints the rows of a
//! sample.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::load::{
    DataLoader, ParquetColumns, SampleId, SourceRows, numeric_columns, release_sample_from_tables, sample_from_columns,
};
use super::{BlockReplicate, Project, RunError, RunWatcher, WorkerPool, target_guarantee_caveats};
use dpgp_claim_audit::{AttackContext, AuditFinding, AuditVerdict, audit_block};
use dpgp_data::{DataError, HmacKey, Progress, RowFingerprinter, RowsFingerprint, Table};
use dpgp_mechanisms::{CellSections, PrivacySetting};
use dpgp_spec::setting::{DataSetting, PersonRowChoiceBasis};
use dpgp_task::{Cell, CellSetting, Experiment, RunCache, Sample, TaskSetting};

/// How experiments are audited.
#[derive(Clone, Copy)]
pub struct AuditOptions<'a> {
    /// The threads.
    pub pool: &'a WorkerPool,
    /// Watcher of downloads.
    pub watcher: &'a dyn RunWatcher,
    /// Set from outside to stop.
    pub stop: &'a AtomicBool,
    /// The seed of what is measured and of attacks; that of the spec where none is named.
    pub seed: Option<u32>,
    /// The confidence of the bounds that attacks on samples give.
    pub confidence: f64,
}

/// Finding about one cell.
#[derive(Debug)]
pub struct AuditedCell<'e> {
    /// The cell.
    pub cell: &'e Cell,
    /// The finding.
    pub finding: AuditFinding,
    /// The spec's note on a break.
    pub announced: Option<&'e str>,
}

impl AuditedCell<'_> {
    /// Whether neighbours are distinguished better than claimed.
    pub fn breaks_privacy_claim(&self) -> bool {
        self.finding.verdict == AuditVerdict::Broken
    }

    /// Whether there is a break that the spec does not declare, or a declared break that was not found.
    pub fn has_unexpected_finding(&self) -> bool {
        self.breaks_privacy_claim() != self.announced.is_some()
    }
}

/// Audits the cells of an experiment that claim privacy, in grid order.
///
/// # Errors
/// [`RunError::NotAudited`], [`RunError::Discarded`], or the error of the data.
pub fn audit<'e>(
    project: &Project,
    experiment: &'e Experiment,
    options: &AuditOptions<'_>,
) -> Result<Vec<AuditedCell<'e>>, RunError> {
    let units: Vec<BlockReplicate> =
        (0..experiment.blocks.len()).map(|block| BlockReplicate::first_of_block(experiment, block)).collect();
    let loader = DataLoader { experiment, project, progress: options.watcher.download_progress() };
    let samples = loader.read_samples(&units)?;
    let (empty, known) = (Sample::new(&[], Vec::new()), RunCache::default());
    let outcomes = options.pool.map_in_parallel(&units, |_, unit| {
        if options.stop.load(Ordering::Relaxed) {
            return Err(RunError::Discarded { done: 0, all: units.len() });
        }
        let id = SampleId::from_cell(&experiment.cells[unit.missing[0]]);
        let sample = samples.get(&id).unwrap_or(&empty);
        let found = audit_block_replicate(experiment, unit, sample, &known, options)?;
        Ok(found
            .into_iter()
            .map(|(cell, finding)| {
                let setting = experiment.cells[cell].setting();
                let progress = options.watcher.download_progress();
                (
                    cell,
                    finding
                        .with_caveat_reasons(target_guarantee_caveats(experiment, project, setting, sample, progress)),
                )
            })
            .collect::<Vec<_>>())
    });
    let mut found: Vec<(usize, AuditFinding)> = Vec::new();
    for outcome in outcomes {
        found.extend(outcome?);
    }
    found.sort_by_key(|(cell, _)| *cell);
    Ok(found.into_iter().map(|(cell, finding)| build_audited_cell(experiment, cell, finding)).collect())
}

/// The cells of one unit that claim privacy, by their numbers.
fn audit_block_replicate(
    experiment: &Experiment,
    unit: &BlockReplicate,
    sample: &Sample,
    known: &RunCache,
    options: &AuditOptions<'_>,
) -> Result<Vec<(usize, AuditFinding)>, RunError> {
    let mut cells = unit.missing.clone();
    cells.retain(|&cell| can_claim_privacy(experiment.cells[cell].setting()));
    let Some(first) = cells.first().map(|&cell| &experiment.cells[cell]) else { return Ok(Vec::new()) };
    let settings: Vec<&PrivacySetting> = cells.iter().map(|&cell| &*experiment.cells[cell].setting().privacy).collect();
    let streams = super::random_streams(first, options.seed.unwrap_or(experiment.meta.seed), unit.replicate);
    let attacks = AttackContext { streams, known, confidence: options.confidence };
    let findings = audit_block(first.setting(), &settings, sample, &attacks).map_err(|cause| {
        let (experiment, cell) = (experiment.name.clone(), first.joined_labels());
        RunError::NotAudited { experiment, cell, cause: Box::new(cause) }
    })?;
    Ok(cells.into_iter().zip(findings).filter_map(|(cell, finding)| Some((cell, finding?))).collect())
}

/// Whether a cell may claim privacy: without noise there is nothing to measure. A selection has an epsilon of its own.
fn can_claim_privacy(setting: &CellSetting) -> bool {
    let selects = matches!(&*setting.task, TaskSetting::Selection(task) if task.epsilon.get().is_finite());
    setting.privacy.epsilon.get().is_finite() || selects
}

fn build_audited_cell(experiment: &Experiment, cell: usize, finding: AuditFinding) -> AuditedCell<'_> {
    let cell = &experiment.cells[cell];
    let announced = experiment.broken.iter().find(|broken| broken.cells.selects(cell.labels()));
    AuditedCell { cell, finding, announced: announced.map(|broken| broken.note.as_str()) }
}

/// A sample, and the identity of all rows of its data, also of those that no filter lets pass.
pub struct FingerprintedSample {
    /// The rows that are used.
    pub sample: Sample,
    /// All rows, with all their columns, as they were parsed for the sample.
    pub fingerprint: RowsFingerprint,
}

/// The sample of one data section for a private release, with the identity of its rows under a key.
///
/// Before a cell is read by the rules of the spec, `allowed` sees which rows they are.
///
/// # Errors
/// As [`super::load_sample`], and if two of its files hold the same rows; those of `allowed`.
pub fn load_fingerprinted_sample<E: From<RunError>>(
    experiment: &Experiment,
    setting: &CellSections,
    project: &Project,
    progress: &dyn Progress,
    key: &HmacKey,
    allowed: impl FnOnce(&RowsFingerprint) -> Result<(), E>,
) -> Result<FingerprintedSample, E> {
    let (data, chosen_by) = (&*setting.data, setting.privacy.mechanism.person_row_choice_basis());
    let loader = DataLoader { experiment, project, progress };
    match loader.read_unfiltered_rows(data, ParquetColumns::All)? {
        SourceRows::Tables(tables) => load_sample_from_tables(tables, data, chosen_by, key, allowed),
        SourceRows::Inline(columns) => {
            let fingerprint = fingerprint_inline_rows(columns, data, key);
            allowed(&fingerprint)?;
            Ok(FingerprintedSample { sample: sample_from_columns(columns, data, chosen_by), fingerprint })
        }
        SourceRows::Other(sample) => {
            let fingerprint = RowFingerprinter::new(key, &[], &[]).into_fingerprint(0);
            Ok(FingerprintedSample { sample, fingerprint })
        }
    }
}

/// The same for rows that a program holds as the text of a CSV file, in place of those that the spec names.
///
/// # Errors
/// As [`load_fingerprinted_sample`].
pub fn load_sample_from_text<E: From<RunError>>(
    text: &str,
    setting: &CellSections,
    key: &HmacKey,
    allowed: impl FnOnce(&RowsFingerprint) -> Result<(), E>,
) -> Result<FingerprintedSample, E> {
    let (data, chosen_by) = (&*setting.data, setting.privacy.mechanism.person_row_choice_basis());
    let table = Table::parse_text(Path::new("rows"), text, &data.source.text_layout().to_csv_format());
    let table = table.map_err(|error| RunError::from(Box::new(error)))?;
    load_sample_from_tables(vec![table], data, chosen_by, key, allowed)
}

fn load_sample_from_tables<E: From<RunError>>(
    tables: Vec<Table>,
    data: &DataSetting,
    chosen_by: PersonRowChoiceBasis,
    key: &HmacKey,
    allowed: impl FnOnce(&RowsFingerprint) -> Result<(), E>,
) -> Result<FingerprintedSample, E> {
    let fingerprint = fingerprint_tables(&tables, data, key);
    allowed(&fingerprint)?;
    ensure_distinct(&tables, &fingerprint).map_err(|error| RunError::from(Box::new(error)))?;
    Ok(FingerprintedSample { sample: release_sample_from_tables(tables, data, chosen_by)?, fingerprint })
}

/// The identity of the rows of tables.
fn fingerprint_tables(tables: &[Table], data: &DataSetting, key: &HmacKey) -> RowsFingerprint {
    let columns = tables.first().map(Table::column_names).unwrap_or_default();
    let mut witness =
        RowFingerprinter::new(key, &columns, &numeric_columns(data)).with_row_limit_for_files(tables.len());
    for (number, table) in tables.iter().enumerate() {
        witness.begin_file(number, &table.column_names());
        table.fingerprint_rows(&mut witness);
    }
    let fingerprint = witness.into_fingerprint(tables.len());
    if data.person.is_some() { fingerprint.compared_by_whole_rows() } else { fingerprint }
}

/// Fails if two files hold the same rows: the guarantee is about rows that are used once.
fn ensure_distinct(tables: &[Table], fingerprint: &RowsFingerprint) -> Result<(), DataError> {
    let Some((first, second)) = fingerprint.find_repeated_files() else { return Ok(()) };
    let [first, second] = [first, second].map(|place| tables[place].file().to_path_buf());
    Err(DataError::SameRows { first, second })
}

/// The identity of the rows of columns in the spec. They are known among rows of specs alone: whether guessed rows stand in a
/// file is not to be asked by writing them into a spec.
fn fingerprint_inline_rows(columns: &BTreeMap<String, Vec<f64>>, data: &DataSetting, key: &HmacKey) -> RowsFingerprint {
    let names: Vec<String> = columns.keys().cloned().collect();
    let mut witness = RowFingerprinter::new(&key.for_purpose("dpgp rows of specs"), &names, &numeric_columns(data))
        .with_key_name(key);
    witness.begin_file(0, &names);
    for row in 0..columns.get(data.target_column()).map_or(0, Vec::len) {
        for (name, column) in columns {
            let read = witness.is_spec_column(name);
            match column.get(row) {
                Some(number) => witness.add_number(*number, read),
                None => witness.add_missing_cell(read),
            }
        }
        witness.end_row();
    }
    witness.into_fingerprint(1)
}
