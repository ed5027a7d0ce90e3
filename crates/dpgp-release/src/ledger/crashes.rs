//! Exhaustive tests of the protocol of a release. A process dies, or the power fails, at every system call. Two
//! processes take turns in all ways with up to two switches that no lock forces.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::account::{LedgerState, list_ledgers};
use super::charge::{LedgerOptions, PendingCharge, PendingRelease, charge_ledgers, check_charge};
use super::entry::BudgetSetting;
use super::trial::{entry, rows};
use crate::ReleaseError;
use crate::new_file::{new_file, write_new_file};
use dpgp_fs::ReadAccess;
use dpgp_fs::disk::faults::{ProcessTurns, SimulatedProcess};
use dpgp_run::StateFolder;

/// A machine with a state folder and a folder of releases.
struct Machine {
    folder: tempfile::TempDir,
    named: bool,
    budget: BudgetSetting,
    /// How many releases one charge holds.
    answers: usize,
}

impl Machine {
    fn new(named: bool) -> Self {
        let budget = BudgetSetting { epsilon: 8.0, delta: 1e-5 };
        Self { folder: tempfile::tempdir().unwrap(), named, budget, answers: 1 }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What a process does: it opens its file, charges, and writes.
    fn release(&self, id: &str) -> Result<(), ReleaseError> {
        let state = StateFolder::open_at(&self.path("state")).map_err(dpgp_run::RunError::from)?;
        let path = self.path(&format!("{id}.release"));
        let file = new_file(&path, ReadAccess::All)?;
        let rows = rows(state.key());
        let named = self.named.then(|| self.path("named.toml"));
        let place = LedgerOptions { state, file: named, budget: Some(self.budget), other_people: false };
        let ids = (0..self.answers).map(|answer| format!("{id}/{answer}"));
        let releases = ids.map(|id| PendingRelease { entry: entry(&id), rows: &rows }).collect();
        let next = PendingCharge { place: &place, releases };
        check_charge(&next)?;
        charge_ledgers(&next)?;
        write_new_file(file, &path, id.as_bytes())
    }

    /// The releases in the only ledger; empty if there is none. Fails the test if there are several ledgers, one that is not
    /// sound, or a release without all of its answers.
    fn charged(&self) -> Vec<String> {
        let state = StateFolder::open_at(&self.path("state")).unwrap();
        let ledgers = list_ledgers(&state).unwrap();
        assert!(ledgers.len() <= 1, "a fork: {ledgers:?}");
        let Some(ledger) = ledgers.first() else { return Vec::new() };
        let LedgerState::Sound(ledger) = &ledger.state else { panic!("{ledger:?}") };
        let ids: Vec<String> = ledger.release.iter().map(|entry| entry.id.clone()).collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "one was charged twice: {ids:?}");
        let whole: BTreeSet<&str> = ids.iter().filter_map(|id| id.rsplit_once('/')).map(|(id, _)| id).collect();
        assert_eq!(whole.len() * self.answers, ids.len(), "a part of a release was charged: {ids:?}");
        whole.into_iter().map(str::to_owned).collect()
    }

    /// The releases that somebody can see.
    fn shown(&self) -> Vec<String> {
        let mut shown = Vec::new();
        for entry in std::fs::read_dir(self.folder.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "release") {
                shown.push(std::fs::read_to_string(&path).unwrap());
            }
        }
        shown
    }

    /// Every release that is seen is charged.
    fn check(&self, seen: &[String], after: &str) -> Vec<String> {
        let charged = self.charged();
        let free: Vec<&String> = seen.iter().filter(|id| !charged.contains(id)).collect();
        assert!(free.is_empty(), "{after}: {free:?} are not charged, only {charged:?}");
        charged
    }
}

/// A process that dies before one of its steps, or lives if it has fewer.
fn dying(machine: &Machine, id: &str, dies_at: usize) -> (bool, SimulatedProcess) {
    let process = SimulatedProcess::with_crash_at(dies_at);
    let (done, process) = process.run(|| machine.release(id));
    (done.is_ok(), process)
}

