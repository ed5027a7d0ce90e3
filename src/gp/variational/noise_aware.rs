//! The posterior from noisy sums, with a regularised inverse.

use nalgebra::DMatrix;

use super::{Correction, Inducing, NoisyStatistics, Regularisation, WeightPosterior};
use crate::linalg::{Cholesky, LinalgError};

/// How often lambda is doubled before a matrix is given up.
const DOUBLINGS: usize = 60;

/// The posterior of the weights from sums of unit noise variance (see [`NoisyStatistics::scaled`]):
///
/// `S = (K_ZZ + B~ + lambda I)^-1`, mean `S A~`, covariance `S` and what the correction adds.
///
/// Where the noise makes the matrix indefinite in spite of lambda, lambda is doubled until it no longer is:
/// that looks at nothing but what is released. Source: Honkela 2021, Eqs. 9, 11 and 14, in terms of the weights
/// `K_ZZ^-1 u`.
///
/// ```
/// use dpgp::gp::variational::{Correction, Inducing, Regularisation, Statistics, noise_aware};
/// use dpgp::kernel::ExponentiatedQuadratic;
/// use nalgebra::DMatrix;
///
/// // Exact sums of one target of 4 at the inducing input, variance 3: A = 12, B = 9, S = 1 / (3 + 9), v = 1. The mean
/// // there is 3 v = 3 = 3 / (3 + 1) 4, as in exact regression.
/// let (kernel, input) = (ExponentiatedQuadratic::isotropic(3.0, 1.0), DMatrix::from_element(1, 1, 0.0));
/// let inducing = Inducing::new(&kernel, &input)?;
/// let sums = Statistics::new(&inducing, &input, &[4.0], 10.0).exact();
/// let posterior = noise_aware(&inducing, &sums, Regularisation::Tight, Correction::FirstOrder)?;
/// let found = posterior.predict(&inducing.locate(&input));
/// assert!((found.mean[0] - 3.0).abs() < 1e-14 && (found.variance[0] - 0.75).abs() < 1e-14);
/// # Ok::<(), dpgp::linalg::LinalgError>(())
/// ```
///
/// # Errors
/// [`LinalgError`] if the matrix stays indefinite.
pub fn noise_aware(
    inducing: &Inducing<'_>,
    statistics: &NoisyStatistics,
    regularisation: Regularisation,
    correction: Correction,
) -> Result<WeightPosterior, LinalgError> {
    let size = inducing.size();
    let lambda = regularisation.lambda(size, statistics.sd_b);
    let mut precision = inducing.k_zz() + &statistics.b;
    (0..size).for_each(|i| precision[(i, i)] += lambda);
    let cholesky = factorise(&mut precision, lambda)?;
    // The inverse is itself the covariance, and the correction multiplies by it twice.
    let inverse = cholesky.solve(&DMatrix::identity(size, size));
    let mean = &inverse * &statistics.a;
    let covariance = correction.covariance(&inverse, &mean, statistics.sd_a, statistics.sd_b);
    Ok(WeightPosterior { mean, covariance, jitter: cholesky.jitter() })
}

/// The factor; adds lambda, twice lambda and so on to the diagonal until there is one.
fn factorise(precision: &mut DMatrix<f64>, lambda: f64) -> Result<Cholesky, LinalgError> {
    let mut step = lambda;
    for _ in 0..DOUBLINGS {
        match Cholesky::new("K_ZZ + B + lambda I", precision) {
            Ok(cholesky) => return Ok(cholesky),
            // With lambda = 0 there is no noise, and doubling would not end.
            Err(LinalgError::NotPositiveDefinite { .. }) if lambda > 0.0 => {}
            Err(error) => return Err(error),
        }
        (0..precision.nrows()).for_each(|i| precision[(i, i)] += step);
        step *= 2.0;
    }
    Cholesky::new("K_ZZ + B + lambda I", precision)
}
