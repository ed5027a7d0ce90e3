//! `dpgp grade`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::json;

use super::CliError;
use super::options::{DataLocationArguments, OutputFormat, ResultsArguments, experiment_completer};
use super::output::{ExperimentGradeOutput, print, print_json, print_raw_unless_terminal};
use dpgp_data::read_limited_text;
use dpgp_report::{grade_markdown, grade_submitted_table as graded, grade_text, graded_summary_screen, grading_notes};

const EXAMPLES: &str = "\
Grades another implementation's table as `dpgp run` grades ours: against the numbers in the paper and all claims of the experiment.
The table has the columns `metric` and `value`, and a column for each axis, like table.csv in our results. If it has a column `replicate`,
each row is one run. Otherwise other columns state how much runs vary: either `interval_low` and `interval_high`, the ends of an interval
that contains the result of another run with probability 0.95, or `spread`, `spread_kind` (sd-replicates) and `repeats`. Without them, or
with a spread of another kind (sd-folds, standard-error), a number is neither graded nor used for claims. The exception is a number without
a spread in our results: it is the same in every run, and is compared as it is. Rows that match no cell, such as those of your own method,
get no verdict; `--rows` shows them beside our numbers and the published ones. Nothing is computed.

The experiment can come from any paper, as a TOML file with [experiment], [published] and [[claim]] but no task.
`dpgp new --from-table` writes such a file.

Exit code 1 means that a number differs or a claim fails.

Examples:
  dpgp grade theirs.csv --experiment smith2021/table1
  dpgp grade theirs.csv --experiment smith2021/table1 --as md > grade.md
  dpgp grade runs.csv --experiment paper.toml                                      against the numbers in any paper
  dpgp grade results/smith2021/table1/table.csv --experiment smith2021/table1      our own results, graded by the same rules";

/// Arguments of `dpgp grade`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct GradeArguments {
    /// The table, as CSV
    #[arg(value_name = "TABLE.csv")]
    table: PathBuf,
    /// The experiment that the table reproduces
    #[arg(long, value_name = "NAME", add = experiment_completer())]
    experiment: String,
    /// The table was computed with the reduced settings of the spec
    #[arg(long)]
    quick: bool,
    /// Print every number with its interval, and every claim
    #[arg(long, short = 'v', visible_alias = "verbose")]
    rows: bool,
    /// Format of the verdicts
    #[arg(long = "as", value_enum, default_value = "text", value_name = "FORMAT")]
    form: GradeFormat,
    #[command(flatten)]
    results: ResultsArguments,
    #[command(flatten)]
    places: DataLocationArguments,
}

/// Formats of verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GradeFormat {
    /// Text for a terminal.
    Text,
    /// Markdown, for a review.
    Md,
}

/// Grades a table. Fails if a number differs or a claim fails.
pub fn grade(arguments: &GradeArguments, format: OutputFormat) -> Result<(), CliError> {
    let project = arguments.places.project()?;
    project.find_one_experiment(&arguments.experiment)?;
    let experiment =
        project.select_experiments(std::slice::from_ref(&arguments.experiment), arguments.quick)?.remove(0);
    let path = &arguments.table;
    let text = read_limited_text(path).map_err(CliError::io_error_at(path))?;
    let ours = match arguments.results.read_committed(&project, &experiment) {
        Ok(ours) => Some(ours),
        Err(CliError::NoTables(_)) => None,
        Err(error) => return Err(error),
    };
    let result =
        graded(&experiment, ours.as_ref(), &text).map_err(|cause| CliError::Grade { path: path.clone(), cause })?;
    match (format, arguments.form) {
        (OutputFormat::Json, _) => {
            let (experiment, grade) = (experiment.name.clone(), result.clone());
            print_json(&json!(ExperimentGradeOutput { experiment, grade }))?
        }
        (_, GradeFormat::Text) if arguments.rows => print(&grade_text(&experiment, &result))?,
        (_, GradeFormat::Text) => print(&graded_summary_screen(&experiment, &result, &grading_notes(&result)))?,
        (_, GradeFormat::Md) => print_raw_unless_terminal(&grade_markdown(&experiment, &result))?,
    }
    if result.fails() {
        return Err(CliError::GradeFailed { differs: result.verdicts.differs, fails: result.outcomes.fails });
    }
    Ok(())
}
