//! Rows that predictions are judged by.

use nalgebra::DMatrix;

use crate::gp::variational::Prediction;
use crate::task::{CalibrationTask, Frame};

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

    /// In the order of the task's metrics, for observations with this noise variance.
    pub fn scores(&self, task: &CalibrationTask, prediction: &Prediction, noise_variance: f64) -> Vec<f64> {
        let width: Vec<f64> = prediction.variance.iter().map(|v| 2.0 * v.sqrt()).collect();
        let densities = prediction.log_densities(&self.noisy, noise_variance);
        let mut values = vec![prediction.rmse(&self.truth), mean(&width), mean(&densities)];
        for (observed, noise) in [(&self.noisy, noise_variance), (&self.truth, 0.0)] {
            let masses = prediction.central_masses(observed, noise);
            values.extend(task.masses.iter().map(|mass| covered(&masses, mass.get())));
        }
        values
    }

    /// The curve of a figure.
    pub fn curve(&self, prediction: &Prediction) -> Frame {
        Frame::new("curve")
            .with_points(&self.inputs)
            .with("mean", prediction.mean.iter().copied())
            .with("gp-sd", prediction.variance.iter().map(|v| v.sqrt()))
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
