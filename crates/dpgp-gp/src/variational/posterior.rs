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

#[cfg(test)]
mod tests {
    use super::*;

    /// Features (2, 1) and (0, 3) with weights of mean (1, -1) and covariance (4, 1; 1, 2): means 1 and -3, variances `16 + 4 + 2` and
    /// 18, and what is open, 0.5 and 0.25.
    #[test]
    fn predictions_are_forms_of_the_weights() {
        let posterior = WeightPosterior {
            mean: DVector::from_column_slice(&[1.0, -1.0]),
            covariance: DMatrix::from_row_slice(2, 2, &[4.0, 1.0, 1.0, 2.0]),
            jitter: 0.0,
        };
        let at = Located {
            features: DMatrix::from_row_slice(2, 2, &[2.0, 1.0, 0.0, 3.0]),
            conditional: DVector::from_column_slice(&[0.5, 0.25]),
        };
        let found = posterior.predict(&at);
        assert_eq!(
            (found.mean.as_slice(), found.variance.as_slice()),
            (&[1.0, -3.0][..], &[22.5, 18.25][..])
        );
        assert_eq!(at.forms(&posterior.covariance).as_slice(), [22.0, 18.0]);
    }
}
