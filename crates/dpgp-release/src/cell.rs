//! Which cell of a spec a release is made of.

use super::ReleaseError;
use dpgp_task::{Cell, Experiment};

/// The cell that the choices `AXIS=VALUE` leave; of several the only one with privacy, for the others are there to compare with.
///
/// # Errors
/// [`ReleaseError::NoCell`] or [`ReleaseError::SeveralCells`] with the axes of the spec.
pub fn chosen_cell<'e>(experiment: &'e Experiment, chosen: &[String]) -> Result<&'e Cell, ReleaseError> {
    let mut cells: Vec<&Cell> = experiment.cells.iter().collect();
    for choice in chosen {
        let (axis, label) = choice.split_once('=').unwrap_or((choice, ""));
        let place = experiment.axes.iter().position(|a| a.name == axis);
        cells.retain(|cell| place.is_some_and(|place| cell.labels()[place] == label));
        if cells.is_empty() {
            return Err(ReleaseError::NoCell { choice: choice.clone(), axes: axes(experiment) });
        }
    }
    if cells.len() > 1 {
        cells.retain(|cell| cell.setting().privacy.epsilon.get().is_finite());
    }
    match cells[..] {
        [cell] => Ok(cell),
        _ => Err(ReleaseError::SeveralCells { cells: cells.len(), axes: axes(experiment) }),
    }
}

/// The axes and their labels, for messages.
fn axes(experiment: &Experiment) -> String {
    if experiment.axes.is_empty() {
        return "the spec has no axes and one cell, which needs no --cell".to_owned();
    }
    let mut text = "the axes are".to_owned();
    for axis in &experiment.axes {
        text.push_str(&format!("\n  {} = {}", axis.name, axis.labels.join(", ")));
    }
    text
}
