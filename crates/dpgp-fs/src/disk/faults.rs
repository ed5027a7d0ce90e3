//! Simulated faults for tests: processes that die, a disk that loses unsynced data, and processes that take
//! turns.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};

use super::{DiskStep, parent_or_current_folder};

thread_local! {
    static PROCESS: RefCell<Option<SimulatedProcess>> = const { RefCell::new(None) };
}

/// What becomes of a thread that plays a process.
#[derive(Debug, Default)]
pub struct SimulatedProcess {
    /// The step before which it dies, from 0; none if it lives.
    dies_at: Option<usize>,
    /// The turns that it takes with another, and which of the two it is.
    turns: Option<(Arc<ProcessTurns>, usize)>,
    steps: usize,
    /// Files whose contents may be lost.
    unwritten: BTreeSet<PathBuf>,
    /// What the disk may still forget, in order.
    unsynced: Vec<UnsyncedChange>,
}

/// A change of a folder that is not on the disk yet.
#[derive(Debug)]
struct UnsyncedChange {
    path: PathBuf,
    /// What had the name before.
    before: Option<Vec<u8>>,
}

impl SimulatedProcess {
    /// One that dies before a step, from 0, or lives if it takes fewer.
    pub fn with_crash_at(dies_at: usize) -> Self {
        Self { dies_at: Some(dies_at), ..Self::default() }
    }

    /// One of two, 0 or 1.
    pub fn taking_turns(turns: Arc<ProcessTurns>, me: usize) -> Self {
        Self { turns: Some((turns, me)), ..Self::default() }
    }

    /// Does some work as this process; returns what became of both.
    pub fn run<T>(self, work: impl FnOnce() -> T) -> (T, Self) {
        PROCESS.set(Some(self));
        let done = work();
        let process = PROCESS.take().unwrap();
        if let Some((turns, me)) = &process.turns {
            turns.end_process(*me);
        }
        (done, process)
    }

    /// How many steps it took, or tried to.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// The power fails: all is lost that was not waited for. (Of several changes each may be lost or kept; here all are lost, and none
    /// where this is not called.)
    pub fn lose_power(self) {
        for UnsyncedChange { path, before } in self.unsynced.into_iter().rev() {
            match before {
                Some(bytes) => std::fs::write(&path, bytes).unwrap(),
                None if path.is_dir() => std::fs::remove_dir_all(&path).unwrap(),
                None => drop(std::fs::remove_file(&path)),
            }
        }
    }

    fn take_step(&mut self, step: DiskStep<'_>) -> Result<()> {
        let number = self.steps;
        self.steps += 1;
        if self.dies_at.is_some_and(|dies_at| number >= dies_at) {
            // Half of what it was about to write is there.
            if let (DiskStep::Write(path), true) = (step, self.dies_at == Some(number)) {
                std::fs::write(path, "version = 2\nke").unwrap();
            }
            return Err(Error::other("the process is dead"));
        }
        match step {
            DiskStep::Write(path) => drop(self.unwritten.insert(path.to_path_buf())),
            DiskStep::Sync(path) => drop(self.unwritten.remove(path)),
            DiskStep::Name { from, to } => {
                assert!(!self.unwritten.contains(from), "{} is renamed before its contents are on disk", to.display());
                self.record_unsynced_change(to, std::fs::read(to).ok());
            }
            DiskStep::MakeFolder(path) => self.record_unsynced_change(path, None),
            DiskStep::SyncFolder(folder) => {
                self.unsynced.retain(|change| parent_or_current_folder(&change.path) != folder)
            }
            DiskStep::Create | DiskStep::Lock { .. } => {}
        }
        Ok(())
    }

    fn record_unsynced_change(&mut self, path: &Path, before: Option<Vec<u8>>) {
        self.unsynced.push(UnsyncedChange { path: path.to_path_buf(), before });
    }
}

/// Whether this thread plays a process.
pub fn is_thread_simulated() -> bool {
    PROCESS.with_borrow(Option::is_some)
}

/// Takes a step of the process that this thread plays, if it plays one.
pub fn take_simulated_step(step: DiskStep<'_>) -> Result<()> {
    let turns = PROCESS.with_borrow(|process| process.as_ref().and_then(|process| process.turns.clone()));
    if let Some((turns, me)) = turns {
        turns.wait_for_turn(me, matches!(step, DiskStep::Lock { again: true }));
    }
    PROCESS.with_borrow_mut(|process| process.as_mut().map_or(Ok(()), |process| process.take_step(step)))
}

/// Two processes of which one moves at a time.
#[derive(Debug, Default)]
pub struct ProcessTurns {
    /// The steps of both together before which the other takes over.
    switches: Vec<usize>,
    state: Mutex<TurnState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct TurnState {
    steps: usize,
    turn: usize,
    ended: [bool; 2],
}

impl ProcessTurns {
    /// With these moments of change.
    pub fn new(switches: Vec<usize>) -> Arc<Self> {
        Arc::new(Self { switches, ..Self::default() })
    }

    /// Steps of both together.
    pub fn steps(&self) -> usize {
        self.state.lock().unwrap().steps
    }

    /// Returns when it is one's turn to take the next step. One that waits for a lock lets the other go on.
    fn wait_for_turn(&self, me: usize, locked: bool) {
        let mut state = self.changed.wait_while(self.state.lock().unwrap(), |state| state.turn != me).unwrap();
        if (locked || self.switches.contains(&state.steps)) && !state.ended[1 - me] {
            state.turn = 1 - me;
            self.changed.notify_all();
        }
        state.steps += 1;
        drop(self.changed.wait_while(state, |state| state.turn != me).unwrap());
    }

    fn end_process(&self, me: usize) {
        let mut state = self.state.lock().unwrap();
        state.ended[me] = true;
        state.turn = 1 - me;
        self.changed.notify_all();
    }
}
