//! Products of matrices, and Gram matrices `Z' Z` of data that arrive in pieces. nalgebra matrices are passed
//! to faer without a copy.

use faer::linalg::matmul::{matmul, triangular};
use faer::{Accum, MatMut, MatRef, Par};
use nalgebra::DMatrix;
use rayon::prelude::*;

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
    for_each_column_tile(out, |start, tile| {
        let columns = right.subcols(start, tile.ncols());
        matmul(tile, Accum::Replace, left, columns, 1.0, Par::Seq);
    });
}

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

/// Does something to each piece, with its place; side by side, unless this is one of the threads of a pool already: there a thread that
/// waits for others would begin another cell, with matrices of its own.
///
/// ```
/// use dpgp_linalg::for_each_piece;
/// let mut numbers = [0, 0, 0];
/// for_each_piece(numbers.chunks_mut(2), |place, piece| piece.fill(place + 5));
/// assert_eq!(numbers, [5, 5, 6]);
/// ```
pub fn for_each_piece<'a, T: Send + 'a>(
    pieces: impl Iterator<Item = &'a mut [T]>,
    act: impl Fn(usize, &mut [T]) + Sync,
) {
    let pieces: Vec<(usize, &mut [T])> = pieces.enumerate().collect();
    let alone = pieces.len() > 1 && rayon::current_thread_index().is_none();
    match alone {
        true => pieces.into_par_iter().for_each(|(place, piece)| act(place, piece)),
        false => pieces.into_iter().for_each(|(place, piece)| act(place, piece)),
    }
}

/// The least and the greatest number of columns of a tile: a quarter of them all where that lies between. What is done once for each tile,
/// such as the packing of the other factor of a product, is to cost little.
const TILE: usize = 256;
const WIDE_TILE: usize = 512;

/// Does something to each tile of neighbouring columns of a matrix, with the place of its first column; side by side, where
/// [`for_each_piece`] is.
pub(super) fn for_each_column_tile(matrix: &mut DMatrix<f64>, act: impl Fn(usize, MatMut<'_, f64>) + Sync) {
    let (rows, columns) = matrix.shape();
    if rows == 0 {
        return;
    }
    let width = columns.div_ceil(4).clamp(TILE, WIDE_TILE);
    for_each_piece(matrix.as_mut_slice().chunks_mut(width * rows), |place, tile| {
        let columns = tile.len() / rows;
        act(place * width, MatMut::from_column_major_slice_mut(tile, rows, columns));
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

#[cfg(test)]
mod pieces_tests {
    use super::*;

    #[test]
    fn tiles_are_neighbouring_columns() {
        let mut matrix = DMatrix::zeros(2, TILE + 3);
        for_each_column_tile(&mut matrix, |start, mut tile| {
            (0..tile.ncols()).for_each(|j| tile[(1, j)] = (start + j) as f64);
        });
        assert!(matrix.column_iter().enumerate().all(|(j, column)| column[0] == 0.0 && column[1] == j as f64));
        for_each_column_tile(&mut DMatrix::zeros(0, 4), |_, _| unreachable!("a matrix without rows has no tiles"));
    }
}
