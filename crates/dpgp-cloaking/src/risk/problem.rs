//! What a design needs to know: covariances of the prior, all of them public.

use nalgebra::DMatrix;

use dpgp_gp::PriorMoments;

/// Latent values at t points, to be predicted from the sums of the targets of equal inputs.
#[derive(Debug, Clone)]
pub struct RiskProblem {
    /// The prior of both, in units of the model.
    pub moments: PriorMoments,
    /// Public weights (t), not negative: the error is the sum of the weighted squared errors. A point without weight is
    /// predicted, but nothing is spent on it.
    pub weights: Vec<f64>,
}

impl RiskProblem {
    /// All points alike.
    pub fn even(moments: PriorMoments) -> Self {
        Self { weights: vec![1.0; moments.variances.len()], moments }
    }

    /// `K*` with its rows scaled by the roots of the weights.
    pub(super) fn weighted_cross(&self) -> DMatrix<f64> {
        let mut cross = self.moments.cross.clone();
        for (mut row, weight) in cross.row_iter_mut().zip(&self.weights) {
            row *= weight.sqrt();
        }
        cross
    }

    /// The weighted sum of the prior variances: the expected error of the prior mean.
    pub(super) fn prior_error(&self) -> f64 {
        self.moments.variances.iter().zip(&self.weights).map(|(variance, weight)| variance * weight).sum()
    }
}
