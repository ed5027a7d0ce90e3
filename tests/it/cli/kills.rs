//! Releases that are killed: whatever is left on the disk is charged, and the ledger is whole.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::cli::Project;
use crate::support::energy::{RECORDS, energy_project};

const PREDICT: &[&str] = &["predict", "energy.toml", "--at", "grid.csv", "--quiet", "--out"];
const STATS: &[&str] = &["stats", "energy.toml", "energy.csv", "--quiet", "--release"];

/// What was left of runs that were killed.
#[derive(Debug, Default)]
struct Left {
    /// Files with a release.
    files: usize,
    /// Releases in the ledger.
    charged: usize,
    /// Runs that ended before they were killed.
    ended: usize,
}

/// Kills so many releases of a verb and looks at what is left. The moments lie around the end of a run, where the ledger and the
/// files are written: the wait is shortened after a run that ended and lengthened after one that did not, and spread.
fn killed(verb: &[&str], ending: &str, kills: u32) -> Left {
    let project = energy_project(&RECORDS.replace("epsilon = 1.0", "epsilon = 0.01"));
    let mut wait = whole_run(&project, &[verb, &[&format!("whole.{ending}")]].concat());
    let mut left = Left::default();
    for number in 0..kills {
        let file = format!("{number}.{ending}");
        let mut command = project.command(&[verb, &[&file]].concat());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(wait.mul_f64(0.7 + 0.1 * f64::from(number % 5)));
        let ended = child.try_wait().unwrap().is_some();
        child.kill().unwrap();
        child.wait().unwrap();
        left.ended += usize::from(ended);
        // Where none was killed yet, the first run was slow, and its time says little.
        let shorter = if left.ended == number as usize + 1 { 0.5 } else { 0.85 };
        wait = wait.mul_f64(if ended { shorter } else { 1.1 });
    }
    // A lock of a process that was killed is free again, and a ledger that was half written is none.
    project.dpgp(&["ledger", "verify"]).expect(0);
    let ledgers = project.dpgp(&["ledger", "show", "--format", "json"]).expect(0).json();
    left.charged = ledgers[0]["account"]["releases"].as_u64().unwrap() as usize;
    left.files = charged_files(&project, ending, left.charged);
    project.dpgp(&[verb, &[&format!("last.{ending}")]].concat()).expect(0);
    left
}

/// How long one takes.
fn whole_run(project: &Project, arguments: &[&str]) -> Duration {
    let start = Instant::now();
    project.dpgp(arguments).expect(0);
    start.elapsed()
}

/// How many files there are. Each is whole and names its own place in the ledger, which holds it.
fn charged_files(project: &Project, ending: &str, charged: usize) -> usize {
    let mut places = BTreeSet::new();
    let mut files = 0;
    for entry in std::fs::read_dir(project.folder.path()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let released = name.ends_with(&format!(".{ending}")) && name != "energy.csv" && name != "grid.csv";
        if !released || name.starts_with('.') {
            continue;
        }
        let certificate = if ending == "csv" { format!("{name}.certificate.json") } else { name.clone() };
        if ending == "csv" {
            project.dpgp(&["verify", &certificate, &name]).expect(0);
        } else {
            project.dpgp(&["verify", &certificate]).expect(0);
        }
        let place = release_number(&project.json(&certificate));
        assert!((1..=charged).contains(&place) && places.insert(place), "{name}: {place} of {charged}");
        files += 1;
    }
    files
}

fn release_number(certificate: &Value) -> usize {
    certificate["all_releases"]["releases"].as_u64().unwrap() as usize
}

/// Both verbs.
fn kill_both(kills: u32) {
    for (verb, ending) in [(PREDICT, "csv"), (STATS, "json")] {
        let started = Instant::now();
        let left = killed(verb, ending, kills);
        let seconds = started.elapsed().as_secs();
        println!("{}: {kills} kills, {left:?}, {seconds} s", verb[0]);
        assert!(left.files <= left.charged && left.charged <= kills as usize + 1, "{left:?}");
        assert!(left.files > left.ended, "every run that ended has left its file: {left:?}");
        assert!(left.ended < kills as usize, "a wait that is too long is no kill: {left:?}");
    }
}

#[test]
fn what_is_left_of_a_killed_release_is_charged() {
    kill_both(6);
}

#[test]
#[ignore = "a minute: 50 kills of each verb"]
fn what_is_left_of_fifty_killed_releases_is_charged() {
    kill_both(50);
}
