//! `dpgp check`.

use std::io::Write;
use std::path::Path;

use clap::{Args, ValueEnum};
use serde_json::json;

use super::CliError;
use super::interrupt::watch_signals;
use super::options::{ComputeArguments, DataLocationArguments, ExperimentSelection, OutputFormat, ResultsArguments};
use super::output::{ExperimentCheckOutput, print, print_json, print_raw_unless_terminal};
use super::report::summary_pages;
use dpgp_report::{
    CheckFindings, Report, check_junit_xml, check_summary_markdown, list_result_differences, publish, wrap_prose,
};
use dpgp_run::{ExperimentRunReport, ExperimentRunner, Project, Provenance, RunError, RunOptions, create_watcher};
use dpgp_task::Experiment;

const EXAMPLES: &str = "\
Computes everything again in a scratch folder, without touching the store or the results. A check fails if a number, a verdict or the
outcome of a claim changed, or if the committed results are from another version of the spec. A result that does not reproduce the paper
is not a failure: the verdict `differs` or `fails` is part of the committed results.

Examples:
  dpgp check smith2021/table1
  dpgp check --all --tolerance 1e-6
  dpgp check --quick               check the reduced settings against their own committed results
  dpgp check mine.toml --twice     run twice and check that the numbers are identical
  dpgp check smith2021 --as github           annotations in a workflow; see docs/reference.md
  dpgp check smith2021 --as junit > check.xml";

/// Arguments of `dpgp check`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CheckArguments {
    #[command(flatten)]
    selection: ExperimentSelection,
    /// Largest relative difference at which two numbers count as equal
    #[arg(long, value_name = "X", default_value = "1e-9", value_parser = tolerance, allow_negative_numbers = true)]
    tolerance: f64,
    /// Compare two runs with each other instead of with the committed results: tests that the same seed gives the same numbers
    #[arg(long)]
    twice: bool,
    /// Format of the findings, for continuous integration
    #[arg(long = "as", value_enum, default_value = "text", value_name = "FORMAT")]
    form: CheckFormat,
    #[command(flatten)]
    results: ResultsArguments,
    #[command(flatten)]
    work: ComputeArguments,
    #[command(flatten)]
    places: DataLocationArguments,
}

/// Formats of the findings of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// Human-readable text.
    Text,
    /// Annotations for GitHub Actions; also adds a table to the file GITHUB_STEP_SUMMARY.
    Github,
    /// JUnit XML.
    Junit,
}

/// Parses a relative tolerance, finite and not negative.
pub(super) fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() && x >= 0.0 => Ok(x),
        _ => Err("must be a finite number, at least 0".to_owned()),
    }
}

/// Recomputes experiments and compares their tables, verdicts and claims with the committed ones.
pub fn check(arguments: &CheckArguments, format: OutputFormat) -> Result<(), CliError> {
    let project = arguments.places.project()?;
    let experiments = arguments.selection.experiments(&project)?;
    let scratch = tempfile::tempdir().map_err(CliError::io_error_at(&std::env::temp_dir()))?;
    let mut study = ExperimentRunner::open(&project, scratch.path())?;
    let (pool, watcher, stop) = (arguments.work.pool()?, create_watcher(arguments.work.quiet), watch_signals()?);
    let options = RunOptions { watcher: watcher.as_ref(), stop: &stop, ..RunOptions::new(&pool) };
    let again = tempfile::tempdir().map_err(CliError::io_error_at(&std::env::temp_dir()))?;
    let mut results = arguments.results.folder(&project);
    if arguments.twice {
        results = again.path().join("results");
        let mut first = ExperimentRunner::open(&project, again.path())?;
        for experiment in &experiments {
            let done = first.run(experiment, &options).map_err(RunError::into_discarded)?;
            let (report, provenance) = build_report(experiment, done)?;
            publish(&results.join(experiment.relative_results_folder()), &report, &provenance)?;
        }
    }
    let mut all = Vec::new();
    for experiment in &experiments {
        let folder = results.join(experiment.relative_results_folder());
        let done = match study.run(experiment, &options).map_err(RunError::into_discarded) {
            // One experiment that fails does not hide the others.
            Err(failed @ RunError::Cells { .. }) => {
                let (name, file) = (experiment.relative_results_folder(), folder.join("table.csv"));
                let found = CheckFindings { name, file, findings: vec![failed.to_string()] };
                print_findings(&found, arguments.form, format)?;
                all.push(found);
                continue;
            }
            done => done?,
        };
        let (report, provenance) = build_report(experiment, done)?;
        let findings = list_result_differences(&folder, &report, &provenance, arguments.tolerance)?;
        // The folder of the first of two runs is gone afterwards.
        let scratch = format!("{}/", again.path().display());
        let findings = findings.iter().map(|finding| finding.replace(&scratch, "")).collect();
        let file = folder.join("table.csv");
        let found = CheckFindings { name: experiment.relative_results_folder(), file, findings };
        print_findings(&found, arguments.form, format)?;
        all.push(found);
    }
    if arguments.selection.names.is_empty() && !arguments.twice {
        for found in check_summary_pages(&project, arguments)? {
            print_findings(&found, arguments.form, format)?;
            all.push(found);
        }
    }
    match (format, arguments.form) {
        (OutputFormat::Json, _) => print_json(&json!(all.iter().map(describe_check).collect::<Vec<_>>()))?,
        (_, CheckFormat::Junit) => print_raw_unless_terminal(&check_junit_xml(&all))?,
        (_, CheckFormat::Github) => append_github_step_summary(&all)?,
        (_, CheckFormat::Text) if all.len() > 1 => print(&check_summary_line(&all))?,
        (_, CheckFormat::Text) => {}
    }
    match all.iter().filter(|one| !one.passes()).count() {
        0 => Ok(()),
        failed => Err(CliError::CheckFailed { failed, all: all.len() }),
    }
}

