//! Runs an experiment: reads stored results, and computes and stores the rest in parallel.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use rand::Rng as _;

use super::load::{DataLoader, SampleId, absolute_path};
use super::own_tables::count_clipped_in_own_files;
use super::plan::{BlockReplicate, RunPlan, explain_missing_results};
use super::program::ProgramRun;
use super::results::{read_complete_results, read_partial_results};
use super::store::{NUMERICS, ResultMetadata, ResultStore, RunHeader, StoreError, StoredResult, WriteSession};
use super::{
    CellError, CellFailure, DataDigests, Project, Provenance, RunError, RunOptions, RunResults, Shard, StaleResults,
};
use dpgp_data::{Progress, SilentProgress, shipped_text};
use dpgp_mechanisms::PrivacySetting;
use dpgp_spec::TextDigest;
use dpgp_task::{
    Cell, CellMeasurements, CommandTask, Experiment, GivenNumbersError, GivenNumbersTask, RandomStreams, ReplicateJob,
    RequestData, RunCache, Sample, TaskSetting, measure_replicate,
};

/// A project and the store of its computed results.
#[derive(Debug)]
pub struct ExperimentRunner<'p> {
    project: &'p Project,
    store: ResultStore,
}

/// Outcome of an experiment.
#[derive(Debug)]
pub struct ExperimentRunReport {
    /// Replicates of cells that were stored before.
    pub stored: usize,
    /// Replicates of cells in all.
    pub total: usize,
    /// Blocks that were computed now.
    pub computed: usize,
    /// The results; none if some are missing, as when a shard leaves them to others.
    pub results: Option<RunResults>,
    /// Where they come from.
    pub provenance: Provenance,
    /// Why some cells have no results, if all others do.
    pub failed: Option<RunError>,
}

/// The file with the seconds that the results of each shipped experiment took on the machine that computed them.
const TIMINGS: &str = "results/timings.csv";

/// The mean seconds of a result of a shipped experiment with its full settings.
fn shipped_seconds_per_result(experiment: &Experiment) -> Option<f64> {
    if experiment.quick || !experiment.changes.is_empty() {
        return None;
    }
    let own = |line: &&str| line.split(',').next() == Some(&experiment.name);
    let mut fields = shipped_text(TIMINGS)?.lines().find(own)?.split(',').skip(1);
    let [results, seconds] = [fields.next()?, fields.next()?].map(|field| field.parse::<f64>().ok());
    Some(seconds? / results?)
}

impl<'p> ExperimentRunner<'p> {
    /// Reads what the store in a folder holds; a folder that is not there holds nothing, and is made by the first run.
    ///
    /// # Errors
    /// [`RunError::Store`] if the store cannot be read or contradicts itself.
    pub fn open(project: &'p Project, store: &Path) -> Result<Self, RunError> {
        // What is behind a link is read, and nothing is written there.
        let is_linked = project.ensure_no_links_to_store(store).is_err();
        Ok(Self {
            project,
            store: if is_linked { ResultStore::open_read_only(store)? } else { ResultStore::open(store)? },
        })
    }

