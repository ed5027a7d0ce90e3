//! Products of matrices: Gram matrices `Z' Z` and sums of them for data that come in pieces, and general ones.

use faer::linalg::matmul::{matmul, triangular};
use faer::{Accum, MatRef, Par};
use nalgebra::DMatrix;

use super::pieces::each_tile;
use super::view::{view, view_mut};

/// `Z' Z` for `Z` (r x k): the (k x k) matrix of inner products of the columns. Cost `2 r k^2`.
///
/// ```
/// use dpgp_linalg::gram;
/// use nalgebra::DMatrix;
/// // Columns (1, 2) and (3, 4): 1 + 4, 3 + 8 and 9 + 16.
/// let z = DMatrix::from_column_slice(2, 2, &[1.0, 2.0, 3.0, 4.0]);
/// assert_eq!(gram(&z).as_slice(), [5.0, 11.0, 11.0, 25.0]);
/// ```
pub fn gram(z: &DMatrix<f64>) -> DMatrix<f64> {
    let mut out = DMatrix::zeros(z.ncols(), z.ncols());
    add_gram(&mut out, z);
    out
}

/// Adds `Z' Z` to `out` (k x k), so that a tall Z can come in pieces.
pub fn add_gram(out: &mut DMatrix<f64>, z: &DMatrix<f64>) {
    matmul(view_mut(out), Accum::Add, view(z).transpose(), view(z), 1.0, Par::Seq);
}

/// Adds `Z' Z` to the lower triangle of `out` (k x k) alone, at half the cost; the rest is left as it is.
pub fn add_gram_lower(out: &mut DMatrix<f64>, z: &DMatrix<f64>) {
    add_product_lower(out, view(z).transpose(), view(z));
}

/// Adds `F F'` to the lower triangle of `out` (k x k), for the columns of F (k x r) one after the other.
pub fn add_outer_lower(out: &mut DMatrix<f64>, columns: &[f64]) {
    let rows = out.nrows();
    let f = MatRef::from_column_major_slice(columns, rows, columns.len() / rows.max(1));
    add_product_lower(out, f, f.transpose());
}

/// Adds `left right` (k x k) to the lower triangle of `out`.
fn add_product_lower(out: &mut DMatrix<f64>, left: MatRef<'_, f64>, right: MatRef<'_, f64>) {
    use triangular::BlockStructure::{Rectangular, TriangularLower};
    let (out, whole) = (view_mut(out), Rectangular);
    triangular::matmul(out, TriangularLower, Accum::Add, left, whole, right, whole, 1.0, Par::Seq);
}

/// `A B` for `A` (p x r) and `B` (r x q), faster than the product of nalgebra where one of them has few rows.
pub fn product(a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
    let mut out = DMatrix::zeros(a.nrows(), b.ncols());
    multiply(&mut out, view(a), view(b));
    out
}

/// `A' B` for `A` (r x p) and `B` (r x q).
pub fn transposed_product(a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
    let mut out = DMatrix::zeros(a.ncols(), b.ncols());
    multiply(&mut out, view(a).transpose(), view(b));
    out
}

/// `A' B` for the last r rows of `A` (p columns) and `B` (r x q), in place of what `out` (p x q) holds; on this thread.
pub fn transposed_product_into(out: &mut DMatrix<f64>, a: &DMatrix<f64>, b: &DMatrix<f64>) {
    let last = view(a).subrows(a.nrows() - b.nrows(), b.nrows());
    matmul(view_mut(out), Accum::Replace, last.transpose(), view(b), 1.0, Par::Seq);
}

/// `left right`, in place of what `out` holds.
fn multiply(out: &mut DMatrix<f64>, left: MatRef<'_, f64>, right: MatRef<'_, f64>) {
    each_tile(out, |start, tile| {
        let columns = right.subcols(start, tile.ncols());
        matmul(tile, Accum::Replace, left, columns, 1.0, Par::Seq);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outer_products_of_columns() {
        let f = DMatrix::from_fn(4, 7, |i, j| ((3 * i + 5 * j) as f64).sin());
        let (mut outer, mut inner) = (DMatrix::zeros(4, 4), DMatrix::zeros(4, 4));
        add_outer_lower(&mut outer, f.as_slice());
        add_gram_lower(&mut inner, &f.transpose());
        assert!((outer - inner).amax() < 1e-14);
    }

    #[test]
    fn the_lower_triangle_is_that_of_the_whole() {
        let z = DMatrix::from_fn(7, 4, |i, j| ((3 * i + 5 * j) as f64).sin());
        let mut lower = DMatrix::from_element(4, 4, 2.0);
        add_gram_lower(&mut lower, &z);
        for (i, j) in (0..4).flat_map(|i| (0..4).map(move |j| (i, j))) {
            let expected = if i >= j { 2.0 + z.column(i).dot(&z.column(j)) } else { 2.0 };
            assert!((lower[(i, j)] - expected).abs() < 1e-14);
        }
    }

    /// More columns than a tile has.
    #[test]
    fn a_wide_product_is_the_same_on_any_number_of_threads() {
        let a = DMatrix::from_fn(7, 40, |i, j| ((3 * i + 5 * j) as f64).sin());
        let b = DMatrix::from_fn(40, 600, |i, j| ((i + 7 * j) as f64).cos());
        let found = product(&a, &b);
        assert!((&found - &a * &b).amax() < 1e-12);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(pool.install(|| product(&a, &b)), found);
    }

    #[test]
    fn a_product_with_a_transpose() {
        let a = DMatrix::from_fn(3, 5, |i, j| ((i + 2 * j) as f64).cos());
        let b = DMatrix::from_fn(3, 2, |i, j| (i * j) as f64 - 1.0);
        assert!((transposed_product(&a, &b) - a.transpose() * &b).amax() < 1e-14);
        assert!((product(&a.transpose(), &b) - a.transpose() * b).amax() < 1e-14);
    }
}
