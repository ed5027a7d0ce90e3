//! Printing to standard output, where the reader may go away at any time, and a spinner on standard error.
//!
//! Types of the values that verbs print with `--format json`. `dpgp schema outputs` is generated from them.

use std::io::{ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use schemars::JsonSchema;
use serde::Serialize;

use super::CliError;
use dpgp_data::{escape_hidden_line, escape_hidden_text, is_hidden_char};
use dpgp_fs::{AtomicNewFile, ReadAccess};
use dpgp_report::{ClaimOutcome, ClaimOutcomeKind, TableGrade};
use dpgp_run::{ClippedCounts, StaleResults};
use dpgp_spec::ClaimOwner;

/// Prints human-readable text.
pub fn print(text: &str) -> Result<(), CliError> {
    print_bytes(&escape_hidden_text(text))
}

/// Prints text that another program can read, unchanged except on a terminal, where hidden characters are escaped.
pub fn print_raw_unless_terminal(text: &str) -> Result<(), CliError> {
    if std::io::stdout().is_terminal() { print(text) } else { print_bytes(text) }
}

/// A line on standard error with the current task and its elapsed time, shown only on a terminal and removed at the end.
pub(super) struct Spinner(ProgressBar);

impl Spinner {
    /// Shows the line, unless `quiet`.
    pub(super) fn start(what: &str, quiet: bool) -> Self {
        if quiet {
            return Self(ProgressBar::hidden());
        }
        let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
        let line = ProgressBar::new_spinner()
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
            .with_message(escape_hidden_line(what).into_owned());
        // Draw at once: the ticking thread may start after a short task has ended.
        line.tick();
        line.enable_steady_tick(Duration::from_millis(250));
        Self(line)
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Prints a line on standard error. Ignores write errors, for example if standard error is closed.
pub fn print_stderr(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", escape_hidden_text(text));
}

fn print_bytes(text: &str) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    let printed = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    printed.map_err(CliError::io_error_at(Path::new("standard output")))
}

/// Writes to a new file or a pipe. Fails if the file exists.
pub fn write_new(path: &Path, text: &str) -> Result<(), CliError> {
    write_new_with_access(ReadAccess::All, path, text)
}

/// The same, for these readers.
pub fn write_new_with_access(readers: ReadAccess, path: &Path, text: &str) -> Result<(), CliError> {
    let mut file = AtomicNewFile::open(path, readers).map_err(|cause| new_file_error(path, cause))?;
    let written = file.append_bytes(text.as_bytes()).and_then(|()| file.finish());
    written.map_err(|cause| new_file_error(path, cause))
}

/// Opens a new file or a pipe, so that a caller can do this before it computes. Fails if the file exists.
pub fn open_new(path: &Path) -> Result<AtomicNewFile, CliError> {
    AtomicNewFile::open(path, ReadAccess::All).map_err(|cause| new_file_error(path, cause))
}

/// Makes the error for a new file that could not be written.
pub fn new_file_error(path: &Path, cause: std::io::Error) -> CliError {
    match cause.kind() {
        ErrorKind::AlreadyExists => CliError::Exists(path.to_path_buf()),
        _ => CliError::Io { path: path.to_path_buf(), cause },
    }
}

/// Prints a value as JSON.
pub fn print_json(value: &serde_json::Value) -> Result<(), CliError> {
    let mut text = String::new();
    for c in format!("{value:#}\n").chars() {
        // JSON escapes the lower control characters itself. Those that remain are line breaks of its own layout.
        if !c.is_ascii_control() && is_hidden_char(c) || c == '\u{7f}' {
            text.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            text.push(c);
        }
    }
    print_bytes(&text)
}

/// JSON output of a verb: one value for one item, a list for several.
pub struct JsonOutput {
    several: bool,
    values: Vec<serde_json::Value>,
}

impl JsonOutput {
    /// Starts output for this number of items.
    pub fn with_item_count(things: usize) -> Self {
        Self { several: things != 1, values: Vec::new() }
    }

    /// Prints the value of a single item, or keeps it for the list.
    pub fn push(&mut self, value: serde_json::Value) -> Result<(), CliError> {
        if !self.several {
            return print_json(&value);
        }
        self.values.push(value);
        Ok(())
    }

    /// Prints the list, if values were kept.
    pub fn finish(self) -> Result<(), CliError> {
        if self.values.is_empty() { Ok(()) } else { print_json(&self.values.into()) }
    }
}

/// The guarantee of several releases or steps, computed by `dpgp account`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ComputedGuaranteeOutput {
    /// Epsilon, given or computed. A computed number is an upper bound; null if there is no finite one.
    pub epsilon: Option<f64>,
    /// Delta, given or computed. A computed number is an upper bound.
    pub delta: f64,
    /// A lower bound on the computed number; null if it is exact.
    pub at_least: Option<f64>,
    /// The mu of all releases together; null for steps.
    pub mu: Option<f64>,
}

/// An experiment listed by `dpgp list`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ExperimentListOutput {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The paper that it reproduces.
    pub paper: Option<String>,
    /// The figure or table that it reproduces.
    pub artefact: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// The names of its datasets.
    pub datasets: Vec<String>,
    /// The number of cells of its grid.
    pub cells: usize,
    /// The number of runs of each cell.
    pub replicates: u32,
    /// The status of its data.
    pub data: &'static str,
}

