//! Gaussian predictions of a function.

use nalgebra::DVector;

use crate::{Predictive, WeightedNormals};

/// Gaussian predictions of f, one an input.
#[derive(Debug, Clone)]
pub struct Prediction {
    /// Means.
    pub mean: DVector<f64>,
    /// Variances of f, without the noise of observations.
    pub variance: DVector<f64>,
}

impl Prediction {
    /// Of observations with this noise variance; of the function itself with none.
    pub fn observed(self, noise_variance: f64) -> Predictive {
        let Self { mean, variance } = self;
        Predictive::of(vec![WeightedNormals { weight: 1.0, mean, variance }]).with_noise(noise_variance)
    }
}
