//! The door to all tasks.

use super::draw::drawn;
use super::{Job, Measured, TaskError, TaskSetting};

/// Measures one replicate of one block. The list follows the cells of the job.
///
/// # Errors
/// [`TaskError`] if a factorisation fails, a release is refused or a number overflows.
pub fn measure(task: &TaskSetting, job: &Job<'_>) -> Result<Vec<Measured>, TaskError> {
    let sample = drawn(&job.setting.data, job.sample, job.streams)?;
    let mut measured = task.task().measure(&Job { sample: &sample, ..*job })?;
    let named = task.task().metrics(1);
    for cell in &mut measured {
        cell.ensure_named(&named)?;
        cell.ensure_finite()?;
        if job.streams.replicate != 0 {
            cell.frames.clear();
        }
    }
    Ok(measured)
}
