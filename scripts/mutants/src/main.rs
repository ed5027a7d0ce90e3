//! Which changes of one operator, value or arm of the program its tests would notice.
//!
//! ```text
//! cargo run --release --manifest-path scripts/mutants/Cargo.toml -- AREA.. [--unit] [--shard K/N] [--only FILE] [--seconds S]
//! ```
//!
//! Building the program once for each of thousands of mutants is days of work. Here one build holds them all: a copy of the tree, in
//! `target/mutants`, in which each place that can be changed asks whether its change is the one that is on,
//!
//! ```text
//! a + b    becomes    (if mutant::on(7) { (a) - (b) } else if mutant::on(8) { (a) * (b) } else { a + b })
//! ```
//!
//! and the environment variable `MUTANT` says which is. Changes that do not compile are taken out again. Each test runs once alone, and
//! says which places it reaches; a mutant is then put to the tests that reach it, shortest first, until one fails, crashes or takes far
//! longer than it did. A mutant that no test reaches has survived. What was found stays in `target/mutants/outcomes.tsv`, a line a
//! mutant; what is there is not run again, unless the sources have changed.

mod area;
mod find;
mod outcome;
mod site;
mod suite;
mod tree;
mod trial;
mod values;
mod weave;

use std::path::PathBuf;
use std::process::ExitCode;

/// What a command line asks for.
struct Request {
    areas: Vec<&'static area::Area>,
    shard: (usize, usize),
    only: Option<PathBuf>,
    /// Whether unit tests alone judge: those that run the program take a quarter of an hour to measure.
    unit: bool,
    /// Of tests, a mutant; what is left out is said.
    seconds: f64,
}

fn main() -> ExitCode {
    match Request::of(std::env::args().skip(1)).and_then(|request| run(&request)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

impl Request {
    fn of(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut request =
            Self { areas: Vec::new(), shard: (1, 1), only: None, unit: false, seconds: f64::INFINITY };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--shard" => request.shard = shard(&value()?)?,
                "--unit" => request.unit = true,
                "--only" => request.only = Some(value()?.into()),
                "--seconds" => request.seconds = value()?.parse().map_err(|_| "--seconds: not a number")?,
                name => request.areas.push(area::named(name)?),
            }
        }
        if request.areas.is_empty() {
            request.areas = area::AREAS.iter().collect();
        }
        Ok(request)
    }
}

fn shard(text: &str) -> Result<(usize, usize), String> {
    let parsed = text.split_once('/').and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
    parsed.filter(|(k, n)| (1..=*n).contains(k)).ok_or(format!("--shard {text}: K/N with K of 1 to N"))
}

fn run(request: &Request) -> Result<(), String> {
    let project =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().map_err(|e| e.to_string())?;
    let (tree, mutations) = tree::Tree::grown(&project, &request.areas)?;
    let suites = tree.suites(request.unit)?;
    let mut records = outcome::Records::at(&tree.work, &mutations)?;
    let chosen = outcome::chosen(&mutations, request.only.as_deref(), request.shard, &records)?;
    let tests = suite::measured(&suites, &tree)?;
    trial::run(&tree, &tests, &chosen, request.seconds, &mut records)?;
    records.print(&mutations);
    Ok(())
}