/// With so many releases before: the first one makes the key and the folders.
fn every_crash(named: bool, earlier: usize, answers: usize) -> usize {
    for dies_at in 0.. {
        for power in [false, true] {
            let machine = Machine { answers, ..Machine::new(named) };
            let ids: Vec<String> = (0..earlier).map(|number| format!("earlier-{number}")).collect();
            ids.iter().for_each(|id| machine.release(id).unwrap());
            let (done, process) = dying(&machine, "torn", dies_at);
            let (steps, seen) = (process.steps(), machine.shown());
            assert_eq!(done, steps <= dies_at);
            if power {
                process.lose_power();
            }
            let after = format!("named {named}, step {dies_at} of {steps}, power {power}");
            // What was seen before the power failed was seen.
            if !seen.is_empty() {
                let charged = machine.check(&seen, &after);
                assert!(ids.iter().all(|id| charged.contains(id)), "{after}: a charge is lost: {charged:?}");
            }
            machine.release("next").unwrap_or_else(|error| panic!("{after}: {error}"));
            let charged = machine.check(&[seen, machine.shown()].concat(), &after);
            assert!(charged.len() <= earlier + 2 && charged.contains(&"next".to_owned()), "{after}");
            if done && power {
                return steps;
            }
        }
    }
    0
}

#[test]
fn a_process_that_dies_anywhere_gives_nothing_away() {
    for (named, earlier, answers) in [(false, 0, 1), (false, 2, 1), (true, 0, 1), (true, 2, 1), (false, 1, 3)] {
        let steps = every_crash(named, earlier, answers);
        println!("named {named}, {earlier} earlier, {answers} answers: {steps} steps");
        assert!(steps >= 17, "{steps} steps");
    }
}

/// Both processes with their turns; returns how many steps they took and which of them released.
fn turns(machine: &Machine, switches: Vec<usize>) -> (usize, [bool; 2]) {
    let turns = ProcessTurns::new(switches);
    let mut done = [false; 2];
    std::thread::scope(|scope| {
        let processes = [0, 1].map(|me| {
            let process = SimulatedProcess::taking_turns(turns.clone(), me);
            scope.spawn(move || process.run(|| machine.release(&me.to_string()).is_ok()).0)
        });
        for (done, process) in done.iter_mut().zip(processes) {
            *done = process.join().unwrap();
        }
    });
    (turns.steps(), done)
}

/// A budget for one release, and then for both.
fn every_turn(budget: BudgetSetting, releases: usize) -> usize {
    let (mut schedules, mut longest) = (0, 1);
    let mut first = 0;
    while first < longest {
        let mut second = first;
        // A schedule may be found to take longer than those before it.
        while second < longest {
            let machine = Machine { budget, ..Machine::new(false) };
            let (steps, done) = turns(&machine, vec![first, second]);
            longest = longest.max(steps);
            let after = format!("turns at {first} and {second}");
            let charged = machine.check(&machine.shown(), &after);
            assert_eq!(charged.len(), releases, "{after}: {charged:?}");
            assert_eq!(done.iter().filter(|done| **done).count(), releases, "{after}: {done:?}");
            schedules += 1;
            second += 1;
        }
        first += 1;
    }
    schedules
}

#[test]
fn two_processes_that_take_turns_spend_one_budget() {
    let one = every_turn(BudgetSetting { epsilon: 1.0, delta: 3e-6 }, 1);
    let both = every_turn(BudgetSetting { epsilon: 8.0, delta: 1e-5 }, 2);
    println!("{one} and {both} schedules");
    assert!(one > 500 && both > 500, "{one} and {both} schedules");
}

/// What the model cannot see would pass: a name that is given before the contents are on the disk is noticed.
#[test]
#[should_panic(expected = "is renamed before its contents are on disk")]
fn a_file_that_is_named_too_early_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let place: &Path = &folder.path().join("a");
    let process = SimulatedProcess::default();
    drop(process.run(|| {
        let mut file = dpgp_fs::disk::create_temporary_file(folder.path(), 0o600).unwrap();
        dpgp_fs::disk::write(&mut file, b"a").unwrap();
        dpgp_fs::disk::persist_replacing(file, place)
    }));
}