    /// The project.
    pub fn project(&self) -> &'p Project {
        self.project
    }

    /// The store.
    pub fn store(&self) -> &ResultStore {
        &self.store
    }

    /// Plans a run and finds its stored blocks; fetches and computes nothing.
    ///
    /// # Errors
    /// [`RunError::Data`] if a file of the user's own cannot be read.
    pub fn plan<'e>(&self, experiment: &'e Experiment, seed: Option<u32>) -> Result<RunPlan<'e>, RunError> {
        let digests = DataDigests::read_local(experiment, self.project)?;
        Ok(RunPlan::new(experiment, seed.unwrap_or(experiment.meta.seed), digests, &self.store))
    }

    /// Why each result that a plan lacks has to be computed.
    ///
    /// # Errors
    /// [`RunError::Store`].
    pub fn explain_missing_results(&self, plan: &RunPlan<'_>) -> Result<Vec<StaleResults>, RunError> {
        Ok(explain_missing_results(plan, &self.store)?)
    }

    /// The seconds that the stored results of a plan took to compute, on one thread.
    ///
    /// # Errors
    /// [`RunError::Store`].
    pub fn stored_compute_seconds(&self, plan: &RunPlan<'_>) -> Result<f64, RunError> {
        Ok(self.store.results(&plan.stored_keys())?.iter().map(|record| record.about.seconds).sum())
    }

    /// The seconds that the rest of a plan takes on so many threads, by what a result of this experiment took on average,
    /// whatever has changed since, and by results that it shares with other experiments. Without any of them, the shipped
    /// timings tell; none if they do not know the experiment.
    ///
    /// # Errors
    /// [`RunError::Store`].
    pub fn seconds_left(&self, plan: &RunPlan<'_>, jobs: usize) -> Result<Option<f64>, RunError> {
        let units = plan.pending_block_replicates(Shard::WHOLE);
        let missing: usize = units.iter().map(|unit| unit.missing.len()).sum();
        if missing == 0 {
            return Ok(Some(0.0));
        }
        let shared = self.store.results(&plan.stored_keys())?;
        let own = self.store.experiment_results(&plan.experiment.name)?;
        let own = own.iter().map(|stored| &stored.record);
        let seconds: Vec<f64> = own.chain(&shared).map(|record| record.about.seconds).collect();
        let mean = match seconds.len() {
            0 => shipped_seconds_per_result(plan.experiment).or_else(|| self.committed_seconds_per_result(plan)),
            results => Some(seconds.iter().sum::<f64>() / results as f64),
        };
        Ok(mean.map(|mean| mean * missing as f64 / jobs.min(units.len()) as f64))
    }

    /// The mean seconds of a result, as the committed results of the project say. Those of changed settings are no guide.
    fn committed_seconds_per_result(&self, plan: &RunPlan<'_>) -> Option<f64> {
        let experiment = plan.experiment;
        if !experiment.changes.is_empty() {
            return None;
        }
        let file = self.project.path_inside("results").join(experiment.relative_results_folder()).join("timing.json");
        let timing: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file).ok()?).ok()?;
        let seconds = timing["cpu_seconds"].as_f64().filter(|seconds| seconds.is_finite() && *seconds >= 0.0)?;
        Some(seconds / plan.replicate_count() as f64)
    }

    /// Computes what is missing, stores it and reads the results. Missing data are fetched first.
    ///
    /// # Errors
    /// [`RunError`]; what was finished before it is stored.
    pub fn run(&mut self, experiment: &Experiment, options: &RunOptions<'_>) -> Result<ExperimentRunReport, RunError> {
        let mut report = self.run_tolerating_failures(experiment, options)?;
        match report.failed.take() {
            None => Ok(report),
            Some(failed) => Err(failed),
        }
    }

    /// As [`ExperimentRunner::run`]; where only some cells failed the results of the others are read too, and the failure stands in the report.
    ///
    /// # Errors
    /// As [`ExperimentRunner::run`], but for cells that failed.
    pub fn run_tolerating_failures(
        &mut self,
        experiment: &Experiment,
        options: &RunOptions<'_>,
    ) -> Result<ExperimentRunReport, RunError> {
        self.project.ensure_no_links_to_store(self.store.directory())?;
        let downloads = options.watcher.download_progress();
        let digests = DataDigests::fetch_missing(experiment, self.project, downloads)?;
        let seed = options.seed.unwrap_or(experiment.meta.seed);
        let before = RunPlan::new(experiment, seed, digests.clone(), &self.store);
        let outcome = self.compute_missing(&before, options);
        let after = RunPlan::new(experiment, seed, digests, &self.store);
        let (computed, failed) = match outcome {
            Ok(computed) => (computed, None),
            Err(error) => match error.blocks_computed_despite_failures() {
                Some(computed) if options.shard == Shard::WHOLE => (computed, Some(error)),
                _ => return Err(error),
            },
        };
        let report = self.report(&after, failed, downloads)?;
        Ok(ExperimentRunReport { stored: before.stored_count(), computed, ..report })
    }

    /// The experiment of an earlier run and what is stored of it; nothing is fetched or computed.
    ///
    /// # Errors
    /// [`RunError::SpecChanged`] if the spec is not here, or has other cells than those that were stored.
    pub fn load_stored_report(&self, header: &RunHeader) -> Result<(Experiment, ExperimentRunReport), RunError> {
        let experiment = self.project.experiment_of_run(header)?;
        let report = self.report(&self.plan(&experiment, Some(header.seed))?, None, &SilentProgress)?;
        if report.results.is_none() && TextDigest::of_text(experiment.source.text()) != header.spec_sha256 {
            return Err(RunError::spec_changed(header));
        }
        Ok((experiment, report))
    }

    /// The blocks that were computed.
    fn compute_missing(&mut self, plan: &RunPlan<'_>, options: &RunOptions<'_>) -> Result<usize, RunError> {
        let units = plan.pending_block_replicates(options.shard);
        if units.is_empty() && options.shard == Shard::WHOLE {
            return Ok(0);
        }
        let progress = options.watcher.download_progress();
        let loader = DataLoader { experiment: plan.experiment, project: self.project, progress };
        let samples = loader.read_samples(&units)?;
        let program_data = loader.fetch_program_data_files(&units)?;
        let session = self.store.begin_session(plan.header());
        // The session is ended whatever happens, so that what was finished can be read.
        let outcome = match session.write_run_header() {
            Ok(()) => compute_block_replicates_in_parallel(plan, &samples, &program_data, &session, options),
            Err(error) => Err(error.into()),
        };
        self.store.end_session(session)?;
        outcome
    }

    fn report(
        &self,
        plan: &RunPlan<'_>,
        failed: Option<RunError>,
        progress: &dyn Progress,
    ) -> Result<ExperimentRunReport, RunError> {
        let results = match &failed {
            Some(failed) => read_partial_results(plan, &self.store, failed.failures())?,
            None => read_complete_results(plan, &self.store)?,
        };
        let clipped = match results {
            Some(_) => count_clipped_in_own_files(plan.experiment, self.project, progress)?,
            None => Vec::new(),
        };
        let provenance = Provenance {
            data: plan.digests.public_file_records(),
            own_rows: self.project.reads_own_rows(plan.experiment),
            rows_in_spec: self.project.has_rows_in_spec(plan.experiment),
            project: self.project.root().to_path_buf(),
            seed: plan.seed,
            numerics: NUMERICS,
            seconds: results.as_ref().map_or(0.0, |results| results.seconds),
            finished: results.as_ref().map_or(0, |results| results.finished),
            clipped,
        };
        Ok(ExperimentRunReport {
            stored: plan.stored_count(),
            total: plan.replicate_count(),
            computed: 0,
            results,
            provenance,
            failed,
        })
    }
}

