//! The parallel part of a run.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use super::plan::{Plan, Unit};
use super::store::{About, Record, Session, Store};
use super::{CellFailure, RunError, Shard, Watcher};
use crate::setting::PrivacySetting;
use crate::spec::Identity;
use crate::task::{Frame, Job, Measured, Prices, Row, Sample, Streams, measure, summarise};

/// How the missing part of a plan is computed.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// Threads.
    pub jobs: usize,
    /// Which part of the work.
    pub shard: Shard,
    /// Whether to start nothing more after the first failure.
    pub fail_fast: bool,
    /// Set from outside to finish what is in flight and stop.
    pub stop: &'a AtomicBool,
}

/// Computes the units of a shard that are not stored, in parallel, each serial inside. Every result is in the store
/// before the next is begun on its thread. A result depends on the spec, the data and the seed alone, not on the threads.
///
/// # Errors
/// [`RunError::Cells`] with every failure in grid order, [`RunError::Interrupted`], or [`RunError::Store`]. Whatever
/// was finished is stored.
pub fn execute(
    plan: &Plan<'_>,
    samples: &BTreeMap<Identity, Sample>,
    session: &Session,
    options: Options<'_>,
    watcher: &dyn Watcher,
) -> Result<usize, RunError> {
    let jobs = options.jobs;
    let pool = ThreadPoolBuilder::new().num_threads(jobs).build();
    let pool = pool.map_err(|cause| RunError::Threads { jobs, cause })?;
    let units = plan.units(options.shard);
    watcher.begins(units.len());
    let (failed, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let work = Work { plan, samples, session, watcher, prices: Prices::default() };
    let outcomes: Vec<Result<(), RunError>> = pool.install(|| {
        let each = units.par_iter().enumerate().with_max_len(1).map(|(number, unit)| {
            let stop = options.stop.load(Ordering::Relaxed);
            if stop || (options.fail_fast && failed.load(Ordering::Relaxed)) {
                return Ok(());
            }
            let outcome = work.unit(number, unit);
            match outcome {
                Ok(()) => done.fetch_add(1, Ordering::Relaxed),
                Err(_) => usize::from(failed.swap(true, Ordering::Relaxed)),
            };
            outcome
        });
        each.collect()
    });
    watcher.ends();
    let done = done.into_inner();
    sort_out(outcomes, plan, done, units.len())?;
    if done < units.len() { Err(RunError::Interrupted { done, all: units.len() }) } else { Ok(done) }
}

/// Failures of cells together; any other failure first.
fn sort_out(
    outcomes: Vec<Result<(), RunError>>,
    plan: &Plan<'_>,
    done: usize,
    all: usize,
) -> Result<(), RunError> {
    let mut failures: Vec<CellFailure> = Vec::new();
    for outcome in outcomes {
        match outcome {
            Ok(()) => {}
            Err(RunError::Cells { failures: some, .. }) => failures.extend(some),
            Err(other) => return Err(other),
        }
    }
    if failures.is_empty() {
        return Ok(());
    }
    Err(RunError::Cells { experiment: plan.experiment.name.clone(), failures, done, all })
}

struct Work<'a> {
    plan: &'a Plan<'a>,
    samples: &'a BTreeMap<Identity, Sample>,
    session: &'a Session,
    watcher: &'a dyn Watcher,
    prices: Prices,
}

