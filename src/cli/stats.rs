//! `dpgp stats`.

use std::path::PathBuf;

use clap::Args;

use super::CliError;
use super::arguments::{Format, Places, Work};
use super::ledger::LedgerArguments;
use super::stats_release::Question;
use super::stats_sums::{classes, histogram, surface};
use super::summand::summand;
use super::workspace::Workspace;
use crate::run::Shard;
use crate::setting::PrivacySetting;
use crate::task::{Cell, Experiment, TaskSetting};
use crate::task::{ClassModel, HistogramModel, SurfaceModel};

const EXAMPLES: &str = "\
The spec says what is summed: by a task.surface, covariances with its inducing inputs, times the target and squared; by
a task.dirichlet with release = \"class-sums\", the same over the rows of each class; by a task.density with
mechanism.histogram, how many records lie in each bin, where the target says for how many a row stands. All rows of the
files named here that pass the filters count, whatever `train` says: CSV with a header or Parquet, in constant memory.
Sums do not depend on the number of threads or shards, to the last bit. They are exact, and as private as the rows; only
--release writes what may be shared.

Examples:
  dpgp stats beyond/citibike-scale trips.parquet --out sums.json
  dpgp stats my.toml a.csv b.csv --shard 2/8 --out part2.json     the second of eight parts, on any machine
  dpgp stats my.toml --add part*.json --out sums.json             all parts together
  dpgp stats my.toml --add sums.json --release surface.json --epsilon 1
  dpgp stats my.toml --add sums.json --release surface.json --epsilon 1 --ledger my.ledger.toml \\
    --budget-epsilon 3 --budget-delta 1e-6         counted among all releases; the files are known by names, sizes and rows";

/// `dpgp stats`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("ledger", |ledger| ledger.requires("release")))]
pub struct StatsArguments {
    /// An experiment with task.surface, task.dirichlet or task.density, or the path of a spec
    #[arg(value_name = "NAME")]
    name: String,
    /// Files of rows, CSV or Parquet, in the order of their rows
    #[arg(value_name = "FILE", required_unless_present = "add")]
    pub(super) files: Vec<PathBuf>,
    /// Sum only part I of N of the rows
    #[arg(long, value_name = "I/N", conflicts_with_all = ["add", "release"])]
    pub(super) shard: Option<Shard>,
    /// Add the sums of these files instead of rows
    #[arg(long, value_name = "SUMS", num_args = 1.., conflicts_with = "files")]
    pub(super) add: Vec<PathBuf>,
    /// Write the sums to this file
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Write the sums with privacy noise, and the posteriors from them, to this file
    #[arg(long, value_name = "FILE")]
    pub(super) release: Option<PathBuf>,
    /// Release for this epsilon instead of the spec's
    #[arg(long, value_name = "E", requires = "release")]
    epsilon: Option<f64>,
    #[command(flatten)]
    pub(super) ledger: LedgerArguments,
    /// Say how long it took
    #[arg(long)]
    pub(super) timings: bool,
    #[command(flatten)]
    pub(super) work: Work,
    #[command(flatten)]
    places: Places,
}

/// Sums rows or adds sums; writes the sums and a release of them.
///
/// # Errors
/// [`CliError`] if the spec has nothing to sum, rows cannot be read, or sums do not belong together.
pub fn stats(arguments: &StatsArguments, format: Format) -> Result<(), CliError> {
    let workspace = Workspace::open(&arguments.places)?;
    let experiment = &only(&workspace, &arguments.name)?;
    let setting = one_cell(experiment)?.setting();
    let no_sums = || CliError::NoSums { name: experiment.name.clone() };
    let privacy = || arguments.release.as_ref().map(|_| privacy(experiment, arguments.epsilon)).transpose();
    let question = |privacy| Question { arguments, experiment, setting, privacy };
    let report = match &*setting.task {
        TaskSetting::Surface(_) => {
            let model = SurfaceModel::new(setting).ok_or_else(no_sums)?;
            surface(&question(privacy()?), &model)
        }
        TaskSetting::Dirichlet(_) => {
            let model = ClassModel::of(setting).ok_or_else(no_sums)?;
            let weighted = || CliError::WeightedSums { name: experiment.name.clone() };
            let summand = model.summand(&setting.data).ok_or_else(weighted)?;
            classes(&question(privacy()?), &model, &summand)
        }
        TaskSetting::Density(_) => {
            let model = HistogramModel::of(setting).ok_or_else(no_sums)?;
            histogram(&question(privacy()?), &model)
        }
        _ => Err(no_sums()),
    }?;
    report.print(arguments, format)
}

/// The experiment that a name means.
fn only(workspace: &Workspace, name: &str) -> Result<Experiment, CliError> {
    let mut found = workspace.find(name)?;
    match (found.pop(), found.len()) {
        (Some(experiment), 0) => Ok(experiment),
        (_, others) => Err(CliError::NotOne { name: name.to_owned(), count: others + 1 }),
    }
}

/// The guarantee of a release: that of the cells, if they have one epsilon, or with the epsilon that was named.
fn privacy(experiment: &Experiment, epsilon: Option<f64>) -> Result<PrivacySetting, CliError> {
    let mut found: Vec<PrivacySetting> =
        experiment.cells.iter().map(|cell| (*cell.setting().privacy).clone()).collect();
    found.dedup_by_key(|privacy| privacy.epsilon);
    let private: Vec<f64> = found.iter().map(|privacy| privacy.epsilon).collect();
    let privacy = match (epsilon, found.pop()) {
        (Some(epsilon), Some(privacy)) => PrivacySetting { epsilon, ..privacy },
        (None, Some(privacy)) if found.is_empty() => privacy,
        _ => return Err(CliError::SeveralEpsilons { epsilons: format!("{private:?}") }),
    };
    let finite = privacy.epsilon > 0.0 && privacy.epsilon.is_finite();
    if finite { Ok(privacy) } else { Err(CliError::NoGuarantee) }
}

/// The first cell, if all cells sum the same.
fn one_cell(experiment: &Experiment) -> Result<&Cell, CliError> {
    let Some(first) = experiment.cells.first() else {
        return Err(CliError::NoSums { name: experiment.name.clone() });
    };
    let same = |cell: &&Cell| summand(cell.setting()) == summand(first.setting());
    if experiment.cells.iter().all(|cell| same(&cell)) {
        return Ok(first);
    }
    let what = "columns, bounds, kernel, inducing inputs, classes or bins";
    Err(CliError::SeveralSums { name: experiment.name.clone(), what })
}
