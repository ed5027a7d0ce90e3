//! A mutant put to the tests that reach it.

use std::sync::Mutex;
use std::time::Duration;

use crate::outcome::{Outcome, Records};
use crate::suite::{Test, batch, ended, in_parallel};
use crate::tree::{Mutation, Tree};

/// Of a first batch of tests; each next one may take twice as long.
const SECONDS: f64 = 0.5;

pub fn run(
    tree: &Tree,
    tests: &[Test],
    chosen: &[&Mutation],
    seconds: f64,
    records: &mut Records,
) -> Result<(), String> {
    let records = Mutex::new(records);
    in_parallel(chosen.len(), |i, _| {
        let mutation = chosen[i];
        let outcome = outcome(tree, tests, mutation, seconds);
        let mut records = records.lock().unwrap_or_else(|error| error.into_inner());
        records.add(mutation, outcome);
        if i % 100 == 99 {
            println!("{} of {}", i + 1, chosen.len());
        }
    });
    Ok(())
}

fn outcome(tree: &Tree, tests: &[Test], mutation: &Mutation, seconds: f64) -> Outcome {
    let mut waiting = tests.iter().filter(|test| test.reaches.contains(&mutation.id)).collect::<Vec<_>>();
    if waiting.is_empty() {
        return Outcome::Unreached;
    }
    let (mut share, mut spent) = (SECONDS, 0.0);
    while !waiting.is_empty() {
        if spent >= seconds {
            return Outcome::Left;
        }
        let mut sum = 0.0;
        let fitting = waiting
            .iter()
            .take_while(|test| {
                sum += test.seconds;
                sum <= share
            })
            .count()
            .max(1);
        let now = waiting.drain(..fitting).collect::<Vec<_>>();
        let limit = now.iter().map(|test| test.seconds).sum::<f64>();
        let mut binaries = now.iter().map(|test| &test.binary).collect::<Vec<_>>();
        binaries.dedup();
        binaries.sort();
        binaries.dedup();
        for binary in binaries {
            let names = now
                .iter()
                .filter(|test| &test.binary == binary)
                .map(|test| test.name.clone())
                .collect::<Vec<_>>();
            let mut command = batch(tree, binary, &names);
            command.env("MUTANT", mutation.id.to_string());
            match ended(&mut command, Duration::from_secs_f64(10.0 + 10.0 * limit)) {
                Some(true) => {}
                Some(false) => return Outcome::Caught,
                None => return Outcome::TimedOut,
            }
        }
        spent += limit;
        share *= 2.0;
    }
    Outcome::Survived
}
