//! `dpgp predict`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use nalgebra::DMatrix;
use rand::TryRng;
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use serde_json::{Value, json};

use super::CliError;
use super::arguments::{Format, Places};
use super::data::progress;
use super::output::{print, print_json};
use super::workspace::Workspace;
use crate::data::Digest;
use crate::publish::{ReleasedPredictions, short};
use crate::run::ledger::{Account, BudgetSetting, Charge, Entry, charge, preview, utc};
use crate::run::{CellFailure, Clipped, DataDigests, RunError, clipped_targets, load_points, load_sample};
use crate::spec::{Cell, Experiment, Setting, SourceSetting};
use crate::task::{Predictions, PreparedRelease, Sample, Streams};

const EXAMPLES: &str = "\
The model of the spec is fitted to all rows. The noise comes from the operating system, so that nobody can subtract it,
and no two calls give the same numbers: each call is one more release, and what they cost adds up. A ledger counts them
and refuses one that the budget does not hold; it is written before the predictions are.

FILE.csv holds the inputs of the grid and private_mean, gp_sd, noise_sd, low, high (95 % interval of the function);
FILE.csv.certificate.json says what is guaranteed and what is not.

Examples:
  dpgp predict my.toml --at grid.csv --out predictions.csv
  dpgp predict my.toml --at grid.csv --out p1.csv --ledger my-data.ledger.toml --budget-epsilon 2 --budget-delta 1e-5
  dpgp predict my.toml --at grid.csv --out p2.csv --ledger my-data.ledger.toml
  dpgp predict my.toml --at grid.csv --cell epsilon=0.5 --cell method=sparse > predictions.csv";

/// `dpgp predict`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct PredictArguments {
    /// The path of a spec (or the name of an experiment) with task.regression or task.prediction
    #[arg(value_name = "SPEC")]
    spec: String,
    /// A CSV or Parquet file with the inputs to predict at, a column for each input of the spec; public
    #[arg(long, value_name = "GRID")]
    at: PathBuf,
    /// Which cell, where the spec has several; once for each axis
    #[arg(long, value_name = "AXIS=VALUE")]
    cell: Vec<String>,
    /// Where the predictions are written; never over a file that is there [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The ledger of all releases about these data; begun if it is not there
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    /// The epsilon that all releases together keep; for a new ledger
    #[arg(long, value_name = "E", requires = "ledger", requires = "budget_delta")]
    budget_epsilon: Option<f64>,
    /// The delta that all releases together keep; for a new ledger
    #[arg(long, value_name = "D", requires = "ledger", requires = "budget_epsilon")]
    budget_delta: Option<f64>,
    /// Release in spite of exceptions to the guarantee, for example statistics of private targets in the spec
    #[arg(long, conflicts_with = "ledger")]
    allow_caveats: bool,
    /// No progress bars
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    places: Places,
}

/// Releases predictions: everything is computed first, then the ledger is charged, then the file is written.
///
/// # Errors
/// [`CliError`]; a release that fails before the ledger is charged changes nothing on disk.
pub fn predict(arguments: &PredictArguments, format: Format) -> Result<(), CliError> {
    let workspace = Workspace::open(&arguments.places)?;
    let task = Task::new(&workspace, arguments)?;
    let cell = task.cell(&arguments.cell)?;
    let points = load_points(&arguments.at, &cell.setting().data)?;
    if points.nrows() == 0 {
        return Err(CliError::NoPoints { path: arguments.at.clone() });
    }
    let sample = task.sample(cell)?;
    let prepared = task.prepare(cell, &sample, &points)?;
    refuse_caveats(&prepared, arguments.allow_caveats)?;
    let predictions = draw(&prepared)?;
    let output = arguments.out.as_deref().map(Output::open).transpose()?;
    let account = task.charge(cell, &prepared)?;
    let released = ReleasedPredictions {
        setting: cell.setting(),
        spec: task.experiment.source.text(),
        points: &points,
        predictions: &predictions,
        certificate: &prepared.certificate,
        mu: prepared.mu,
        account: account.as_ref(),
    };
    let clipped = clipped_targets(cell.setting(), &sample);
    finish(&released, clipped, output, arguments, format)
}

/// What is predicted from.
struct Task<'a> {
    workspace: &'a Workspace,
    arguments: &'a PredictArguments,
    experiment: Experiment,
}

impl<'a> Task<'a> {
    fn new(workspace: &'a Workspace, arguments: &'a PredictArguments) -> Result<Self, CliError> {
        let mut found = workspace.find(&arguments.spec)?;
        let count = found.len();
        match (found.pop(), count) {
            (Some(experiment), 1) => Ok(Self { workspace, arguments, experiment }),
            _ => Err(CliError::NotOne { name: arguments.spec.clone(), count }),
        }
    }

