//! What is shown while blocks are computed.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, MultiProgress, ProgressBar, ProgressStyle};

/// Told of the pieces of work as they begin and end, from any thread.
pub trait Watcher: Sync {
    /// The work begins: so many units.
    fn begins(&self, units: usize);
    /// A unit begins; its name is made only if it is shown.
    fn started(&self, unit: usize, name: &dyn Fn() -> String);
    /// A unit is done, well or not.
    fn finished(&self, unit: usize);
    /// The work is over.
    fn ends(&self);
}

/// Shows nothing.
pub struct Quiet;

impl Watcher for Quiet {
    fn begins(&self, _: usize) {}
    fn started(&self, _: usize, _: &dyn Fn() -> String) {}
    fn finished(&self, _: usize) {}
    fn ends(&self) {}
}

/// Two bars on a terminal: all units with the time left, and the unit that has been running longest.
pub struct Bars {
    name: String,
    all: ProgressBar,
    slowest: ProgressBar,
    running: Mutex<BTreeMap<(Instant, usize), String>>,
    _together: MultiProgress,
}

impl Bars {
    /// Bars with the experiment's name.
    pub fn new(name: &str) -> Self {
        let together = MultiProgress::new();
        let all = together.add(ProgressBar::new(0));
        let slowest = together.add(ProgressBar::new(0));
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} blocks, {eta} left") {
            all.set_style(style);
        }
        if let Ok(style) = ProgressStyle::with_template("  longest running: {wide_msg} {elapsed}") {
            slowest.set_style(style);
        }
        Self { name: name.to_owned(), all, slowest, running: Mutex::default(), _together: together }
    }

    fn show_slowest(&self, running: &BTreeMap<(Instant, usize), String>) {
        if let Some(((since, _), name)) = running.first_key_value() {
            self.slowest.set_elapsed(since.elapsed());
            self.slowest.set_message(name.clone());
        }
    }
}

impl Watcher for Bars {
    fn begins(&self, units: usize) {
        self.all.set_length(units as u64);
        self.all.reset();
        self.all.set_message(self.name.clone());
        self.slowest.enable_steady_tick(Duration::from_millis(250));
    }

    fn started(&self, unit: usize, name: &dyn Fn() -> String) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.insert((Instant::now(), unit), name());
        self.show_slowest(&running);
    }

    fn finished(&self, unit: usize) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|(_, other), _| *other != unit);
        self.show_slowest(&running);
        self.all.inc(1);
    }

    fn ends(&self) {
        self.slowest.finish_and_clear();
        self.all.finish_and_clear();
    }
}

/// Where there is no terminal: a line on stderr now and then.
pub struct Lines {
    name: String,
    state: Mutex<LinesState>,
}

struct LinesState {
    units: usize,
    done: usize,
    start: Instant,
    shown: Instant,
}

/// At most one line in this time.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

impl Lines {
    /// Lines that begin with the experiment's name.
    pub fn new(name: &str) -> Self {
        let now = Instant::now();
        let state = LinesState { units: 0, done: 0, start: now, shown: now };
        Self { name: name.to_owned(), state: Mutex::new(state) }
    }
}

impl Watcher for Lines {
    fn begins(&self, units: usize) {
        let now = Instant::now();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *state = LinesState { units, done: 0, start: now, shown: now };
    }

    fn started(&self, _: usize, _: &dyn Fn() -> String) {}

    fn finished(&self, _: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.done += 1;
        if state.shown.elapsed() >= BETWEEN_LINES {
            state.shown = Instant::now();
            let left = state.start.elapsed().mul_f64((state.units - state.done) as f64 / state.done as f64);
            eprintln!("{}: {}/{} blocks, {} left", self.name, state.done, state.units, HumanDuration(left));
        }
    }

    fn ends(&self) {}
}
