//! Stored results of a whole experiment, and the progress display of a run.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, MultiProgress, ProgressBar, ProgressStyle};

use super::plan::Plan;
use super::store::Store;
use super::{CellFailure, RunError};
use dpgp_data::{Bars, Progress, Silent, shown_line};
use dpgp_task::{Frame, Row, summarise};

/// The results of a whole experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    /// The rows, in grid order.
    pub rows: Vec<Row>,
    /// Data of the figure beyond them: the index of a cell, and a frame of it.
    pub frames: Vec<(usize, Frame)>,
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

/// Cells whose records are in memory together.
const CELLS_AT_ONCE: usize = 1024;

/// Reads the results of a plan from the store, summarised over replicates, in grid order; none if some are missing.
///
/// # Errors
/// [`RunError::Store`].
pub(super) fn results(plan: &Plan<'_>, store: &Store) -> Result<Option<Results>, RunError> {
    let cells = plan.whole_cells();
    if cells.len() < plan.experiment.cells.len() {
        return Ok(None);
    }
    of_cells(plan, store, &cells).map(Some)
}

/// Reads the results of the cells that did not fail; none if all did.
///
/// # Errors
/// [`RunError::Store`].
pub(super) fn results_beside(
    plan: &Plan<'_>,
    store: &Store,
    failures: &[CellFailure],
) -> Result<Option<Results>, RunError> {
    let cells = plan.whole_cells();
    if cells.is_empty() {
        return Ok(None);
    }
    let results = of_cells(plan, store, &cells)?;
    let failed = (0..plan.experiment.cells.len()).filter(|cell| cells.binary_search(cell).is_err());
    let failed = failed.filter_map(|cell| FailedCell::among(failures, cell)).collect();
    Ok(Some(Results { failed, ..results }))
}

impl FailedCell {
    fn among(failures: &[CellFailure], cell: usize) -> Option<Self> {
        let failure = failures.iter().find(|failure| failure.cells.contains(&cell))?;
        Some(Self { cell, reason: failure.cause.to_string() })
    }
}

fn of_cells(plan: &Plan<'_>, store: &Store, cells: &[usize]) -> Result<Results, RunError> {
    let replicates = plan.experiment.meta.replicates as usize;
    let mut results =
        Results { rows: Vec::new(), frames: Vec::new(), seconds: 0.0, finished: 0, failed: Vec::new() };
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

/// Told of the blocks as they begin and end, from any thread, and of downloads.
pub trait Watcher: Sync {
    /// Receiver of progress of downloads and of notes on the data.
    fn downloads(&self) -> &dyn Progress;
    /// The work on an experiment begins: so many blocks.
    fn begins(&self, experiment: &str, blocks: usize);
    /// A block begins; its name is made only if it is shown.
    fn started(&self, block: usize, name: &dyn Fn() -> String);
    /// A block has ended, with or without success.
    fn finished(&self, block: usize);
    /// The work on the experiment is over.
    fn ends(&self);
}

/// A watcher that prints to standard error: bars on a terminal, lines elsewhere, nothing where the user asked for quiet.
pub fn watcher(quiet: bool) -> Box<dyn Watcher> {
    if quiet {
        Box::new(Silent)
    } else if std::io::stderr().is_terminal() {
        Box::new(BlockBars::default())
    } else {
        Box::new(BlockLines::default())
    }
}

impl Watcher for Silent {
    fn downloads(&self) -> &dyn Progress {
        self
    }

    fn begins(&self, _: &str, _: usize) {}
    fn started(&self, _: usize, _: &dyn Fn() -> String) {}
    fn finished(&self, _: usize) {}
    fn ends(&self) {}
}

/// Two bars on a terminal: all blocks with the time left, and the block that has been running longest.
#[derive(Default)]
struct BlockBars {
    downloads: Bars,
    shown: Mutex<Option<ExperimentBars>>,
}

/// The bars of one experiment.
struct ExperimentBars {
    all: ProgressBar,
    slowest: ProgressBar,
    running: BTreeMap<(Instant, usize), String>,
    _together: MultiProgress,
}

impl ExperimentBars {
    fn new(experiment: &str, blocks: usize) -> Self {
        let together = MultiProgress::new();
        let all =
            together.add(ProgressBar::new(blocks as u64).with_message(shown_line(experiment).into_owned()));
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
            self.slowest.set_message(shown_line(name).into_owned());
        }
    }
}

impl Watcher for BlockBars {
    fn downloads(&self) -> &dyn Progress {
        &self.downloads
    }

    fn begins(&self, experiment: &str, blocks: usize) {
        *locked(&self.shown) = Some(ExperimentBars::new(experiment, blocks));
    }

    fn started(&self, block: usize, name: &dyn Fn() -> String) {
        if let Some(shown) = locked(&self.shown).as_mut() {
            shown.running.insert((Instant::now(), block), name());
            shown.show_slowest();
        }
    }

    fn finished(&self, block: usize) {
        if let Some(shown) = locked(&self.shown).as_mut() {
            shown.running.retain(|(_, other), _| *other != block);
            shown.show_slowest();
            shown.all.inc(1);
        }
    }

    fn ends(&self) {
        if let Some(shown) = locked(&self.shown).take() {
            shown.slowest.finish_and_clear();
            shown.all.finish_and_clear();
        }
    }
}

/// Where there is no terminal: a line on standard error now and then.
#[derive(Default)]
struct BlockLines {
    downloads: Bars,
    state: Mutex<Option<Counted>>,
}

/// How far the work on an experiment is.
struct Counted {
    experiment: String,
    blocks: usize,
    done: usize,
    start: Instant,
    said: Instant,
}

/// At most one line in this time.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

impl Watcher for BlockLines {
    fn downloads(&self) -> &dyn Progress {
        &self.downloads
    }

    fn begins(&self, experiment: &str, blocks: usize) {
        let (experiment, now) = (experiment.to_owned(), Instant::now());
        *locked(&self.state) = Some(Counted { experiment, blocks, done: 0, start: now, said: now });
    }

    fn started(&self, _: usize, _: &dyn Fn() -> String) {}

    fn finished(&self, _: usize) {
        if let Some(counted) = locked(&self.state).as_mut() {
            counted.done += 1;
            counted.say();
        }
    }

    fn ends(&self) {}
}

impl Counted {
    fn say(&mut self) {
        let Self { experiment, blocks, done, start, said } = self;
        if said.elapsed() >= BETWEEN_LINES {
            *said = Instant::now();
            let left = start.elapsed().mul_f64((*blocks - *done) as f64 / *done as f64);
            eprintln!("{}: {done}/{blocks} blocks, {} left", shown_line(experiment), HumanDuration(left));
        }
    }
}

/// A panic on another thread does not spoil what is shown, so a poisoned lock is taken as it is.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