    /// The cell that the labels mean.
    fn cell(&self, chosen: &[String]) -> Result<&Cell, CliError> {
        let axes = &self.experiment.axes;
        let mut cells: Vec<&Cell> = self.experiment.cells.iter().collect();
        for choice in chosen {
            let (axis, label) = choice.split_once('=').unwrap_or((choice, ""));
            let place = axes.iter().position(|a| a.name == axis);
            cells.retain(|cell| place.is_some_and(|place| cell.labels()[place] == label));
            if cells.is_empty() {
                return Err(CliError::NoCell { choice: choice.clone(), axes: self.axes() });
            }
        }
        match cells[..] {
            [cell] => Ok(cell),
            _ => Err(CliError::SeveralCells { cells: cells.len(), axes: self.axes() }),
        }
    }

    /// The axes and their labels, for messages.
    fn axes(&self) -> String {
        let axis = |a: &crate::spec::Axis| format!("  {} = {}", a.name, a.labels.join(", "));
        self.experiment.axes.iter().map(axis).collect::<Vec<_>>().join("\n")
    }

    fn sample(&self, cell: &Cell) -> Result<Sample, CliError> {
        let Workspace { manifest, cache, .. } = self.workspace;
        let progress = progress(self.arguments.quiet);
        let sample = load_sample(&self.experiment, &cell.setting().data, manifest, cache, progress.as_ref())?;
        if sample.rows() == 0 {
            return Err(CliError::NoRows { spec: self.experiment.source.file().to_path_buf() });
        }
        Ok(sample)
    }

    /// Computes what needs no randomness.
    fn prepare(
        &self,
        cell: &Cell,
        sample: &Sample,
        points: &DMatrix<f64>,
    ) -> Result<PreparedRelease, CliError> {
        if let Some(reason) = crate::task::refusal(cell.setting()) {
            return Err(CliError::NotReleasable { reason });
        }
        let streams = Streams {
            seed: self.experiment.meta.seed,
            data: cell.data_id().to_string(),
            block: cell.block_id().to_string(),
            replicate: 0,
        };
        PreparedRelease::new(cell.setting(), sample, points, &streams).map_err(|cause| {
            let failure = CellFailure { cell: cell.place(), replicate: 0, cause };
            let experiment = self.experiment.name.clone();
            RunError::Cells { experiment, failures: vec![failure], done: 0, all: 1 }.into()
        })
    }

    /// Charges the release to the ledger, if there is one: the budget is spent when this returns.
    fn charge(&self, cell: &Cell, prepared: &PreparedRelease) -> Result<Option<Account>, CliError> {
        let Some(path) = &self.arguments.ledger else { return Ok(None) };
        let budget = self.arguments.budget_epsilon.zip(self.arguments.budget_delta);
        let data_sha256 = self.data_digest(cell)?;
        let release = Charge {
            path,
            budget: budget.map(|(epsilon, delta)| BudgetSetting { epsilon, delta }),
            data_sha256: &data_sha256,
            entry: self.entry(cell.setting(), prepared)?,
        };
        preview(&release)?;
        Ok(Some(charge(&release)?))
    }

    fn entry(&self, setting: &Setting, prepared: &PreparedRelease) -> Result<Entry, CliError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let (certificate, data) = (&prepared.certificate, &setting.data);
        let Some(neighbours) = certificate.neighbours else {
            return Err(CliError::NotReleasable { reason: "nothing hides its targets" });
        };
        let filtered = data.filter.iter().map(|filter| filter.column.clone());
        Ok(Entry {
            time: utc(now),
            spec: self.experiment.source.file().display().to_string(),
            spec_sha256: Digest::of(self.experiment.source.text().as_bytes()).to_string(),
            target: data.target.clone(),
            public: data.inputs.iter().cloned().chain(filtered).collect(),
            epsilon: setting.privacy.epsilon,
            delta: setting.privacy.delta,
            delta_exact: certificate.delta_exact.unwrap_or(1.0),
            mu: prepared.mu,
            neighbours,
        })
    }

    /// The digest of the data file; of several files or of inline columns, that of their digests or columns.
    fn data_digest(&self, cell: &Cell) -> Result<String, CliError> {
        if let SourceSetting::Inline(columns) = &cell.setting().data.source {
            return Ok(Digest::of(format!("{columns:?}").as_bytes()).to_string());
        }
        let Workspace { manifest, cache, .. } = self.workspace;
        let digests = DataDigests::known(&self.experiment, manifest, cache)?;
        let files = digests.of(&cell.data_id()).unwrap_or_default();
        match files {
            [(_, digest)] => Ok(digest.clone()),
            _ => Ok(Digest::of(format!("{files:?}").as_bytes()).to_string()),
        }
    }
}

