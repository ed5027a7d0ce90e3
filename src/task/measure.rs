//! The door to all tasks.

use serde::Serialize;

use super::{Sample, Streams, TaskError, regression, selection};
use crate::privacy::Certificate;
use crate::spec::{PrivacySetting, Setting, TaskSetting};

/// One metric of one cell in one replicate.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    let measured = match (&block.task, &block.model) {
        (TaskSetting::Regression(task), Some(model)) => {
            regression::regression(block, task, model, cells, sample, streams)
        }
        (TaskSetting::Regression(_), None) => Ok(vec![Vec::new(); cells.len()]),
        (TaskSetting::Selection(task), _) => selection::selection(block, task, cells, sample, streams),
    }?;
    let broken = |m: &&Measurement| m.values.iter().any(|value| !value.is_finite());
    match measured.iter().flatten().find(broken) {
        Some(measurement) => Err(TaskError::NotFinite { metric: measurement.metric.clone() }),
        None => Ok(measured),
    }
}
