//! `dpgp diff`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use serde_json::json;

use super::CliError;
use super::options::OutputFormat;
use super::output::{ChangedColumn, DiffRowOutput, print, print_json};
use dpgp_data::read_limited_text;
use dpgp_number::text::count_with_noun;
use dpgp_report::{PublishError, RowPair, TableDifference, format_four_digits, pair_rows, wrap_prose};

const EXAMPLES: &str = "\
Each side is a results folder (of all experiments or of one), a table.csv, or a commit. For a commit, its results/ folder is compared.
Two single experiments are compared even if their names differ. Differences as multiples of the standard error assume that both runs are independent.

Examples:
  dpgp diff HEAD~1 HEAD               changes of the last commit
  dpgp diff HEAD results              changes of the working tree
  dpgp diff results /tmp/other-seed   two folders of results";

/// Arguments of `dpgp diff`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct DiffArguments {
    /// A folder of results, a table.csv, or a commit
    #[arg(value_name = "A")]
    before: String,
    /// The folder, table.csv or commit to compare with
    #[arg(value_name = "B")]
    after: String,
    /// Largest relative difference at which two numbers count as equal
    #[arg(long, value_name = "X", default_value = "1e-9", value_parser = super::check::tolerance, allow_negative_numbers = true)]
    tolerance: f64,
    /// Print every changed row, not just the first few of each experiment
    #[arg(long, short = 'v', visible_alias = "verbose")]
    rows: bool,
    /// Also print rows that did not change
    #[arg(long)]
    all: bool,
}

/// The tables of one side, by experiment.
type TablesByExperiment = BTreeMap<String, String>;

/// A row of two tables, and its differences.
struct RowDifferences<'a> {
    experiment: &'a str,
    row: RowPair,
    changes: Vec<TableDifference>,
}

/// Compares two sets of tables. Prints the changed rows, followed by the others if --all is given.
pub fn diff(arguments: &DiffArguments, format: OutputFormat) -> Result<(), CliError> {
    let (before, mut after) = (read_tables(&arguments.before)?, read_tables(&arguments.after)?);
    if let ([name], 1) = (&before.keys().collect::<Vec<_>>()[..], after.len()) {
        after = after.into_values().map(|table| ((*name).clone(), table)).collect();
    }
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let mut rows: Vec<RowDifferences<'_>> = Vec::new();
    for experiment in names {
        let [before, after] = [&before, &after].map(|side| side.get(experiment).map_or(EMPTY, String::as_str));
        let pairs = pair_rows(before, after)
            .map_err(|cause| PublishError::NotATable { path: PathBuf::from(experiment), cause })?;
        for row in pairs {
            let changes = row.differences(arguments.tolerance);
            rows.push(RowDifferences { experiment, row, changes });
        }
    }
    let (changed, total) = (rows.iter().filter(|row| !row.changes.is_empty()).count(), rows.len());
    if !arguments.all {
        rows.retain(|row| !row.changes.is_empty());
    }
    // The sort is stable, so rows keep their order in both parts.
    rows.sort_by_key(|row| row.changes.is_empty());
    if format == OutputFormat::Json {
        return print_json(&json!(rows.iter().map(RowDifferences::to_output).collect::<Vec<_>>()));
    }
    let summary = format!("{changed} of {total} rows changed\n{}", chance_summary(&rows));
    if rows.is_empty() {
        return print(&summary);
    }
    let most = if arguments.rows || arguments.all { usize::MAX } else { FEW };
    print(&wrap_prose(&format!("{summary}{}", text(&rows, most))))
}

/// Differences in standard errors beyond which a number is counted, and the share that chance alone puts there.
const NOTABLE: f64 = 2.0;
const SHARE_BY_CHANCE: f64 = 0.0455;

