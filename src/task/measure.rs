//! The door to all tasks.

use serde::{Deserialize, Serialize};

use super::draw::drawn;
use super::{
    Frame, Sample, Streams, TaskError, calibration, classification, convergence, density, dirichlet, errata,
    hyperparameters, leaderboard, posterior, prediction, regression, selection, surface, tutorial,
};
use crate::privacy::Certificate;
use crate::spec::{PrivacySetting, Setting, TaskSetting};

/// One metric of one cell in one replicate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The metric.
    pub metric: String,
    /// Its values, one a fold; a single one where it is exact.
    pub values: Vec<f64>,
    /// What is guaranteed about the release behind it.
    pub certificate: Certificate,
    /// The largest jitter that a factorisation needed; zero if none did.
    pub jitter: f64,
}

/// What one replicate of one cell yields.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured {
    /// Its metrics.
    pub metrics: Vec<Measurement>,
    /// What its figure shows beyond them.
    pub frames: Vec<Frame>,
}

impl From<Vec<Measurement>> for Measured {
    fn from(metrics: Vec<Measurement>) -> Self {
        Self { metrics, frames: Vec::new() }
    }
}

/// Measures one replicate of one block: the model and the noise design are computed once, then every
/// cell of the block (one [`PrivacySetting`] each) is answered. The outer list follows `cells`.
///
/// # Errors
/// [`TaskError`] if a factorisation fails, a release is refused or a number overflows.
pub fn measure(
    block: &Setting,
    cells: &[&PrivacySetting],
    sample: &Sample,
    streams: &Streams,
) -> Result<Vec<Measured>, TaskError> {
    let sample = &*drawn(&block.data, sample, streams)?;
    let plain = |measured: Vec<Vec<Measurement>>| measured.into_iter().map(Measured::from).collect();
    let mut measured: Vec<Measured> = match (&*block.task, block.model.as_deref()) {
        (TaskSetting::Regression(task), Some(model)) => {
            regression::regression(block, task, model, cells, sample, streams).map(plain)
        }
        (TaskSetting::Prediction(task), Some(model)) => {
            prediction::prediction(block, task, model, cells, sample, streams)
        }
        (TaskSetting::Classification(task), Some(model)) => {
            classification::classification(block, task, model, cells, sample, streams)
        }
        (TaskSetting::Convergence(task), Some(model)) => {
            convergence::convergence(block, task, model, cells, sample, streams)
        }
        (TaskSetting::Tutorial(task), Some(model)) => {
            tutorial::tutorial(task, model, sample, streams).map(|measured| vec![measured; cells.len()])
        }
        (TaskSetting::Calibration(task), Some(model)) => {
            calibration::calibration(task, model, cells, sample, streams)
        }
        (TaskSetting::Hyperparameters(task), Some(model)) => {
            hyperparameters::hyperparameters(task, model, cells, sample, streams)
        }
        (TaskSetting::Leaderboard(task), Some(model)) => {
            leaderboard::leaderboard(block, task, model, cells, sample, streams).map(plain)
        }
        (TaskSetting::Dirichlet(task), Some(model)) => {
            dirichlet::dirichlet(task, model, cells, sample, streams)
        }
        (TaskSetting::Surface(task), Some(_)) => surface::surface(block, task, cells, sample, streams),
        // The checks of a spec refuse these tasks without a model.
        (
            TaskSetting::Regression(_)
            | TaskSetting::Prediction(_)
            | TaskSetting::Classification(_)
            | TaskSetting::Convergence(_)
            | TaskSetting::Tutorial(_)
            | TaskSetting::Calibration(_)
            | TaskSetting::Hyperparameters(_)
            | TaskSetting::Leaderboard(_)
            | TaskSetting::Dirichlet(_)
            | TaskSetting::Surface(_),
            None,
        ) => Ok(vec![Measured::default(); cells.len()]),
        (TaskSetting::Density(task), _) => density::density(block, task, cells, sample, streams),
        (TaskSetting::Errata(task), _) => errata::errata(task, cells),
        (TaskSetting::Posterior(task), _) => posterior::posterior(task, cells, sample, streams).map(plain),
        (TaskSetting::Selection(task), _) => selection::selection(block, task, cells, sample, streams),
    }?;
    for cell in &mut measured {
        check_finite(cell)?;
        if streams.replicate != 0 {
            cell.frames.clear();
        }
    }
    Ok(measured)
}

fn check_finite(cell: &Measured) -> Result<(), TaskError> {
    let finite = |m: &Measurement| m.values.iter().all(|v| v.is_finite()) && m.certificate.is_finite();
    let broken = cell.metrics.iter().find(|m| !finite(m)).map(|m| m.metric.clone());
    let holed = |frame: &&Frame| frame.columns.iter().flat_map(|(_, values)| values).any(|v| !v.is_finite());
    let holed = || cell.frames.iter().find(holed).map(|frame| frame.name.clone());
    broken.or_else(holed).map_or(Ok(()), |metric| Err(TaskError::NotFinite { metric }))
}
