//! `dpgp run`.

use std::time::Instant;

use serde_json::{Value, json};

use super::CliError;
use super::arguments::{Format, RunArguments, Selection};
use super::data::progress;
use super::output::{print, print_json};
use super::workspace::Workspace;
use crate::data::digest::stamp;
use crate::data::{DataFile, Expected};
use crate::publish::{Provenance, Report, publish, table_terminal};
use crate::run::{Bar, Journal, Options, Quiet, Watcher, execute, load};
use crate::spec::Experiment;

/// Runs experiments one after the other, each in parallel inside. One that fails does not stop the others;
/// the failures are listed at the end.
///
/// # Errors
/// The error of the only experiment, or all failures together.
pub fn run(arguments: &RunArguments) -> Result<(), CliError> {
    let selection = &arguments.selection;
    let workspace = Workspace::open(&selection.places)?;
    let experiments = selected(selection, &workspace)?;
    let mut failures = Vec::new();
    for experiment in &experiments {
        if let Err(error) = run_one(experiment, &workspace, arguments) {
            if error.is_broken_pipe() || experiments.len() == 1 {
                return Err(error);
            }
            failures.push((experiment.name.clone(), error));
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(CliError::Several { failures, all: experiments.len() }) }
}

/// The experiments that a selection means, each once.
///
/// # Errors
/// [`CliError`] if a name means nothing, or two files have one name and so one place for results.
pub(super) fn selected(selection: &Selection, workspace: &Workspace) -> Result<Vec<Experiment>, CliError> {
    let mut experiments: Vec<Experiment> = Vec::new();
    if selection.all || selection.names.is_empty() {
        experiments = workspace.experiments()?;
    }
    for name in &selection.names {
        for experiment in workspace.find(name)? {
            match experiments.iter().find(|e| e.name == experiment.name) {
                None => experiments.push(experiment),
                Some(other) if other.source.file() == experiment.source.file() => {}
                Some(_) => return Err(CliError::SameName { name: experiment.name }),
            }
        }
    }
    let slow = |e: &Experiment| e.meta.tags.iter().any(|tag| tag == "slow");
    experiments.retain(|e| !(selection.quick && slow(e)));
    Ok(experiments)
}

fn run_one(experiment: &Experiment, workspace: &Workspace, arguments: &RunArguments) -> Result<(), CliError> {
    let selection = &arguments.selection;
    let folder = workspace.results(selection.results.as_deref()).join(&experiment.name);
    let journal = Journal::new(folder.join("unfinished.jsonl"));
    let (report, provenance) = compute(experiment, workspace, selection, arguments.seed, Some(&journal))?;
    publish(&folder, &report, &provenance)?;
    let path = journal.path().to_path_buf();
    journal.remove().map_err(|cause| CliError::Io { path, cause })?;
    if selection.format == Format::Json {
        return print_json(&as_json(&report, &folder.to_string_lossy()));
    }
    let table = table_terminal(&report);
    print(&format!("{table}{:.2} s; written to {}\n\n", provenance.seconds, folder.display()))
}

/// Loads the data, runs all cells and puts them beside the published values.
pub(super) fn compute<'a>(
    experiment: &'a Experiment,
    workspace: &Workspace,
    selection: &Selection,
    seed: Option<u32>,
    journal: Option<&Journal>,
) -> Result<(Report<'a>, Provenance), CliError> {
    let samples =
        load(experiment, &workspace.manifest, &workspace.cache, progress(selection.quiet).as_ref())?;
    let start = Instant::now();
    let watcher: Box<dyn Watcher> =
        if selection.quiet { Box::new(Quiet) } else { Box::new(Bar::new(&experiment.name)) };
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let options = Options { jobs: selection.jobs.map_or_else(cores, usize::from), seed };
    let rows = execute(experiment, &samples, options, journal, watcher.as_ref())?;
    let seconds = start.elapsed().as_secs_f64();
    let provenance = Provenance {
        data: digests(experiment, workspace)?,
        project: workspace.root().to_path_buf(),
        seed: seed.unwrap_or(experiment.meta.seed),
        jobs: options.jobs,
        seconds,
    };
    Ok((Report::new(experiment, rows), provenance))
}

/// The data files of an experiment, each with its digest: that of the manifest, which the file was verified
/// by, or the one computed from a file of the user's own.
fn digests(experiment: &Experiment, workspace: &Workspace) -> Result<Vec<(String, String)>, CliError> {
    let datasets = experiment.datasets().into_iter().filter_map(|name| workspace.manifest.get(name).ok());
    let mut digests: Vec<(String, String)> =
        datasets.flat_map(|d| &d.files).map(|f| (f.path.clone(), digest(f))).collect();
    for (name, path) in experiment.own_files() {
        digests.push((name, stamp(&path)?.digest.to_string()));
    }
    Ok(digests)
}

fn digest(file: &DataFile) -> String {
    match &file.expected {
        Expected::Known(stamp) => stamp.digest.to_string(),
        Expected::Unknown { .. } => "unknown".to_owned(),
    }
}

fn as_json(report: &Report<'_>, folder: &str) -> Value {
    let rows: Vec<Value> = report
        .rows
        .iter()
        .map(|row| {
            json!({
                "cell": row.cell_id, "labels": row.labels, "metric": row.row.metric, "value": row.row.value,
                "spread": row.row.spread, "verdict": row.verdict.name(),
                "published": row.published.as_ref().map(|p| p.value), "gap": row.row.certificate.gap,
                "epsilon": row.row.certificate.epsilon, "delta": row.row.certificate.delta,
                "guarantee": row.row.certificate.to_string(), "delta_exact": row.row.certificate.delta_exact,
            })
        })
        .collect();
    let claims: Vec<Value> =
        report.claims.iter().map(|c| json!({ "claim": c.text, "holds": c.holds })).collect();
    let axes: Vec<&str> = report.experiment.axes.iter().map(|axis| axis.name.as_str()).collect();
    json!({ "experiment": report.experiment.name, "results": folder, "axes": axes, "rows": rows, "claims": claims })
}
