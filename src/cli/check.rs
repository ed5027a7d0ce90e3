//! `dpgp check`.

use clap::Args;
use serde_json::{Value, json};

use super::CliError;
use super::arguments::{Format, Places, ResultsPlace, Selection, Work};
use super::compute::{Bench, Computed};
use super::interrupt::watch_signals;
use super::output::{print, print_json};
use super::workspace::Workspace;
use crate::publish::{REPRODUCTION, Report, Verdict, reproduction_markdown, stale};
use crate::run::store::Store;
use crate::run::{RunError, Shard};
use crate::task::Experiment;

const EXAMPLES: &str = "\
Everything is computed again in a scratch folder; neither the store nor the results are touched. A check fails if a number
moved, a claim does not hold, a verdict is `differs`, or what is committed is of another version of the spec.

Examples:
  dpgp check smith2021/table1
  dpgp check --all --tolerance 1e-6
  dpgp check --quick               the reduced settings, against the results committed beside the full ones";

/// `dpgp check`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CheckArguments {
    #[command(flatten)]
    selection: Selection,
    /// Largest relative difference of two numbers that counts as the same
    #[arg(long, value_name = "X", default_value = "1e-9", value_parser = tolerance)]
    tolerance: f64,
    #[command(flatten)]
    results: ResultsPlace,
    #[command(flatten)]
    work: Work,
    #[command(flatten)]
    places: Places,
}

/// A relative tolerance: finite and not negative.
pub(super) fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() && x >= 0.0 => Ok(x),
        _ => Err("must be a finite number that is not negative".to_owned()),
    }
}

/// What a check found of one experiment; nothing if it passes.
struct Findings {
    name: String,
    findings: Vec<String>,
}

/// Recomputes experiments and compares their tables with the committed ones; checks verdicts and claims.
///
/// # Errors
/// [`CliError::CheckFailed`] after all differences have been printed, or the error of a run.
pub fn check(arguments: &CheckArguments, format: Format) -> Result<(), CliError> {
    let workspace = Workspace::open(&arguments.places)?;
    let experiments = workspace.selected(&arguments.selection)?;
    let scratch = tempfile::tempdir().map_err(|cause| CliError::Io { path: std::env::temp_dir(), cause })?;
    let mut store = Store::open(scratch.path()).map_err(RunError::from)?;
    let bench = Bench {
        workspace: &workspace,
        work: &arguments.work,
        seed: None,
        shard: Shard::WHOLE,
        fail_fast: false,
        stop: watch_signals()?,
    };
    let mut all = Vec::new();
    for experiment in &experiments {
        let mut computed = bench.compute(experiment, &mut store).map_err(CliError::of_check)?;
        let findings = findings(experiment, &mut computed, &workspace, arguments)?;
        all.push(Findings { name: experiment.folder(), findings });
        if let (Format::Text, Some(one)) = (format, all.last()) {
            print(&one.text())?;
        }
    }
    if arguments.selection.names.is_empty() {
        let one = Findings { name: REPRODUCTION.to_owned(), findings: summary(&workspace, arguments)? };
        if format == Format::Text {
            print(&one.text())?;
        }
        all.push(one);
    }
    if format == Format::Json {
        print_json(&all.iter().map(Findings::json).collect())?;
    }
    match all.iter().filter(|one| !one.findings.is_empty()).count() {
        0 => Ok(()),
        failed => Err(CliError::CheckFailed { failed, all: all.len() }),
    }
}

impl Findings {
    fn text(&self) -> String {
        let verdict = if self.findings.is_empty() { "passes" } else { "FAILS" };
        let lines: String = self.findings.iter().map(|finding| format!("  {finding}\n")).collect();
        format!("{}: {verdict}\n{lines}", self.name)
    }

    fn json(&self) -> Value {
        json!({ "experiment": self.name, "passes": self.findings.is_empty(), "findings": self.findings })
    }
}

fn findings(
    experiment: &Experiment,
    computed: &mut Computed,
    workspace: &Workspace,
    arguments: &CheckArguments,
) -> Result<Vec<String>, CliError> {
    let Some(report) = computed.report(experiment) else {
        return Err(CliError::Incomplete { name: experiment.name.clone() });
    };
    let folder = workspace.results(&arguments.results).join(experiment.folder());
    let mut findings = stale(&folder, &report, &computed.provenance, arguments.tolerance)?;
    findings.extend(broken(&report));
    Ok(findings)
}

/// Claims that do not hold, and rows that differ from what is published.
fn broken(report: &Report<'_>) -> Vec<String> {
    let claim = |claim: &crate::publish::ClaimOutcome| match claim.values {
        Some((left, right)) => format!("claim fails: {} ({left} against {right})", claim.text),
        None => format!("claim fails: {} (it is about no row)", claim.text),
    };
    let mut broken: Vec<String> = report.claims.iter().filter(|c| !c.holds).map(claim).collect();
    let differing = report.rows.iter().filter(|row| row.verdict == Verdict::Differs);
    broken.extend(differing.map(|row| {
        let published = row.published.as_ref().map_or(f64::NAN, |p| p.value);
        let place = report.labels(row).collect::<Vec<_>>().join(", ");
        format!("{place}: {} is {}, published {published}", row.row.metric, row.row.value)
    }));
    broken
}

/// Whether the summary of all experiments is that of the tables beside it.
fn summary(workspace: &Workspace, arguments: &CheckArguments) -> Result<Vec<String>, CliError> {
    let results = workspace.results(&arguments.results);
    let fresh = reproduction_markdown(&results, &workspace.experiments()?)?;
    let path = results.join(REPRODUCTION);
    match std::fs::read_to_string(&path) {
        Ok(committed) if committed == fresh => Ok(Vec::new()),
        Ok(_) => Ok(vec![format!("{} is not that of the tables; dpgp run --all writes it", path.display())]),
        Err(cause) => Ok(vec![format!("{}: {cause}; dpgp run --all writes it", path.display())]),
    }
}
