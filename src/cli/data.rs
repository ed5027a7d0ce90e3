//! `dpgp data`.

use clap::{Args, Subcommand};
use serde_json::json;

use super::CliError;
use super::list::status_name;
use super::options::datasets;
use super::options::{DataLocationArguments, OutputFormat};
use super::output::{FetchedDataset, ListedDataset, VerifiedFile};
use super::output::{print, print_json};
use dpgp_data::{Dataset, FileCheck, FileCheckOutcome};
use dpgp_report::plain_table;
use dpgp_run::{Project, create_watcher};

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
    List(DatasetSelection),
    /// Download datasets into the cache and verify their SHA-256
    Fetch(DatasetSelection),
    /// Hash the datasets that are present and compare with the manifest
    Verify(DatasetSelection),
}

/// The choice of datasets.
#[derive(Debug, Args)]
struct DatasetSelection {
    /// Names of datasets [default: all]
    #[arg(value_name = "NAME", add = datasets())]
    names: Vec<String>,
    #[command(flatten)]
    places: DataLocationArguments,
    /// No progress bars
    #[arg(long)]
    quiet: bool,
}

/// Lists, fetches or verifies datasets.
pub fn data(arguments: &DataArguments, format: OutputFormat) -> Result<(), CliError> {
    match &arguments.verb {
        DataVerb::List(selection) => list(selection, format),
        DataVerb::Fetch(selection) => fetch(selection, format),
        DataVerb::Verify(selection) => verify(selection, format),
    }
}

/// Returns the named datasets, or all.
fn selected_datasets<'a>(selection: &DatasetSelection, project: &'a Project) -> Result<Vec<&'a Dataset>, CliError> {
    if selection.names.is_empty() {
        return Ok(project.manifest.iter().collect());
    }
    selection.names.iter().map(|name| Ok(project.manifest.get(name)?)).collect()
}

fn list(selection: &DatasetSelection, format: OutputFormat) -> Result<(), CliError> {
    let project = selection.places.project()?;
    let datasets = selected_datasets(selection, &project)?;
    if format == OutputFormat::Json {
        let listed = datasets.iter().map(|dataset| describe_dataset(dataset, &project));
        return print_json(&json!(listed.collect::<Vec<_>>()));
    }
    let headings = ["name", "status", "files", "size", "licence", "title"];
    print(&plain_table(&headings, datasets.iter().map(|dataset| row(dataset, &project))))
}

fn describe_dataset(dataset: &Dataset, project: &Project) -> ListedDataset {
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
    let bytes: u64 = dataset.files.iter().map(|file| file.expected.max_bytes()).sum();
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
fn fetch(selection: &DatasetSelection, format: OutputFormat) -> Result<(), CliError> {
    let project = selection.places.project()?;
    let watcher = create_watcher(selection.quiet);
    let datasets = selected_datasets(selection, &project)?;
    let (mut text, mut here, mut failures) = (String::new(), Vec::new(), Vec::new());
    for dataset in &datasets {
        let name = &dataset.name;
        match project.cache.ensure_dataset_files(dataset, watcher.downloads()) {
            Ok(_) => {
                let status = status_name(project.cache.status(dataset));
                text.push_str(&format!("{name}: {status}\n"));
                here.push(FetchedDataset { name: name.clone(), status });
            }
            Err(error) => failures.push((name.clone(), error.into())),
        }
    }
    if format == OutputFormat::Json {
        print_json(&json!(here))?
    } else {
        print(&text)?
    }
    CliError::combine_failures(failures, datasets.len())
}

/// Hashes files. Fails for a mismatch, for a missing file of a named dataset, or if all files are missing.
fn verify(selection: &DatasetSelection, format: OutputFormat) -> Result<(), CliError> {
    let project = selection.places.project()?;
    let named = !selection.names.is_empty();
    project.cache.ensure_mirror()?;
    let (mut text, mut files, mut bad, mut hashed) = (String::new(), Vec::new(), 0, 0);
    for dataset in selected_datasets(selection, &project)? {
        for FileCheck { file, path, outcome } in project.cache.verify(dataset)? {
            let said = outcome_text(&outcome);
            text.push_str(&format!("{file}: {said}\n"));
            files.push(VerifiedFile { file, path, outcome: said });
            hashed += usize::from(!matches!(outcome, FileCheckOutcome::Missing));
            bad += usize::from(match outcome {
                FileCheckOutcome::Right | FileCheckOutcome::Unlocked { .. } => false,
                FileCheckOutcome::Missing => named,
                FileCheckOutcome::Mismatch { .. } => true,
            });
        }
    }
    let all = files.len();
    if format == OutputFormat::Json {
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

fn outcome_text(outcome: &FileCheckOutcome) -> String {
    match outcome {
        FileCheckOutcome::Right => "ok".to_owned(),
        FileCheckOutcome::Missing => "missing".to_owned(),
        FileCheckOutcome::Unlocked { found } => {
            format!("present, but its expected digest is not known: {found}")
        }
        FileCheckOutcome::Mismatch { expected, found } => {
            format!("MISMATCH: expected {expected}, found {found}")
        }
    }
}
