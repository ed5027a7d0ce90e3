//! `dpgp check`.

use std::path::Path;

use super::CliError;
use super::arguments::CheckArguments;
use super::output::print;
use super::run::{compute, selected};
use super::workspace::Workspace;
use crate::publish::{Difference, Verdict, compare_tables, table_csv};
use crate::spec::Experiment;

/// Recomputes experiments and compares their tables with the committed ones; checks verdicts and claims.
///
/// # Errors
/// [`CliError::CheckFailed`] after all differences have been printed, or the error of a run.
pub fn check(arguments: &CheckArguments) -> Result<(), CliError> {
    let workspace = Workspace::open(&arguments.selection.places)?;
    let experiments = selected(&arguments.selection, &workspace)?;
    let quick = |e: &&Experiment| !(arguments.quick && e.meta.tags.iter().any(|tag| tag == "slow"));
    let experiments: Vec<&Experiment> = experiments.iter().filter(quick).collect();
    let mut failed = 0;
    for experiment in &experiments {
        let findings = check_one(experiment, &workspace, arguments)?;
        failed += usize::from(!findings.is_empty());
        let verdict = if findings.is_empty() { "passes" } else { "FAILS" };
        print(&format!("{}: {verdict}\n", experiment.name))?;
        print(&findings.iter().map(|finding| format!("  {finding}\n")).collect::<String>())?;
    }
    match failed {
        0 => Ok(()),
        failed => Err(CliError::CheckFailed { failed, all: experiments.len() }),
    }
}

fn check_one(
    experiment: &Experiment,
    workspace: &Workspace,
    arguments: &CheckArguments,
) -> Result<Vec<String>, CliError> {
    let selection = &arguments.selection;
    let (report, _) = compute(experiment, workspace, selection, None, None)?;
    let path = selection.results.join(&experiment.name).join("table.csv");
    let committed = read(&path)?;
    let fresh = table_csv(&report).map_err(crate::publish::PublishError::from)?;
    let differences = compare_tables(&committed, &fresh, arguments.tolerance);
    let mut findings: Vec<String> = differences.iter().map(Difference::to_string).collect();
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

fn read(path: &Path) -> Result<String, CliError> {
    std::fs::read_to_string(path).map_err(|cause| CliError::Io { path: path.to_path_buf(), cause })
}
