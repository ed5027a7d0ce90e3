//! The options of a run, the stored results of a whole experiment, their origin with the name of this program, and the
//! progress display.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, MultiProgress, ProgressBar, ProgressStyle};

use super::plan::RunPlan;
use super::store::ResultStore;
use super::{CellFailure, ClippedCounts, PublicFileRecord, RunError, Shard, WorkerPool};
use dpgp_data::{Progress, ProgressBars, SilentProgress, escape_hidden_line};
use dpgp_task::{FigureTable, MetricSummary, summarise};

/// The results of a whole experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResults {
    /// The rows, in grid order.
    pub rows: Vec<MetricSummary>,
    /// Data of the figure beyond them: the index of a cell, and a frame of it.
    pub frames: Vec<(usize, FigureTable)>,
    /// Seconds that the computation took, over all threads.
    pub seconds: f64,
    /// When the last result was finished, in seconds since 1970.
    pub finished: u64,
    /// The cells that could not be computed, and so have no row.
    pub failed: Vec<FailedCell>,
}

/// A cell that could not be computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedCell {
    /// Its place in the experiment.
    pub cell: usize,
    /// Why: the failure of its first replicate that has one.
    pub reason: String,
}

/// How the missing part of an experiment is computed. None of it changes a number but the seed.
#[derive(Clone, Copy)]
pub struct RunOptions<'a> {
    /// The threads.
    pub pool: &'a WorkerPool,
    /// Receiver of progress.
    pub watcher: &'a dyn RunWatcher,
    /// Set from outside to finish what is in flight and stop.
    pub stop: &'a AtomicBool,
    /// The seed; that of the spec where none is named.
    pub seed: Option<u32>,
    /// Which part of the work.
    pub shard: Shard,
    /// Whether to start nothing more after the first failure.
    pub fail_fast: bool,
}

/// The flag of a run that nobody stops.
static NEVER: AtomicBool = AtomicBool::new(false);

impl<'a> RunOptions<'a> {
    /// All of the work with the seed of the spec, in silence.
    pub fn new(pool: &'a WorkerPool) -> Self {
        Self { pool, watcher: &SilentProgress, stop: &NEVER, seed: None, shard: Shard::WHOLE, fail_fast: false }
    }
}

/// The version, and the commit that a release build was made from. A build for development says that it is one: it may be of any
/// state of the files. A build without git or from a package has the version alone.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), env!("DPGP_BUILD"));

/// The program and its version, as certificates name it.
pub const PROGRAM: &str = concat!("dpgp ", env!("CARGO_PKG_VERSION"), env!("DPGP_BUILD"));

/// Facts of a run about its results that the experiment does not hold.
#[derive(Debug, Clone)]
pub struct Provenance {
    /// Each data file, with a digest if anybody can have it.
    pub data: Vec<PublicFileRecord>,
    /// Whether the rows are the user's own: exact numbers computed from them are not private.
    pub own_rows: bool,
    /// Whether they stand in the spec, so that a digest of the spec would let anyone check a guess of them.
    pub rows_in_spec: bool,
    /// The project's folder, whose commit is recorded.
    pub project: PathBuf,
    /// The seed used.
    pub seed: u32,
    /// The version of the numerics.
    pub numerics: u32,
    /// Seconds that the computation took, over all threads.
    pub seconds: f64,
    /// When the last result was finished, in seconds since 1970.
    pub finished: u64,
    /// Targets of the user's own files outside public bounds; not private.
    pub clipped: Vec<ClippedCounts>,
}

/// Cells whose records are in memory together.
const CELLS_AT_ONCE: usize = 1024;

/// Reads the results of a plan from the store, summarised over replicates, in grid order; none if some are missing.
///
/// # Errors
/// [`RunError::Store`].
pub(super) fn read_complete_results(plan: &RunPlan<'_>, store: &ResultStore) -> Result<Option<RunResults>, RunError> {
    let cells = plan.complete_cells();
    if cells.len() < plan.experiment.cells.len() {
        return Ok(None);
    }
    read_cell_results(plan, store, &cells).map(Some)
}

