//! Printing to standard output, where the reader may go away at any time.
//!
//! Types of the values that verbs print with `--format json`. `dpgp schema outputs` is generated from them.

use std::io::{ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::CliError;
use dpgp_data::{is_hidden, shown_text};
use dpgp_fs::{NewFile, Readers};
use dpgp_report::{ClaimOutcome, Graded, Outcome};
use dpgp_run::{Clipped, Stale};
use dpgp_spec::ClaimOwner;

/// Prints a text for people.
pub fn print(text: &str) -> Result<(), CliError> {
    print_bytes(&shown_text(text))
}

/// Prints a text for another program unchanged. On a terminal, escapes hidden characters for people.
pub fn print_data(text: &str) -> Result<(), CliError> {
    if std::io::stdout().is_terminal() { print(text) } else { print_bytes(text) }
}

/// Prints a line on standard error. Ignores a closed standard error.
pub fn complain(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", shown_text(text));
}

fn print_bytes(text: &str) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    let printed = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    printed.map_err(CliError::io(Path::new("standard output")))
}

/// Writes a new file or into a pipe. Fails if the file exists.
pub fn write_new(path: &Path, text: &str) -> Result<(), CliError> {
    let mut file = open_new(path)?;
    let written = file.fill(text.as_bytes()).and_then(|()| file.finish());
    written.map_err(|cause| refused(path, cause))
}

/// Opens a new file or a pipe before anything is computed. Fails if the file exists.
pub fn open_new(path: &Path) -> Result<NewFile, CliError> {
    NewFile::open(path, Readers::All).map_err(|cause| refused(path, cause))
}

/// Makes the error for a new file that could not be written.
pub fn refused(path: &Path, cause: std::io::Error) -> CliError {
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
        if !c.is_ascii_control() && is_hidden(c) || c == '\u{7f}' {
            text.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            text.push(c);
        }
    }
    print_bytes(&text)
}

/// JSON output of a verb: one value for one item, a list for several.
pub struct JsonValues {
    several: bool,
    values: Vec<serde_json::Value>,
}

impl JsonValues {
    /// Starts output for this number of items.
    pub fn count(things: usize) -> Self {
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

/// An experiment of `dpgp list`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ListedExperiment {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The paper that it is of.
    pub paper: Option<String>,
    /// The figure or table that it is of.
    pub artefact: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// The names of its datasets.
    pub datasets: Vec<String>,
    /// How many cells its grid has.
    pub cells: usize,
    /// How often each is run.
    pub replicates: u32,
    /// Whether its data are here.
    pub data: &'static str,
}

/// An experiment of `dpgp show`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ShownExperiment {
    /// As `dpgp list` has it.
    #[serde(flatten)]
    pub listed: ListedExperiment,
    /// Its axes.
    pub axes: Vec<ShownAxis>,
    /// How many numbers of the paper stand beside ours.
    pub printed_numbers: usize,
    /// How many numbers of others do.
    pub other_numbers: usize,
    /// How many claims are checked.
    pub claims: usize,
    /// What its results say, in words.
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

/// An experiment that `dpgp run` ran: one value, or a list of them where several experiments are meant.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RunExperiment {
    /// Its name.
    pub experiment: String,
    /// The folder of its results.
    pub results: String,
    /// The names of its axes.
    pub axes: Vec<String>,
    /// A row for each metric of each cell.
    pub rows: Vec<RunRow>,
    /// What the rows say of its claims.
    pub claims: Vec<RunClaim>,
    /// Results that were stored already.
    pub stored_before: usize,
    /// Blocks of cells that were computed.
    pub computed_blocks: usize,
    /// How many targets lie outside of the public bounds: for the holder of the data.
    pub clipped_targets_not_private: Vec<Clipped>,
    /// Cells that failed.
    pub failed_cells: usize,
    /// That the numbers are not private, where they are computed from the user's own rows.
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
    /// Its mean over folds and replicates; none where it is undefined.
    pub value: Option<f64>,
    /// Why it is undefined.
    pub undefined: Option<String>,
    /// Its standard deviation over them.
    pub spread: Option<f64>,
    /// What is said of the number beside it; empty where there is none.
    pub verdict: &'static str,
    /// How far the noise is from the least, at most.
    pub gap: Option<f64>,
    /// What the paper prints.
    pub published: Option<f64>,
    /// What the authors' files or code say.
    pub authors: Option<f64>,
    /// What an independent computation says.
    pub reference: Option<f64>,
    /// The epsilon that is claimed; none without privacy.
    pub epsilon: Option<f64>,
    /// The delta that is claimed.
    pub delta: Option<f64>,
    /// What is guaranteed, in words.
    pub guarantee: String,
    /// The exact delta at that epsilon.
    pub delta_exact: Option<f64>,
}

/// A claim of an experiment.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RunClaim {
    /// The statement.
    pub claim: String,
    /// Whose it is.
    pub from: ClaimOwner,
    /// What the rows say.
    pub outcome: Outcome,
}

