//! `dpgp table`.

use std::collections::BTreeSet;

use clap::Args;
use serde_json::json;

use super::CliError;
use super::options::{DataLocationArguments, OutputFormat, ResultsArguments, experiment_completer};
use super::output::{PivotTableOutput, TableOutput, print, print_json, print_raw_unless_terminal};
use dpgp_report::{CommittedResults, PivotTable, TableOutputFormat, tidy_runs_csv};
use dpgp_run::Project;
use dpgp_spec::TableLayout;
use dpgp_task::Experiment;

const EXAMPLES: &str = "\
Prints the committed table of an experiment. Computes nothing. Outside a project, it uses the table shipped with dpgp if the results
folder has none. Axes that are neither rows nor columns give separate tables. Values are rounded to the second digit of their spread, and
the kind of spread is printed below the last table.

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
    /// The metric to show [default: from the layout in the spec, else the first metric of the table]
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
    /// Print all rows as CSV, including those of runs with changed settings (`dpgp run --set`), with a column for each changed setting
    #[arg(long, conflicts_with_all = ["metric", "rows", "columns", "language"])]
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
    let pivots = PivotTable::from_layout(&experiment, &committed, &layout);
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
        TableOutputFormat::Text => print(&format!("{}\n{}", layout.metric, texts.join("\n"))),
        _ => print_raw_unless_terminal(&texts.join("\n")),
    }
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
    let first = committed.rows.first().map(|row| committed.field(row, "metric").to_owned());
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
    let metrics: BTreeSet<&str> = committed.rows.iter().map(|row| committed.field(row, "metric")).collect();
    if !metrics.contains(layout.metric.as_str()) {
        let families = metrics
            .iter()
            .map(|metric| metric.split_once('/').map_or((*metric).to_owned(), |(f, _)| format!("{f}/...")));
        let known = families.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ");
        return Err(CliError::NotInTable { what: "metric", name: layout.metric, known });
    }
    let unknown = layout.rows.iter().chain(&layout.columns).find(|name| !names.contains(name));
    match unknown {
        Some(name) => Err(CliError::NotInTable { what: "axis", name: name.clone(), known: names.join(", ") }),
        None => Ok(layout),
    }
}
