//! Rows that predictions are judged by.

use nalgebra::DMatrix;

use crate::{CalibrationTask, Frame};
use dpgp_gp::Predictive;

/// Test inputs, noisy targets and the true function there.
pub(super) struct TestRows {
    pub inputs: DMatrix<f64>,
    pub noisy: Vec<f64>,
    pub truth: Vec<f64>,
}

impl TestRows {
    /// The first half of the rows is noisy, the other true.
    pub fn new(task: &CalibrationTask, inputs: &DMatrix<f64>, targets: &[f64]) -> Self {
        let half = targets.len() / 2;
        let inside =
            |i: &usize| task.window.is_none_or(|[low, high]| (low..=high).contains(&inputs[(*i, 0)]));
        let rows: Vec<usize> = (0..half).filter(inside).collect();
        Self {
            inputs: inputs.select_rows(&rows),
            noisy: rows.iter().map(|&i| targets[i]).collect(),
            truth: rows.iter().map(|&i| targets[half + i]).collect(),
        }
    }

    /// In the order of the task's metrics, by predictions of the function and of targets.
    pub fn scores(&self, task: &CalibrationTask, function: &Predictive, targets: &Predictive) -> Vec<f64> {
        let width: Vec<f64> = function.variance().iter().map(|v| 2.0 * v.sqrt()).collect();
        let densities = targets.log_densities(&self.noisy);
        let mut values = vec![function.rmse(&self.truth), mean(&width), mean(&densities)];
        for masses in [targets.central_masses(&self.noisy), function.central_masses(&self.truth)] {
            values.extend(task.masses.iter().map(|mass| covered(&masses, mass.get())));
        }
        values
    }

    /// The curve of a figure.
    pub fn curve(&self, function: &Predictive) -> Frame {
        Frame::new("curve")
            .with_points(&self.inputs)
            .with("mean", function.mean().iter().copied())
            .with("gp-sd", function.variance().iter().map(|v| v.sqrt()))
            .with("truth", self.truth.iter().copied())
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The share of targets whose interval of this mass reaches them.
fn covered(masses: &[f64], mass: f64) -> f64 {
    masses.iter().filter(|m| **m <= mass).count() as f64 / masses.len() as f64
}
