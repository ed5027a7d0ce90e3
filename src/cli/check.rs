//! `dpgp check`.

use serde_json::{Value, json};

use super::CliError;
use super::arguments::{CheckArguments, Format};
use super::output::{print, print_json};
use super::run::{compute, selected};
use super::workspace::Workspace;
use crate::publish::{Difference, Verdict, compare_tables, table_csv};
use crate::spec::Experiment;

/// What a check found of one experiment; nothing if it passes.
struct Findings {
    name: String,
    findings: Vec<String>,
}

/// Recomputes experiments and compares their tables with the committed ones; checks verdicts and claims.
///
/// # Errors
/// [`CliError::CheckFailed`] after all differences have been printed, or the error of a run.
pub fn check(arguments: &CheckArguments) -> Result<(), CliError> {
    let workspace = Workspace::open(&arguments.selection.places)?;
    let experiments = selected(&arguments.selection, &workspace)?;
    let mut all = Vec::new();
    for experiment in &experiments {
        let findings = check_one(experiment, &workspace, arguments)?;
        let one = Findings { name: experiment.name.clone(), findings };
        if arguments.selection.format == Format::Text {
            print(&one.text())?;
        }
        all.push(one);
    }
    if arguments.selection.format == Format::Json {
        print_json(&all.iter().map(Findings::json).collect())?;
    }
    match all.iter().filter(|one| !one.findings.is_empty()).count() {
        0 => Ok(()),
        failed => Err(CliError::CheckFailed { failed, all: experiments.len() }),
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

fn check_one(
    experiment: &Experiment,
    workspace: &Workspace,
    arguments: &CheckArguments,
) -> Result<Vec<String>, CliError> {
    let selection = &arguments.selection;
    let (report, _) = compute(experiment, workspace, selection, None, None)?;
    let path = workspace.results(selection.results.as_deref()).join(&experiment.name).join("table.csv");
    let fresh = table_csv(&report).map_err(crate::publish::PublishError::from)?;
    let mut findings: Vec<String> = match std::fs::read_to_string(&path) {
        Err(cause) => vec![format!("{}: {cause}", path.display())],
        Ok(committed) => match compare_tables(&committed, &fresh, arguments.tolerance) {
            Err(error) => vec![format!("{}: {error}", path.display())],
            Ok(differences) => differences.iter().map(Difference::to_string).collect(),
        },
    };
    let broken = report.claims.iter().filter(|claim| !claim.holds);
    findings.extend(broken.map(|claim| format!("claim fails: {}", claim.text)));
    let differing = report.rows.iter().filter(|row| row.verdict == Verdict::Differs);
    findings.extend(differing.map(|row| {
        let published = row.published.as_ref().map_or(f64::NAN, |p| p.value);
        let place = report.labels(row).collect::<Vec<_>>().join(", ");
        format!("{place}: {} is {}, published {published}", row.row.metric, row.row.value)
    }));
    Ok(findings)
}
