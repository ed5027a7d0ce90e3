//! What observations leave of a prior variance.

use nalgebra::DMatrix;

use crate::kernel::Kernel;

/// `k(x, x)` at each test input (t x d) less the squared norm of the column that explains it, at least zero.
pub(super) fn unexplained(kernel: &dyn Kernel, test: &DMatrix<f64>, explained: &DMatrix<f64>) -> Vec<f64> {
    // Explained and prior variance agree at an observation without noise, where rounding may leave less than zero.
    let prior = kernel.diagonal(test).into_iter().zip(explained.column_iter());
    prior.map(|(k, column)| (k - column.norm_squared()).max(0.0)).collect()
}
