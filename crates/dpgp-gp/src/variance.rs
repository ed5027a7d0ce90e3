//! What observations leave of a prior variance.

use nalgebra::DMatrix;

use crate::kernel::Kernel;

/// `k(x, x)` at each test input (t x d) less the squared norm of the column that explains it, at least zero.
pub(super) fn unexplained(kernel: &dyn Kernel, test: &DMatrix<f64>, explained: &DMatrix<f64>) -> Vec<f64> {
    left(kernel, test, explained.column_iter().map(|column| column.norm_squared()))
}

/// `k(x, x)` at each test input (t x d) less what is explained of it, at least zero.
pub(super) fn left(
    kernel: &dyn Kernel,
    test: &DMatrix<f64>,
    explained: impl Iterator<Item = f64>,
) -> Vec<f64> {
    // Explained and prior variance agree at an observation without noise, where rounding may leave less than zero.
    kernel.diagonal(test).into_iter().zip(explained).map(|(k, explained)| (k - explained).max(0.0)).collect()
}
