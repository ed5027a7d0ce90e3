//! What is predicted from: a spec, one of its cells, the rows, and the ledger that a release is charged to.

use nalgebra::DMatrix;

use super::PredictArguments;
use crate::cli::CliError;
use crate::cli::data::progress;
use crate::cli::ledger::NextRelease;
use crate::cli::workspace::Workspace;
use crate::data::Digest;
use crate::run::ledger::Account;
use crate::run::{CellFailure, DataDigests, RunError, load_sample};
use crate::setting::SourceSetting;
use crate::spec::Axis;
use crate::task::{Cell, Experiment};
use crate::task::{PreparedRelease, Sample, Streams, refusal};

/// A spec and the project around it.
pub(super) struct Source<'a> {
    workspace: &'a Workspace,
    arguments: &'a PredictArguments,
    pub experiment: Experiment,
}

impl<'a> Source<'a> {
    /// The one experiment that the arguments name.
    pub fn new(workspace: &'a Workspace, arguments: &'a PredictArguments) -> Result<Self, CliError> {
        let mut found = workspace.find(&arguments.spec)?;
        let count = found.len();
        match (found.pop(), count) {
            (Some(experiment), 1) => Ok(Self { workspace, arguments, experiment }),
            _ => Err(CliError::NotOne { name: arguments.spec.clone(), count }),
        }
    }

    /// The cell that the labels mean.
    pub fn cell(&self, chosen: &[String]) -> Result<&Cell, CliError> {
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
        if cells.len() > 1 {
            // Cells without privacy are there to compare with.
            cells.retain(|cell| cell.setting().privacy.epsilon.is_finite());
        }
        match cells[..] {
            [cell] => Ok(cell),
            _ => Err(CliError::SeveralCells { cells: cells.len(), axes: self.axes() }),
        }
    }

    /// The axes and their labels, for messages.
    fn axes(&self) -> String {
        if self.experiment.axes.is_empty() {
            return "the spec has no axes and one cell, which needs no --cell".to_owned();
        }
        let axis = |a: &Axis| format!("  {} = {}", a.name, a.labels.join(", "));
        let axes: Vec<String> = self.experiment.axes.iter().map(axis).collect();
        format!("the axes are\n{}", axes.join("\n"))
    }

    /// All rows of the cell's data.
    pub fn sample(&self, cell: &Cell) -> Result<Sample, CliError> {
        let Workspace { manifest, cache, .. } = self.workspace;
        let progress = progress(self.arguments.quiet);
        let sample = load_sample(&self.experiment, &cell.setting().data, manifest, cache, progress.as_ref())?;
        if sample.rows() == 0 {
            return Err(CliError::NoRows { spec: self.experiment.source.file().to_path_buf() });
        }
        Ok(sample)
    }

    /// Computes what needs no randomness.
    pub fn prepare(
        &self,
        cell: &Cell,
        sample: &Sample,
        points: &DMatrix<f64>,
    ) -> Result<PreparedRelease, CliError> {
        if let Some(reason) = refusal(cell.setting()) {
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
    pub fn charge(&self, cell: &Cell, prepared: &PreparedRelease) -> Result<Option<Account>, CliError> {
        let setting = cell.setting();
        let release = NextRelease {
            experiment: &self.experiment,
            setting,
            privacy: &setting.privacy,
            certificate: &prepared.certificate,
            mu: prepared.mu,
        };
        self.arguments.ledger.charge(&release, || self.data_digest(cell))
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
