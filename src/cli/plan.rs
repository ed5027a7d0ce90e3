//! `dpgp plan`.

use std::time::Duration;

use clap::Args;
use indicatif::HumanDuration;
use serde_json::json;

use super::CliError;
use super::list::data_status_name;
use super::options::{ComputeArguments, DataLocationArguments, ExperimentSelection, OutputFormat, StoreArguments};
use super::output::{ExperimentPlanOutput, print, print_json};
use dpgp_report::plain_table;
use dpgp_run::{ExperimentRunner, Shard};
use dpgp_task::Experiment;

const EXAMPLES: &str = "\
Times are estimated from earlier results of the same experiment, else from the times that the shipped results took to compute.

Examples:
  dpgp plan --all                 one line per experiment
  dpgp plan smith2021/table1 --jobs 8
  dpgp plan my.toml --format json";

/// Arguments of `dpgp plan`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct PlanArguments {
    #[command(flatten)]
    selection: ExperimentSelection,
    /// Use this seed instead of the spec's
    #[arg(long, value_name = "S")]
    seed: Option<u32>,
    #[command(flatten)]
    store: StoreArguments,
    #[command(flatten)]
    work: ComputeArguments,
    #[command(flatten)]
    places: DataLocationArguments,
}

/// The work of a run of one experiment.
struct RunForecast {
    name: String,
    cells: usize,
    results: usize,
    stored: usize,
    blocks: usize,
    data: &'static str,
    spent: f64,
    seconds: Option<f64>,
}

/// Prints the plan of a run, and computes nothing.
pub fn plan(arguments: &PlanArguments, format: OutputFormat) -> Result<(), CliError> {
    let project = arguments.places.project()?;
    let experiments = arguments.selection.experiments(&project)?;
    print_plan(&experiments, &arguments.store.study(&project)?, arguments.seed, &arguments.work, format)
}

/// Prints, for each experiment, the number of cells, the stored results, and an estimate of the time left.
pub(super) fn print_plan(
    experiments: &[Experiment],
    study: &ExperimentRunner<'_>,
    seed: Option<u32>,
    work: &ComputeArguments,
    format: OutputFormat,
) -> Result<(), CliError> {
    let mut forecasts = Vec::new();
    for experiment in experiments {
        forecasts.push(forecast(experiment, study, seed, work)?);
    }
    if format == OutputFormat::Json {
        return print_json(&json!(forecasts.iter().map(RunForecast::to_output).collect::<Vec<_>>()));
    }
    let headings = ["experiment", "cells", "results", "stored", "blocks to compute", "time", "data"];
    let total: f64 = forecasts.iter().filter_map(|forecast| forecast.seconds).sum();
    let total = if forecasts.len() > 1 { format!("total time: {}\n", duration(total)) } else { String::new() };
    print(&format!("{}{total}", plain_table(&headings, forecasts.iter().map(RunForecast::row))))
}

fn forecast(
    experiment: &Experiment,
    study: &ExperimentRunner<'_>,
    seed: Option<u32>,
    work: &ComputeArguments,
) -> Result<RunForecast, CliError> {
    let plan = study.plan(experiment, seed)?;
    Ok(RunForecast {
        name: experiment.relative_results_folder(),
        cells: experiment.cells.len(),
        results: plan.replicate_count(),
        stored: plan.stored_count(),
        data: data_status_name(experiment, study.project()),
        blocks: plan.pending_block_replicates(Shard::WHOLE).len(),
        spent: study.stored_compute_seconds(&plan)?,
        seconds: study.seconds_left(&plan, work.thread_count())?,
    })
}

/// A time in words.
fn duration(seconds: f64) -> String {
    match seconds {
        0.0 => "nothing to do".to_owned(),
        seconds if seconds < 1.0 => "less than a second".to_owned(),
        seconds => format!("about {}", HumanDuration(Duration::from_secs_f64(seconds))),
    }
}

impl RunForecast {
    fn row(&self) -> Vec<String> {
        let time = self.seconds.map_or_else(|| "unknown".to_owned(), duration);
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

    fn to_output(&self) -> ExperimentPlanOutput {
        ExperimentPlanOutput {
            experiment: self.name.clone(),
            cells: self.cells,
            results: self.results,
            stored: self.stored,
            blocks_to_compute: self.blocks,
            stored_seconds: self.spent,
            estimated_seconds: self.seconds,
            data: self.data,
        }
    }
}
