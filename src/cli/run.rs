//! `dpgp run`.

use std::collections::BTreeSet;
use std::path::Path;

use clap::Args;
use serde_json::{Value, json};

use super::CliError;
use super::explain::print_recompute_reasons;
use super::interrupt::watch_signals;
use super::options::{
    ComputeArguments, DataLocationArguments, ExperimentSelection, OutputFormat, ResultsArguments, StoreArguments,
    add_option_conflicts,
};
use super::output::{ExperimentRunOutput, JsonOutput, RunClaim, RunRow, ShardRunOutput, print, print_stderr};
use super::plan::print_plan;
use super::report::write_summary_pages;
use dpgp_number::text::count_with_noun;
use dpgp_report::{
    NOT_PRIVATE, ReferenceComparison, Report, ReportRow, agreement_summary, explained_differences, publish,
    run_summary_screen, table_terminal, wrap_prose,
};
use dpgp_run::{ExperimentRunReport, ExperimentRunner, RunError, RunOptions, Shard, create_watcher};
use dpgp_spec::SpecChange;
use dpgp_task::{Experiment, TaskSetting};

const EXAMPLES: &str = "\
Each finished result is stored at once. A run that was killed or interrupted resumes where it stopped, and a second run
computes nothing. Results are keyed by cell, seed, replicate and digests of the data. If you change one value of a grid, only the
new cells are computed.

If a cell fails, the table still has the other cells, and says why that cell failed. The exit code is then 4.

Examples:
  dpgp run smith2021/toy                      writes results/smith2021/toy/; needs no download
  dpgp run smith2021                          every experiment of a paper
  dpgp run --all --dry-run                    what is stored, what is left to compute, and how long it will take
  dpgp run smith2021/table1 --dry-run --why   what changed since each result was stored
  dpgp run --all --quick                      the reduced settings of every spec
  dpgp run smith2021/table1 --seed 2 --results out    another seed and another folder
  dpgp run smith2021/table1 --set epsilon=0.5,2 --set method=sparse     other values of one axis, and one label of another
  dpgp run smith2021/table1 --set model.noise_variance=9                another value of a setting
  dpgp run my.toml --shard 2/8 --store /scratch/s     the second of eight parts; see `dpgp collect`";

/// Arguments of `dpgp run`.
#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    mut_args(|arg| add_option_conflicts(arg, &["why"], &["shard", "keep_going", "fail_fast", "rows"]))
)]
pub struct RunArguments {
    #[command(flatten)]
    selection: ExperimentSelection,
    /// Change a setting by its path, or an axis by its name; several values define an axis. The spec and its own results
    /// stay as they are: the results of the run go to NAME/changed/
    #[arg(long, value_name = "PATH=VALUE,...", conflicts_with_all = ["quick", "all", "shard"])]
    set: Vec<SpecChange>,
    /// Use this seed instead of the spec's; without --results, results go to NAME/changed/seed-S
    #[arg(long, value_name = "S")]
    seed: Option<u32>,
    /// Compute only part I of N, and write no tables
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Print what is stored, what is left to compute and how long it will take; compute nothing
    #[arg(long, conflicts_with_all = ["shard", "keep_going", "fail_fast", "rows"])]
    dry_run: bool,
    /// With `--dry-run`: show what changed since each result was stored
    #[arg(long, requires = "dry_run")]
    why: bool,
    /// Continue with other cells and experiments after a failure (the default)
    #[arg(long, conflicts_with = "fail_fast")]
    keep_going: bool,
    /// Stop after the first failure
    #[arg(long)]
    fail_fast: bool,
    /// Print every row and every claim, not just the first screen
    #[arg(long, short = 'v', visible_alias = "verbose")]
    rows: bool,
    #[command(flatten)]
    results: ResultsArguments,
    #[command(flatten)]
    store: StoreArguments,
    #[command(flatten)]
    work: ComputeArguments,
    #[command(flatten)]
    places: DataLocationArguments,
}