/// Reads the results of the cells that did not fail; none if all did.
///
/// # Errors
/// [`RunError::Store`].
pub(super) fn read_partial_results(
    plan: &RunPlan<'_>,
    store: &ResultStore,
    failures: &[CellFailure],
) -> Result<Option<RunResults>, RunError> {
    let cells = plan.complete_cells();
    if cells.is_empty() {
        return Ok(None);
    }
    let results = read_cell_results(plan, store, &cells)?;
    let failed = (0..plan.experiment.cells.len()).filter(|cell| cells.binary_search(cell).is_err());
    let failed = failed.filter_map(|cell| FailedCell::from_failures(failures, cell)).collect();
    Ok(Some(RunResults { failed, ..results }))
}

impl FailedCell {
    fn from_failures(failures: &[CellFailure], cell: usize) -> Option<Self> {
        let failure = failures.iter().find(|failure| failure.cells.contains(&cell))?;
        Some(Self { cell, reason: failure.cause.to_string() })
    }
}

fn read_cell_results(plan: &RunPlan<'_>, store: &ResultStore, cells: &[usize]) -> Result<RunResults, RunError> {
    let replicates = plan.experiment.meta.replicates as usize;
    let mut results =
        RunResults { rows: Vec::new(), frames: Vec::new(), seconds: 0.0, finished: 0, failed: Vec::new() };
    for part in cells.chunks(CELLS_AT_ONCE) {
        let mut stored = store.results(&plan.keys_of(part))?;
        for (&cell, records) in part.iter().zip(stored.chunks_mut(replicates)) {
            let mut measured = Vec::with_capacity(replicates);
            for record in records {
                results.seconds += record.about.seconds;
                results.finished = results.finished.max(record.about.finished);
                let frames = std::mem::take(&mut record.frames);
                results.frames.extend(frames.into_iter().map(|frame| (cell, frame)));
                measured.push(std::mem::take(&mut record.measured));
            }
            results.rows.extend(summarise(cell, &measured));
        }
    }
    Ok(results)
}

/// Receives the progress of a run: the start and end of each block, from any thread, and downloads.
pub trait RunWatcher: Sync {
    /// Receiver of progress of downloads and of notes on the data.
    fn download_progress(&self) -> &dyn Progress;
    /// The work on an experiment begins: so many blocks.
    fn begin_experiment(&self, experiment: &str, blocks: usize);
    /// A block begins; its name is made only if it is shown.
    fn begin_block(&self, block: usize, name: &dyn Fn() -> String);
    /// A block has ended, with or without success.
    fn end_block(&self, block: usize);
    /// The work on the experiment is over.
    fn end_experiment(&self);
}

/// A watcher that prints to standard error: bars on a terminal, lines elsewhere, nothing where the user asked for quiet.
pub fn create_watcher(quiet: bool) -> Box<dyn RunWatcher> {
    if quiet {
        Box::new(SilentProgress)
    } else if std::io::stderr().is_terminal() {
        Box::new(BlockProgressBars::default())
    } else {
        Box::new(BlockProgressLines::default())
    }
}

impl RunWatcher for SilentProgress {
    fn download_progress(&self) -> &dyn Progress {
        self
    }

    fn begin_experiment(&self, _: &str, _: usize) {}
    fn begin_block(&self, _: usize, _: &dyn Fn() -> String) {}
    fn end_block(&self, _: usize) {}
    fn end_experiment(&self) {}
}

/// Two bars on a terminal: all blocks with the time left, and the block that has been running longest.
#[derive(Default)]
struct BlockProgressBars {
    downloads: ProgressBars,
    shown: Mutex<Option<ExperimentProgressBars>>,
}