impl ExperimentRunReport {
    /// One line on what was done.
    pub fn summary(&self) -> String {
        let Self { stored, total, computed, .. } = self;
        let blocks = if *computed == 1 { "block" } else { "blocks" };
        match (stored, computed) {
            (_, 0) if stored == total => format!("nothing to compute: all {total} results are stored"),
            (0, _) => format!("{computed} {blocks} computed"),
            _ => format!("{computed} {blocks} computed; {stored} of {total} results were already stored"),
        }
    }
}

/// Computes the units of a shard that are not stored, in parallel, each serial inside unless it is the only one. Every result is in the store
/// before the next is begun on its thread. A result depends on the spec, the data and the seed alone, not on the threads.
///
/// # Errors
/// [`RunError::Cells`] with every failure in grid order, [`RunError::Interrupted`], or [`RunError::Store`]. Whatever
/// was finished is stored.
fn compute_block_replicates_in_parallel(
    plan: &RunPlan<'_>,
    samples: &BTreeMap<SampleId, Sample>,
    program_data: &BTreeMap<TextDigest, RequestData>,
    session: &WriteSession,
    options: &RunOptions<'_>,
) -> Result<usize, RunError> {
    let units = plan.pending_block_replicates(options.shard);
    let (failed, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let known = RunCache::default();
    let alone = units.len() == 1;
    let work = ReplicateWorker { plan, samples, program_data, session, options, known, alone, failed, done };
    options.watcher.begin_experiment(&plan.experiment.name, units.len());
    let outcomes = options.pool.map_in_parallel(&units, |number, unit| work.run_block_replicate(number, unit));
    options.watcher.end_experiment();
    work.collect_outcomes(outcomes)
}

/// Reason why the work on a unit ended.
enum BlockReplicateError {
    Cell(Box<CellFailure>),
    Store(StoreError),
}

/// Measures the time that a unit would take on one thread.
struct Stopwatch {
    wall: Instant,
    processor: f64,
}

impl Stopwatch {
    fn start() -> Self {
        Self { wall: Instant::now(), processor: processor_seconds() }
    }

    /// The time that has passed. For the only unit, it is the processor time of all threads, unless that is shorter because the unit
    /// waited for a program.
    fn elapsed_seconds(&self, alone: bool) -> f64 {
        let wall = self.wall.elapsed().as_secs_f64();
        if alone { wall.max(processor_seconds() - self.processor) } else { wall }
    }
}

/// The processor time of this process; zero where the system does not say.
#[cfg(unix)]
fn processor_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

#[cfg(not(unix))]
fn processor_seconds() -> f64 {
    0.0
}

/// State shared by the threads.
struct ReplicateWorker<'a> {
    plan: &'a RunPlan<'a>,
    samples: &'a BTreeMap<SampleId, Sample>,
    /// What programs read, by data section.
    program_data: &'a BTreeMap<TextDigest, RequestData>,
    session: &'a WriteSession,
    options: &'a RunOptions<'a>,
    known: RunCache,
    /// Whether this is the only unit: it may then use all threads.
    alone: bool,
    /// Whether any unit has failed.
    failed: AtomicBool,
    /// Units that are stored.
    done: AtomicUsize,
}

