//! What is shown while blocks are computed.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, MultiProgress, ProgressBar, ProgressStyle};

use dpgp_data::{Bars, Progress, Silent, shown_line};

/// Told of the blocks as they begin and end, from any thread, and of downloads.
pub trait Watcher: Sync {
    /// Who is told of downloads and of what to know about the data.
    fn downloads(&self) -> &dyn Progress;
    /// The work on an experiment begins: so many blocks.
    fn begins(&self, experiment: &str, blocks: usize);
    /// A block begins; its name is made only if it is shown.
    fn started(&self, block: usize, name: &dyn Fn() -> String);
    /// A block is done, well or not.
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
