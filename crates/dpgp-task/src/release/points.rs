//! Where predictions are released.

use nalgebra::DMatrix;

/// Public points to predict at.
#[derive(Debug, Clone)]
pub struct Points {
    /// Their inputs (t x d).
    pub inputs: DMatrix<f64>,
    /// How much each counts in the expected error (t), not negative; none where all count alike.
    pub weights: Option<Vec<f64>>,
}

impl Points {
    /// All alike.
    pub fn even(inputs: DMatrix<f64>) -> Self {
        Self { inputs, weights: None }
    }

    /// The root of the weighted mean of values at the points.
    pub(super) fn root_mean(&self, values: &[f64]) -> f64 {
        let Some(weights) = &self.weights else {
            return (values.iter().sum::<f64>() / values.len() as f64).sqrt();
        };
        let weighted: f64 = values.iter().zip(weights).map(|(value, weight)| value * weight).sum();
        (weighted / weights.iter().sum::<f64>()).sqrt()
    }
}
