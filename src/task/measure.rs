//! The door to all tasks.

use serde::{Deserialize, Serialize};

use super::{Sample, Streams, TaskError, posterior, regression, selection};
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
) -> Result<Vec<Vec<Measurement>>, TaskError> {
    let measured = match (&*block.task, block.model.as_deref()) {
        (TaskSetting::Regression(task), Some(model)) => {
            regression::regression(block, task, model, cells, sample, streams)
        }
        (TaskSetting::Regression(_), None) => Ok(vec![Vec::new(); cells.len()]),
        (TaskSetting::Posterior(task), _) => posterior::posterior(task, cells, sample, streams),
        (TaskSetting::Selection(task), _) => selection::selection(block, task, cells, sample, streams),
    }?;
    let finite = |m: &Measurement| m.values.iter().all(|v| v.is_finite()) && m.certificate.is_finite();
    let broken = |m: &&Measurement| !finite(m);
    match measured.iter().flatten().find(broken) {
        Some(measurement) => Err(TaskError::NotFinite { metric: measurement.metric.clone() }),
        None => Ok(measured),
    }
}
