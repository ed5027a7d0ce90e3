//! `dpgp collect`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::CliError;
use super::options::{DataLocationArguments, OutputFormat, ResultsArguments, StoreArguments};
use super::output::{ExperimentCollectOutput, print, print_json};
use dpgp_report::{Report, publish};
use dpgp_run::ExperimentRunner;
use dpgp_run::store::{RunHeader, merge_stores};
use dpgp_spec::is_changed_experiment_name;

const EXAMPLES: &str = "\
The stores of one experiment's shards must agree on spec, data, seed and numerics version. Results held in several stores must agree too.
Writes tables for every complete experiment, and fails if any experiment is incomplete.

Examples:
  dpgp collect node1/store node2/store        into the project's own store
  dpgp collect /scratch/s --store /scratch/s  if all shards wrote to one folder: writes only the tables";

/// Arguments of `dpgp collect`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CollectArguments {
    /// Folders with the stored results of shards
    #[arg(required = true, value_name = "DIR")]
    directories: Vec<PathBuf>,
    #[command(flatten)]
    store: StoreArguments,
    #[command(flatten)]
    results: ResultsArguments,
    #[command(flatten)]
    places: DataLocationArguments,
}

/// The state of one experiment.
struct CollectionStatus {
    name: String,
    done: usize,
    total: usize,
    folder: Option<PathBuf>,
}

/// Merges stores and publishes complete experiments. Fails if an experiment is incomplete.
pub fn collect(arguments: &CollectArguments, format: OutputFormat) -> Result<(), CliError> {
    let project = arguments.places.project()?;
    if let Some(path) = arguments.directories.iter().find(|directory| !directory.is_dir()) {
        return Err(CliError::NotAFolder(path.clone()));
    }
    let store = arguments.store.folder(&project);
    project.ensure_no_links_to_store(&store)?;
    let runs = merge_stores(&store, &arguments.directories)?;
    let study = arguments.store.study(&project)?;
    let mut all = Vec::new();
    // Skip runs with --set: their changes are not in any spec.
    for header in runs.iter().filter(|header| !is_changed_experiment_name(&header.experiment)) {
        all.push(publish_run(header, &study, &arguments.results)?);
    }
    if format == OutputFormat::Json {
        print_json(&json!(all.iter().map(CollectionStatus::to_output).collect::<Vec<_>>()))?;
    } else {
        print(&all.iter().map(CollectionStatus::status_line).collect::<String>())?;
    }
    match all.iter().find(|one| one.folder.is_none()) {
        None => Ok(()),
        Some(one) => Err(CliError::Incomplete(one.name.clone())),
    }
}

/// Publishes the stored results of a run, if it is complete.
fn publish_run(
    header: &RunHeader,
    study: &ExperimentRunner<'_>,
    results: &ResultsArguments,
) -> Result<CollectionStatus, CliError> {
    let (experiment, report) = study.load_stored_report(header)?;
    let (name, done, total) = (experiment.relative_results_folder(), report.stored, report.total);
    let folder = results.output_folder(study.project(), &experiment, Some(report.provenance.seed))?;
    let Some(found) = report.results else {
        return Ok(CollectionStatus { name, done, total, folder: None });
    };
    publish(&folder, &Report::new(&experiment, found.rows, found.frames), &report.provenance)?;
    Ok(CollectionStatus { name, done, total, folder: Some(folder) })
}

impl CollectionStatus {
    fn status_line(&self) -> String {
        let Self { name, done, total, folder } = self;
        match folder {
            Some(folder) => {
                format!("{name}: all {total} results are stored; written to {}\n", folder.display())
            }
            None => format!("{name}: {done} of {total} results are stored; run the missing shards again\n"),
        }
    }

    fn to_output(&self) -> ExperimentCollectOutput {
        let Self { name, done, total, folder } = self;
        ExperimentCollectOutput { experiment: name.clone(), stored: *done, total: *total, results: folder.clone() }
    }
}