/// Runs experiments one after the other, and the cells of each experiment in parallel. A failure does not stop the others, and all
/// failures are listed at the end.
pub fn run(arguments: &RunArguments, format: OutputFormat) -> Result<(), CliError> {
    let project = arguments.places.project()?;
    let experiments = project.change_experiments(arguments.selection.experiments(&project)?, &arguments.set)?;
    if arguments.dry_run {
        let study = arguments.store.study(&project)?;
        return match arguments.why {
            true => print_recompute_reasons(&experiments, &study, arguments.seed, format),
            false => print_plan(&experiments, &study, arguments.seed, &arguments.work, format),
        };
    }
    if arguments.selection.quick && !arguments.selection.names.is_empty() {
        let whole = experiments.iter().filter(|each| !each.quick);
        whole.for_each(|each| print_stderr(&format!("note: {} has no [quick] table, so all of it runs", each.name)));
    }
    // Refuse linked folders before anything is computed or written.
    let folder = |each| arguments.results.output_folder(&project, each, arguments.seed);
    experiments.iter().try_for_each(|each| folder(each).map(drop))?;
    let mut study = arguments.store.study(&project)?;
    let (pool, watcher, stop) = (arguments.work.pool()?, create_watcher(arguments.work.quiet), watch_signals()?);
    let options = RunOptions {
        pool: &pool,
        watcher: watcher.as_ref(),
        stop: &stop,
        seed: arguments.seed,
        shard: arguments.shard.unwrap_or(Shard::WHOLE),
        fail_fast: arguments.fail_fast,
    };
    let mut told = RunSummary { format, rows: arguments.rows, values: JsonOutput::with_item_count(experiments.len()) };
    let done = run_all(&experiments, &mut study, &options, arguments, &mut told);
    // Print finished results even if something failed.
    let shown = told.values.finish();
    if arguments.selection.all && !arguments.selection.quick && arguments.shard.is_none() {
        write_summary_pages(&arguments.results, &project, &experiments)?;
    }
    done.and(shown)
}

/// The printed summary of a run.
struct RunSummary {
    format: OutputFormat,
    /// Whether every row is printed.
    rows: bool,
    values: JsonOutput,
}

fn run_all(
    experiments: &[Experiment],
    study: &mut ExperimentRunner<'_>,
    options: &RunOptions<'_>,
    arguments: &RunArguments,
    told: &mut RunSummary,
) -> Result<(), CliError> {
    let mut failures = Vec::new();
    for experiment in experiments {
        let Err(error) = run_one(experiment, study, options, arguments, told) else { continue };
        let last = arguments.fail_fast || matches!(error, CliError::Run(RunError::Interrupted { .. }));
        if error.is_broken_pipe() || experiments.len() == 1 || (last && failures.is_empty()) {
            return Err(error);
        }
        failures.push((experiment.name.clone(), error));
        if last {
            break;
        }
    }
    CliError::combine_failures(failures, experiments.len())
}

fn run_one(
    experiment: &Experiment,
    study: &mut ExperimentRunner<'_>,
    options: &RunOptions<'_>,
    arguments: &RunArguments,
    told: &mut RunSummary,
) -> Result<(), CliError> {
    announce_programs(experiment, study, options)?;
    let mut done = study.run_tolerating_failures(experiment, options)?;
    if arguments.shard.is_some() {
        return print_shard(experiment, options.shard, done.computed, study, told);
    }
    let failed = done.failed.take().map(CliError::from);
    let Some(results) = done.results.take() else {
        return Err(failed.unwrap_or_else(|| CliError::Incomplete(experiment.name.clone())));
    };
    let report = Report::new(experiment, results.rows, results.frames).with_failed_cells(results.failed);
    let folder = arguments.results.output_folder(study.project(), experiment, arguments.seed)?;
    let shown = publish(&folder, &report, &done.provenance).map_err(CliError::from);
    let shown = shown.and_then(|()| print_report(&report, &done, &folder, told));
    // The table of the other cells is written. The failure decides the exit code, and an error of a figure is not reported, because it
    // comes from the missing cells.
    failed.map_or(shown, Err)
}

/// Says which program of somebody else will run, and how often.
fn announce_programs(
    experiment: &Experiment,
    study: &ExperimentRunner<'_>,
    options: &RunOptions<'_>,
) -> Result<(), CliError> {
    let programs = experiment.cells.iter().filter_map(|cell| match &*cell.setting().task {
        TaskSetting::Command(task) => Some(task.command_line_text()),
        _ => None,
    });
    let programs: BTreeSet<String> = programs.collect();
    if programs.is_empty() {
        return Ok(());
    }
    for file in unlisted_program_files(experiment) {
        print_stderr(&format!(
            "note: {file} is not in task.command.files, so results are not recomputed when it changes"
        ));
    }
    let plan = study.plan(experiment, options.seed)?;
    let left = plan.pending_block_replicates(options.shard).len();
    if left > 0 {
        let programs: Vec<String> = programs.into_iter().collect();
        print_stderr(&format!("runs {}: {}", programs.join("; "), count_with_noun(left, "time", "times")));
    }
    Ok(())
}

/// Files beside the spec that programs are started with and that no identity covers.
fn unlisted_program_files(experiment: &Experiment) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    for cell in &experiment.cells {
        if let TaskSetting::Command(task) = &*cell.setting().task
            && task.files.is_empty()
        {
            let beside = task.run.iter().filter(|argument| experiment.resolve_path(argument).is_file());
            files.extend(beside.cloned());
        }
    }
    files
}

