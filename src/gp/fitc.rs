//! The fully independent training conditional (FITC) sparse approximation.

use nalgebra::DMatrix;

use super::LinearMap;
use crate::kernel::Kernel;
use crate::linalg::{Cholesky, LinalgError};

/// The map of FITC regression with m inducing inputs (m x d):
///
/// `C = K_*M Q^-1 K_MN D^-1`, `D = diag(k_nn - q_nn) + sigma^2 I`, `Q = K_MM + K_MN D^-1 K_NM`.
///
/// With `K_MM = L L'`, `V = L^-1 K_MN` and `A = I + V D^-1 V'` this is `(L^-1 K_M*)' A^-1 V D^-1`:
/// `Q` itself, whose condition is that of `K_MM` squared, is never formed. Cost `n m^2`.
///
/// Source: Snelson and Ghahramani 2006; Smith et al. 2021, Eq. 9.
///
/// # Errors
/// [`LinalgError`] if `K_MM` or `A` cannot be factorised.
pub fn fitc(
    kernel: &dyn Kernel,
    noise_variance: f64,
    inducing: &DMatrix<f64>,
    training: &DMatrix<f64>,
    test: &DMatrix<f64>,
) -> Result<LinearMap, LinalgError> {
    let k_mm = Cholesky::new("K_MM", &kernel.matrix(inducing, inducing))?;
    let v = k_mm.half_solve(&kernel.matrix(inducing, training));
    let mut scaled = v.clone();
    for (i, k_nn) in kernel.diagonal(training).into_iter().enumerate() {
        let conditional = (k_nn - v.column(i).norm_squared()).max(0.0);
        scaled.column_mut(i).unscale_mut(conditional + noise_variance);
    }
    let a = &scaled * v.transpose() + DMatrix::identity(inducing.nrows(), inducing.nrows());
    let right = Cholesky::new("I + V D^-1 V'", &a)?.solve(&scaled);
    let left = k_mm.half_solve(&kernel.matrix(inducing, test));
    Ok(LinearMap::new(&(left.transpose() * right), training).with_jitter(k_mm.jitter()))
}
