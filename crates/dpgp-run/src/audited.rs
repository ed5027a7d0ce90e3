//! The audit of an experiment: every block that claims privacy, in parallel.

use std::sync::atomic::{AtomicBool, Ordering};

use super::load::{Loader, SampleId};
use super::{Pool, Project, RunError, Unit, Watcher, data_caveats};
use dpgp_evidence::{Attacks, AuditVerdict, Finding, audit as audit_block};
use dpgp_mechanisms::PrivacySetting;
use dpgp_task::{Cell, Experiment, Known, Sample, Setting, TaskSetting};

/// How experiments are audited.
#[derive(Clone, Copy)]
pub struct AuditOptions<'a> {
    /// The threads.
    pub pool: &'a Pool,
    /// Who is told of downloads.
    pub watcher: &'a dyn Watcher,
    /// Set from outside to stop.
    pub stop: &'a AtomicBool,
    /// The seed of what is measured and of attacks; that of the spec where none is named.
    pub seed: Option<u32>,
    /// The confidence of the bounds that attacks on samples give.
    pub confidence: f64,
}

/// What was found of one cell.
#[derive(Debug)]
pub struct AuditedCell<'e> {
    /// The cell.
    pub cell: &'e Cell,
    /// What was found.
    pub finding: Finding,
    /// What the spec says of a break.
    pub announced: Option<&'e str>,
}

impl AuditedCell<'_> {
    /// Whether neighbours are told apart better than claimed.
    pub fn is_broken(&self) -> bool {
        self.finding.verdict == AuditVerdict::Broken
    }

    /// Whether there is a break that is not announced, or an announcement without a break.
    pub fn fails(&self) -> bool {
        self.is_broken() != self.announced.is_some()
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
    let units: Vec<Unit> = (0..experiment.blocks.len()).map(|block| Unit::whole(experiment, block)).collect();
    let loader = Loader { experiment, project, progress: options.watcher.downloads() };
    let samples = loader.samples(&units)?;
    let (empty, known) = (Sample::new(&[], Vec::new()), Known::default());
    let outcomes = options.pool.each(&units, |_, unit| {
        if options.stop.load(Ordering::Relaxed) {
            return Err(RunError::Discarded { done: 0, all: units.len() });
        }
        let id = SampleId::of(&experiment.cells[unit.missing[0]]);
        let sample = samples.get(&id).unwrap_or(&empty);
        let found = audited(experiment, unit, sample, &known, options)?;
        Ok(found
            .into_iter()
            .map(|(cell, finding)| {
                let setting = experiment.cells[cell].setting();
                let progress = options.watcher.downloads();
                (cell, finding.except(data_caveats(experiment, project, setting, sample, progress)))
            })
            .collect::<Vec<_>>())
    });
    let mut found: Vec<(usize, Finding)> = Vec::new();
    for outcome in outcomes {
        found.extend(outcome?);
    }
    found.sort_by_key(|(cell, _)| *cell);
    Ok(found.into_iter().map(|(cell, finding)| announced(experiment, cell, finding)).collect())
}

/// The cells of one unit that claim privacy, by their numbers.
fn audited(
    experiment: &Experiment,
    unit: &Unit,
    sample: &Sample,
    known: &Known,
    options: &AuditOptions<'_>,
) -> Result<Vec<(usize, Finding)>, RunError> {
    let mut cells = unit.missing.clone();
    cells.retain(|&cell| claims(experiment.cells[cell].setting()));
    let Some(first) = cells.first().map(|&cell| &experiment.cells[cell]) else { return Ok(Vec::new()) };
    let settings: Vec<&PrivacySetting> =
        cells.iter().map(|&cell| &*experiment.cells[cell].setting().privacy).collect();
    let streams = super::streams(first, options.seed.unwrap_or(experiment.meta.seed), unit.replicate);
    let attacks = Attacks { streams, known, confidence: options.confidence };
    let findings = audit_block(first.setting(), &settings, sample, &attacks).map_err(|cause| {
        let (experiment, cell) = (experiment.name.clone(), first.place());
        RunError::NotAudited { experiment, cell, cause: Box::new(cause) }
    })?;
    Ok(cells.into_iter().zip(findings).filter_map(|(cell, finding)| Some((cell, finding?))).collect())
}

/// Whether a cell may claim privacy: without noise there is nothing to measure. A selection has an epsilon of its own.
fn claims(setting: &Setting) -> bool {
    let selects = matches!(&*setting.task, TaskSetting::Selection(task) if task.epsilon.get().is_finite());
    setting.privacy.epsilon.get().is_finite() || selects
}

fn announced(experiment: &Experiment, cell: usize, finding: Finding) -> AuditedCell<'_> {
    let cell = &experiment.cells[cell];
    let announced = experiment.broken.iter().find(|broken| broken.cells.selects(cell.labels()));
    AuditedCell { cell, finding, announced: announced.map(|broken| broken.note.as_str()) }
}
