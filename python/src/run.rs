//! Runs experiments and returns their committed results.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use dpgp::cli::{Invocation, run_invocation};
use dpgp::data::{SilentProgress, shipped_text};
use dpgp::fs::read_text_unless_outside_link;
use dpgp::prelude::{DataLocations, ExperimentRunner, Project, RunOptions, Shard, WorkerPool};
use dpgp::publish::{Report, ensure_no_links, publish, table_csv};
use pyo3::prelude::*;

use crate::errors::Failure;
use crate::work::{Gate, beside, jobs};

/// What is run, and where.
struct RunRequest {
    name: String,
    seed: Option<u32>,
    quick: bool,
    threads: usize,
    store: Option<PathBuf>,
    results: Option<PathBuf>,
}

/// Runs an experiment and returns its table as CSV. Writes tables and figures only if `results` names a folder.
#[pyfunction]
#[pyo3(signature = (name, seed, quick, offline, threads, store, results))]
pub fn run(
    py: Python<'_>,
    name: String,
    seed: Option<u32>,
    quick: bool,
    offline: bool,
    threads: Option<usize>,
    store: Option<PathBuf>,
    results: Option<PathBuf>,
) -> PyResult<String> {
    let threads = jobs(threads);
    let asked = RunRequest { name, seed, quick, threads, store: store.or_else(|| named("DPGP_STORE")), results };
    beside(py, move |gate| ran(&asked, offline, gate))
}

fn ran(asked: &RunRequest, offline: bool, gate: &Gate) -> Result<String, Failure> {
    let project = opened(offline)?;
    let names = [asked.name.clone()];
    let [experiment] = project.select_experiments(&names, asked.quick)?.try_into().map_err(|several: Vec<_>| {
        Failure::input(format!("{} matches {} experiments; name one", asked.name, several.len()))
    })?;
    if let Some(folder) = &asked.results {
        ensure_no_links(folder, &folder.join(experiment.relative_results_folder()))?;
    }
    let store = asked.store.clone().unwrap_or_else(|| project.path_inside("data/store"));
    let mut study = ExperimentRunner::open(&project, &store)?;
    let pool = WorkerPool::new(asked.threads)?;
    let options = RunOptions {
        pool: &pool,
        watcher: &SilentProgress,
        stop: gate.flag(),
        seed: asked.seed,
        shard: Shard::WHOLE,
        fail_fast: false,
    };
    let done = study.run(&experiment, &options)?;
    let results = done.results.ok_or_else(|| Failure::other(format!("{} is not complete", asked.name)))?;
    let report = Report::new(&experiment, results.rows, results.frames).with_failed_cells(results.failed);
    if let Some(folder) = &asked.results {
        publish(&folder.join(experiment.relative_results_folder()), &report, &done.provenance)?;
    }
    table_csv(&report).map_err(|error| Failure::other(error.to_string()))
}

/// The committed table of an experiment as CSV: from the folder, the project or the package.
#[pyfunction]
pub fn results(name: &str, folder: Option<PathBuf>) -> PyResult<String> {
    let project = opened(true)?;
    let experiment = project.find_one_experiment(name).map_err(Failure::from)?;
    let own = Path::new(&experiment.relative_results_folder()).join("table.csv");
    let path = folder.unwrap_or_else(|| project.path_inside("results")).join(&own);
    if let Ok(text) = read_text_unless_outside_link(&path) {
        return Ok(text);
    }
    let shipped = shipped_text(&Path::new("results").join(&own).to_string_lossy());
    Ok(shipped.map(Into::into).ok_or_else(|| Failure::input(format!("{} does not exist", path.display())))?)
}

/// Runs the command and returns its exit code. The first argument is its name. `python` is the path of this interpreter.
#[pyfunction]
pub fn command(py: Python<'_>, arguments: Vec<OsString>, python: OsString) -> u8 {
    let again = Some((python, vec!["-m".into(), "dpgp".into()]));
    py.detach(|| run_invocation(Invocation { arguments, again }))
}

/// The names of all experiments.
#[pyfunction]
pub fn names() -> PyResult<Vec<String>> {
    let project = opened(true)?;
    let specs = project.specs().map_err(Failure::from)?;
    Ok(specs.iter().map(|spec| spec.name.clone()).collect())
}

fn opened(offline: bool) -> Result<Project, Failure> {
    let (mirror, cache) = (named("DPGP_MIRROR"), named("DPGP_DATA"));
    let places = DataLocations { mirror, cache, offline, local_urls: DataLocations::environment_allows_local_urls() };
    Ok(Project::open(&places)?)
}

fn named(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}
