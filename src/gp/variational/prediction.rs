//! Predictions and how well they are calibrated.

use std::f64::consts::{FRAC_2_SQRT_PI, TAU};

use nalgebra::DVector;

use crate::linalg::{normal_cdf, normal_pdf};

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

    /// The continuous ranked probability score of each observation, in units of the target: for a normal distribution with mean m
    /// and standard deviation s, and `z = (y - m) / s`, it is `s (z (2 Phi(z) - 1) + 2 phi(z) - 1 / sqrt(pi))`, the integral of
    /// `(F(u) - [u >= y])^2` (Gneiting and Raftery 2007, Eq. 21). With s = 0 it is the absolute error.
    pub fn ranked_probability_scores(&self, observed: &[f64], noise_variance: f64) -> Vec<f64> {
        let residuals = self.residuals(observed, noise_variance);
        residuals.map(|(residual, total)| ranked_probability_score(residual, total.sqrt())).collect()
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

fn ranked_probability_score(residual: f64, sd: f64) -> f64 {
    if sd == 0.0 {
        return residual.abs();
    }
    let z = residual / sd;
    sd * (z * (2.0 * normal_cdf(z) - 1.0) + 2.0 * normal_pdf(z) - FRAC_2_SQRT_PI / 2.0)
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

    /// The integral of `(F(u) - [u >= y])^2` by the midpoint rule.
    fn by_quadrature(y: f64, mean: f64, sd: f64) -> f64 {
        let step = 1e-3;
        let squares = (-20_000..20_000).map(|i| {
            let u = (f64::from(i) + 0.5) * step;
            let above = f64::from(u8::from(u >= y));
            (normal_cdf((u - mean) / sd) - above).powi(2) * step
        });
        squares.sum()
    }

    #[test]
    fn ranked_probability_scores_are_integrals() {
        let prediction = Prediction {
            mean: DVector::from_vec(vec![1.0, -0.5, 2.0]),
            variance: DVector::from_vec(vec![3.0, 0.0, 0.25]),
        };
        let observed = [2.5, -0.75, -1.0];
        let scores = prediction.ranked_probability_scores(&observed, 1.0);
        for (i, score) in scores.iter().enumerate() {
            let sd = (prediction.variance[i] + 1.0).sqrt();
            let expected = by_quadrature(observed[i], prediction.mean[i], sd);
            assert!((score - expected).abs() < 1e-6, "{score} {expected}");
        }
        assert_eq!(prediction.ranked_probability_scores(&observed, 0.0)[1], 0.25);
    }
}