impl Work<'_> {
    fn unit(&self, number: usize, unit: &Unit) -> Result<(), RunError> {
        let experiment = self.plan.experiment;
        let cells = &experiment.cells;
        self.watcher.started(number, &|| name(&cells[unit.missing[0]].place(), unit.replicate));
        let start = Instant::now();
        let outcome = self.measure(unit).and_then(|measured| {
            let seconds = start.elapsed().as_secs_f64() / unit.missing.len() as f64;
            self.keep(unit, measured, seconds)
        });
        self.watcher.finished(number);
        outcome
    }

    fn measure(&self, unit: &Unit) -> Result<Vec<Measured>, RunError> {
        let experiment = self.plan.experiment;
        let first = &experiment.cells[unit.missing[0]];
        let streams = Streams {
            seed: self.plan.seed,
            data: first.data_id().to_string(),
            block: first.block_id().to_string(),
            replicate: unit.replicate,
        };
        let privacy = |&cell: &usize| &*experiment.cells[cell].setting().privacy;
        let cells: Vec<&PrivacySetting> = unit.missing.iter().map(privacy).collect();
        let empty = Sample::new(&[], Vec::new());
        let sample = self.samples.get(&first.data_id()).unwrap_or(&empty);
        let job = Job {
            setting: first.setting(),
            cells: &cells,
            sample,
            streams: &streams,
            prices: &self.prices,
            audited: false,
        };
        measure(&first.setting().task, &job).map_err(|cause| {
            let failure = CellFailure { cell: first.place(), replicate: unit.replicate, cause };
            RunError::Cells { experiment: experiment.name.clone(), failures: vec![failure], done: 0, all: 0 }
        })
    }

    /// Stores what was measured of a unit.
    fn keep(&self, unit: &Unit, measured: Vec<Measured>, seconds: f64) -> Result<(), RunError> {
        let finished = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
        for (&cell, measured) in unit.missing.iter().zip(measured) {
            let (number, cell) = (cell, &self.plan.experiment.cells[cell]);
            let Some(key) = self.plan.key(number, unit.replicate) else { continue };
            let about = About {
                labels: cell.labels().to_vec(),
                replicate: unit.replicate,
                sections: cell.sections().map(|(name, text)| (name.to_owned(), text.id)).collect(),
                data: self.plan.digests.of(&cell.data_id()).unwrap_or_default().to_vec(),
                seconds,
                finished,
            };
            let Measured { metrics: measured, frames, .. } = measured;
            self.session.append(key, cell, &Record { about, measured, frames })?;
        }
        Ok(())
    }
}

fn name(place: &str, replicate: u32) -> String {
    if replicate == 0 { place.to_owned() } else { format!("{place} (replicate {replicate})") }
}

/// What the store says of a whole experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    /// The rows, in grid order.
    pub rows: Vec<Row>,
    /// What the figure shows beyond them: the index of a cell, and a frame of it.
    pub frames: Vec<(usize, Frame)>,
    /// Seconds that the computation took, over all threads.
    pub seconds: f64,
    /// When the last result was finished, in seconds since 1970.
    pub finished: u64,
}

/// Reads the results of a plan from the store, summarised over replicates, in grid order; none if some are missing.
///
/// # Errors
/// [`RunError::Store`].
pub fn results(plan: &Plan<'_>, store: &Store) -> Result<Option<Results>, RunError> {
    let Some(keys) = plan.complete() else { return Ok(None) };
    let replicates = plan.experiment.meta.replicates as usize;
    let mut results = Results { rows: Vec::new(), frames: Vec::new(), seconds: 0.0, finished: 0 };
    for (part, keys) in keys.chunks(replicates * CELLS_AT_ONCE).enumerate() {
        for (cell, records) in store.results(keys)?.chunks_mut(replicates).enumerate() {
            for record in records.iter() {
                results.seconds += record.about.seconds;
                results.finished = results.finished.max(record.about.finished);
            }
            let cell = part * CELLS_AT_ONCE + cell;
            let frames = records.iter_mut().flat_map(|r| std::mem::take(&mut r.frames));
            results.frames.extend(frames.map(|frame| (cell, frame)));
            let measured: Vec<_> = records.iter_mut().map(|r| std::mem::take(&mut r.measured)).collect();
            results.rows.extend(summarise(cell, &measured));
        }
    }
    Ok(Some(results))
}

/// Cells whose records are in memory together.
const CELLS_AT_ONCE: usize = 1024;
