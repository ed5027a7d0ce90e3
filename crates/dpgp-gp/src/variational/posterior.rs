//! A Gaussian posterior over weights, its predictions, and functions drawn from a prior.

use nalgebra::{DMatrix, DVector};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use super::{CovariancesWithConditionalVariances, InducingInputs};
use crate::kernel::Kernel;
use crate::{PredictiveMixture, WeightedNormals};
use dpgp_linalg::pivoted_cholesky;

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
    /// Jitter that numerical error made necessary on the diagonal of a factorised matrix; usually zero.
    pub jitter: f64,
}

impl WeightPosterior {
    /// Mean and variance of f at each input: `k' mean` and `k' covariance k` plus the open part. Cost `t m^2`.
    pub fn predict(&self, at: &CovariancesWithConditionalVariances) -> GaussianPrediction {
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
        GaussianPrediction { mean: &at.features * &self.mean, variance }
    }

    /// The mean of the inducing values, `K_ZZ mean`.
    pub fn inducing_mean(&self, inducing: &InducingInputs<'_>) -> DVector<f64> {
        inducing.k_zz() * &self.mean
    }
}

/// Gaussian predictions of f, one an input.
#[derive(Debug, Clone)]
pub struct GaussianPrediction {
    /// Means.
    pub mean: DVector<f64>,
    /// Variances of f, without the noise of observations.
    pub variance: DVector<f64>,
}

impl GaussianPrediction {
    /// Of observations with this noise variance; of the function itself with none.
    pub fn with_observation_noise(self, noise_variance: f64) -> PredictiveMixture {
        let Self { mean, variance } = self;
        PredictiveMixture::from_parts(vec![WeightedNormals { weight: 1.0, mean, variance }]).with_noise(noise_variance)
    }
}

/// The largest entry by which the covariance of a draw falls short of the kernel's, relative to its variance.
const TOLERANCE: f64 = 1e-12;

/// One draw of f at n inputs (n x d), by a pivoted low-rank Cholesky factor of their covariance: cost `n r^2`,
/// where the rank r of a smooth kernel on a few lengthscales is some tens whatever n is.
pub fn draw_from_prior(kernel: &dyn Kernel, inputs: &DMatrix<f64>, stream: &mut impl Rng) -> DVector<f64> {
    let rows: Vec<Vec<f64>> = inputs.row_iter().map(|row| row.iter().copied().collect()).collect();
    let factor = pivoted_cholesky(
        &kernel.diagonal(inputs),
        |j, out| out.iter_mut().zip(&rows).for_each(|(k, x)| *k = kernel.value(x, &rows[j])),
        TOLERANCE,
    );
    // `L z` with `z ~ N(0, I)` has the covariance `L L'`.
    let z = DVector::from_fn(factor.ncols(), |_, _| StandardNormal.sample(stream));
    factor * z
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
        let at = CovariancesWithConditionalVariances {
            features: DMatrix::from_row_slice(2, 2, &[2.0, 1.0, 0.0, 3.0]),
            conditional: DVector::from_column_slice(&[0.5, 0.25]),
        };
        let found = posterior.predict(&at);
        assert_eq!((found.mean.as_slice(), found.variance.as_slice()), (&[1.0, -3.0][..], &[22.5, 18.25][..]));
        assert_eq!(at.quadratic_forms(&posterior.covariance).as_slice(), [22.0, 18.0]);
    }
}

#[cfg(test)]
mod prior_tests {
    use super::*;
    use crate::kernel::ExponentiatedQuadratic;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    #[test]
    fn draws_have_the_kernel_as_covariance() {
        let kernel = ExponentiatedQuadratic::isotropic(2.0, 1.0);
        let x = DMatrix::from_column_slice(3, 1, &[0.0, 1.0, 1.0]);
        let mut stream = Pcg64::from_seed([3; 32]);
        let mut sum = DMatrix::zeros(3, 3);
        for _ in 0..40_000 {
            let f = draw_from_prior(&kernel, &x, &mut stream);
            assert!((f[1] - f[2]).abs() < 1e-5);
            sum += &f * f.transpose();
        }
        let expected = kernel.matrix(&x, &x);
        assert!((sum / 40_000.0 - expected).amax() < 0.06);
    }
}