/// Prints the published results.
fn print_report(
    report: &Report<'_>,
    done: &ExperimentRunReport,
    folder: &Path,
    told: &mut RunSummary,
) -> Result<(), CliError> {
    let experiment = report.experiment;
    if told.format == OutputFormat::Json {
        return told.values.push(as_json(report, done, &folder.to_string_lossy()));
    }
    if !told.rows {
        return print_run_summary_screen(report, done, folder);
    }
    let table = table_terminal(report);
    if done.provenance.seed != experiment.meta.seed {
        print(&format!("seed {} (the spec has {})\n", done.provenance.seed, experiment.meta.seed))?;
    }
    for change in &experiment.changes {
        print(&format!("changed: {change}\n"))?;
    }
    let clipped: String = done.provenance.clipped.iter().map(|clipped| format!("{clipped}\n")).collect();
    let closing = agreement_summary(report).map(|sentence| format!("{sentence}\n")).unwrap_or_default();
    let (summary, folder) = (done.summary(), folder.display());
    let private = if done.provenance.own_rows { format!("{NOT_PRIVATE}\n") } else { String::new() };
    let said = wrap_prose(&format!("{clipped}{private}{closing}{summary}; written to {folder}\n\n"));
    print(&format!("{table}{said}"))
}

/// The first screen, and where the files are.
fn print_run_summary_screen(report: &Report<'_>, done: &ExperimentRunReport, folder: &Path) -> Result<(), CliError> {
    let experiment = report.experiment;
    let mut notes: Vec<String> = experiment.changes.iter().map(|change| format!("changed: {change}")).collect();
    if done.provenance.seed != experiment.meta.seed {
        notes.push(format!("seed {} (the spec has {})", done.provenance.seed, experiment.meta.seed));
    }
    notes.extend(done.provenance.clipped.iter().map(ToString::to_string));
    notes.extend(done.provenance.own_rows.then(|| NOT_PRIVATE.to_owned()));
    notes.push(format!("{}; written to {}", done.summary(), folder.display()));
    if !report.failed.is_empty() || report.rows.len() > 1 {
        let why = if explained_differences(report).is_empty() { "" } else { ", and why numbers differ" };
        notes.push(format!("`--rows` prints every row and every claim{why}"));
    }
    print(&format!("{}\n", run_summary_screen(report, &notes)))
}

fn print_shard(
    experiment: &Experiment,
    shard: Shard,
    blocks: usize,
    study: &ExperimentRunner<'_>,
    told: &mut RunSummary,
) -> Result<(), CliError> {
    let (name, folder) = (&experiment.name, study.store().directory().display().to_string());
    if told.format == OutputFormat::Json {
        return told.values.push(json!(ShardRunOutput {
            experiment: name.clone(),
            shard: shard.to_string(),
            computed_blocks: blocks,
            store: folder,
        }));
    }
    let blocks = count_with_noun(blocks, "block", "blocks");
    print(&format!("{name}, shard {shard}: {blocks} computed and stored in {folder}\n"))
}

fn as_json(report: &Report<'_>, done: &ExperimentRunReport, folder: &str) -> Value {
    json!(ExperimentRunOutput {
        experiment: report.experiment.name.clone(),
        results: folder.to_owned(),
        axes: report.experiment.axes.iter().map(|axis| axis.name.clone()).collect(),
        rows: report.rows.iter().map(row).collect(),
        claims: report.claims.iter().map(RunClaim::from).collect(),
        stored_before: done.stored,
        computed_blocks: done.computed,
        clipped_targets_not_private: done.provenance.clipped.clone(),
        failed_cells: report.failed.len(),
        not_private: done.provenance.own_rows.then_some(NOT_PRIVATE),
    })
}

fn counterpart_value(judged: &Option<ReferenceComparison>) -> Option<f64> {
    judged.as_ref().map(|judged| judged.counterpart.value)
}

fn row(row: &ReportRow) -> RunRow {
    let certificate = &row.row.certificate;
    RunRow {
        cell: row.cell_id.clone(),
        labels: row.labels.clone(),
        metric: row.row.metric.clone(),
        value: row.row.undefined.is_none().then_some(row.row.value),
        undefined: row.row.undefined.clone(),
        spread: row.row.spread,
        verdict: row.verdict().name(),
        gap: certificate.gap,
        published: counterpart_value(&row.published),
        authors: counterpart_value(&row.authors),
        reference: counterpart_value(&row.reference),
        epsilon: certificate.guarantee.map(|claimed| claimed.epsilon),
        delta: certificate.delta(),
        guarantee: certificate.to_string(),
        delta_exact: certificate.delta_exact,
    }
}
