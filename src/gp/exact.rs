//! Exact Gaussian process regression.

use nalgebra::DMatrix;

use super::LinearMap;
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
    let mut k = kernel.matrix(training, training);
    for i in 0..k.nrows() {
        k[(i, i)] += noise_variance;
    }
    let cholesky = Cholesky::new("K + sigma^2 I", &k)?;
    let c = cholesky.solve(&kernel.matrix(training, test));
    Ok(LinearMap::new(&c.transpose(), training).with_jitter(cholesky.jitter()))
}
