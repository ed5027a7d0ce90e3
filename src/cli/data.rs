//! `dpgp data`.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::CliError;
use super::arguments::{Format, Places};
use super::list::status_name;
use super::output::{print, print_json};
use super::workspace::Workspace;
use crate::data::{Bars, Dataset, FileCheck, Outcome, Progress, Silent};
use crate::publish::plain_table;

const EXAMPLES: &str = "\
Examples:
  dpgp data list                    what there is, and what is here
  dpgp data fetch howell1           download, verify, then give it its name
  dpgp data verify --mirror DIR     hash what is here and in a mirror";

/// `dpgp data`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct DataArguments {
    /// What to do with datasets.
    #[command(subcommand)]
    verb: DataVerb,
}

/// The verbs of `dpgp data`.
#[derive(Debug, Subcommand)]
enum DataVerb {
    /// List the datasets: files, sizes, licences, and whether they are here
    List(DataSelection),
    /// Download datasets into the cache and verify their SHA-256
    Fetch(DataSelection),
    /// Hash the datasets that are here and compare with the manifest
    Verify(DataSelection),
}

/// Which datasets.
#[derive(Debug, Args)]
struct DataSelection {
    /// Names of datasets [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    places: Places,
    /// No progress bars
    #[arg(long)]
    quiet: bool,
}

/// Lists, fetches or verifies datasets.
///
/// # Errors
/// [`CliError`] if a name is unknown, a file does not arrive or does not verify.
pub fn data(arguments: &DataArguments, format: Format) -> Result<(), CliError> {
    match &arguments.verb {
        DataVerb::List(selection) => list(selection, format),
        DataVerb::Fetch(selection) => fetch(selection, format),
        DataVerb::Verify(selection) => verify(selection, format),
    }
}

/// The datasets named, or all.
fn selected<'a>(selection: &DataSelection, workspace: &'a Workspace) -> Result<Vec<&'a Dataset>, CliError> {
    if selection.names.is_empty() {
        return Ok(workspace.manifest.iter().collect());
    }
    selection.names.iter().map(|name| Ok(workspace.manifest.get(name)?)).collect()
}

/// The progress bars that the user wants.
pub(super) fn progress(quiet: bool) -> Box<dyn Progress> {
    if quiet { Box::new(Silent) } else { Box::new(Bars::stderr()) }
}

fn list(selection: &DataSelection, format: Format) -> Result<(), CliError> {
    let workspace = Workspace::open(&selection.places)?;
    let datasets = selected(selection, &workspace)?;
    let status = |d: &Dataset| status_name(workspace.cache.status(d));
    if format == Format::Json {
        let entry = |d: &&Dataset| {
            json!({
                "name": d.name, "title": d.title, "status": status(d), "licence": d.licence,
                "citation": d.citation, "source": d.source,
                "files": d.files.iter().map(|f| f.path.clone()).collect::<Vec<_>>(),
            })
        };
        return print_json(&Value::Array(datasets.iter().map(entry).collect()));
    }
    let row = |d: &&Dataset| {
        let bytes: u64 = d.files.iter().map(|f| f.expected.bound()).sum();
        let size = indicatif::HumanBytes(bytes).to_string();
        vec![
            d.name.clone(),
            status(d).to_owned(),
            d.files.len().to_string(),
            size,
            d.licence.clone(),
            d.title.clone(),
        ]
    };
    let headings = ["name", "status", "files", "size", "licence", "title"];
    print(&plain_table(&headings, datasets.iter().map(row)))
}

/// Fetches all datasets selected; those that did not arrive are listed at the end.
fn fetch(selection: &DataSelection, format: Format) -> Result<(), CliError> {
    let workspace = Workspace::open(&selection.places)?;
    let progress = progress(selection.quiet);
    let datasets = selected(selection, &workspace)?;
    let (mut here, mut failures) = (Vec::new(), Vec::new());
    for dataset in &datasets {
        match workspace.cache.ensure(dataset, progress.as_ref()) {
            Ok(_) => here.push((dataset.name.clone(), status_name(workspace.cache.status(dataset)))),
            Err(error) => failures.push((dataset.name.clone(), error.into())),
        }
    }
    if format == Format::Json {
        let entry = |(name, status): &(String, &str)| json!({ "name": name, "status": status });
        print_json(&here.iter().map(entry).collect())?;
    } else {
        print(&here.iter().map(|(name, status)| format!("{name}: {status}\n")).collect::<String>())?;
    }
    if failures.is_empty() { Ok(()) } else { Err(CliError::Several { failures, all: datasets.len() }) }
}

/// Hashes files. Missing files fail only when their dataset was named.
fn verify(selection: &DataSelection, format: Format) -> Result<(), CliError> {
    let workspace = Workspace::open(&selection.places)?;
    let named = !selection.names.is_empty();
    let mut checks: Vec<FileCheck> = Vec::new();
    for dataset in selected(selection, &workspace)? {
        checks.extend(workspace.cache.verify(dataset)?);
    }
    if format == Format::Json {
        let entry = |c: &FileCheck| json!({ "file": c.file, "path": c.path, "outcome": outcome(&c.outcome) });
        print_json(&Value::Array(checks.iter().map(entry).collect()))?;
    } else {
        let lines: String = checks.iter().map(|c| format!("{}: {}\n", c.file, outcome(&c.outcome))).collect();
        print(&lines)?;
    }
    let bad = |c: &&FileCheck| match c.outcome {
        Outcome::Right | Outcome::Unlocked { .. } => false,
        Outcome::Missing => named,
        Outcome::Mismatch { .. } => true,
    };
    match checks.iter().filter(bad).count() {
        0 => Ok(()),
        bad => Err(CliError::NotVerified { bad, all: checks.len() }),
    }
}

fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Right => "ok".to_owned(),
        Outcome::Missing => "not here".to_owned(),
        Outcome::Unlocked { found } => format!("here, but no digest is known to compare with: {found}"),
        Outcome::Mismatch { expected, found } => format!("MISMATCH: expected {expected}, found {found}"),
    }
}
