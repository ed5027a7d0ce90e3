//! `dpgp table`.

use std::collections::BTreeSet;

use clap::Args;
use serde_json::json;

use super::CliError;
use super::options::{DataLocationArguments, OutputFormat, ResultsArguments, experiment_completer};
use super::output::{PivotTableOutput, TableOutput, print, print_json, print_raw_unless_terminal};
use dpgp_report::{CommittedResults, PivotTable, SpreadForm, TableOutputFormat, tidy_runs_csv, wrap_prose};
use dpgp_run::Project;
use dpgp_spec::TableLayout;
use dpgp_task::Experiment;

const EXAMPLES: &str = "\
Prints the committed table of an experiment. Computes nothing. Outside a project, the command uses the table shipped with dpgp if the
results folder has none. Axes that are neither rows nor columns give separate tables. Values are rounded to the second digit of their
spread, and the kind of spread is printed below the last table.

Examples:
  dpgp table beyond/leaderboard/houses
  dpgp table beyond/leaderboard/houses --metric crps --as latex > houses.tex
  dpgp table smith2021/table1 --rows variant --columns epsilon --as typst";

/// Arguments of `dpgp table`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct TableArguments {
    /// The experiment
    #[arg(value_name = "NAME", add = experiment_completer())]
    name: String,
    #[command(flatten)]
    form: TableLayoutArguments,
    #[command(flatten)]
    results: ResultsArguments,
    #[command(flatten)]
    places: DataLocationArguments,
}

/// What a table shows, and in which language.
#[derive(Debug, Args)]
pub(super) struct TableLayoutArguments {
    /// The metric to show [default: from the layout in the spec, else from its first claim, else the first metric of the table]
    #[arg(long, value_name = "METRIC")]
    metric: Option<String>,
    /// Axes to show as rows [default: from the layout in the spec, else all axes but the last]
    #[arg(long, value_name = "AXIS,...", value_delimiter = ',')]
    rows: Vec<String>,
    /// Axes to show as columns [default: from the layout in the spec, else the last axis]
    #[arg(long, value_name = "AXIS,...", value_delimiter = ',')]
    columns: Vec<String>,
    /// The markup language of the table
    #[arg(long = "as", value_enum, default_value = "text", value_name = "LANGUAGE")]
    language: TableOutputFormat,
    /// Print standard errors of the mean after ±, instead of standard deviations
    #[arg(long)]
    standard_errors: bool,
    /// Print all rows as CSV, including those of runs with changed settings (`dpgp run --set`), with a column for each changed setting
    #[arg(long, conflicts_with_all = ["metric", "rows", "columns", "language", "standard_errors"])]
    tidy: bool,
}

/// Prints a committed table.
pub fn table(arguments: &TableArguments, format: OutputFormat) -> Result<(), CliError> {
    let project = arguments.places.project()?;
    print_table(&project, &arguments.name, &arguments.form, &arguments.results, format)
}

/// Prints the committed table of an experiment.
pub(super) fn print_table(
    project: &Project,
    name: &str,
    form: &TableLayoutArguments,
    results: &ResultsArguments,
    format: OutputFormat,
) -> Result<(), CliError> {
    let experiment = project.find_one_experiment(name)?;
    if form.tidy {
        results.read_committed_warning_if_stale(project, &experiment)?;
        return print_raw_unless_terminal(&tidy_runs_csv(
            &results.folder(project).join(experiment.relative_results_folder()),
        )?);
    }
    let committed = results.read_committed_warning_if_stale(project, &experiment)?;
    let layout = layout(form, &experiment, &committed)?;
    let spread = if form.standard_errors { SpreadForm::StandardError } else { SpreadForm::Recorded };
    let pivots = PivotTable::from_layout(&experiment, &committed, &layout, spread);
    if format == OutputFormat::Json {
        let legend = pivots.last().map(|pivot| pivot.legend.clone()).unwrap_or_default();
        let tables = pivots.into_iter().map(|pivot| PivotTableOutput { title: pivot.title, lines: pivot.lines });
        return print_json(&json!(TableOutput {
            experiment: experiment.name,
            metric: layout.metric,
            tables: tables.collect(),
            legend,
        }));
    }
    let texts: Vec<String> = pivots.iter().map(|pivot| form.language.render_pivot(pivot)).collect();
    match form.language {
        TableOutputFormat::Text => {
            let metrics = committed.rows.iter().map(|row| committed.field(row, "metric"));
            let others: BTreeSet<&str> = metrics.filter(|metric| *metric != layout.metric).collect();
            let also = match others.is_empty() {
                true => String::new(),
                false => wrap_prose(&format!("--metric shows other metrics: {}\n", list_metrics(&others))),
            };
            print(&format!("{}\n{}{also}", layout.metric, texts.join("\n")))
        }
        _ => print_raw_unless_terminal(&texts.join("\n")),
    }
}

/// Lists metrics; of a family with more than this many members, only its name.
fn list_metrics(metrics: &BTreeSet<&str>) -> String {
    const MEMBERS: usize = 6;
    let family = |metric: &str| metric.split_once('/').map(|(family, _)| family.to_owned());
    let listed = metrics.iter().map(|metric| match family(metric) {
        Some(own) if metrics.iter().filter(|other| family(other).as_ref() == Some(&own)).count() > MEMBERS => {
            format!("{own}/...")
        }
        _ => (*metric).to_owned(),
    });
    listed.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
}

/// Chooses the layout: from the options, else from the spec, else the last axis as columns and the others as rows.
fn layout(
    form: &TableLayoutArguments,
    experiment: &Experiment,
    committed: &CommittedResults,
) -> Result<TableLayout, CliError> {
    let names: Vec<String> = experiment.axes.iter().map(|axis| axis.name.clone()).collect();
    let (last, others) =
        names.split_last().map_or((Vec::new(), Vec::new()), |(last, others)| (vec![last.clone()], others.to_vec()));
    let metrics: BTreeSet<&str> = committed.rows.iter().map(|row| committed.field(row, "metric")).collect();
    // The metric of the first claim, since it is what the experiment is about.
    let claimed = experiment.claims.iter().map(|claim| claim.metric.as_str()).find(|metric| metrics.contains(metric));
    let first = claimed.or(committed.rows.first().map(|row| committed.field(row, "metric"))).map(str::to_owned);
    let mut layout = experiment.layout.clone().unwrap_or(TableLayout {
        metric: first.unwrap_or_default(),
        rows: others,
        columns: last,
        best: None,
    });
    if let Some(metric) = &form.metric {
        layout.metric.clone_from(metric);
    }
    if !form.rows.is_empty() {
        layout.columns.retain(|name| !form.rows.contains(name));
        layout.rows.clone_from(&form.rows);
    }
    if !form.columns.is_empty() {
        layout.rows.retain(|name| !form.columns.contains(name));
        layout.columns.clone_from(&form.columns);
    }
    if !metrics.contains(layout.metric.as_str()) {
        let known = list_metrics(&metrics);
        return Err(CliError::NotInTable { what: "metric", name: layout.metric, known });
    }
    let unknown = layout.rows.iter().chain(&layout.columns).find(|name| !names.contains(name));
    match unknown {
        Some(name) => Err(CliError::NotInTable { what: "axis", name: name.clone(), known: names.join(", ") }),
        None => Ok(layout),
    }
}
