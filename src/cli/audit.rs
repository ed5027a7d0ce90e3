//! `dpgp audit`.

use clap::Args;
use serde_json::json;

use super::CliError;
use super::audit_end_to_end::{EndToEndArguments, audit_end_to_end};
use super::audit_samples::{SampleArguments, audit_samples};
use super::audit_types::{AuditedExperiment, AuditedGuarantee};
use super::interrupt::watch_signals;
use super::options::{Format, Places, Selection, Work};
use super::output::{print, print_json};
use dpgp_accounting::Guarantee;
use dpgp_evidence::{AuditVerdict, Finding, Found};
use dpgp_report::plain_table;
use dpgp_run::{AuditOptions, AuditedCell, audit as audit_experiment, watcher};
use dpgp_task::Experiment;

const EXAMPLES: &str = "\
Each cell that claims privacy is measured once more, in one replicate, and what it sampled is judged apart from the code
that makes the claim: the exact delta of Gaussian noise from the very factor that was sampled with, over all columns and
directions, in higher precision; bounds of accountants; pairs of data sets that are made to tell a mechanism apart. All
folds are audited; cells that differ in epsilon share one design, which is audited at each epsilon.

Verdicts:
  holds         what was found is within what is claimed, for all neighbours
  caveat        it holds but for what the note says, such as targets normalised by private statistics
  not audited   nothing is known against it, but nothing that proves it was recomputed
  broken        two neighbours are told apart better than claimed; the true delta or epsilon is printed

Exit code 1 says that a cell is broken and its spec does not announce that in a [[broken]] entry, or that an announced
break was not found. Announced breaks print `broken, as the spec says` and do not fail.

--samples attacks a mechanism of your own by what it printed on two neighbouring inputs, a row for each output: the files
are CSV or Parquet. Exit code 1 says that the samples refute the claim; that nothing was found proves nothing. docs/audit.md
tells the rest.

--end-to-end does not ask the code what it did: it replaces records by extremes and compares what would be written. One stream
of noise for both leaves what noise has to hide; releases with noise of their own are told apart by their numbers and last bits;
and the program itself, run on the file and its neighbours, must print and write the same but for noise. Nothing that is released
so is charged: it is thrown away. Exit code 1 says that something is broken.

Examples:
  dpgp audit smith2021/table1
  dpgp audit --all --format json
  dpgp audit my.toml --seed 7 --confidence 0.99
  dpgp audit --end-to-end energy.toml --at grid.csv
  dpgp audit --samples with.csv without.csv --epsilon 1 --delta 1e-5";

/// `dpgp audit`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("names", |names| names.required_unless_present_any(OTHER)))]
pub struct AuditArguments {
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    samples: SampleArguments,
    #[command(flatten)]
    end_to_end: EndToEndArguments,
    /// Use this seed instead of the spec's (1 without a spec), for what is measured and for attacks
    #[arg(long, value_name = "S")]
    seed: Option<u32>,
    /// Confidence of the bounds that attacks on samples give [default: 0.95]
    #[arg(long, value_name = "P", value_parser = confidence, allow_negative_numbers = true)]
    confidence: Option<f64>,
    #[command(flatten)]
    work: Work,
    #[command(flatten)]
    places: Places,
}

/// What needs no experiment.
const OTHER: [&str; 2] = ["samples", "end_to_end"];

/// A probability between 0 and 1.
fn confidence(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x < 1.0 => Ok(x),
        _ => Err("must be a number between 0 and 1".to_owned()),
    }
}

/// Audits what experiments guarantee, or samples.
pub fn audit(arguments: &AuditArguments, format: Format) -> Result<(), CliError> {
    let AuditArguments { samples, seed, confidence, .. } = arguments;
    if let Some(spec) = arguments.end_to_end.asked_for() {
        return audit_end_to_end(spec, &arguments.end_to_end, seed.unwrap_or(1), &arguments.places, format);
    }
    match samples.asked_for() {
        Some(sampled) => audit_samples(&sampled, seed.unwrap_or(1), confidence.unwrap_or(0.95), format),
        None => audit_experiments(arguments, format),
    }
}

