//! The parallel part of a run.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use super::load::SampleId;
use super::plan::{Plan, Unit};
use super::store::{ResultAbout, Session, StoreError, StoredResult};
use super::{CellFailure, RunError, RunOptions};
use dpgp_mechanisms::PrivacySetting;
use dpgp_task::{Job, Known, Measured, Sample, measure};

/// Computes the units of a shard that are not stored, in parallel, each serial inside. Every result is in the store
/// before the next is begun on its thread. A result depends on the spec, the data and the seed alone, not on the threads.
///
/// # Errors
/// [`RunError::Cells`] with every failure in grid order, [`RunError::Interrupted`], or [`RunError::Store`]. Whatever
/// was finished is stored.
pub(super) fn execute(
    plan: &Plan<'_>,
    samples: &BTreeMap<SampleId, Sample>,
    session: &Session,
    options: &RunOptions<'_>,
) -> Result<usize, RunError> {
    let units = plan.units(options.shard);
    let (failed, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let known = Known::default();
    let work = UnitWork { plan, samples, session, options, known, failed, done };
    options.watcher.begins(&plan.experiment.name, units.len());
    let outcomes = options.pool.each(&units, |number, unit| work.unit(number, unit));
    options.watcher.ends();
    work.ended(outcomes)
}

/// What ends the work on a unit.
enum UnitError {
    Cell(Box<CellFailure>),
    Store(StoreError),
}

/// What the threads share.
struct UnitWork<'a> {
    plan: &'a Plan<'a>,
    samples: &'a BTreeMap<SampleId, Sample>,
    session: &'a Session,
    options: &'a RunOptions<'a>,
    known: Known,
    /// Whether any unit has failed.
    failed: AtomicBool,
    /// Units that are stored.
    done: AtomicUsize,
}

impl UnitWork<'_> {
    /// Computes and stores a unit, unless the run was asked to stop.
    fn unit(&self, number: usize, unit: &Unit) -> Result<(), UnitError> {
        let options = self.options;
        let stop = options.stop.load(Ordering::Relaxed);
        if stop || (options.fail_fast && self.failed.load(Ordering::Relaxed)) {
            return Ok(());
        }
        let first = &self.plan.experiment.cells[unit.missing[0]];
        options.watcher.started(number, &|| name(&first.place(), unit.replicate));
        let start = Instant::now();
        let outcome = self.measured(unit).and_then(|measured| {
            let seconds = start.elapsed().as_secs_f64() / unit.missing.len() as f64;
            self.keep(unit, measured, seconds).map_err(UnitError::Store)
        });
        options.watcher.finished(number);
        match outcome {
            Ok(()) => self.done.fetch_add(1, Ordering::Relaxed),
            Err(_) => usize::from(self.failed.swap(true, Ordering::Relaxed)),
        };
        outcome
    }

    fn measured(&self, unit: &Unit) -> Result<Vec<Measured>, UnitError> {
        let cells = &self.plan.experiment.cells;
        let first = &cells[unit.missing[0]];
        let privacy: Vec<&PrivacySetting> =
            unit.missing.iter().map(|&cell| &*cells[cell].setting().privacy).collect();
        let empty = Sample::new(&[], Vec::new());
        let sample = self.samples.get(&SampleId::of(first)).unwrap_or(&empty);
        let streams = super::streams(first, self.plan.seed, unit.replicate);
        let (setting, known) = (first.setting(), &self.known);
        let job = Job { setting, cells: &privacy, sample, streams: &streams, known, audited: false };
        measure(&setting.task, &job).map_err(|cause| {
            let (cells, replicate) = (unit.missing.clone(), unit.replicate);
            UnitError::Cell(Box::new(CellFailure { cell: first.place(), cells, replicate, cause }))
        })
    }

    /// Stores what was measured of a unit.
    fn keep(&self, unit: &Unit, measured: Vec<Measured>, seconds: f64) -> Result<(), StoreError> {
        let finished = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
        for (&number, measured) in unit.missing.iter().zip(measured) {
            let cell = &self.plan.experiment.cells[number];
            let Some(key) = self.plan.key(number, unit.replicate) else { continue };
            let about = ResultAbout {
                labels: cell.labels().to_vec(),
                replicate: unit.replicate,
                sections: cell.sections().map(|(name, text)| (name.to_owned(), text.id)).collect(),
                data: self.plan.digests.of(&cell.data_id()).unwrap_or_default().to_vec(),
                seconds,
                finished,
            };
            let record = StoredResult { about, measured: measured.metrics, frames: measured.frames };
            self.session.append(key, cell, &record)?;
        }
        Ok(())
    }

    /// The units that are done, or the failures of cells together; a failure of the store comes first.
    fn ended(self, outcomes: Vec<Result<(), UnitError>>) -> Result<usize, RunError> {
        let (all, done) = (outcomes.len(), self.done.into_inner());
        let mut failures = Vec::new();
        for outcome in outcomes {
            match outcome {
                Ok(()) => {}
                Err(UnitError::Cell(failure)) => failures.push(*failure),
                Err(UnitError::Store(error)) => return Err(error.into()),
            }
        }
        if !failures.is_empty() {
            let experiment = self.plan.experiment.name.clone();
            return Err(RunError::Cells { experiment, failures, done, all });
        }
        if done < all { Err(RunError::Interrupted { done, all }) } else { Ok(done) }
    }
}

fn name(place: &str, replicate: u32) -> String {
    if replicate == 0 { place.to_owned() } else { format!("{place} (replicate {replicate})") }
}
