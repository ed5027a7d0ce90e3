//! What a shell completes: the names of experiments and of datasets, beside files.

use std::ffi::OsStr;

use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};

use dpgp_run::{DataPlaces, Project, RunError};

/// What a completion script sets to ask what could follow; an empty one counts as unset.
pub const ASKED: &str = "DPGP_COMPLETE";

/// Names of experiments, or paths of specs.
pub fn experiments() -> ArgValueCompleter {
    ArgValueCompleter::new(experiments_or_files)
}

/// Names of datasets.
pub fn datasets() -> ArgValueCompleter {
    ArgValueCompleter::new(dataset_names)
}

fn experiments_or_files(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut found = beginning(experiment_names().unwrap_or_default(), current);
    found.extend(PathCompleter::file().complete(current));
    found
}

fn experiment_names() -> Result<Vec<String>, RunError> {
    let project = Project::open(&DataPlaces::default())?;
    Ok(project.specs()?.iter().map(|spec| spec.name.clone()).collect())
}

fn dataset_names(current: &OsStr) -> Vec<CompletionCandidate> {
    let project = Project::open(&DataPlaces::default());
    let names = project.map(|project| project.manifest.names().map(str::to_owned).collect());
    beginning(names.unwrap_or_default(), current)
}

/// The names that begin with what is typed; without a project none does.
fn beginning(names: Vec<String>, current: &OsStr) -> Vec<CompletionCandidate> {
    let typed = current.to_string_lossy();
    names.into_iter().filter(|name| name.starts_with(&*typed)).map(CompletionCandidate::new).collect()
}
