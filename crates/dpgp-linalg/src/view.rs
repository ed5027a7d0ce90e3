//! Views of nalgebra matrices as faer matrices: both are column-major, nothing is copied.

use faer::{MatMut, MatRef};
use nalgebra::DMatrix;

/// The matrix itself, to read.
pub(super) fn view(matrix: &DMatrix<f64>) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice(matrix.as_slice(), matrix.nrows(), matrix.ncols())
}

/// The matrix itself, to write.
pub(super) fn view_mut(matrix: &mut DMatrix<f64>) -> MatMut<'_, f64> {
    let (rows, columns) = matrix.shape();
    MatMut::from_column_major_slice_mut(matrix.as_mut_slice(), rows, columns)
}

/// Whether all entries are finite, many at a time.
pub(super) fn is_finite(matrix: &DMatrix<f64>) -> bool {
    matrix.as_slice().chunks(64).all(|some| some.iter().fold(true, |finite, v| finite & v.is_finite()))
}

/// A copy of what a factorisation of faer holds.
pub(super) fn owned(matrix: MatRef<'_, f64>) -> DMatrix<f64> {
    let mut copy = DMatrix::zeros(matrix.nrows(), matrix.ncols());
    view_mut(&mut copy).copy_from(matrix);
    copy
}
