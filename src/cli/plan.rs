//! `dpgp plan`.

use clap::Args;
use indicatif::HumanDuration;
use serde_json::{Value, json};

use super::CliError;
use super::arguments::{Format, Places, Selection, StorePlace, Work};
use super::list::presence;
use super::output::{print, print_json};
use super::workspace::Workspace;
use crate::publish::plain_table;
use crate::run::store::Store;
use crate::run::{DataDigests, Plan, RunError, Shard};
use crate::task::Experiment;

const EXAMPLES: &str = "\
Times are estimated from what earlier results of the same experiment took; without any, none is given.

Examples:
  dpgp plan --all                 one line per experiment
  dpgp plan smith2021/table1 --jobs 8
  dpgp plan my.toml --format json";

/// `dpgp plan`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct PlanArguments {
    #[command(flatten)]
    selection: Selection,
    /// Use this seed instead of the spec's
    #[arg(long, value_name = "S")]
    seed: Option<u32>,
    #[command(flatten)]
    store: StorePlace,
    #[command(flatten)]
    work: Work,
    #[command(flatten)]
    places: Places,
}

/// What a run of one experiment would do.
struct Forecast {
    name: String,
    cells: usize,
    results: usize,
    stored: usize,
    blocks: usize,
    data: &'static str,
    seconds: Option<f64>,
}

/// Says for each experiment how many cells there are, how many are stored, and how long the rest takes.
///
/// # Errors
/// [`CliError`] if a spec, the store or a file of the user's own cannot be read.
pub fn plan(arguments: &PlanArguments, format: Format) -> Result<(), CliError> {
    let workspace = Workspace::open(&arguments.places)?;
    let experiments = workspace.selected(&arguments.selection)?;
    let store = workspace.store(&arguments.store)?;
    let mut forecasts = Vec::new();
    for experiment in &experiments {
        forecasts.push(forecast(experiment, &workspace, &store, arguments)?);
    }
    if format == Format::Json {
        return print_json(&forecasts.iter().map(Forecast::json).collect());
    }
    let headings = ["experiment", "cells", "results", "stored", "blocks to compute", "time", "data"];
    print(&plain_table(&headings, forecasts.iter().map(Forecast::row)))
}

fn forecast(
    experiment: &Experiment,
    workspace: &Workspace,
    store: &Store,
    arguments: &PlanArguments,
) -> Result<Forecast, CliError> {
    let digests = DataDigests::known(experiment, &workspace.manifest, &workspace.cache)?;
    let plan = Plan::new(experiment, arguments.seed.unwrap_or(experiment.meta.seed), digests, store);
    let units = plan.units(Shard::WHOLE);
    let missing: usize = units.iter().map(|unit| unit.missing.len()).sum();
    let seconds = if missing == 0 {
        Some(0.0)
    } else {
        mean_seconds(&plan, store)?
            .map(|each| each * missing as f64 / arguments.work.jobs().min(units.len()) as f64)
    };
    Ok(Forecast {
        name: experiment.folder(),
        cells: experiment.cells.len(),
        results: plan.total(),
        stored: plan.done(),
        data: presence(experiment, workspace),
        blocks: units.len(),
        seconds,
    })
}

/// What a result of this experiment took on average, whatever it was that has changed since; also results of other
/// experiments that it shares.
fn mean_seconds(plan: &Plan<'_>, store: &Store) -> Result<Option<f64>, CliError> {
    let shared = store.results(&plan.stored_keys()).map_err(RunError::from)?;
    let own = store.of_experiment(&plan.experiment.name).map_err(RunError::from)?;
    let own = own.iter().map(|stored| &stored.record);
    let seconds: Vec<f64> = own.chain(&shared).map(|record| record.about.seconds).collect();
    Ok((!seconds.is_empty()).then(|| seconds.iter().sum::<f64>() / seconds.len() as f64))
}

impl Forecast {
    fn row(&self) -> Vec<String> {
        let time = match self.seconds {
            Some(0.0) => "nothing to do".to_owned(),
            Some(seconds) if seconds < 1.0 => "less than a second".to_owned(),
            Some(seconds) => format!("about {}", HumanDuration(std::time::Duration::from_secs_f64(seconds))),
            None => "unknown".to_owned(),
        };
        vec![
            self.name.clone(),
            self.cells.to_string(),
            self.results.to_string(),
            self.stored.to_string(),
            self.blocks.to_string(),
            time,
            self.data.to_owned(),
        ]
    }

    fn json(&self) -> Value {
        json!({
            "experiment": self.name, "cells": self.cells, "results": self.results, "stored": self.stored,
            "blocks_to_compute": self.blocks, "estimated_seconds": self.seconds, "data": self.data,
        })
    }
}
