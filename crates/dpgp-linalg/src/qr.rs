//! The Cholesky factor of a Gram matrix without forming the Gram matrix.

use nalgebra::DMatrix;

use super::gram::{is_finite, owned, view};
use super::{Cholesky, LinalgError};

/// The lower factor `L` of `rows' rows = L L'`, for `rows` (k x r) with k >= r, by a Householder QR
/// factorisation: its relative error is that of `rows`, where forming the Gram matrix would square
/// the condition number. With `rows = Q R` it is `L = R'`. Cost `2 k r^2`. Source: Higham 2002, Section 20.4.
///
/// ```
/// use dpgp_linalg::gram_factor;
/// use nalgebra::DMatrix;
/// // One column (3, 4): its Gram matrix is 25.
/// let factor = gram_factor("G", &DMatrix::from_column_slice(2, 1, &[3.0, 4.0]))?;
/// assert!((factor.factor()[(0, 0)] - 5.0).abs() < 1e-14);
/// # Ok::<(), dpgp_linalg::LinalgError>(())
/// ```
///
/// # Errors
/// [`LinalgError`] naming `matrix` if `rows` is not finite or has no full column rank.
pub fn gram_factor(matrix: &'static str, rows: &DMatrix<f64>) -> Result<Cholesky, LinalgError> {
    let (height, size) = rows.shape();
    if !is_finite(rows) {
        return Err(LinalgError::NotFinite { matrix, rows: height, columns: size });
    }
    let deficient = LinalgError::NotPositiveDefinite { matrix, size, jitter: 0.0 };
    if height < size {
        return Err(deficient);
    }
    let mut factor = owned(view(rows).qr().thin_R()).transpose();
    // Householder leaves the signs open; a Cholesky factor has a positive diagonal. `L D D L' = L L'` for signs D. The first
    // entry of a column that is not zero is its diagonal one, or the factor is refused below.
    for mut column in factor.column_iter_mut() {
        let diagonal = column.iter().copied().find(|v| *v != 0.0).unwrap_or(0.0);
        if diagonal < 0.0 {
            column.neg_mut();
        }
    }
    if factor.diagonal().iter().any(|v| *v <= 0.0) {
        return Err(deficient);
    }
    Ok(Cholesky::from_factor(factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_the_cholesky_factor_of_the_gram_matrix() {
        let rows = DMatrix::from_fn(7, 4, |i, j| ((i * i * (j + 2) + 3 * j) as f64).cos());
        let factor = gram_factor("G", &rows).unwrap();
        let gram = rows.transpose() * &rows;
        assert!((factor.factor() * factor.factor().transpose() - gram).amax() < 1e-13);
        assert!(factor.factor().upper_triangle().iter().filter(|v| **v != 0.0).count() == 4);
    }

    #[test]
    fn no_full_rank_is_refused() {
        for rows in [DMatrix::zeros(5, 2), DMatrix::from_element(1, 2, 1.0)] {
            assert!(gram_factor("G", &rows).is_err());
        }
    }
}