impl ReplicateWorker<'_> {
    /// Computes and stores a unit, unless the run was asked to stop.
    fn run_block_replicate(&self, number: usize, unit: &BlockReplicate) -> Result<(), BlockReplicateError> {
        let options = self.options;
        let stop = options.stop.load(Ordering::Relaxed);
        if stop || (options.fail_fast && self.failed.load(Ordering::Relaxed)) {
            return Ok(());
        }
        let first = &self.plan.experiment.cells[unit.missing[0]];
        options.watcher.begin_block(number, &|| describe_block_replicate(&first.joined_labels(), unit.replicate));
        let watch = Stopwatch::start();
        let outcome = self.measure_block_replicate(unit).and_then(|measured| {
            let seconds = watch.elapsed_seconds(self.alone) / unit.missing.len() as f64;
            self.store_results(unit, measured, seconds).map_err(BlockReplicateError::Store)
        });
        options.watcher.end_block(number);
        match outcome {
            Ok(()) => self.done.fetch_add(1, Ordering::Relaxed),
            Err(_) => usize::from(self.failed.swap(true, Ordering::Relaxed)),
        };
        outcome
    }

    fn measure_block_replicate(&self, unit: &BlockReplicate) -> Result<Vec<CellMeasurements>, BlockReplicateError> {
        let cells = &self.plan.experiment.cells;
        let first = &cells[unit.missing[0]];
        let privacy: Vec<&PrivacySetting> = unit.missing.iter().map(|&cell| &*cells[cell].setting().privacy).collect();
        let empty = Sample::new(&[], Vec::new());
        let sample = self.samples.get(&SampleId::from_cell(first)).unwrap_or(&empty);
        let streams = super::random_streams(first, self.plan.seed, unit.replicate);
        let (setting, known) = (first.setting(), &self.known);
        let measured = match &*setting.task {
            TaskSetting::Command(task) => self.run_cell_program(task, first, &streams).map(|measured| vec![measured]),
            TaskSetting::Given(task) => self.read_given_numbers(task, unit.replicate).map(|measured| vec![measured]),
            task => {
                let job = ReplicateJob { setting, cells: &privacy, sample, streams: &streams, known, audited: false };
                measure_replicate(task, &job).map_err(CellError::from)
            }
        };
        measured.map_err(|cause| {
            let (cells, replicate) = (unit.missing.clone(), unit.replicate);
            let cell = self.plan.experiment.describe_cell(first);
            BlockReplicateError::Cell(Box::new(CellFailure { cell, cells, replicate, cause }))
        })
    }

    /// Runs the program of a cell, and returns the metrics in its answer.
    fn run_cell_program(
        &self,
        task: &CommandTask,
        cell: &Cell,
        streams: &RandomStreams,
    ) -> Result<CellMeasurements, CellError> {
        let folder = absolute_path(&self.plan.experiment.resolve_path("."));
        let run = ProgramRun {
            task,
            folder: &folder,
            data: self.program_data.get(&cell.data_id()),
            // The generator's own seeds have 64 bits, and other programs' numbers a sign.
            seed: RandomStreams { block: task.seed_material(), ..streams.clone() }.block_stream("program").next_u64()
                >> 1,
            replicate: streams.replicate,
            stop: self.options.stop,
        };
        Ok(run.run_program()?.validate_and_trim_frames(&task.metrics, streams.replicate)?)
    }

    /// What a table of others gives for a cell.
    fn read_given_numbers(&self, task: &GivenNumbersTask, replicate: u32) -> Result<CellMeasurements, CellError> {
        let table = task.table.as_ref().ok_or(GivenNumbersError::NoTable)?;
        let text = std::fs::read_to_string(self.plan.experiment.resolve_path(table))
            .map_err(|cause| GivenNumbersError::Io { table: table.clone(), cause })?;
        Ok(task.read_measurements(&text, replicate, self.plan.experiment.meta.replicates)?)
    }

    /// Stores what was measured of a unit.
    fn store_results(
        &self,
        unit: &BlockReplicate,
        measured: Vec<CellMeasurements>,
        seconds: f64,
    ) -> Result<(), StoreError> {
        let finished = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
        for (&number, measured) in unit.missing.iter().zip(measured) {
            let cell = &self.plan.experiment.cells[number];
            let Some(key) = self.plan.key(number, unit.replicate) else { continue };
            let about = ResultMetadata {
                labels: cell.labels().to_vec(),
                replicate: unit.replicate,
                sections: cell.sections().map(|(name, text)| (name.to_owned(), text.id())).collect(),
                data: self.plan.digests.cell_files(cell).unwrap_or_default(),
                seconds,
                finished,
            };
            let record = StoredResult { about, measured: measured.metrics, frames: measured.frames };
            self.session.append(key, cell, &record)?;
        }
        Ok(())
    }

    /// The units that are done, or the failures of cells together; a failure of the store comes first.
    fn collect_outcomes(self, outcomes: Vec<Result<(), BlockReplicateError>>) -> Result<usize, RunError> {
        let (all, done) = (outcomes.len(), self.done.into_inner());
        let mut failures = Vec::new();
        for outcome in outcomes {
            match outcome {
                Ok(()) => {}
                Err(BlockReplicateError::Cell(failure)) => failures.push(*failure),
                Err(BlockReplicateError::Store(error)) => return Err(error.into()),
            }
        }
        if !failures.is_empty() {
            failures.sort_by_key(|failure| (failure.cells.first().copied(), failure.replicate));
            let experiment = self.plan.experiment.name.clone();
            return Err(RunError::Cells { experiment, failures, done, all });
        }
        if done < all { Err(RunError::Interrupted { done, all }) } else { Ok(done) }
    }
}

fn describe_block_replicate(place: &str, replicate: u32) -> String {
    if replicate == 0 { place.to_owned() } else { format!("{place} (replicate {replicate})") }
}