/// Refuses a guarantee with exceptions, unless they are allowed.
fn refuse_caveats(prepared: &PreparedRelease, allowed: bool) -> Result<(), CliError> {
    let caveats = &prepared.certificate.caveats;
    if caveats.is_empty() || allowed {
        return Ok(());
    }
    let list = caveats.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    Err(CliError::Caveats { list })
}

/// Draws the noise from the operating system.
fn draw(prepared: &PreparedRelease) -> Result<Predictions, CliError> {
    // A system without randomness says so here, not in the middle of a draw.
    SysRng.try_next_u64().map_err(|cause| CliError::Randomness { cause: cause.to_string() })?;
    Ok(prepared.draw(&mut UnwrapErr(SysRng)))
}

/// Files that get their names only when everything is in them.
struct Output {
    file: (PathBuf, tempfile::NamedTempFile),
    certificate: (PathBuf, tempfile::NamedTempFile),
}

impl Output {
    /// Makes sure that both files can be written, and are not there yet.
    fn open(path: &Path) -> Result<Self, CliError> {
        let mut beside = path.as_os_str().to_owned();
        beside.push(".certificate.json");
        let open = |path: PathBuf| {
            if path.symlink_metadata().is_ok() {
                return Err(CliError::Exists { path });
            }
            let folder =
                path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            match temporary(folder) {
                Ok(file) => Ok((path, file)),
                Err(cause) => Err(CliError::Io { path, cause }),
            }
        };
        Ok(Self { file: open(path.to_path_buf())?, certificate: open(PathBuf::from(beside))? })
    }

    /// Writes the certificate, then the predictions.
    fn write(self, csv: &str, certificate: &Value) -> Result<(), CliError> {
        put(self.certificate, &format!("{certificate:#}\n"))?;
        put(self.file, csv)
    }
}

/// A file with the permissions that a new one gets; temporary files are private to their owner otherwise.
fn temporary(folder: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

fn put((path, mut file): (PathBuf, tempfile::NamedTempFile), text: &str) -> Result<(), CliError> {
    let written = file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all());
    let named = written.and_then(|()| file.persist_noclobber(&path).map_err(|error| error.error));
    named.map(|_| ()).map_err(|cause| CliError::Io { path, cause })
}

fn finish(
    released: &ReleasedPredictions<'_>,
    clipped: Option<Clipped>,
    output: Option<Output>,
    arguments: &PredictArguments,
    format: Format,
) -> Result<(), CliError> {
    let csv = released.csv().map_err(crate::publish::PublishError::from)?;
    let certificate = released.certificate(&csv);
    let summary = summary(released, clipped, arguments);
    match (output, format) {
        (Some(output), Format::Text) => {
            output.write(&csv, &certificate)?;
            print(&summary)
        }
        (Some(output), Format::Json) => {
            output.write(&csv, &certificate)?;
            print_json(&json!({ "written": arguments.out, "certificate": certificate }))
        }
        (None, Format::Json) => {
            print_json(&json!({ "certificate": certificate, "predictions": released.json() }))
        }
        (None, Format::Text) => {
            print(&csv)?;
            eprint!("{summary}");
            Ok(())
        }
    }
}

/// What is said to the holder of the data.
fn summary(
    released: &ReleasedPredictions<'_>,
    clipped: Option<Clipped>,
    arguments: &PredictArguments,
) -> String {
    let mut text = String::new();
    let points = released.points.nrows();
    let written = arguments.out.as_ref().map(|out| {
        let out = out.display();
        format!(", written to {out}; what they guarantee stands in {out}.certificate.json")
    });
    text.push_str(&format!("predictions at {points} points{}\n", written.unwrap_or_default()));
    text.push_str(&format!("guarantee: {}\n", released.certificate));
    let delta = released.certificate.delta_exact.map(short).unwrap_or_default();
    text.push_str(&format!("exact delta at that epsilon: {delta}; randomness of the operating system\n"));
    for line in released.not_covered() {
        text.push_str(&format!("not covered: {line}\n"));
    }
    if let (Some(account), Some(ledger)) = (released.account, &arguments.ledger) {
        text.push_str(&balance(account, ledger, released.certificate.delta));
    }
    if let Some(clipped) = clipped {
        text.push_str(&format!("{clipped}\n"));
    }
    text
}

fn balance(account: &Account, ledger: &Path, delta: f64) -> String {
    let Account { releases, budget, .. } = account;
    let releases =
        if *releases == 1 { "1 release has".to_owned() } else { format!("{releases} releases have") };
    format!(
        "ledger {}: {releases} spent {:.1} % of the budget epsilon = {:?}, delta = {:?}; left for one more release at \
         delta = {delta:?}: epsilon = {:.4}\n",
        ledger.display(),
        100.0 * account.share(),
        budget.epsilon,
        budget.delta,
        account.epsilon_left(delta)
    )
}
