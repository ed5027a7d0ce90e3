//! `dpgp collect`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use super::CliError;
use super::arguments::{Format, Places, ResultsPlace, StorePlace};
use super::output::{print, print_json};
use super::workspace::Workspace;
use crate::data::Silent;
use crate::publish::{Provenance, Report, publish};
use crate::run::store::{NUMERICS, RunHeader, Store, merge};
use crate::run::{DataDigests, Plan, RunError, clipped_in_own_files, results};
use crate::spec::Identity;
use crate::task::Experiment;

const EXAMPLES: &str = "\
Stores of the shards of one experiment must agree in spec, data, seed and numerics version; results that are in several of
them must agree too. Tables are written for every experiment that is complete; one that is not is an error.

Examples:
  dpgp collect node1/store node2/store        into the project's own store
  dpgp collect /scratch/s --store /scratch/s  all shards wrote to one folder: only the tables are written";

/// `dpgp collect`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CollectArguments {
    /// Folders that shards stored their results in
    #[arg(required = true, value_name = "DIR")]
    directories: Vec<PathBuf>,
    #[command(flatten)]
    store: StorePlace,
    #[command(flatten)]
    results: ResultsPlace,
    #[command(flatten)]
    places: Places,
}

/// What became of one experiment.
struct Collected {
    name: String,
    done: usize,
    total: usize,
    folder: Option<PathBuf>,
}

/// Merges stores and publishes what is complete.
///
/// # Errors
/// [`CliError`] if stores disagree, a spec is not here, or results are missing.
pub fn collect(arguments: &CollectArguments, format: Format) -> Result<(), CliError> {
    let workspace = Workspace::open(&arguments.places)?;
    let mut headers: BTreeMap<(String, bool), (PathBuf, RunHeader)> = BTreeMap::new();
    for directory in &arguments.directories {
        if !directory.is_dir() {
            return Err(CliError::NotAFolder { path: directory.clone() });
        }
        let store = Store::open(directory).map_err(RunError::from)?;
        for header in store.last_runs() {
            let known = headers.entry((header.experiment.clone(), header.quick));
            let (first, same) = known.or_insert_with(|| (directory.clone(), header.clone()));
            matching(header, same, directory, first)?;
        }
    }
    let target = workspace.store_directory(&arguments.store);
    merge(&target, &arguments.directories).map_err(RunError::from)?;
    let store = workspace.store(&arguments.store)?;
    let mut all = Vec::new();
    for (_, header) in headers.values() {
        all.push(publish_one(header, &workspace, &store, arguments)?);
    }
    if format == Format::Json {
        print_json(&all.iter().map(Collected::json).collect())?;
    } else {
        print(&all.iter().map(Collected::line).collect::<String>())?;
    }
    match all.iter().find(|one| one.folder.is_none()) {
        None => Ok(()),
        Some(one) => Err(CliError::Incomplete { name: one.name.clone() }),
    }
}

/// Refuses runs of one experiment that cannot be put together.
fn matching(header: &RunHeader, other: &RunHeader, here: &Path, there: &Path) -> Result<(), CliError> {
    let what = if header.spec_sha256 != other.spec_sha256 {
        "spec"
    } else if header.data != other.data {
        "data"
    } else if header.seed != other.seed {
        "seed"
    } else if header.numerics != other.numerics {
        "numerics version"
    } else {
        return Ok(());
    };
    let (first, second) = (there.to_path_buf(), here.to_path_buf());
    Err(CliError::StoresDiffer { experiment: header.experiment.clone(), what, first, second })
}

fn publish_one(
    header: &RunHeader,
    workspace: &Workspace,
    store: &Store,
    arguments: &CollectArguments,
) -> Result<Collected, CliError> {
    let experiment = find(header, workspace)?;
    let digests = DataDigests::known(&experiment, &workspace.manifest, &workspace.cache)?;
    let plan = Plan::new(&experiment, header.seed, digests, store);
    let (name, done, total) = (experiment.folder(), plan.done(), plan.total());
    let Some(results) = results(&plan, store)? else {
        if Identity::of(experiment.source.text()) != header.spec_sha256 {
            let (experiment, spec) = (header.experiment.clone(), header.spec.clone());
            return Err(CliError::SpecChanged { experiment, spec });
        }
        return Ok(Collected { name, done, total, folder: None });
    };
    let provenance = Provenance {
        data: plan.digests.files(),
        project: workspace.root().to_path_buf(),
        seed: header.seed,
        numerics: NUMERICS,
        seconds: results.seconds,
        finished: results.finished,
        clipped: clipped_in_own_files(&experiment, &workspace.manifest, &workspace.cache, &Silent)?,
    };
    let folder = workspace.results(&arguments.results).join(&name);
    publish(&folder, &Report::new(&experiment, results.rows, results.frames), &provenance)?;
    Ok(Collected { name, done, total, folder: Some(folder) })
}

/// The spec that a run was made from. Changes that touch no cell, such as a comment, do no harm.
fn find(header: &RunHeader, workspace: &Workspace) -> Result<Experiment, CliError> {
    let named = workspace.find(&header.experiment).unwrap_or_default();
    let by_path = || workspace.find(&header.spec).unwrap_or_default();
    let found = named.into_iter().chain(by_path()).find(|e| e.name == header.experiment);
    let experiment = found.ok_or_else(|| CliError::SpecChanged {
        experiment: header.experiment.clone(),
        spec: header.spec.clone(),
    })?;
    if header.quick { Ok(experiment.reduced(&workspace.manifest)?) } else { Ok(experiment) }
}

impl Collected {
    fn line(&self) -> String {
        let Self { name, done, total, folder } = self;
        match folder {
            Some(folder) => {
                format!("{name}: all {total} results are stored; written to {}\n", folder.display())
            }
            None => format!("{name}: {done} of {total} results are stored; run the missing shards again\n"),
        }
    }

    fn json(&self) -> Value {
        let Self { name, done, total, folder } = self;
        json!({ "experiment": name, "stored": done, "total": total, "results": folder })
    }
}
