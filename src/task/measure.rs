//! The door to all tasks.

use super::draw::drawn;
use super::task::Task;
use super::{Described, Job, Measured, TaskError, TaskSetting, errata};
use crate::setting::{Checked, Sections};
use crate::spec::ErrataTask;

/// Measures one replicate of one block. The list follows the cells of the job.
///
/// # Errors
/// [`TaskError`] if a factorisation fails, a release is refused or a number overflows.
pub fn measure(task: &TaskSetting, job: &Job<'_>) -> Result<Vec<Measured>, TaskError> {
    let sample = drawn(&job.setting.data, job.sample, job.streams)?;
    let mut measured = task.task().measure(&Job { sample: &sample, ..*job })?;
    for cell in &mut measured {
        cell.ensure_finite()?;
        if job.streams.replicate != 0 {
            cell.frames.clear();
        }
    }
    Ok(measured)
}

impl Task for ErrataTask {
    fn measure(&self, job: &Job<'_>) -> Result<Vec<Measured>, TaskError> {
        errata::errata(self, job.cells)
    }
}

impl Described for ErrataTask {
    fn check(&self, setting: &Sections) -> Checked {
        setting.privacy.protects_nothing("inf: the numbers are computed without privacy")?;
        setting.privacy.cloaking().map(drop)
    }

    fn metrics(&self, _: u32) -> Vec<String> {
        Self::METRICS.map(str::to_owned).to_vec()
    }
}
