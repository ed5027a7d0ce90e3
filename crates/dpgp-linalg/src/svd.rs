//! Thin singular value decomposition.

use faer::Par;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use nalgebra::{DMatrix, DVector};

use super::LinalgError;
use super::view::{is_finite, owned, view, view_mut};

/// `A = U diag(s) V'` with `s` falling; for `A` (m x n), `U` is (m x q), `V` (n x q), q = min(m, n).
#[derive(Debug, Clone)]
pub struct ThinSvd {
    /// Left singular vectors, one a column.
    pub u: DMatrix<f64>,
    /// Singular values, falling.
    pub s: DVector<f64>,
    /// Right singular vectors, one a column.
    pub v: DMatrix<f64>,
}

/// The singular values of a matrix `A` (m x n), falling, and its right singular vectors (n x q), q = min(m, n).
#[derive(Debug, Clone)]
pub struct RightSvd {
    /// Singular values, falling.
    pub s: DVector<f64>,
    /// Right singular vectors, one a column.
    pub v: DMatrix<f64>,
}

/// The thin singular value decomposition of `a`; its accuracy is absolute, about `1e-16 s_1`: singular values and vectors
/// below that are rounding, and callers cut them off.
///
/// # Errors
/// [`LinalgError`] naming `matrix` if `a` is not finite or the iteration does not converge.
pub fn thin_svd(matrix: &'static str, a: &DMatrix<f64>) -> Result<ThinSvd, LinalgError> {
    let (rows, columns) = a.shape();
    if !is_finite(a) {
        return Err(LinalgError::NotFinite { matrix, rows, columns });
    }
    let svd = view(a).thin_svd().map_err(|_| LinalgError::NoConvergence { matrix, rows, columns })?;
    let s = svd.S().column_vector();
    Ok(ThinSvd { u: owned(svd.U()), s: DVector::from_fn(rows.min(columns), |i, _| s[i]), v: owned(svd.V()) })
}

/// The singular values and right singular vectors of `a`, without the left ones, which are a third of the work.
///
/// ```
/// use dpgp_linalg::right_svd;
/// use nalgebra::DMatrix;
/// let svd = right_svd("A", &DMatrix::from_row_slice(2, 2, &[0.0, 2.0, -1.0, 0.0]))?;
/// assert!((svd.s[0] - 2.0).abs() < 1e-15 && (svd.v[(1, 0)].abs() - 1.0).abs() < 1e-15);
/// # Ok::<(), dpgp_linalg::LinalgError>(())
/// ```
///
/// # Errors
/// [`LinalgError`] naming `matrix` if `a` is not finite or the iteration does not converge.
pub fn right_svd(matrix: &'static str, a: &DMatrix<f64>) -> Result<RightSvd, LinalgError> {
    let (rows, columns) = a.shape();
    if !is_finite(a) {
        return Err(LinalgError::NotFinite { matrix, rows, columns });
    }
    let size = rows.min(columns);
    let (mut s, mut v) = (Diag::zeros(size), DMatrix::zeros(columns, size));
    let (no, thin) = (ComputeSvdVectors::No, ComputeSvdVectors::Thin);
    let (sequential, options) = (Par::Seq, faer::prelude::default());
    let mut memory = MemBuffer::new(svd_scratch::<f64>(rows, columns, no, thin, sequential, options));
    let stack = MemStack::new(&mut memory);
    svd(view(a), s.as_mut(), None, Some(view_mut(&mut v)), sequential, stack, options)
        .map_err(|_| LinalgError::NoConvergence { matrix, rows, columns })?;
    Ok(RightSvd { s: DVector::from_fn(size, |i, _| s[i]), v })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_the_left_vectors_the_others_are_the_same() {
        for (rows, columns) in [(3, 5), (60, 40), (50, 50)] {
            let a = DMatrix::from_fn(rows, columns, |i, j| ((3 * i + 7 * j * j + 1) as f64).sin());
            let (right, whole) = (right_svd("A", &a).unwrap(), thin_svd("A", &a).unwrap());
            assert!((right.s - whole.s).amax() < 1e-12 && (right.v.abs() - whole.v.abs()).amax() < 1e-9);
        }
        assert!(right_svd("A", &DMatrix::from_element(2, 2, f64::NAN)).is_err());
    }

    #[test]
    fn the_factors_multiply_to_the_matrix() {
        for (rows, columns) in [(3, 5), (5, 3), (4, 4)] {
            let a = DMatrix::from_fn(rows, columns, |i, j| ((3 * i + 7 * j + 1) as f64).sin());
            let ThinSvd { u, s, v } = thin_svd("A", &a).unwrap();
            assert!((&u * DMatrix::from_diagonal(&s) * v.transpose() - &a).amax() < 1e-14);
            assert!((u.transpose() * &u - DMatrix::identity(s.len(), s.len())).amax() < 1e-14);
            assert!(s.as_slice().is_sorted_by(|x, y| x >= y));
        }
    }
}