/// An experiment shown by `dpgp show`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ExperimentShowOutput {
    /// The fields of `dpgp list`.
    #[serde(flatten)]
    pub listed: ExperimentListOutput,
    /// Its axes.
    pub axes: Vec<ShownAxis>,
    /// How many numbers published in the paper are compared with ours.
    pub printed_numbers: usize,
    /// How many numbers from other sources are compared with ours.
    pub other_numbers: usize,
    /// The number of claims.
    pub claims: usize,
    /// A summary of its results.
    pub results: String,
}

/// An axis of a grid.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ShownAxis {
    /// Its name.
    pub name: String,
    /// The setting that it changes.
    pub path: String,
    /// Its values.
    pub labels: Vec<String>,
}

/// An experiment run by `dpgp run`. For several experiments, the output is a list of such objects.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ExperimentRunOutput {
    /// Its name.
    pub experiment: String,
    /// The folder of its results.
    pub results: String,
    /// The names of its axes.
    pub axes: Vec<String>,
    /// A row for each metric of each cell.
    pub rows: Vec<RunRow>,
    /// The outcomes of its claims.
    pub claims: Vec<RunClaim>,
    /// The number of results that were stored already.
    pub stored_before: usize,
    /// The number of blocks of cells that were computed.
    pub computed_blocks: usize,
    /// The numbers of targets outside the public bounds. These counts are exact: do not publish them.
    pub clipped_targets_not_private: Vec<ClippedCounts>,
    /// The number of cells that failed.
    pub failed_cells: usize,
    /// A note that the numbers are not private, if they are computed from the user's own rows.
    pub not_private: Option<&'static str>,
}

/// A metric of a cell.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RunRow {
    /// The cell.
    pub cell: String,
    /// Its label on each axis.
    pub labels: Vec<String>,
    /// The metric.
    pub metric: String,
    /// Its mean over folds and replicates; null if it is undefined.
    pub value: Option<f64>,
    /// The reason why the value is undefined.
    pub undefined: Option<String>,
    /// Its standard deviation over folds or replicates.
    pub spread: Option<f64>,
    /// The verdict on the paper's number; empty if there is none.
    pub verdict: &'static str,
    /// An upper bound on how far the noise exceeds the least possible noise.
    pub gap: Option<f64>,
    /// The number in the paper.
    pub published: Option<f64>,
    /// The number from the authors' files or code.
    pub authors: Option<f64>,
    /// The number from an independent computation.
    pub reference: Option<f64>,
    /// The claimed epsilon; null without privacy.
    pub epsilon: Option<f64>,
    /// The claimed delta.
    pub delta: Option<f64>,
    /// The guarantee, in words.
    pub guarantee: String,
    /// The exact delta at this epsilon.
    pub delta_exact: Option<f64>,
}

/// A claim of an experiment.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RunClaim {
    /// The statement.
    pub claim: String,
    /// Whose claim it is.
    pub from: ClaimOwner,
    /// The outcome.
    pub outcome: ClaimOutcomeKind,
}

impl From<&ClaimOutcome> for RunClaim {
    fn from(claim: &ClaimOutcome) -> Self {
        Self { claim: claim.text.clone(), from: claim.from, outcome: claim.outcome }
    }
}

/// A shard of an experiment that `dpgp run --shard` computed.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ShardRunOutput {
    /// The experiment.
    pub experiment: String,
    /// The shard, such as `2/8`.
    pub shard: String,
    /// The number of blocks of cells that were computed.
    pub computed_blocks: usize,
    /// The folder where their results are stored.
    pub store: String,
}

/// The table of `dpgp table`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TableOutput {
    /// The experiment.
    pub experiment: String,
    /// The metric.
    pub metric: String,
    /// A table for each combination of labels on the axes that are neither rows nor columns.
    pub tables: Vec<PivotTableOutput>,
    /// The meaning of the number after `±`; empty if there is none.
    pub legend: String,
}

