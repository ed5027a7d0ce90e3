//! Exact Gaussian process regression.

use nalgebra::DMatrix;

use super::LinearMap;
use super::variance::unexplained;
use crate::kernel::Kernel;
use crate::linalg::{Cholesky, LinalgError};

/// The map of exact regression, `C = K_*f (K_ff + noise_variance I)^-1` (t x n), for training inputs
/// (n x d), test inputs (t x d) and a prior mean of zero. Cost `n^3 / 3 + n^2 t`.
///
/// Source: Rasmussen and Williams 2006, Eq. 2.25.
///
/// # Errors
/// [`LinalgError`] if `K + sigma^2 I` cannot be factorised.
pub fn exact(
    kernel: &dyn Kernel,
    noise_variance: f64,
    training: &DMatrix<f64>,
    test: &DMatrix<f64>,
) -> Result<LinearMap, LinalgError> {
    let cholesky = factor(kernel, noise_variance, training)?;
    let c = cholesky.solve(&kernel.matrix(training, test));
    Ok(LinearMap::new(&c.transpose(), training).with_jitter(cholesky.jitter()))
}

/// The variances `k_** - k_*f (K_ff + noise_variance I)^-1 k_f*` of the latent function at the test inputs (t), without
/// the noise of the likelihood. They depend on public inputs alone.
///
/// Source: Rasmussen and Williams 2006, Eq. 2.26.
///
/// # Errors
/// [`LinalgError`] if `K + sigma^2 I` cannot be factorised.
pub fn exact_variance(
    kernel: &dyn Kernel,
    noise_variance: f64,
    training: &DMatrix<f64>,
    test: &DMatrix<f64>,
) -> Result<Vec<f64>, LinalgError> {
    let cholesky = factor(kernel, noise_variance, training)?;
    Ok(unexplained(kernel, test, &cholesky.half_solve(&kernel.matrix(training, test))))
}

/// The factor of `K_ff + noise_variance I`.
pub(super) fn factor(
    kernel: &dyn Kernel,
    noise_variance: f64,
    training: &DMatrix<f64>,
) -> Result<Cholesky, LinalgError> {
    let mut k = kernel.matrix(training, training);
    (0..k.nrows()).for_each(|i| k[(i, i)] += noise_variance);
    Cholesky::new("K + sigma^2 I", &k)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::ExponentiatedQuadratic;

    /// Against `k_** - C k_f*`.
    #[test]
    fn the_variance_is_what_the_map_leaves() {
        let kernel = ExponentiatedQuadratic::isotropic(1.7, 2.0);
        let training = DMatrix::from_fn(12, 1, |i, _| 0.9 * i as f64);
        let test = DMatrix::from_fn(5, 1, |i, _| 3.1 * i as f64);
        let c = exact(&kernel, 0.3, &training, &test).unwrap().expand();
        let left = kernel.matrix(&test, &test) - c * kernel.matrix(&training, &test);
        let variance = exact_variance(&kernel, 0.3, &training, &test).unwrap();
        (0..5).for_each(|i| assert!((variance[i] - left[(i, i)]).abs() < 1e-13));
    }
}
