//! A Gaussian posterior over weights.

use nalgebra::{DMatrix, DVector};

use super::{Inducing, Located, Prediction};

/// `v ~ N(mean, covariance)` for `f(x) = k(x)' v + r(x)`, with r the part of f that the inducing values leave
/// open. The inducing values are `u = K_ZZ v`: with `m = K_ZZ mean` and `S = K_ZZ covariance K_ZZ` this is
/// `q(u) = N(m, S)`, but predictions need no `K_ZZ^-1 m`, which is inaccurate where inducing inputs lie close
/// together.
#[derive(Debug, Clone)]
pub struct WeightPosterior {
    /// The mean of the m weights.
    pub mean: DVector<f64>,
    /// Their covariance (m x m).
    pub covariance: DMatrix<f64>,
    /// What numerical error made necessary on the diagonal of a factorised matrix; usually zero.
    pub jitter: f64,
}

impl WeightPosterior {
    /// Mean and variance of f at each input: `k' mean` and `k' covariance k` plus the open part. Cost `t m^2`.
    pub fn predict(&self, at: &Located) -> Prediction {
        let spread = &at.features * &self.covariance;
        let mut variance = at.conditional.clone();
        let rows = variance.len().max(1);
        // Only the diagonal of `k' covariance k` is wanted: row sums of an elementwise product. Slices, so that they are
        // vectorised.
        let columns = spread.as_slice().chunks_exact(rows).zip(at.features.as_slice().chunks_exact(rows));
        for (left, right) in columns {
            let sums = variance.as_mut_slice().iter_mut();
            sums.zip(left.iter().zip(right)).for_each(|(sum, (l, r))| *sum += l * r);
        }
        Prediction { mean: &at.features * &self.mean, variance }
    }

    /// The mean of the inducing values, `K_ZZ mean`.
    pub fn inducing_mean(&self, inducing: &Inducing<'_>) -> DVector<f64> {
        inducing.k_zz() * &self.mean
    }
}