impl From<&ClaimOutcome> for RunClaim {
    fn from(claim: &ClaimOutcome) -> Self {
        Self { claim: claim.text.clone(), from: claim.from, outcome: claim.outcome }
    }
}

/// A shard of an experiment that `dpgp run --shard` computed.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RunShard {
    /// The experiment.
    pub experiment: String,
    /// Which of how many, as `2/8`.
    pub shard: String,
    /// Blocks of cells that were computed.
    pub computed_blocks: usize,
    /// The folder that they are stored in.
    pub store: String,
}

/// The table of `dpgp table`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PrintedTables {
    /// The experiment.
    pub experiment: String,
    /// What is shown.
    pub metric: String,
    /// A table for each combination of labels on the axes that stand neither at the left nor at the top.
    pub tables: Vec<PrintedTable>,
    /// What stands behind `±`; empty where nothing does.
    pub legend: String,
}

/// One of them.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PrintedTable {
    /// The labels on those axes.
    pub title: String,
    /// The headings, then the rows, cell by cell.
    pub lines: Vec<Vec<String>>,
}

/// What `dpgp grade` says of a table.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct GradedExperiment {
    /// The experiment.
    pub experiment: String,
    /// The verdicts.
    pub grade: Graded,
}

/// What `dpgp new` wrote.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct NewSpec {
    /// The spec.
    pub written: PathBuf,
    /// The column that is predicted, of a file of one's own.
    pub target: Option<String>,
    /// The columns that it is predicted from.
    pub inputs: Option<Vec<String>>,
    /// The columns that are not taken, and why, a line each.
    pub left_out: Option<Vec<String>>,
}

/// What `dpgp plan` says of an experiment.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PlannedExperiment {
    /// The experiment.
    pub experiment: String,
    /// How many cells its grid has.
    pub cells: usize,
    /// How many results a run makes.
    pub results: usize,
    /// How many of these are stored.
    pub stored: usize,
    /// Blocks of cells that a run would compute.
    pub blocks_to_compute: usize,
    /// How long that takes; none where nothing like it was run.
    pub estimated_seconds: Option<f64>,
    /// Whether its data are here.
    pub data: &'static str,
}

/// A dataset of `dpgp data list`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ListedDataset {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Whether it is here.
    pub status: &'static str,
    /// Its licence.
    pub licence: String,
    /// How to cite it.
    pub citation: String,
    /// Where it is from.
    pub source: String,
    /// Its files, below the cache.
    pub files: Vec<String>,
}

/// What `dpgp check` found of an experiment.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CheckedExperiment {
    /// The experiment.
    pub experiment: String,
    /// Whether nothing differs.
    pub passes: bool,
    /// What differs, in words.
    pub findings: Vec<String>,
}

/// What `dpgp collect` found of an experiment.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CollectedExperiment {
    /// The experiment.
    pub experiment: String,
    /// How many results are stored.
    pub stored: usize,
    /// How many there are in all.
    pub total: usize,
    /// Where they were published; none if some are missing.
    pub results: Option<PathBuf>,
}

/// A row of `dpgp diff`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ComparedRow {
    /// The experiment.
    pub experiment: String,
    /// The cell and the metric.
    pub row: String,
    /// The value on the one side; empty if it has no such row.
    pub before: String,
    /// The value on the other.
    pub after: String,
    /// What differs.
    pub changes: Vec<ChangedColumn>,
}

/// A column that differs.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ChangedColumn {
    /// Its name; none if one side has no such row.
    pub column: Option<String>,
    /// What stands on the one side.
    pub before: String,
    /// What stands on the other.
    pub after: String,
}

/// What `dpgp explain` says of an experiment.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ExplainedExperiment {
    /// The experiment.
    pub experiment: String,
    /// Results that are not stored, by the reason.
    pub stale: Vec<Stale>,
}

/// The page of `dpgp report`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WrittenReport {
    /// The file.
    pub written: PathBuf,
    /// Its length.
    pub bytes: usize,
    /// How many experiments it shows.
    pub experiments: usize,
}

/// The file of `dpgp generate`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct GeneratedRows {
    /// The file.
    pub written: PathBuf,
    /// How many rows it has.
    pub rows: u64,
    /// Its columns.
    pub columns: Vec<&'static str>,
}

/// What `dpgp emit` prints without a file.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct EmittedText {
    /// The job description.
    pub text: String,
}

/// What `dpgp completions` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CompletionScript {
    /// The script.
    pub script: String,
}

/// What `dpgp man` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ManualPage {
    /// The page.
    pub page: String,
}

/// A dataset of `dpgp data fetch`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FetchedDataset {
    /// Its name.
    pub name: String,
    /// Whether it is here.
    pub status: &'static str,
}

/// A file of `dpgp data verify`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct VerifiedFile {
    /// Its path in the cache.
    pub file: String,
    /// Where it was found.
    pub path: Option<PathBuf>,
    /// Whether it is the right one, in words.
    pub outcome: String,
}
