//! Thin singular value decomposition, also of matrices with low numerical rank.

use faer::Par;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use nalgebra::{DMatrix, DVector};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::products::{copy_to_dmatrix, is_finite, view, view_mut};
use super::{LinalgError, product, transposed_product};

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
    Ok(ThinSvd {
        u: copy_to_dmatrix(svd.U()),
        s: DVector::from_fn(rows.min(columns), |i, _| s[i]),
        v: copy_to_dmatrix(svd.V()),
    })
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

/// Directions found at once, so that products of matrices do the work.
const BLOCK: usize = 32;
/// A range of more than this share of the smaller side is no gain.
const SHARE: usize = 4;

/// The singular value decomposition of `a` (m x n) up to a remainder: `U` (m x q), `s` (q, falling) and `V` (n x q) of a
/// matrix `Q Q' A` with `|A - Q Q' A| <= negligible |A|` in the Frobenius norm.
///
/// As `A' A = B' B + R' R` for `B = Q Q' A` and the remainder `R = A - B`, a singular value s moves by at most
/// `|R|^2 / 2 s` (Weyl): callers that cut at a tolerance ask for a small share of it.
///
/// Where the rank r is at most a quarter of the smaller side it costs about `6 m n r` in products of matrices, in place of the
/// `4 m n^2 + 22 n^3` of the whole: an orthonormal `Q` is grown by blocks of `Y = (A - Q Q' A) Omega` for a fixed
/// pseudo-random Omega, and the remainder, which is there as a matrix, says when it is complete, so that nothing rests on the
/// luck of Omega. A remainder that falls too slowly ends it, and the whole is decomposed. Source: Martinsson and Voronin 2016,
/// Algorithm 3.
///
/// ```
/// use dpgp_linalg::leading_svd;
/// use nalgebra::DMatrix;
/// // Rank 1, of norm 300.
/// let svd = leading_svd("A", &DMatrix::from_element(300, 300, 1.0), 1e-12)?;
/// assert!((svd.s[0] - 300.0).abs() < 1e-10);
/// assert!(svd.s.iter().skip(1).all(|s| *s < 1e-10));
/// # Ok::<(), dpgp_linalg::LinalgError>(())
/// ```
///
/// # Errors
/// [`LinalgError`] naming `matrix` if `a` is not finite or the iteration does not converge.
pub fn leading_svd(matrix: &'static str, a: &DMatrix<f64>, negligible: f64) -> Result<ThinSvd, LinalgError> {
    let Some(range) = range_basis(a, negligible) else { return thin_svd(matrix, a) };
    let svd = thin_svd(matrix, &transposed_product(&range, a))?;
    Ok(ThinSvd { u: product(&range, &svd.u), ..svd })
}

/// An orthonormal basis of the range of `a` but for what is negligible beside its norm; none if it is no small part of the space, or `a` is not finite.
fn range_basis(a: &DMatrix<f64>, negligible: f64) -> Option<DMatrix<f64>> {
    let most = a.nrows().min(a.ncols()) / SHARE;
    let norm = a.norm();
    let mut stream = Pcg64::seed_from_u64(0);
    let (mut basis, mut remainder) = (DMatrix::zeros(a.nrows(), 0), a.clone());
    while basis.ncols() + BLOCK <= most {
        let omega = DMatrix::from_fn(a.ncols(), BLOCK, |_, _| 2.0 * stream.random::<f64>() - 1.0);
        let found = orthogonal_complement_basis(&product(&remainder, &omega), &basis);
        remainder -= product(&found, &transposed_product(&found, &remainder));
        basis = concatenate_columns(&basis, &found);
        let left = remainder.norm() / norm;
        if left <= negligible {
            return Some(basis);
        }
        // The singular values of a smooth map fall ever more slowly: at best it goes on as it began.
        let steps = negligible.ln() / left.ln();
        // Also where the norm is zero or not finite.
        if !(steps > 0.0 && steps * basis.ncols() as f64 <= most as f64) {
            return None;
        }
    }
    None
}

/// An orthonormal basis of the columns of `y` (m x b) that is orthogonal to `basis`. Rounding leaves a share of `basis` in
/// directions where y is small, and a second pass takes it out.
fn orthogonal_complement_basis(y: &DMatrix<f64>, basis: &DMatrix<f64>) -> DMatrix<f64> {
    let mut found = y.clone();
    for _ in 0..2 {
        found -= product(basis, &transposed_product(basis, &found));
        found = copy_to_dmatrix(view(&found).qr().compute_thin_Q().as_ref());
    }
    found
}

/// The columns of both.
fn concatenate_columns(left: &DMatrix<f64>, right: &DMatrix<f64>) -> DMatrix<f64> {
    let values = left.iter().chain(right.iter()).copied();
    DMatrix::from_iterator(left.nrows(), left.ncols() + right.ncols(), values)
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

    /// A smooth map: rows and columns are places on a line.
    fn smooth(rows: usize, columns: usize) -> DMatrix<f64> {
        DMatrix::from_fn(rows, columns, |i, j| {
            let apart = i as f64 / rows as f64 - j as f64 / columns as f64;
            (-8.0 * apart.powi(2)).exp()
        })
    }

    #[test]
    fn the_factors_of_a_smooth_map_are_orthonormal_and_multiply_to_it() {
        for (rows, columns) in [(300, 200), (200, 300)] {
            let a = smooth(rows, columns);
            let ThinSvd { u, s, v } = leading_svd("A", &a, 1e-12).unwrap();
            // Fewer than all: the short way was taken.
            assert!(s.len() < 50, "{}", s.len());
            assert!((&u * DMatrix::from_diagonal(&s) * v.transpose() - &a).norm() <= 1.1e-12 * a.norm());
            for factor in [u, v] {
                let gram = factor.tr_mul(&factor);
                assert!((gram - DMatrix::identity(s.len(), s.len())).amax() < 1e-13);
            }
        }
    }

    #[test]
    fn the_singular_values_are_those_of_the_whole() {
        let a = smooth(260, 220);
        let (leading, whole) = (leading_svd("A", &a, 1e-7).unwrap(), thin_svd("A", &a).unwrap());
        assert!(leading.s.len() < 50);
        for (ours, theirs) in leading.s.iter().zip(whole.s.iter()) {
            let bound = (1e-7 * a.norm()).powi(2) / (2.0 * theirs) + 1e-13 * whole.s[0];
            assert!((ours - theirs).abs() <= bound.min(1e-7 * a.norm()), "{ours:e} {theirs:e}");
        }
    }

    #[test]
    fn a_map_of_full_rank_is_decomposed_whole() {
        let mut stream = Pcg64::seed_from_u64(1);
        let a = DMatrix::from_fn(150, 140, |_, _| stream.random::<f64>() - 0.5);
        assert!(range_basis(&a, 1e-8).is_none());
        assert_eq!(leading_svd("A", &a, 1e-8).unwrap().s, thin_svd("A", &a).unwrap().s);
    }

    #[test]
    fn what_has_no_range_is_left_to_the_whole() {
        for value in [0.0, f64::NAN, f64::INFINITY] {
            assert!(range_basis(&DMatrix::from_element(200, 200, value), 1e-8).is_none());
        }
        assert!(leading_svd("A", &DMatrix::from_element(200, 200, f64::NAN), 1e-8).is_err());
        assert!(range_basis(&DMatrix::zeros(0, 3), 1e-8).is_none());
    }
}
