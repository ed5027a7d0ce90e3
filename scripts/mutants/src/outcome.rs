//! What became of each mutant.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;

use crate::area::AREAS;
use crate::tree::Mutation;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A test failed or crashed.
    Caught,
    /// Tests took over ten times as long as they do, and ten seconds.
    TimedOut,
    Survived,
    /// No test failed in the seconds that were given; some were not run.
    Left,
    /// No test reaches it.
    Unreached,
}

const NAMES: [(Outcome, &str); 5] = [
    (Outcome::Caught, "caught"),
    (Outcome::TimedOut, "timed out"),
    (Outcome::Survived, "survived"),
    (Outcome::Left, "left"),
    (Outcome::Unreached, "unreached"),
];

impl Outcome {
    fn name(self) -> &'static str {
        NAMES.iter().find(|(outcome, _)| *outcome == self).map_or("", |(_, name)| name)
    }

    fn noticed(self) -> bool {
        matches!(self, Self::Caught | Self::TimedOut)
    }
}

/// Outcomes by mutant, in memory and in a file.
pub struct Records {
    known: BTreeMap<String, Outcome>,
    file: File,
}

impl Records {
    pub fn at(work: &Path, mutations: &[Mutation]) -> Result<Self, String> {
        let path = work.join("outcomes.tsv");
        let text = fs::read_to_string(&path).unwrap_or_default();
        let mut known = BTreeMap::new();
        for (name, key) in text.lines().filter_map(|line| line.split_once('\t')) {
            if let Some((outcome, _)) = NAMES.iter().find(|(_, other)| *other == name) {
                known.insert(key.to_string(), *outcome);
            }
        }
        known.retain(|key, _| mutations.iter().any(|mutation| &mutation.key == key));
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Self { known, file })
    }

    pub fn add(&mut self, mutation: &Mutation, outcome: Outcome) {
        // A line that is lost is a mutant that is run again.
        let _ = writeln!(self.file, "{}\t{}", outcome.name(), mutation.key);
        self.known.insert(mutation.key.clone(), outcome);
    }

    /// What was not noticed, then a line an area.
    pub fn print(&self, mutations: &[Mutation]) {
        for mutation in mutations {
            if let Some(outcome) = self.known.get(&mutation.key).filter(|outcome| !outcome.noticed()) {
                println!("{}\t{}", outcome.name(), mutation.key);
            }
        }
        for area in &AREAS {
            let here = mutations.iter().filter(|mutation| mutation.area.name == area.name);
            let outcomes = here.filter_map(|mutation| self.known.get(&mutation.key)).collect::<Vec<_>>();
            let noticed = outcomes.iter().filter(|outcome| outcome.noticed()).count();
            if !outcomes.is_empty() {
                let share = noticed as f64 / outcomes.len() as f64;
                println!(
                    "{}: {noticed} of {} noticed, {share:.3}; aim {:.2}",
                    area.name,
                    outcomes.len(),
                    area.aim
                );
            }
        }
    }
}

/// Those that are asked for and have no outcome; of a list, all that it names.
pub fn chosen<'a>(
    mutations: &'a [Mutation],
    only: Option<&Path>,
    (k, n): (usize, usize),
    records: &Records,
) -> Result<Vec<&'a Mutation>, String> {
    let list = only
        .map(|path| fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display())))
        .transpose()?;
    let listed = |key: &str| list.as_ref().is_none_or(|text| text.lines().any(|line| line.ends_with(key)));
    let waits = |mutation: &Mutation| list.is_some() || !records.known.contains_key(&mutation.key);
    let wanted = mutations.iter().filter(|mutation| listed(&mutation.key) && waits(mutation));
    Ok(wanted.skip(k - 1).step_by(n).collect())
}
