//! The posterior for one choice of hyperparameters.

use nalgebra::{DMatrix, DVector};

use super::correlated::{Correlated, Seen, quadratic};
use crate::linalg::{Cholesky, LinalgError, transposed_product};

/// One choice of hyperparameters; the kernel by its place in the grid.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chosen {
    pub kernel: usize,
    pub variance: f64,
    pub noise: f64,
    /// The log density a priori.
    pub log_prior: f64,
}

/// The posterior of f at the sites under one choice.
pub(super) struct SiteMember {
    pub chosen: Chosen,
    /// Of Q.
    pub factor: Cholesky,
    /// `Q^-1 b` (m x 1).
    pub weights: DMatrix<f64>,
    /// The mean at the sites (G).
    pub mean: DVector<f64>,
    /// The log density of what was released and of the choice, up to a constant.
    pub log_evidence: f64,
}

impl SiteMember {
    /// With the covariance of b by the error of the counts.
    pub fn new(
        chosen: Chosen,
        seen: &Seen<'_>,
        correlated: &Correlated,
        error: &DMatrix<f64>,
    ) -> Result<Self, LinalgError> {
        let factor = Cholesky::without_jitter("the covariance of the weighted sums", &{
            let mut covariance = &correlated.seen * chosen.variance + &seen.noise * chosen.noise + error;
            covariance.ger(seen.bias, &seen.total, &seen.total, 1.0);
            covariance + DMatrix::from_diagonal(&seen.released.weighted)
        })?;
        let b = &seen.released.sums.weighted;
        let weights = factor.solve(&DMatrix::from_column_slice(b.len(), 1, b.as_slice()));
        let cross = correlated.crossed(chosen.variance, seen);
        let mean = transposed_product(&cross, &weights).column(0).into_owned();
        let logs: f64 = factor.factor().diagonal().iter().map(|pivot| pivot.ln()).sum();
        let squares = Squares { chosen, seen, correlated, mean: &mean, half: &factor.half_solve(&cross) };
        let log_evidence = chosen.log_prior - 0.5 * b.dot(&weights.column(0)) - logs + squares.log_density();
        Ok(Self { chosen, factor, weights, mean, log_evidence })
    }

    /// `E[f f']` at the sites (G x G): `K - K L' Q^-1 L K + m m'`.
    pub fn second_moment(&self, seen: &Seen<'_>, correlated: &Correlated) -> DMatrix<f64> {
        let half = self.factor.half_solve(&correlated.crossed(self.chosen.variance, seen));
        let mut second = correlated.covariance(self.chosen.variance, seen.bias);
        second -= transposed_product(&half, &half);
        second.ger(1.0, &self.mean, &self.mean, 1.0);
        second
    }
}

/// What the sum of squared targets says of a choice, given b. It pins the noise variance down, and with it the width of
/// intervals.
struct Squares<'a> {
    chosen: Chosen,
    seen: &'a Seen<'a>,
    correlated: &'a Correlated,
    mean: &'a DVector<f64>,
    /// `F^-1 L K` for the factor F of Q (m x G).
    half: &'a DMatrix<f64>,
}

impl Squares<'_> {
    /// `ln N(q; E + n s^2, v)` up to a constant, with `E = sum_g p_g E[f_g^2]` and v the variance of q under the posterior: that of
    /// the noise on q, of the noise on targets, of f, and of the counts. The part of f that is of fourth order takes the
    /// correlations a priori.
    fn log_density(&self) -> f64 {
        let (n, noise) = (self.seen.released.sums.rows as f64, self.chosen.noise);
        let counts = &self.seen.counts.mean;
        let at_sites = self.chosen.variance + self.seen.bias;
        let variances = self.half.column_iter().map(|column| at_sites - column.norm_squared());
        let spread: f64 = counts.iter().zip(variances).map(|(count, variance)| count * variance).sum();
        let squares = self.mean.component_mul(self.mean);
        let expected = counts.dot(&squares) + spread;
        let variance = self.seen.released.squares
            + 2.0 * n * noise * noise
            + 4.0 * noise * expected
            + 4.0 * self.of_mean().max(0.0)
            + 2.0 * spread * spread * self.correlated.square
            + quadratic(&self.seen.counts.covariance, &squares);
        let residual = self.seen.released.sums.squares - expected - n * noise;
        -0.5 * residual * residual / variance - 0.5 * variance.ln()
    }

    /// `(p o m)' V_f (p o m)`, the variance of `sum p m f`.
    fn of_mean(&self) -> f64 {
        let weights = self.seen.counts.mean.component_mul(self.mean);
        let prior = self.chosen.variance * quadratic(&self.correlated.sites, &weights)
            + self.seen.bias * weights.sum().powi(2);
        prior - (self.half * weights).norm_squared()
    }
}
