//! `dpgp list`.

use clap::Args;
use serde_json::json;

use super::CliError;
use super::options::{DataLocationArguments, OutputFormat};
use super::output::{ExperimentListOutput, print, print_json};
use dpgp_data::DatasetStatus;
use dpgp_report::plain_table_dropping_columns;
use dpgp_run::Project;
use dpgp_task::Experiment;

const EXAMPLES: &str = "\
Examples:
  dpgp list
  dpgp list houses                 experiments with this word in their name, title, paper, artefact, tags or data
  dpgp list smith2021 table        experiments with both words
  dpgp list --format json";

/// The columns to drop on a narrow terminal.
const SPARE: [&str; 2] = ["dataset", "artefact"];

/// Arguments of `dpgp list`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ListArguments {
    /// List only experiments that have all these words in their name, title, paper, artefact, tags or data; ignores case
    #[arg(value_name = "WORD")]
    words: Vec<String>,
    #[command(flatten)]
    places: DataLocationArguments,
}

/// Lists the shipped experiments.
pub fn list(arguments: &ListArguments, format: OutputFormat) -> Result<(), CliError> {
    let project = arguments.places.project()?;
    let specs = project.specs()?;
    let (mut experiments, mut failures) = (Vec::new(), Vec::new());
    for (spec, experiment) in specs.iter().zip(project.load_each_experiment()?) {
        match experiment {
            Ok(experiment) => experiments.push(experiment),
            Err(error) => failures.push((spec.name.clone(), error.into())),
        }
    }
    let words: Vec<String> = arguments.words.iter().map(|word| word.to_lowercase()).collect();
    experiments.retain(|experiment| matches_words(experiment, &words));
    if experiments.is_empty() && failures.is_empty() && format == OutputFormat::Text {
        print("no experiment has all these words; use `dpgp list` to see all experiments\n")?;
    } else if format == OutputFormat::Json {
        let listed = experiments.iter().map(|experiment| describe_experiment(experiment, &project));
        print_json(&json!(listed.collect::<Vec<_>>()))?;
    } else {
        let headings = ["name", "paper", "artefact", "dataset", "cells", "data"];
        let rows = experiments.iter().map(|experiment| row(experiment, &project));
        print(&plain_table_dropping_columns(&headings, rows, &SPARE))?;
    }
    // Report unreadable specs after the list.
    CliError::combine_failures(failures, specs.len())
}

fn matches_words(experiment: &Experiment, words: &[String]) -> bool {
    let meta = &experiment.meta;
    let own = [Some(&experiment.name), Some(&meta.title), meta.paper.as_ref(), meta.artefact.as_ref()];
    let mut texts: Vec<String> = own.into_iter().flatten().map(|text| text.to_lowercase()).collect();
    texts.extend(meta.tags.iter().map(|tag| tag.to_lowercase()));
    texts.extend(experiment.datasets().iter().map(|name| name.to_lowercase()));
    words.iter().all(|word| texts.iter().any(|text| text.contains(word)))
}

fn row(experiment: &Experiment, project: &Project) -> Vec<String> {
    let meta = &experiment.meta;
    let datasets = experiment.datasets();
    vec![
        experiment.name.clone(),
        meta.paper.clone().unwrap_or_default(),
        meta.artefact.clone().unwrap_or_default(),
        if datasets.is_empty() { "in the spec".to_owned() } else { datasets.join(", ") },
        experiment.cells.len().to_string(),
        data_status_name(experiment, project).to_owned(),
    ]
}

/// Returns the status of an experiment's data: that of its worst dataset.
pub(super) fn data_status_name(experiment: &Experiment, project: &Project) -> &'static str {
    let datasets = experiment.datasets();
    let known = datasets.iter().filter_map(|name| project.manifest.get(name).ok());
    known.map(|dataset| project.cache.status(dataset)).max().map_or("none needed", status_name)
}

/// Names a status.
pub(super) fn status_name(status: DatasetStatus) -> &'static str {
    match status {
        DatasetStatus::Present => "present",
        DatasetStatus::InMirror => "in the mirror",
        DatasetStatus::Missing => "to be fetched",
        DatasetStatus::Unobtainable => "unobtainable",
        DatasetStatus::Damaged => "damaged",
    }
}

/// Describes an experiment for JSON.
pub(super) fn describe_experiment(experiment: &Experiment, project: &Project) -> ExperimentListOutput {
    let meta = &experiment.meta;
    ExperimentListOutput {
        name: experiment.name.clone(),
        title: meta.title.clone(),
        paper: meta.paper.clone(),
        artefact: meta.artefact.clone(),
        tags: meta.tags.clone(),
        datasets: experiment.datasets().into_iter().map(str::to_owned).collect(),
        cells: experiment.cells.len(),
        replicates: meta.replicates,
        data: data_status_name(experiment, project),
    }
}
