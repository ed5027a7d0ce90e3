//! The door to all tasks.

use super::draw::drawn;
use super::task::Task;
use super::{Job, Measured, TaskError, errata};
use crate::spec::{ErrataTask, TaskSetting};

/// Measures one replicate of one block. The list follows the cells of the job.
///
/// # Errors
/// [`TaskError`] if a factorisation fails, a release is refused or a number overflows.
pub fn measure(job: &Job<'_>) -> Result<Vec<Measured>, TaskError> {
    let sample = drawn(&job.setting.data, job.sample, job.streams)?;
    let mut measured = task(&job.setting.task).measure(&Job { sample: &sample, ..*job })?;
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

fn task(setting: &TaskSetting) -> &dyn Task {
    match setting {
        TaskSetting::Regression(task) => task,
        TaskSetting::Selection(task) => task,
        TaskSetting::Posterior(task) => task,
        TaskSetting::Prediction(task) => task,
        TaskSetting::Density(task) => task,
        TaskSetting::Classification(task) => task,
        TaskSetting::Convergence(task) => task,
        TaskSetting::Tutorial(task) => task,
        TaskSetting::Calibration(task) => task,
        TaskSetting::Hyperparameters(task) => task,
        TaskSetting::Dirichlet(task) => task,
        TaskSetting::Leaderboard(task) => task,
        TaskSetting::Surface(task) => task,
        TaskSetting::Errata(task) => task,
    }
}
