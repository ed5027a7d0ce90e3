//! Gram matrices.

use faer::linalg::matmul::matmul;
use faer::{Accum, Par};
use nalgebra::DMatrix;

use super::view::{view, view_mut};

/// `Z' Z` for `Z` (r x k): the (k x k) matrix of inner products of the columns.
pub fn gram(z: &DMatrix<f64>) -> DMatrix<f64> {
    let mut out = DMatrix::zeros(z.ncols(), z.ncols());
    add_gram(&mut out, z);
    out
}

/// Adds `Z' Z` to `out` (k x k), so that a tall Z can come in pieces.
pub fn add_gram(out: &mut DMatrix<f64>, z: &DMatrix<f64>) {
    matmul(view_mut(out), Accum::Add, view(z).transpose(), view(z), 1.0, Par::Seq);
}
