//! Predictions and how well they are calibrated.

use std::f64::consts::TAU;

use nalgebra::DVector;

use crate::linalg::normal_cdf;

/// Gaussian predictions of f, one an input.
#[derive(Debug, Clone)]
pub struct Prediction {
    /// Means.
    pub mean: DVector<f64>,
    /// Variances of f, without the noise of observations.
    pub variance: DVector<f64>,
}

impl Prediction {
    /// `ln N(y_i; mean_i, variance_i + noise_variance)` of each observation.
    pub fn log_densities(&self, observed: &[f64], noise_variance: f64) -> Vec<f64> {
        let residuals = self.residuals(observed, noise_variance);
        residuals.map(|(residual, total)| -0.5 * ((TAU * total).ln() + residual * residual / total)).collect()
    }

    /// The mass of the smallest central interval of each prediction that holds the observation: `P(|Z| <= |y -
    /// mean| / sd)`, with the variance of the noise added.
    pub fn central_masses(&self, observed: &[f64], noise_variance: f64) -> Vec<f64> {
        // By the lower tail, whose relative accuracy a mass close to 1 needs.
        let residuals = self.residuals(observed, noise_variance);
        residuals.map(|(residual, total)| 1.0 - 2.0 * normal_cdf(-(residual.abs() / total.sqrt()))).collect()
    }

    /// `y - mean` of each observation, and its variance with that of the noise.
    fn residuals(&self, observed: &[f64], noise_variance: f64) -> impl Iterator<Item = (f64, f64)> {
        let pairs = self.mean.iter().zip(&self.variance).zip(observed);
        pairs.map(move |((mean, variance), y)| (y - mean, variance + noise_variance))
    }

    /// Root mean squared error of the means.
    pub fn rmse(&self, truth: &[f64]) -> f64 {
        let squares: f64 = self.mean.iter().zip(truth).map(|(m, t)| (m - t) * (m - t)).sum();
        (squares / truth.len() as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masses_and_densities_of_the_normal() {
        let prediction = Prediction {
            mean: DVector::from_vec(vec![1.0, 0.0]),
            variance: DVector::from_vec(vec![3.0, 0.0]),
        };
        let masses = prediction.central_masses(&[1.0 + 2.0 * 1.644_853_626_951_472_7, -0.5], 1.0);
        assert!((masses[0] - 0.9).abs() < 1e-14);
        assert!((masses[1] - 0.382_924_922_548_026).abs() < 1e-14);
        let densities = prediction.log_densities(&[3.0, 0.0], 1.0);
        assert!((densities[0] + 0.5 * ((4.0 * TAU).ln() + 1.0)).abs() < 1e-15);
        assert!((prediction.rmse(&[0.0, 1.0]) - 1.0).abs() < 1e-15);
    }
}
