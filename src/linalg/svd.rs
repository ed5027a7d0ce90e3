//! Thin singular value decomposition.

use nalgebra::{DMatrix, DVector};

use super::LinalgError;
use super::view::{owned, view};

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

/// The thin singular value decomposition of `a`; its accuracy is absolute, about `1e-16 s_1`: singular values and vectors
/// below that are rounding, and callers cut them off.
///
/// # Errors
/// [`LinalgError`] naming `matrix` if `a` is not finite or the iteration does not converge.
pub fn thin_svd(matrix: &'static str, a: &DMatrix<f64>) -> Result<ThinSvd, LinalgError> {
    let (rows, columns) = a.shape();
    if a.iter().any(|v| !v.is_finite()) {
        return Err(LinalgError::NotFinite { matrix, rows, columns });
    }
    let svd = view(a).thin_svd().map_err(|_| LinalgError::NoConvergence { matrix, rows, columns })?;
    let s = svd.S().column_vector();
    Ok(ThinSvd { u: owned(svd.U()), s: DVector::from_fn(rows.min(columns), |i, _| s[i]), v: owned(svd.V()) })
}

#[cfg(test)]
mod tests {
    use super::*;

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
