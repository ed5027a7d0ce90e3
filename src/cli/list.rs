//! `dpgp list`.

use clap::Args;
use serde_json::{Value, json};

use super::CliError;
use super::arguments::{Format, Places};
use super::output::{print, print_json};
use super::workspace::Workspace;
use crate::data::Status;
use crate::publish::plain_table;
use crate::task::Experiment;

const EXAMPLES: &str = "\
Examples:
  dpgp list
  dpgp list --format json";

/// `dpgp list`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ListArguments {
    #[command(flatten)]
    places: Places,
}

/// Lists the shipped experiments.
///
/// # Errors
/// [`CliError`] if a spec is wrong or the output cannot be written.
pub fn list(arguments: &ListArguments, format: Format) -> Result<(), CliError> {
    let workspace = Workspace::open(&arguments.places)?;
    let mut experiments = Vec::new();
    let mut failures = Vec::new();
    for spec in workspace.specs()? {
        match workspace.load(spec) {
            Ok(experiment) => experiments.push(experiment),
            Err(error) => failures.push((spec.name.clone(), error)),
        }
    }
    if format == Format::Json {
        let all: Vec<Value> = experiments.iter().map(|e| as_json(e, &workspace)).collect();
        print_json(&Value::Array(all))?;
        return broken(failures, workspace.specs()?.len());
    }
    let headings = ["name", "paper", "artefact", "dataset", "cells", "data"];
    let rows = experiments.iter().map(|e| row(e, &workspace).to_vec());
    print(&plain_table(&headings, rows))?;
    broken(failures, workspace.specs()?.len())
}

/// The specs that could not be read, after those that could.
fn broken(failures: Vec<(String, CliError)>, all: usize) -> Result<(), CliError> {
    if failures.is_empty() { Ok(()) } else { Err(CliError::Several { failures, all }) }
}

fn row(experiment: &Experiment, workspace: &Workspace) -> [String; 6] {
    let meta = &experiment.meta;
    let datasets = experiment.datasets();
    [
        experiment.name.clone(),
        meta.paper.clone().unwrap_or_default(),
        meta.artefact.clone().unwrap_or_default(),
        if datasets.is_empty() { "in the spec".to_owned() } else { datasets.join(", ") },
        experiment.cells.len().to_string(),
        presence(experiment, workspace).to_owned(),
    ]
}

/// Whether all data of an experiment are here; the worst dataset counts.
pub(super) fn presence(experiment: &Experiment, workspace: &Workspace) -> &'static str {
    let datasets = experiment.datasets();
    let known = datasets.iter().filter_map(|name| workspace.manifest.get(name).ok());
    known.map(|dataset| workspace.cache.status(dataset)).max().map_or("none needed", status_name)
}

/// A status in words.
pub(super) fn status_name(status: Status) -> &'static str {
    match status {
        Status::Present => "present",
        Status::InMirror => "in the mirror",
        Status::Missing => "to be fetched",
        Status::Unobtainable => "unobtainable",
        Status::Damaged => "damaged",
    }
}

fn as_json(experiment: &Experiment, workspace: &Workspace) -> Value {
    json!({
        "name": experiment.name,
        "title": experiment.meta.title,
        "paper": experiment.meta.paper,
        "artefact": experiment.meta.artefact,
        "tags": experiment.meta.tags,
        "datasets": experiment.datasets(),
        "cells": experiment.cells.len(),
        "replicates": experiment.meta.replicates,
        "data": presence(experiment, workspace),
    })
}