/// One table.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PivotTableOutput {
    /// The title: the labels on the axes that are neither rows nor columns.
    pub title: String,
    /// The headings, then the rows, each as a list of cells.
    pub lines: Vec<Vec<String>>,
}

/// The result of `dpgp grade`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ExperimentGradeOutput {
    /// The experiment.
    pub experiment: String,
    /// The verdicts.
    pub grade: TableGrade,
}

/// The result of `dpgp new`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct NewSpecOutput {
    /// The spec.
    pub written: PathBuf,
    /// The column to predict, for the user's own file.
    pub target: Option<String>,
    /// The columns to predict from.
    pub inputs: Option<Vec<String>>,
    /// A line for each column that is left out, with the reason.
    pub left_out: Option<Vec<String>>,
}

/// An experiment planned by `dpgp plan`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ExperimentPlanOutput {
    /// The experiment.
    pub experiment: String,
    /// The number of cells of its grid.
    pub cells: usize,
    /// The number of results that a run produces.
    pub results: usize,
    /// The number of stored results.
    pub stored: usize,
    /// The number of blocks of cells that a run would compute.
    pub blocks_to_compute: usize,
    /// The time that the stored results took, in seconds on one thread.
    pub stored_seconds: f64,
    /// The estimated time, in seconds; null without earlier results or shipped timings.
    pub estimated_seconds: Option<f64>,
    /// The status of its data.
    pub data: &'static str,
}

/// A dataset listed by `dpgp data list`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DataListOutput {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its status.
    pub status: &'static str,
    /// Its licence.
    pub licence: String,
    /// Its citation.
    pub citation: String,
    /// Its source.
    pub source: String,
    /// The paths of its files in the cache.
    pub files: Vec<String>,
}

/// An experiment checked by `dpgp check`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ExperimentCheckOutput {
    /// The experiment.
    pub experiment: String,
    /// True if nothing differs.
    pub passes: bool,
    /// The differences, in words.
    pub findings: Vec<String>,
}

/// An experiment collected by `dpgp collect`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ExperimentCollectOutput {
    /// The experiment.
    pub experiment: String,
    /// The number of stored results.
    pub stored: usize,
    /// The total number of results.
    pub total: usize,
    /// The folder of the tables; null if results are missing.
    pub results: Option<PathBuf>,
}

/// A row of `dpgp diff`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DiffRowOutput {
    /// The experiment.
    pub experiment: String,
    /// The cell and the metric.
    pub row: String,
    /// The value on the first side; empty if that side lacks the row.
    pub before: String,
    /// The value on the second side.
    pub after: String,
    /// The change of the value in standard errors of the difference of independent runs; null if unknown or in METRIC-replicates.
    pub standard_errors: Option<f64>,
    /// The differences.
    pub changes: Vec<ChangedColumn>,
}

/// A column that differs.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ChangedColumn {
    /// The name of the column; null if one side lacks the whole row.
    pub column: Option<String>,
    /// The text on the first side.
    pub before: String,
    /// The text on the second side.
    pub after: String,
}

/// An experiment explained by `dpgp explain`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ExperimentExplainOutput {
    /// The experiment.
    pub experiment: String,
    /// The results that are not stored, grouped by reason.
    pub stale: Vec<StaleResults>,
}

/// The page written by `dpgp report`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ReportOutput {
    /// The file.
    pub written: PathBuf,
    /// Its length in bytes.
    pub bytes: usize,
    /// The number of experiments in it.
    pub experiments: usize,
}

/// The file written by `dpgp generate`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct GenerateOutput {
    /// The file.
    pub written: PathBuf,
    /// The number of its rows.
    pub rows: u64,
    /// Its columns.
    pub columns: Vec<&'static str>,
}

/// The output of `dpgp emit` without `--out`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct EmitOutput {
    /// The job description.
    pub text: String,
}

/// The output of `dpgp completions`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CompletionsOutput {
    /// The script.
    pub script: String,
}

/// The output of `dpgp man`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ManOutput {
    /// The page.
    pub page: String,
}

/// A dataset fetched by `dpgp data fetch`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DataFetchOutput {
    /// Its name.
    pub name: String,
    /// Its status.
    pub status: &'static str,
}

/// The output of `dpgp data folds`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DataFoldsOutput {
    /// The file.
    pub written: PathBuf,
    /// The number of rows.
    pub rows: usize,
    /// The number of replicates.
    pub replicates: u32,
}

/// A file checked by `dpgp data verify`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DataVerifyOutput {
    /// Its path in the cache.
    pub file: String,
    /// The path where it was found.
    pub path: Option<PathBuf>,
    /// The result of the check, in words.
    pub outcome: String,
}