/// Counts the checks, and names those that failed.
fn check_summary_line(all: &[CheckFindings]) -> String {
    let failed: Vec<&str> = all.iter().filter(|one| !one.passes()).map(|one| one.name.as_str()).collect();
    let failed_names = if failed.is_empty() { String::new() } else { format!("; failed: {}", failed.join(", ")) };
    wrap_prose(&format!("{} of {} checks pass{failed_names}\n", all.len() - failed.len(), all.len()))
}

fn describe_check(one: &CheckFindings) -> ExperimentCheckOutput {
    ExperimentCheckOutput { experiment: one.name.clone(), passes: one.passes(), findings: one.findings.clone() }
}

/// Prints the findings of one experiment at once, as text or annotations.
fn print_findings(one: &CheckFindings, form: CheckFormat, format: OutputFormat) -> Result<(), CliError> {
    match (format, form) {
        (OutputFormat::Json, _) | (_, CheckFormat::Junit) => Ok(()),
        (_, CheckFormat::Text) => print(&wrap_prose(&one.text())),
        (_, CheckFormat::Github) => print(&format!("{}{}", one.text(), one.github_annotations())),
    }
}

/// The report of a whole run.
fn build_report(experiment: &Experiment, done: ExperimentRunReport) -> Result<(Report<'_>, Provenance), CliError> {
    let Some(results) = done.results else {
        return Err(CliError::Incomplete(experiment.name.clone()));
    };
    Ok((Report::new(experiment, results.rows, results.frames), done.provenance))
}

/// Checks that the pages about all experiments match the tables beside them.
fn check_summary_pages(project: &Project, arguments: &CheckArguments) -> Result<Vec<CheckFindings>, CliError> {
    let results = arguments.results.folder(project);
    let fresh = summary_pages(&results, project, &project.experiments()?)?;
    let compared = fresh.into_iter().map(|(name, fresh)| {
        let file = results.join(name);
        let findings = match std::fs::read_to_string(&file) {
            Ok(committed) if committed == fresh => Vec::new(),
            Ok(_) => vec![format!("{} does not match the tables; use `dpgp run --all` to rewrite it", file.display())],
            Err(cause) => vec![format!("{}: {cause}; use `dpgp run --all` to write it", file.display())],
        };
        CheckFindings { name: name.to_owned(), file, findings }
    });
    Ok(compared.collect())
}

/// Adds the summary to the file that the service shows, if there is one.
fn append_github_step_summary(all: &[CheckFindings]) -> Result<(), CliError> {
    let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) else {
        return Ok(());
    };
    let path = Path::new(&path);
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(check_summary_markdown(all).as_bytes()))
        .map_err(CliError::io_error_at(path))
}
