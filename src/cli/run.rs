//! `dpgp run`.

use clap::Args;
use serde_json::{Value, json};

use super::CliError;
use super::arguments::{Format, Places, ResultsPlace, Selection, StorePlace, Work};
use super::compute::{Bench, Computed};
use super::interrupt::watch_signals;
use super::output::{print, print_json};
use super::workspace::Workspace;
use crate::publish::{
    REPRODUCTION, Report, publish, reproduction_markdown, table_terminal, write_atomically,
};
use crate::run::store::Store;
use crate::run::{RunError, Shard};
use crate::task::Experiment;

const EXAMPLES: &str = "\
Every finished result goes to the store at once. A run that was killed or interrupted goes on where it stopped, and a
second run of the same thing computes nothing. What is stored is known by the cell, the seed, the replicate and the
digests of the data: change one value of a grid, and only the new cells are computed.

Examples:
  dpgp run smith2021/toy                      needs no download; writes results/smith2021/toy/
  dpgp run smith2021                          every experiment of a paper
  dpgp run --all --quick                      the reduced settings of every spec
  dpgp run smith2021/table1 --seed 2 --results out    other random numbers, other folder
  dpgp run my.toml --shard 2/8 --store /scratch/s     the second of eight parts; see `dpgp collect`";

/// `dpgp run`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RunArguments {
    #[command(flatten)]
    selection: Selection,
    /// Use this seed instead of the spec's
    #[arg(long, value_name = "S")]
    seed: Option<u32>,
    /// Compute only part I of N, and write no tables
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Go on with other cells and experiments after a failure (this is the default)
    #[arg(long, conflicts_with = "fail_fast")]
    keep_going: bool,
    /// Start nothing more after the first failure
    #[arg(long)]
    fail_fast: bool,
    #[command(flatten)]
    results: ResultsPlace,
    #[command(flatten)]
    store: StorePlace,
    #[command(flatten)]
    work: Work,
    #[command(flatten)]
    places: Places,
}

/// Runs experiments one after the other, each in parallel inside. One that fails does not stop the others;
/// the failures are listed at the end.
///
/// # Errors
/// The error of the only experiment, or all failures together.
pub fn run(arguments: &RunArguments, format: Format) -> Result<(), CliError> {
    let workspace = Workspace::open(&arguments.places)?;
    let experiments = workspace.selected(&arguments.selection)?;
    let mut store = workspace.store(&arguments.store)?;
    let bench = Bench {
        workspace: &workspace,
        work: &arguments.work,
        seed: arguments.seed,
        shard: arguments.shard.unwrap_or(Shard::WHOLE),
        fail_fast: arguments.fail_fast,
        stop: watch_signals()?,
    };
    let mut failures = Vec::new();
    for experiment in &experiments {
        let Err(error) = run_one(experiment, &bench, &mut store, arguments, format) else { continue };
        let last = arguments.fail_fast || matches!(error, CliError::Run(RunError::Interrupted { .. }));
        if error.is_broken_pipe() || experiments.len() == 1 || (last && failures.is_empty()) {
            return Err(error);
        }
        failures.push((experiment.name.clone(), error));
        if last {
            break;
        }
    }
    if arguments.selection.all && !arguments.selection.quick && arguments.shard.is_none() {
        write_reproduction(&workspace, &experiments, arguments)?;
    }
    if failures.is_empty() { Ok(()) } else { Err(CliError::Several { failures, all: experiments.len() }) }
}

fn run_one(
    experiment: &Experiment,
    bench: &Bench<'_>,
    store: &mut Store,
    arguments: &RunArguments,
    format: Format,
) -> Result<(), CliError> {
    let mut computed = bench.compute(experiment, store)?;
    if let Some(shard) = arguments.shard {
        return shard_done(experiment, shard, &computed, store, format);
    }
    let Some(report) = computed.report(experiment) else {
        return Err(CliError::Incomplete { name: experiment.name.clone() });
    };
    let folder = bench.workspace.results(&arguments.results).join(experiment.folder());
    publish(&folder, &report, &computed.provenance)?;
    if format == Format::Json {
        return print_json(&as_json(&report, &computed, &folder.to_string_lossy()));
    }
    let table = table_terminal(&report);
    if computed.provenance.seed != experiment.meta.seed {
        print(&format!("seed {}, not the {} of the spec\n", computed.provenance.seed, experiment.meta.seed))?;
    }
    let clipped: String = computed.provenance.clipped.iter().map(|clipped| format!("{clipped}\n")).collect();
    print(&format!("{table}{clipped}{}; written to {}\n\n", computed.summary(), folder.display()))
}

fn shard_done(
    experiment: &Experiment,
    shard: Shard,
    computed: &Computed,
    store: &Store,
    format: Format,
) -> Result<(), CliError> {
    let (name, folder) = (&experiment.name, store.directory().display().to_string());
    if format == Format::Json {
        return print_json(&json!({
            "experiment": name, "shard": shard.to_string(), "computed_blocks": computed.computed, "store": folder,
        }));
    }
    let blocks = computed.computed;
    print(&format!("{name}, shard {shard}: {blocks} blocks computed and stored in {folder}\n"))
}

/// Regenerates the summary of all experiments.
fn write_reproduction(
    workspace: &Workspace,
    experiments: &[Experiment],
    arguments: &RunArguments,
) -> Result<(), CliError> {
    let results = workspace.results(&arguments.results);
    let text = reproduction_markdown(&results, experiments)?;
    let path = results.join(REPRODUCTION);
    std::fs::create_dir_all(&results)
        .and_then(|()| write_atomically(&path, &text))
        .map_err(|cause| CliError::Io { path, cause })
}

fn as_json(report: &Report<'_>, computed: &Computed, folder: &str) -> Value {
    let row = |row: &crate::publish::ReportRow| {
        json!({
            "cell": row.cell_id, "labels": row.labels, "metric": row.row.metric, "value": row.row.value,
            "spread": row.row.spread, "verdict": row.verdict.name(),
            "published": row.published.as_ref().map(|p| p.value), "gap": row.row.certificate.gap,
            "epsilon": row.row.certificate.guarantee.map(|claimed| claimed.epsilon),
            "delta": row.row.certificate.delta(),
            "guarantee": row.row.certificate.to_string(), "delta_exact": row.row.certificate.delta_exact,
        })
    };
    let rows: Vec<Value> = report.rows.iter().map(row).collect();
    let claims: Vec<Value> =
        report.claims.iter().map(|c| json!({ "claim": c.text, "holds": c.holds })).collect();
    let axes: Vec<&str> = report.experiment.axes.iter().map(|axis| axis.name.as_str()).collect();
    json!({
        "experiment": report.experiment.name, "results": folder, "axes": axes, "rows": rows, "claims": claims,
        "stored_before": computed.stored, "computed_blocks": computed.computed,
        "clipped_targets_not_private": computed.provenance.clipped,
    })
}
