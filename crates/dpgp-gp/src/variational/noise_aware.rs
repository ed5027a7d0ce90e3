//! The posterior from noisy sums, with a regularised inverse.

use nalgebra::DMatrix;

use super::{Correction, Inducing, NoisyStatistics, Regularisation, WeightPosterior};
use dpgp_linalg::{Cholesky, LinalgError};

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
/// use dpgp_gp::variational::{Correction, Inducing, Regularisation, Statistics, noise_aware};
/// use dpgp_gp::kernel::ExponentiatedQuadratic;
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
/// # Ok::<(), dpgp_linalg::LinalgError>(())
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

#[cfg(test)]
mod tests {
    use nalgebra::DVector;

    use super::*;
    use crate::kernel::{ExponentiatedQuadratic, Kernel};
    use crate::variational::Statistics;

    /// Without noise the mean is that of the subset of regressors, `k' (K_ZZ + K_ZX K_XZ)^-1 K_ZX y`, and the inducing values have
    /// the mean `K_ZZ v`.
    #[test]
    fn exact_sums_are_a_regression() {
        let kernel = ExponentiatedQuadratic::isotropic(3.0, 1.0);
        let points = DMatrix::from_column_slice(2, 1, &[0.0, 1.5]);
        let inputs = DMatrix::from_column_slice(4, 1, &[-1.0, 0.2, 0.9, 2.0]);
        let targets = [1.0, -2.0, 0.5, 7.0];
        let inducing = Inducing::new(&kernel, &points).unwrap();
        let sums = Statistics::new(&inducing, &inputs, &targets, 5.0).exact();
        let posterior = noise_aware(&inducing, &sums, Regularisation::Tight, Correction::FirstOrder).unwrap();
        let cross = kernel.matrix(&points, &inputs);
        // The last target is clipped.
        let clipped = DVector::from_column_slice(&[1.0, -2.0, 0.5, 5.0]);
        let precision = kernel.matrix(&points, &points) + &cross * cross.transpose();
        let inverse = precision.try_inverse().unwrap();
        let mean = &inverse * &cross * clipped;
        assert!(
            (&posterior.mean - &mean).amax() < 1e-12 && (&posterior.covariance - &inverse).amax() < 1e-12
        );
        let values = kernel.matrix(&points, &points) * mean;
        assert!((posterior.inducing_mean(&inducing) - values).amax() < 1e-12);
    }

    /// `K_ZZ + B = 3 - 60`; lambda is 2 (sqrt 2 + 1.43), and is added once, then once, twice, four times more: after eight of them the
    /// matrix is still negative, after sixteen it is positive.
    #[test]
    fn an_indefinite_matrix_is_raised_by_doublings() {
        let kernel = ExponentiatedQuadratic::isotropic(3.0, 1.0);
        let inducing = Inducing::new(&kernel, &DMatrix::zeros(1, 1)).unwrap();
        let (a, b) = (DVector::from_element(1, 5.0), DMatrix::from_element(1, 1, -60.0));
        let statistics = NoisyStatistics { a, b, sd_a: 0.5, sd_b: 2.0 };
        let lambda = 2.0 * (2f64.sqrt() + 1.43);
        let raised = 3.0 - 60.0 + 16.0 * lambda;
        assert!(3.0 - 60.0 + 8.0 * lambda < 0.0 && raised > 0.0);
        let found = noise_aware(&inducing, &statistics, Regularisation::Tight, Correction::None).unwrap();
        assert!((found.mean[0] * raised / 5.0 - 1.0).abs() < 1e-12, "{}", found.mean[0]);
        // Without noise there is nothing to double.
        let exact = NoisyStatistics { sd_a: 0.0, sd_b: 0.0, ..statistics };
        assert!(noise_aware(&inducing, &exact, Regularisation::Tight, Correction::None).is_err());
    }
}
