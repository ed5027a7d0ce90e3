//! `dpgp data`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;

use super::CliError;
use super::list::status_name;
use super::options::{DataLocationArguments, OutputFormat, dataset_completer, experiment_completer};
use super::output::{DataFetchOutput, DataFoldsOutput, DataListOutput, DataVerifyOutput, print, print_json, write_new};
use dpgp_data::{Dataset, FileCheck, FileCheckOutcome};
use dpgp_number::text::count_with_noun;
use dpgp_release::{ReleaseError, select_cells};
use dpgp_report::{format_exact, plain_table};
use dpgp_run::{Project, create_watcher, load_sample, random_streams};
use dpgp_task::{FoldedSample, split_into_folds};

const EXAMPLES: &str = "\
Examples:
  dpgp data list                    all datasets, and whether they are present
  dpgp data fetch howell1           download and verify
  dpgp data verify --mirror DIR     hash the files in the cache and in a mirror
  dpgp data folds beyond/leaderboard/kung --out folds.csv    the rows of a leaderboard, for a method of your own";

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
    /// Hash the datasets that are present and compare the digests with those in the manifest
    Verify(DatasetSelection),
    /// Write the rows of an experiment with its folds, for a method of your own. The rows are exact: keep them as private as the dataset
    Folds(FoldsArguments),
}

/// The choice of datasets.
#[derive(Debug, Args)]
struct DatasetSelection {
    /// Names of datasets [default: all]
    #[arg(value_name = "NAME", add = dataset_completer())]
    names: Vec<String>,
    #[command(flatten)]
    places: DataLocationArguments,
    /// No progress bars
    #[arg(long)]
    quiet: bool,
}

/// Arguments of `dpgp data folds`.
#[derive(Debug, Args)]
struct FoldsArguments {
    /// An experiment with folds, such as a leaderboard, or the path of its spec
    #[arg(value_name = "EXPERIMENT", add = experiment_completer())]
    name: String,
    /// The new CSV file; never overwrites an existing file
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// If cells differ in their rows or inputs, write the rows of the cells with this label; repeat for each axis
    #[arg(long, value_name = "AXIS=VALUE")]
    cell: Vec<String>,
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
        DataVerb::Folds(arguments) => write_folds(arguments, format),
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

fn describe_dataset(dataset: &Dataset, project: &Project) -> DataListOutput {
    DataListOutput {
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
        match project.cache.ensure_dataset_files(dataset, watcher.download_progress()) {
            Ok(_) => {
                let status = status_name(project.cache.status(dataset));
                text.push_str(&format!("{name}: {status}\n"));
                here.push(DataFetchOutput { name: name.clone(), status });
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
    project.cache.ensure_mirror_is_folder()?;
    let (mut text, mut files, mut bad, mut hashed) = (String::new(), Vec::new(), 0, 0);
    for dataset in selected_datasets(selection, &project)? {
        for FileCheck { file, path, outcome } in project.cache.verify(dataset)? {
            let said = outcome_text(&outcome);
            text.push_str(&format!("{file}: {said}\n"));
            files.push(DataVerifyOutput { file, path, outcome: said });
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

const NOT_PRIVATE: &str = "these are exact rows: keep them as private as the dataset";

/// Writes the rows of all replicates of the first chosen cell, exactly as they are: for the holder of the data alone. The columns are the
/// replicate, the fold in which the row is held out (empty if it only trains), the inputs and the target before clipping. Words have their
/// codes.
fn write_folds(arguments: &FoldsArguments, format: OutputFormat) -> Result<(), CliError> {
    let FoldsArguments { name, out, cell, places, quiet } = arguments;
    if out.symlink_metadata().is_ok() {
        return Err(CliError::Exists(out.clone()));
    }
    let project = places.project()?;
    let experiment = project.find_one_experiment(name)?;
    let Some(&cell) = select_cells(&experiment, cell)?.first() else { return Err(CliError::NoFolds(name.clone())) };
    let setting = cell.setting();
    let sample = load_sample(&experiment, setting, &project, create_watcher(*quiet).download_progress())?;
    let columns = ["replicate", "fold"].into_iter().chain(setting.data.inputs.iter().map(String::as_str));
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns.chain([setting.data.target_column()]))?;
    let mut rows = 0;
    for replicate in 0..experiment.meta.replicates {
        let streams = random_streams(cell, experiment.meta.seed, replicate);
        let FoldedSample { sample, folds } = split_into_folds(setting, &sample, &streams)
            .map_err(ReleaseError::from)?
            .ok_or_else(|| CliError::NoFolds(name.clone()))?;
        for (row, fold) in folds.iter().enumerate() {
            let inputs = sample.inputs.row(row);
            let fold = fold.map_or(String::new(), |fold| fold.to_string());
            let numbers = inputs.iter().chain([&sample.targets[row]]).map(|number| format_exact(*number));
            writer.write_record([replicate.to_string(), fold].into_iter().chain(numbers))?;
        }
        rows += folds.len();
    }
    let text = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    write_new(out, &String::from_utf8_lossy(&text))?;
    if format == OutputFormat::Json {
        return print_json(&json!(DataFoldsOutput {
            written: out.clone(),
            rows,
            replicates: experiment.meta.replicates
        }));
    }
    let (replicates, out) =
        (count_with_noun(experiment.meta.replicates as usize, "replicate", "replicates"), out.display());
    print(&format!(
        "wrote {rows} rows of {replicates} to {out}; predict the rows of each fold from all other rows of the same \
         replicate\n{NOT_PRIVATE}\n"
    ))
}

fn outcome_text(outcome: &FileCheckOutcome) -> String {
    match outcome {
        FileCheckOutcome::Right => "ok".to_owned(),
        FileCheckOutcome::Missing => "missing".to_owned(),
        FileCheckOutcome::Unlocked { found } => {
            format!("present, but its expected digest is not known; found {found}")
        }
        FileCheckOutcome::Mismatch { expected, found } => {
            format!("MISMATCH: expected {expected}, found {found}")
        }
    }
}
