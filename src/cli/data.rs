//! `dpgp data`.

use clap::{Args, Subcommand};
use serde_json::json;

use super::CliError;
use super::list::status_name;
use super::options::datasets;
use super::options::{Format, Places};
use super::output::{FetchedDataset, ListedDataset, VerifiedFile};
use super::output::{print, print_json};
use dpgp_data::{Dataset, FileCheck, Outcome};
use dpgp_report::plain_table;
use dpgp_run::{Project, watcher};

const EXAMPLES: &str = "\
Examples:
  dpgp data list                    all datasets, and whether they are present
  dpgp data fetch howell1           download and verify
  dpgp data verify --mirror DIR     hash the files of the cache and of a mirror";

/// Arguments of `dpgp data`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct DataArguments {
    /// The action.
    #[command(subcommand)]
    verb: DataVerb,
}

/// The verbs of `dpgp data`.
#[derive(Debug, Subcommand)]
enum DataVerb {
    /// List the datasets: files, sizes, licences, and whether they are present
    List(DataSelection),
    /// Download datasets into the cache and verify their SHA-256
    Fetch(DataSelection),
    /// Hash the datasets that are present and compare with the manifest
    Verify(DataSelection),
}

/// The choice of datasets.
#[derive(Debug, Args)]
struct DataSelection {
    /// Names of datasets [default: all]
    #[arg(value_name = "NAME", add = datasets())]
    names: Vec<String>,
    #[command(flatten)]
    places: Places,
    /// No progress bars
    #[arg(long)]
    quiet: bool,
}

/// Lists, fetches or verifies datasets.
pub fn data(arguments: &DataArguments, format: Format) -> Result<(), CliError> {
    match &arguments.verb {
        DataVerb::List(selection) => list(selection, format),
        DataVerb::Fetch(selection) => fetch(selection, format),
        DataVerb::Verify(selection) => verify(selection, format),
    }
}

/// Returns the named datasets, or all.
fn selected<'a>(selection: &DataSelection, project: &'a Project) -> Result<Vec<&'a Dataset>, CliError> {
    if selection.names.is_empty() {
        return Ok(project.manifest.iter().collect());
    }
    selection.names.iter().map(|name| Ok(project.manifest.get(name)?)).collect()
}

fn list(selection: &DataSelection, format: Format) -> Result<(), CliError> {
    let project = selection.places.project()?;
    let datasets = selected(selection, &project)?;
    if format == Format::Json {
        let listed = datasets.iter().map(|dataset| described(dataset, &project));
        return print_json(&json!(listed.collect::<Vec<_>>()));
    }
    let headings = ["name", "status", "files", "size", "licence", "title"];
    print(&plain_table(&headings, datasets.iter().map(|dataset| row(dataset, &project))))
}

fn described(dataset: &Dataset, project: &Project) -> ListedDataset {
    ListedDataset {
        name: dataset.name.clone(),
        title: dataset.title.clone(),
        status: status_name(project.cache.status(dataset)),
        licence: dataset.licence.clone(),
        citation: dataset.citation.clone(),
        source: dataset.source.clone(),
        files: dataset.files.iter().map(|file| file.path.clone()).collect(),
    }
}

fn row(dataset: &Dataset, project: &Project) -> Vec<String> {
    let bytes: u64 = dataset.files.iter().map(|file| file.expected.bound()).sum();
    vec![
        dataset.name.clone(),
        status_name(project.cache.status(dataset)).to_owned(),
        dataset.files.len().to_string(),
        indicatif::HumanBytes(bytes).to_string(),
        dataset.licence.clone(),
        dataset.title.clone(),
    ]
}

/// Fetches the selected datasets. Lists failures at the end.
fn fetch(selection: &DataSelection, format: Format) -> Result<(), CliError> {
    let project = selection.places.project()?;
    let watcher = watcher(selection.quiet);
    let datasets = selected(selection, &project)?;
    let (mut text, mut here, mut failures) = (String::new(), Vec::new(), Vec::new());
    for dataset in &datasets {
        let name = &dataset.name;
        match project.cache.ensure(dataset, watcher.downloads()) {
            Ok(_) => {
                let status = status_name(project.cache.status(dataset));
                text.push_str(&format!("{name}: {status}\n"));
                here.push(FetchedDataset { name: name.clone(), status });
            }
            Err(error) => failures.push((name.clone(), error.into())),
        }
    }
    if format == Format::Json {
        print_json(&json!(here))?
    } else {
        print(&text)?
    }
    CliError::all(failures, datasets.len())
}

/// Hashes files. Fails for a mismatch, for a missing file of a named dataset, or if all files are missing.
fn verify(selection: &DataSelection, format: Format) -> Result<(), CliError> {
    let project = selection.places.project()?;
    let named = !selection.names.is_empty();
    project.cache.ensure_mirror()?;
    let (mut text, mut files, mut bad, mut hashed) = (String::new(), Vec::new(), 0, 0);
    for dataset in selected(selection, &project)? {
        for FileCheck { file, path, outcome } in project.cache.verify(dataset)? {
            let said = said(&outcome);
            text.push_str(&format!("{file}: {said}\n"));
            files.push(VerifiedFile { file, path, outcome: said });
            hashed += usize::from(!matches!(outcome, Outcome::Missing));
            bad += usize::from(match outcome {
                Outcome::Right | Outcome::Unlocked { .. } => false,
                Outcome::Missing => named,
                Outcome::Mismatch { .. } => true,
            });
        }
    }
    let all = files.len();
    if format == Format::Json {
        print_json(&json!(files))?
    } else {
        print(&text)?
    }
    match (bad, hashed) {
        (0, 0) => Err(CliError::NothingVerified(all)),
        (0, _) => Ok(()),
        _ => Err(CliError::NotVerified { bad, all }),
    }
}

fn said(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Right => "ok".to_owned(),
        Outcome::Missing => "missing".to_owned(),
        Outcome::Unlocked { found } => format!("present, but its expected digest is not known: {found}"),
        Outcome::Mismatch { expected, found } => format!("MISMATCH: expected {expected}, found {found}"),
    }
}