fn audit_experiments(arguments: &AuditArguments, format: Format) -> Result<(), CliError> {
    let project = arguments.places.project()?;
    let experiments = arguments.selection.of(&project)?;
    let (pool, watcher, stop) = (arguments.work.pool()?, watcher(arguments.work.quiet), watch_signals()?);
    let (seed, confidence) = (arguments.seed, arguments.confidence.unwrap_or(0.95));
    let options = AuditOptions { pool: &pool, watcher: watcher.as_ref(), stop: &stop, seed, confidence };
    let (mut failed, mut all, mut printed) = (0, 0, Vec::new());
    for experiment in &experiments {
        let audited = audit_experiment(&project, experiment, &options)?;
        failed += audited.iter().filter(|cell| cell.fails()).count();
        all += audited.len();
        match format {
            Format::Text => print(&text(experiment, &audited))?,
            Format::Json => printed.push(AuditedExperiment {
                experiment: experiment.folder(),
                cells: audited.iter().map(described).collect(),
            }),
        }
    }
    if format == Format::Json {
        print_json(&json!(printed))?;
    }
    if failed == 0 { Ok(()) } else { Err(CliError::AuditFailed { failed, all }) }
}

fn text(experiment: &Experiment, audited: &[AuditedCell<'_>]) -> String {
    let name = experiment.folder();
    if audited.is_empty() {
        return format!("{name}: no cell claims privacy\n\n");
    }
    let headings = ["cell", "claimed", "found", "verdict", "how, and what is excepted"];
    let table = plain_table(&headings, audited.iter().map(row));
    let mut counts = Vec::new();
    for verdict in [AuditVerdict::Holds, AuditVerdict::Caveat, AuditVerdict::NotAudited, AuditVerdict::Broken]
    {
        match audited.iter().filter(|cell| cell.finding.verdict == verdict).count() {
            0 => {}
            count => counts.push(format!("{count} {}", verdict.name())),
        }
    }
    format!("{name}: {}\n{table}\n", counts.join(", "))
}

/// The cell, its claim, what the decisive check found, the verdict, and how.
fn row(cell: &AuditedCell<'_>) -> Vec<String> {
    let Finding { guarantee: Guarantee { epsilon, delta }, checks, reasons, .. } = &cell.finding;
    let reasons = reasons.join("; ");
    let (found, note) = match checks.first() {
        None => (String::new(), reasons),
        Some(check) if reasons.is_empty() => {
            (check.found.text(), check.note.clone() + &attacks(&cell.finding))
        }
        Some(check) => (check.found.text(), reasons + &attacks(&cell.finding)),
    };
    let claimed = format!("({epsilon:?}, {delta:?})");
    vec![cell.cell.place(), claimed, found, verdict(cell), note]
}

fn verdict(cell: &AuditedCell<'_>) -> String {
    match (cell.is_broken(), cell.announced) {
        (true, Some(_)) => "broken, as the spec says".to_owned(),
        (true, None) => "BROKEN".to_owned(),
        (false, Some(_)) => format!("{}, BUT THE SPEC SAYS BROKEN", cell.finding.verdict.name()),
        (false, None) => cell.finding.verdict.name().to_owned(),
    }
}

/// The largest epsilon that an attack on samples proves.
fn attacks(finding: &Finding) -> String {
    let mut most = f64::NEG_INFINITY;
    for check in finding.checks.iter().skip(1) {
        if let Found::EpsilonAtLeast(epsilon) = check.found {
            most = most.max(epsilon);
        }
    }
    if most == f64::NEG_INFINITY {
        return String::new();
    }
    format!("; attacks: {}", Found::EpsilonAtLeast(most).text())
}

fn described(one: &AuditedCell<'_>) -> AuditedGuarantee {
    let Finding { claim, guarantee, checks, verdict, reasons } = &one.finding;
    AuditedGuarantee {
        cell: one.cell.id().short(),
        labels: one.cell.labels().to_vec(),
        epsilon: guarantee.epsilon,
        delta: guarantee.delta,
        guarantee: claim.to_string(),
        delta_exact: claim.delta_exact,
        verdict: *verdict,
        checks: checks.clone(),
        reasons: reasons.clone(),
        announced: one.announced.map(str::to_owned),
        fails: one.fails(),
    }
}
