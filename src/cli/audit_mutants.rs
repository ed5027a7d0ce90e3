//! `dpgp audit --mutants`.

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::json;

use super::CliError;
use super::audit_types::{AttackedMutant, AttackedMutants, KnownTruth};
use super::options::{Format, Work};
use super::output::{print, print_json};
use dpgp_evidence::{Mutant, MutantFinding, MutantOptions, Truth, mutants, try_mutant};
use dpgp_report::{plain_table, short};
use dpgp_run::watcher;

/// The confidence of all bounds together: one run in a million may raise a false alarm.
const CONFIDENCE: f64 = 1.0 - 1e-6;

/// Mechanisms of known truth.
#[derive(Debug, Args)]
pub struct MutantArguments {
    /// Attack mechanisms whose truth is known, instead of experiments
    #[arg(long, conflicts_with_all = ["names", "all", "quick"])]
    mutants: bool,
    /// Only these mechanisms
    #[arg(
        long, value_name = "NAME", requires = "mutants", value_delimiter = ',', hide_possible_values = true,
        value_parser = PossibleValuesParser::new(mutants().into_iter().map(|mutant| mutant.name))
    )]
    only: Vec<String>,
}

impl MutantArguments {
    /// Whether mutants are to be attacked.
    pub fn is_asked_for(&self) -> bool {
        self.mutants
    }

    fn selected(&self) -> Vec<Mutant> {
        let mut selected = mutants();
        selected.retain(|mutant| self.only.is_empty() || self.only.iter().any(|name| name == mutant.name));
        selected
    }
}

/// Attacks mutants and says whether the attack was right about each.
pub fn audit_mutants(
    arguments: &MutantArguments,
    seed: Option<u32>,
    confidence: Option<f64>,
    work: &Work,
    format: Format,
) -> Result<(), CliError> {
    let (mutants, pool, watcher) = (arguments.selected(), work.pool()?, watcher(work.quiet));
    let options = MutantOptions::of_all(mutants.len(), seed.unwrap_or(1), confidence.unwrap_or(CONFIDENCE));
    watcher.begins("mutants", mutants.len());
    let findings = pool.each(&mutants, |number, mutant| {
        watcher.started(number, &|| mutant.name.to_owned());
        let finding = try_mutant(mutant, options);
        watcher.finished(number);
        finding
    });
    watcher.ends();
    let tried: Vec<Tried<'_>> =
        mutants.iter().zip(&findings).map(|(mutant, finding)| Tried { mutant, finding }).collect();
    let (all, wrong) = (tried.len(), tried.iter().filter(|tried| !tried.finding.right).count());
    match format {
        Format::Text => print(&text(&tried))?,
        Format::Json => print_json(&json!(AttackedMutants {
            seed: options.seed,
            mutants: tried.iter().map(described).collect(),
            wrong
        }))?,
    }
    if wrong == 0 { Ok(()) } else { Err(CliError::MutantsWrong { wrong, all }) }
}

/// A mutant and what was found of it.
struct Tried<'a> {
    mutant: &'a Mutant,
    finding: &'a MutantFinding,
}

fn text(tried: &[Tried<'_>]) -> String {
    let broken = tried.iter().filter(|tried| tried.mutant.is_broken()).count();
    let found = tried.iter().filter(|tried| tried.mutant.is_broken() && tried.finding.violated).count();
    let alarms = tried.iter().filter(|tried| !tried.mutant.is_broken() && tried.finding.violated).count();
    let headings =
        ["mechanism", "claimed", "truth", "epsilon >=", "delta >=", "verdict", "is", "what it does"];
    let table = plain_table(&headings, tried.iter().map(row));
    let correct = tried.len() - broken;
    format!(
        "{table}\n{found} of {broken} broken mechanisms found, {alarms} false alarms on {correct} correct ones\n"
    )
}

fn row(tried: &Tried<'_>) -> Vec<String> {
    let Tried { mutant, finding } = tried;
    let cells = [
        mutant.name,
        &format!("({}, {})", short(mutant.claim.epsilon), short(mutant.claim.delta)),
        &mutant.truth.text(),
        &short(finding.bounds.epsilon),
        &short(finding.bounds.delta),
        verdict(finding.violated),
        if finding.right { "right" } else { "WRONG" },
        mutant.what,
    ];
    cells.map(str::to_owned).to_vec()
}

/// The verdict on a claim.
pub(super) fn verdict(violated: bool) -> &'static str {
    if violated { "violated" } else { "nothing found" }
}

fn described(tried: &Tried<'_>) -> AttackedMutant {
    let Tried { mutant, finding } = tried;
    AttackedMutant {
        name: mutant.name,
        what: mutant.what,
        epsilon: mutant.claim.epsilon,
        delta: mutant.claim.delta,
        truth: match mutant.truth {
            Truth::Epsilon(epsilon) => {
                KnownTruth::Epsilon(Some(epsilon).filter(|epsilon| epsilon.is_finite()))
            }
            Truth::Delta(delta) => KnownTruth::Delta(delta),
        },
        broken: mutant.is_broken(),
        epsilon_at_least: finding.bounds.epsilon,
        delta_at_least: finding.bounds.delta,
        set: finding.bounds.set.clone(),
        verdict: verdict(finding.violated),
        right: finding.right,
    }
}
