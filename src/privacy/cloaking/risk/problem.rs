//! What a design needs to know: covariances of the prior, all of them public.

use nalgebra::DMatrix;

use crate::gp::PriorMoments;

/// Group sums `y` of n groups with covariance `A = F F' + diag(e)`, and the latent values at t points, in units of the model.
///
/// For groups of `m_u` rows with equal inputs, a kernel k and noise variance `v`: `cross = k(X*, X) diag(m)`,
/// `F F' = diag(m) k(X, X) diag(m)` and `e = v m`.
#[derive(Debug, Clone)]
pub struct RiskProblem {
    /// `K*` (t x n): covariances of the latent values with the group sums.
    pub cross: DMatrix<f64>,
    /// `F` (n x q): a factor of what the group sums have in common.
    pub factor: DMatrix<f64>,
    /// `e` (n), positive: the variance that each group sum has for itself.
    pub own: Vec<f64>,
    /// `k**` (t): prior variances of the latent values.
    pub prior: Vec<f64>,
    /// Public weights (t), not negative: the error is the sum of the weighted squared errors. A point without weight is
    /// predicted, but nothing is spent on it.
    pub weights: Vec<f64>,
}

impl RiskProblem {
    /// Of the prior moments of a Gaussian process, all points alike.
    pub fn even(moments: &PriorMoments) -> Self {
        Self {
            cross: moments.cross.clone(),
            factor: moments.factor.clone(),
            own: moments.own.clone(),
            prior: moments.variances.clone(),
            weights: vec![1.0; moments.variances.len()],
        }
    }

    /// `K*` with its rows scaled by the roots of the weights.
    pub(super) fn weighted_cross(&self) -> DMatrix<f64> {
        let mut cross = self.cross.clone();
        for (mut row, weight) in cross.row_iter_mut().zip(&self.weights) {
            row *= weight.sqrt();
        }
        cross
    }

    /// The weighted sum of the prior variances: the expected error of the prior mean.
    pub(super) fn prior_error(&self) -> f64 {
        self.prior.iter().zip(&self.weights).map(|(variance, weight)| variance * weight).sum()
    }
}