/// The bars of one experiment.
struct ExperimentProgressBars {
    all: ProgressBar,
    slowest: ProgressBar,
    running: BTreeMap<(Instant, usize), String>,
    _together: MultiProgress,
}

impl ExperimentProgressBars {
    fn new(experiment: &str, blocks: usize) -> Self {
        let together = MultiProgress::new();
        let all =
            together.add(ProgressBar::new(blocks as u64).with_message(escape_hidden_line(experiment).into_owned()));
        let slowest = together.add(ProgressBar::new(0));
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} blocks, {eta} left") {
            all.set_style(style);
        }
        if let Ok(style) = ProgressStyle::with_template("  longest running: {wide_msg} {elapsed}") {
            slowest.set_style(style);
        }
        slowest.enable_steady_tick(Duration::from_millis(250));
        Self { all, slowest, running: BTreeMap::new(), _together: together }
    }

    fn show_slowest(&self) {
        if let Some(((since, _), name)) = self.running.first_key_value() {
            self.slowest.set_elapsed(since.elapsed());
            self.slowest.set_message(escape_hidden_line(name).into_owned());
        }
    }
}

impl RunWatcher for BlockProgressBars {
    fn download_progress(&self) -> &dyn Progress {
        &self.downloads
    }

    fn begin_experiment(&self, experiment: &str, blocks: usize) {
        *lock_ignoring_poison(&self.shown) = Some(ExperimentProgressBars::new(experiment, blocks));
    }

    fn begin_block(&self, block: usize, name: &dyn Fn() -> String) {
        if let Some(shown) = lock_ignoring_poison(&self.shown).as_mut() {
            shown.running.insert((Instant::now(), block), name());
            shown.show_slowest();
        }
    }

    fn end_block(&self, block: usize) {
        if let Some(shown) = lock_ignoring_poison(&self.shown).as_mut() {
            shown.running.retain(|(_, other), _| *other != block);
            shown.show_slowest();
            shown.all.inc(1);
        }
    }

    fn end_experiment(&self) {
        if let Some(shown) = lock_ignoring_poison(&self.shown).take() {
            shown.slowest.finish_and_clear();
            shown.all.finish_and_clear();
        }
    }
}

/// Where there is no terminal: a line on standard error now and then.
#[derive(Default)]
struct BlockProgressLines {
    downloads: ProgressBars,
    state: Mutex<Option<ExperimentProgress>>,
}

/// How far the work on an experiment is.
struct ExperimentProgress {
    experiment: String,
    blocks: usize,
    done: usize,
    start: Instant,
    said: Instant,
}

/// At most one line in this time.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

impl RunWatcher for BlockProgressLines {
    fn download_progress(&self) -> &dyn Progress {
        &self.downloads
    }

    fn begin_experiment(&self, experiment: &str, blocks: usize) {
        let (experiment, now) = (experiment.to_owned(), Instant::now());
        *lock_ignoring_poison(&self.state) =
            Some(ExperimentProgress { experiment, blocks, done: 0, start: now, said: now });
    }

    fn begin_block(&self, _: usize, _: &dyn Fn() -> String) {}

    fn end_block(&self, _: usize) {
        if let Some(counted) = lock_ignoring_poison(&self.state).as_mut() {
            counted.done += 1;
            counted.print_progress();
        }
    }

    fn end_experiment(&self) {}
}

impl ExperimentProgress {
    fn print_progress(&mut self) {
        let Self { experiment, blocks, done, start, said } = self;
        if said.elapsed() >= BETWEEN_LINES {
            *said = Instant::now();
            let left = start.elapsed().mul_f64((*blocks - *done) as f64 / *done as f64);
            eprintln!("{}: {done}/{blocks} blocks, {} left", escape_hidden_line(experiment), HumanDuration(left));
        }
    }
}

/// A panic on another thread does not spoil what is shown, so a poisoned lock is taken as it is.
fn lock_ignoring_poison<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
