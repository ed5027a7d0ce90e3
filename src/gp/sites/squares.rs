//! What the sum of squared targets says of hyperparameters.

use nalgebra::{DMatrix, DVector};

use super::correlated::{Correlated, Seen, quadratic};
use super::inputs::SeenWeights;
use super::member::Chosen;
use super::{SiteCounts, SiteInputs};
use crate::linalg::{product, transposed_product};

/// What the sum of squared targets says of a choice, given b. It pins the noise variance down, and with it the width of
/// intervals.
pub(super) struct Squares<'a> {
    pub chosen: Chosen,
    pub seen: &'a Seen<'a>,
    pub correlated: &'a Correlated,
    /// The mean m of what b sees.
    pub mean: &'a DVector<f64>,
    /// `F^-1 L K` for the factor F of Q.
    pub half: &'a DMatrix<f64>,
}

/// The sum `f' N f` of the squares of the process over the rows, with N the counts or the Gram matrix and V the posterior covariance of f.
struct Energy {
    /// `m' N m`.
    mean: f64,
    /// `tr(N V)`.
    spread: f64,
    /// `(N m)' V (N m)`.
    of_mean: f64,
    /// `2 tr(N V N V)`.
    fourth: f64,
    /// The variance by what is not known of N.
    of_inputs: f64,
}

impl Squares<'_> {
    /// `ln N(q; E + n s^2, v)` up to a constant, with `E = E[f' N f]` and v the variance of q under the posterior: that of the noise on q,
    /// of the noise on targets, of f, and of the inputs.
    pub fn log_density(&self) -> f64 {
        let (n, noise) = (self.seen.released.sums.rows as f64, self.chosen.noise);
        let energy = match self.seen.inputs {
            SiteInputs::Counts(counts) => self.at_sites(counts),
            SiteInputs::Gram(weights) => self.of_weights(weights),
        };
        let expected = energy.mean + energy.spread;
        let variance = self.seen.released.squares
            + 2.0 * n * noise * noise
            + 4.0 * noise * expected
            + 4.0 * energy.of_mean.max(0.0)
            + energy.fourth
            + energy.of_inputs;
        let residual = self.seen.released.sums.squares - expected - n * noise;
        -0.5 * residual * residual / variance - 0.5 * variance.ln()
    }

    /// `N = diag(p)`; the part of fourth order takes the correlations a priori.
    fn at_sites(&self, counts: &SiteCounts) -> Energy {
        let at_sites = self.chosen.variance + self.seen.bias;
        let variances = self.half.column_iter().map(|column| at_sites - column.norm_squared());
        let spread: f64 = counts.mean.iter().zip(variances).map(|(count, variance)| count * variance).sum();
        let squares = self.mean.component_mul(self.mean);
        let weights = counts.mean.component_mul(self.mean);
        let prior = self.chosen.variance * quadratic(&self.correlated.correlations, &weights)
            + self.seen.bias * weights.sum().powi(2);
        Energy {
            mean: counts.mean.dot(&squares),
            spread,
            of_mean: prior - (self.half * weights).norm_squared(),
            fourth: 2.0 * spread * spread * self.correlated.square,
            of_inputs: quadratic(&counts.covariance, &squares),
        }
    }

    /// N is the Gram matrix.
    fn of_weights(&self, weights: &SeenWeights) -> Energy {
        let gram = &weights.gram.mean;
        let prior = self.correlated.covariance(self.chosen.variance, self.seen);
        let covariance = prior - transposed_product(self.half, self.half);
        let spread = product(gram, &covariance);
        let mean = gram * self.mean;
        Energy {
            mean: self.mean.dot(&mean),
            spread: spread.trace(),
            of_mean: quadratic(&covariance, &mean),
            fourth: 2.0 * spread.component_mul(&spread.transpose()).sum(),
            of_inputs: weights.gram.quadratic_error(&weights.map, self.mean),
        }
    }
}