/// Counts changed numbers whose difference is more than two standard errors. Empty if fewer than two numbers have an error.
fn chance_summary(rows: &[RowDifferences<'_>]) -> String {
    let differences = rows.iter().filter_map(RowDifferences::changed_value_in_standard_errors);
    let differences: Vec<f64> = differences.filter(|errors| errors.is_finite()).collect();
    if differences.len() < 2 {
        return String::new();
    }
    let notable = differences.iter().filter(|errors| errors.abs() > NOTABLE).count();
    let expected = format_four_digits(SHARE_BY_CHANCE * differences.len() as f64);
    format!(
        "{notable} of {} changed numbers with known errors differ by more than two standard errors; by chance alone, about {expected} \
         would do so, if runs and numbers are independent\n",
        differences.len()
    )
}

/// The most rows of an experiment, without --rows.
const FEW: usize = 4;

/// Writes the rows below the names of their experiments, at most so many of each.
fn text(rows: &[RowDifferences<'_>], most: usize) -> String {
    let mut text = String::new();
    let together = |a: &RowDifferences<'_>, b: &RowDifferences<'_>| {
        (a.experiment, a.is_changed()) == (b.experiment, b.is_changed())
    };
    for of_one in rows.chunk_by(together) {
        let Some(first) = of_one.first() else { continue };
        let state = if first.is_changed() { "changed" } else { "unchanged" };
        text.push_str(&format!("\n{}: {} {state}\n", first.experiment, count_with_noun(of_one.len(), "row", "rows")));
        of_one.iter().take(most).for_each(|row| text.push_str(&row.text()));
        if let Some(more) = of_one.len().checked_sub(most).filter(|more| *more > 0) {
            text.push_str(&format!("  ... and {more} more; use --rows to print all\n"));
        }
    }
    text
}

/// A table without rows.
const EMPTY: &str = "experiment,cell,metric,value\n";

impl RowDifferences<'_> {
    fn is_changed(&self) -> bool {
        !self.changes.is_empty()
    }

    /// By how many standard errors the value changed; none if it did not, or if an error is not known.
    fn changed_value_in_standard_errors(&self) -> Option<f64> {
        let changed = self.changes.iter().any(|change| change.column.as_deref() == Some("value"));
        if changed { self.row.standardised_difference() } else { None }
    }

    fn text(&self) -> String {
        let (before, after) = self.row.values();
        let rounded = |value: String| value.parse().map_or(value, format_four_digits);
        let [before, after] = [before, after].map(rounded);
        let mut changes: Vec<String> = self.changes.iter().map(difference_text).collect();
        let errors = self.changed_value_in_standard_errors();
        changes.extend(errors.map(|errors| format!("{} standard errors", format_four_digits(errors))));
        let changes = if changes.is_empty() { String::new() } else { format!(" ({})", changes.join("; ")) };
        let values = match (before.as_str(), after.as_str()) {
            ("", one) | (one, "") => one.to_owned(),
            (before, after) if before == after => after.to_owned(),
            (before, after) => format!("{before} -> {after}"),
        };
        format!("  {}: {values}{changes}\n", self.row.name())
    }

    fn to_output(&self) -> DiffRowOutput {
        let (before, after) = self.row.values();
        let changes = self.changes.iter().map(|change| ChangedColumn {
            column: change.column.clone(),
            before: change.committed.clone(),
            after: change.fresh.clone(),
        });
        let (experiment, row) = (self.experiment.to_owned(), self.row.name());
        let standard_errors = self.changed_value_in_standard_errors();
        DiffRowOutput { experiment, row, before, after, standard_errors, changes: changes.collect() }
    }
}

fn difference_text(difference: &TableDifference) -> String {
    let TableDifference { column, committed, fresh, .. } = difference;
    match (column.as_deref(), difference.relative_change()) {
        (Some("value"), Some(relative)) => format!("{relative:+.1e} relative"),
        (Some(column), _) => {
            let rounded = |text: &str| text.parse().map_or_else(|_| text.to_owned(), format_four_digits);
            format!(
                "{column}: {} -> {}",
                text_or_placeholder(&rounded(committed)),
                text_or_placeholder(&rounded(fresh))
            )
        }
        (None, _) => format!("the row is {fresh}"),
    }
}

fn text_or_placeholder(text: &str) -> &str {
    if text.is_empty() { "nothing" } else { text }
}

fn read_tables(side: &str) -> Result<TablesByExperiment, CliError> {
    let path = Path::new(side);
    let mut tables = TablesByExperiment::new();
    if path.is_dir() {
        collect_folder_tables(path, "", &mut tables)?;
    } else if path.is_file() {
        let table = read(path)?;
        pair_rows(EMPTY, &table).map_err(|cause| PublishError::NotATable { path: path.to_path_buf(), cause })?;
        tables.insert(String::new(), table);
    } else {
        read_tables_of_git_commit(side, &mut tables)?;
    }
    if let Some(table) = tables.remove("") {
        tables.insert(read_experiment_name(&table).unwrap_or_else(|| side.to_owned()), table);
    }
    if tables.is_empty() { Err(CliError::NoTables(side.to_owned())) } else { Ok(tables) }
}

/// Reads the experiment from the table itself, for a side that is the folder of one experiment.
fn read_experiment_name(table: &str) -> Option<String> {
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let column = reader.headers().ok()?.iter().position(|heading| heading == "experiment")?;
    Some(reader.records().next()?.ok()?.get(column)?.to_owned())
}

fn read(path: &Path) -> Result<String, CliError> {
    read_limited_text(path).map_err(CliError::io_error_at(path))
}

/// Folders of changed and of reduced runs inside that of an experiment.
const RUNS_APART: [&str; 2] = ["changed", "quick"];

/// Reads every `table.csv` below a folder, by the folder that holds it. Skips tables of changed and of
/// reduced runs, which are in `changed` and `quick`.
fn collect_folder_tables(folder: &Path, name: &str, tables: &mut TablesByExperiment) -> Result<(), CliError> {
    let io = CliError::io_error_at(folder);
    for entry in std::fs::read_dir(folder).map_err(&io)? {
        let path = entry.map_err(&io)?.path();
        let Some(last) = path.file_name().and_then(|last| last.to_str()) else { continue };
        if path.is_dir() && !RUNS_APART.contains(&last) {
            let inner = if name.is_empty() { last.to_owned() } else { format!("{name}/{last}") };
            collect_folder_tables(&path, &inner, tables)?;
        } else if last == "table.csv" {
            tables.insert(name.to_owned(), read(&path)?);
        }
    }
    Ok(())
}

/// Reads the same tables below `results/` of a git commit, in the repository of the working directory.
fn read_tables_of_git_commit(commit: &str, tables: &mut TablesByExperiment) -> Result<(), CliError> {
    let listing =
        require_git_output(commit, &["ls-tree", "-r", "--full-tree", "--name-only", commit, "--", "results"])?;
    for path in listing.lines() {
        let inside = path.strip_prefix("results/").and_then(|path| path.strip_suffix("/table.csv"));
        if let Some(name) = inside.filter(|name| !name.split('/').any(|part| RUNS_APART.contains(&part))) {
            tables.insert(
                name.to_owned(),
                require_git_output(commit, &["show", "--no-textconv", &format!("{commit}:{path}")])?,
            );
        }
    }
    Ok(())
}

fn require_git_output(side: &str, arguments: &[&str]) -> Result<String, CliError> {
    let text = if side.starts_with('-') { None } else { output_of_git(arguments) };
    text.ok_or_else(|| CliError::NoTables(side.to_owned()))
}

fn output_of_git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    if output.status.success() { String::from_utf8(output.stdout).ok() } else { None }
}
