//! The posterior for one choice of hyperparameters.

use nalgebra::{DMatrix, DVector};

use super::correlated::{Correlated, Seen};
use super::squares::Energy;
use dpgp_linalg::{Cholesky, LinalgError, transposed_product};

/// One choice of hyperparameters; the kernel by its place in the grid.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chosen {
    pub kernel: usize,
    pub variance: f64,
    pub noise: f64,
    /// The log density a priori.
    pub log_prior: f64,
}

/// The posterior of what b sees of the process under one choice.
pub(super) struct SiteMember {
    pub chosen: Chosen,
    /// Of Q.
    pub factor: Cholesky,
    /// `Q^-1 b` (m x 1).
    pub weights: DMatrix<f64>,
    /// The mean of what b sees (G, or m).
    pub mean: DVector<f64>,
    /// The log density of what was released and of the choice, up to a constant.
    pub log_evidence: f64,
    /// The mean of the noise variances that it stands for, in the variance of targets.
    pub noise: f64,
}

/// A member whose evidence is that of b alone so far, and what the sum of squares will add to it.
pub(super) struct Unsquared {
    pub member: SiteMember,
    pub energy: Energy,
}

impl Unsquared {
    /// With the covariance of b by the error of the counts.
    pub fn new(
        chosen: Chosen,
        seen: &Seen<'_>,
        correlated: &Correlated,
        error: &DMatrix<f64>,
    ) -> Result<Self, LinalgError> {
        let covariance = correlated.process.of_sums(chosen, &seen.sums)
            + error
            + DMatrix::from_diagonal(&seen.released.weighted);
        let factor = Cholesky::without_jitter("the covariance of the weighted sums", &covariance)?;
        let b = &seen.released.sums.weighted;
        let weights = factor.solve(&DMatrix::from_column_slice(b.len(), 1, b.as_slice()));
        let cross = correlated.crossed(chosen.variance, seen);
        let mean = transposed_product(&cross, &weights).column(0).into_owned();
        let logs: f64 = factor.factor().diagonal().iter().map(|pivot| pivot.ln()).sum();
        let energy = Energy::new(chosen, seen, correlated, &mean, &factor.half_solve(&cross));
        let log_evidence = chosen.log_prior - 0.5 * b.dot(&weights.column(0)) - logs;
        Ok(Self {
            member: SiteMember { noise: chosen.noise, chosen, factor, weights, mean, log_evidence },
            energy,
        })
    }

    /// The place of its kernel in the grid.
    pub fn kernel(&self) -> usize {
        self.member.chosen.kernel
    }
}

impl SiteMember {
    /// `E[f f']` of what b sees (G x G, or m x m): `K - K L' Q^-1 L K + m m'`.
    pub fn second_moment(&self, seen: &Seen<'_>, correlated: &Correlated) -> DMatrix<f64> {
        let half = self.factor.half_solve(&correlated.crossed(self.chosen.variance, seen));
        let mut second = correlated.covariance(self.chosen.variance, seen);
        second -= transposed_product(&half, &half);
        second.ger(1.0, &self.mean, &self.mean, 1.0);
        second
    }
}
