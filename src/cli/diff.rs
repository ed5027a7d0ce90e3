//! `dpgp diff`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use serde_json::{Value, json};

use super::CliError;
use super::arguments::Format;
use super::output::{print, print_json};
use crate::publish::{PublishError, RowPair, plain_table, side_by_side};

const EXAMPLES: &str = "\
A side is a folder of results (or of one experiment), a table.csv, or a commit, whose results/ is meant.

Examples:
  dpgp diff HEAD~1 HEAD               what the last commit moved
  dpgp diff HEAD results              what the working tree moved
  dpgp diff results /tmp/other-seed   two result trees";

/// `dpgp diff`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct DiffArguments {
    /// A folder of results, or a commit
    #[arg(value_name = "A")]
    before: String,
    /// Another
    #[arg(value_name = "B")]
    after: String,
    /// Largest relative difference of two numbers that counts as the same
    #[arg(long, value_name = "X", default_value = "1e-9", value_parser = super::check::tolerance)]
    tolerance: f64,
}

/// The tables of one side, by experiment.
type Tables = BTreeMap<String, String>;

/// Puts two sets of tables side by side, rows that changed first.
///
/// # Errors
/// [`CliError`] if a side is neither a folder nor a commit, or a table cannot be read.
pub fn diff(arguments: &DiffArguments, format: Format) -> Result<(), CliError> {
    let (before, after) = (tables(&arguments.before)?, tables(&arguments.after)?);
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let mut pairs: Vec<(&str, RowPair)> = Vec::new();
    for name in names {
        let text = |tables: &Tables| tables.get(name).cloned().unwrap_or_else(|| EMPTY.to_owned());
        let rows = side_by_side(&text(&before), &text(&after))
            .map_err(|cause| PublishError::NotATable { path: PathBuf::from(name), cause })?;
        pairs.extend(rows.into_iter().map(|pair| (name.as_str(), pair)));
    }
    let (changed, same): (Vec<_>, Vec<_>) =
        pairs.into_iter().partition(|(_, pair)| !pair.differences(arguments.tolerance).is_empty());
    if format == Format::Json {
        let row = |row: &(&str, RowPair)| as_json(row, arguments.tolerance);
        return print_json(&changed.iter().chain(&same).map(row).collect());
    }
    let headings = ["experiment", "row", arguments.before.as_str(), arguments.after.as_str(), "change"];
    let rows = changed.iter().chain(&same).map(|row| as_row(row, arguments.tolerance));
    let summary = format!("{} of {} rows changed\n", changed.len(), changed.len() + same.len());
    print(&format!("{summary}{}", plain_table(&headings, rows)))
}

/// A table without rows.
const EMPTY: &str = "experiment,cell,metric,value\n";

fn as_row((name, pair): &(&str, RowPair), tolerance: f64) -> Vec<String> {
    let (before, after) = pair.values();
    let changes: Vec<String> = pair
        .differences(tolerance)
        .iter()
        .map(|d| match (d.column.as_deref(), d.relative()) {
            (Some("value"), Some(relative)) => format!("{relative:+.1e} relative"),
            (Some(column), _) => {
                format!("{column}: {} -> {}", or_nothing(&d.committed), or_nothing(&d.fresh))
            }
            (None, _) => format!("the row is {}", d.fresh),
        })
        .collect();
    vec![(*name).to_owned(), pair.name(), before, after, changes.join("; ")]
}

fn or_nothing(text: &str) -> &str {
    if text.is_empty() { "nothing" } else { text }
}

fn as_json((name, pair): &(&str, RowPair), tolerance: f64) -> Value {
    let (before, after) = pair.values();
    let changes: Vec<Value> = pair
        .differences(tolerance)
        .iter()
        .map(|d| json!({ "column": d.column, "before": d.committed, "after": d.fresh }))
        .collect();
    json!({ "experiment": name, "row": pair.name(), "before": before, "after": after, "changes": changes })
}

fn tables(side: &str) -> Result<Tables, CliError> {
    let path = Path::new(side);
    let mut tables = Tables::new();
    if path.is_dir() {
        below(path, "", &mut tables)?;
    } else if path.is_file() {
        tables.insert(String::new(), read(path)?);
    } else {
        of_commit(side, &mut tables)?;
    }
    if let Some(table) = tables.remove("") {
        tables.insert(experiment_of(&table).unwrap_or_else(|| side.to_owned()), table);
    }
    if tables.is_empty() { Err(CliError::NoTables { side: side.to_owned() }) } else { Ok(tables) }
}

/// The experiment that a table says it is of, as when the folder of one experiment is a side.
fn experiment_of(table: &str) -> Option<String> {
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let column = reader.headers().ok()?.iter().position(|heading| heading == "experiment")?;
    Some(reader.records().next()?.ok()?.get(column)?.to_owned())
}

fn read(path: &Path) -> Result<String, CliError> {
    std::fs::read_to_string(path).map_err(|cause| CliError::Io { path: PathBuf::from(path), cause })
}

/// Every `table.csv` below a folder, by the folder that it stands in.
fn below(folder: &Path, name: &str, tables: &mut Tables) -> Result<(), CliError> {
    let io = |cause| CliError::Io { path: folder.to_path_buf(), cause };
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        let Some(last) = path.file_name().and_then(|last| last.to_str()) else { continue };
        if path.is_dir() {
            let inner = if name.is_empty() { last.to_owned() } else { format!("{name}/{last}") };
            below(&path, &inner, tables)?;
        } else if last == "table.csv" {
            tables.insert(name.to_owned(), read(&path)?);
        }
    }
    Ok(())
}

/// The tables below `results/` of a commit of the project around the working directory.
fn of_commit(commit: &str, tables: &mut Tables) -> Result<(), CliError> {
    let listing = git(commit, &["ls-tree", "-r", "--full-tree", "--name-only", commit, "--", "results"])?;
    for path in listing.lines() {
        let inside = path.strip_prefix("results/").and_then(|path| path.strip_suffix("/table.csv"));
        if let Some(name) = inside {
            tables.insert(name.to_owned(), git(commit, &["show", &format!("{commit}:{path}")])?);
        }
    }
    Ok(())
}

fn git(side: &str, arguments: &[&str]) -> Result<String, CliError> {
    let no_side = || CliError::NoTables { side: side.to_owned() };
    if side.starts_with('-') {
        return Err(no_side());
    }
    let output = Command::new("git").args(arguments).output().map_err(|_| no_side())?;
    if !output.status.success() {
        return Err(no_side());
    }
    String::from_utf8(output.stdout).map_err(|_| no_side())
}
