//! Products of matrices, Gram matrices `Z' Z` of data that arrive in pieces, products of wide matrices in panels of eight
//! rows, and computations in 106 bits. nalgebra matrices are passed to faer without a copy.
//!
//! An audit repeats a few computations in twice the precision, because a bound in ordinary precision cannot
//! confirm itself. Pairs of doubles hold the numbers, and results are rounded once.

use std::cell::Cell;

use faer::linalg::matmul::{matmul, triangular};
use faer::{Accum, MatMut, MatRef, Par, fx128};
use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch, f64x8};
use nalgebra::DMatrix;
use rayon::prelude::*;

use super::largest_or_nan;

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
    for_each_column_tile(out, |start, tile| {
        let below = left.nrows() - start;
        let columns = right.subcols(start, tile.ncols());
        add_lower_product(tile.subrows_mut(start, below), left.subrows(start, below), columns, 1.0);
    });
}

/// Adds `scale left right` to a tall matrix (m x k, m >= k) on and below the diagonal; on this thread.
pub(super) fn add_lower_product(out: MatMut<'_, f64>, left: MatRef<'_, f64>, right: MatRef<'_, f64>, scale: f64) {
    use triangular::BlockStructure::{Rectangular as Whole, TriangularLower};
    let (diagonal, below) = out.split_at_row_mut(right.ncols());
    let (beside, lower) = left.split_at_row(right.ncols());
    triangular::matmul(diagonal, TriangularLower, Accum::Add, beside, Whole, right, Whole, scale, Par::Seq);
    matmul(below, Accum::Add, lower, right, scale, Par::Seq);
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
pub fn transposed_product_of_last_rows(out: &mut DMatrix<f64>, a: &DMatrix<f64>, b: &DMatrix<f64>) {
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
pub(super) fn copy_to_dmatrix(matrix: MatRef<'_, f64>) -> DMatrix<f64> {
    let mut copy = DMatrix::zeros(matrix.nrows(), matrix.ncols());
    view_mut(&mut copy).copy_from(matrix);
    copy
}

thread_local! {
    /// Whether this thread of a pool does the only work there is.
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` as the only work of this thread's rayon pool: [`for_each_piece_in_parallel`] may then use the pool's other threads, as it
/// does outside a pool.
///
/// ```
/// assert_eq!(dpgp_linalg::run_alone(|| 5), 5);
/// ```
pub fn run_alone<R>(work: impl FnOnce() -> R) -> R {
    let _before = AloneFlagGuard(ALONE.replace(true));
    work()
}

/// Restores the earlier value of `ALONE` when it is dropped, also during a panic.
struct AloneFlagGuard(bool);

impl Drop for AloneFlagGuard {
    fn drop(&mut self) {
        ALONE.set(self.0);
    }
}

/// Calls `act` with the index of each piece and the piece: in parallel, unless on a thread of a rayon pool that has other work. A pool
/// thread that waited for others would begin another cell, with matrices of its own.
///
/// ```
/// use dpgp_linalg::for_each_piece_in_parallel;
/// let mut numbers = [0, 0, 0];
/// for_each_piece_in_parallel(numbers.chunks_mut(2), |place, piece| piece.fill(place + 5));
/// assert_eq!(numbers, [5, 5, 6]);
/// ```
pub fn for_each_piece_in_parallel<'a, T: Send + 'a>(
    pieces: impl Iterator<Item = &'a mut [T]>,
    act: impl Fn(usize, &mut [T]) + Sync,
) {
    let pieces: Vec<(usize, &mut [T])> = pieces.enumerate().collect();
    let alone = rayon::current_thread_index().is_none() || ALONE.get();
    match alone && pieces.len() > 1 {
        true => {
            // While it waits, this thread may take another piece. If a piece waited in its turn, the thread could begin a second piece
            // within the first, and the second could wait forever for a result of the first.
            let _before = AloneFlagGuard(ALONE.replace(false));
            pieces.into_par_iter().for_each(|(place, piece)| act(place, piece));
        }
        false => pieces.into_iter().for_each(|(place, piece)| act(place, piece)),
    }
}

/// The least and the greatest number of columns of a tile: a quarter of them all where that lies between. What is done once for each tile,
/// such as the packing of the other factor of a product, is to cost little.
const TILE: usize = 256;
const WIDE_TILE: usize = 512;

/// Calls `act` with the first column of each tile of neighbouring columns of a matrix and the tile; in parallel where
/// [`for_each_piece_in_parallel`] is.
pub(super) fn for_each_column_tile(matrix: &mut DMatrix<f64>, act: impl Fn(usize, MatMut<'_, f64>) + Sync) {
    let (rows, columns) = matrix.shape();
    if rows == 0 {
        return;
    }
    let width = columns.div_ceil(4).clamp(TILE, WIDE_TILE);
    for_each_piece_in_parallel(matrix.as_mut_slice().chunks_mut(width * rows), |place, tile| {
        let columns = tile.len() / rows;
        act(place * width, MatMut::from_column_major_slice_mut(tile, rows, columns));
    });
}

/// Rows of a panel.
pub const LANES: usize = 8;

/// One column of a panel, on a cache line of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(align(64))]
pub struct PanelColumn(pub [f64; LANES]);

/// Adds `F F'` to the lower triangle of `out` (k x k, column by column) for a matrix F (k x r) in panels: panel p holds rows
/// 8 p to 8 p + 7 of all `columns` = r columns one after the other. What stands above the diagonal is left undefined.
///
/// Each entry is summed over the columns in their order, from zero, by fused multiplications and additions, and then
/// added to `out`: the result is the same on every processor. Costs about `k^2 r` operations. With vectors of eight numbers
/// a tile of 24 x 8 entries stays in registers; with shorter ones, a tile of 8 x 4.
pub fn add_outer_panels(out: &mut [f64], panels: &[PanelColumn], columns: usize) {
    let product = OuterProduct { panels, columns, size: panels.len() / columns.max(1) };
    let level = Level::new();
    dispatch!(level, simd => simd.vectorize(
        #[inline(always)]
        || product.add_to(simd, out)
    ));
}

/// The panels of F as a product to be added.
struct OuterProduct<'a> {
    panels: &'a [PanelColumn],
    columns: usize,
    /// Number of panels.
    size: usize,
}

impl OuterProduct<'_> {
    #[inline(always)]
    fn add_to<S: Simd>(&self, simd: S, out: &mut [f64]) {
        let whole = S::f64s::LEN == LANES;
        let mut first = 0;
        while first < self.size {
            let left = self.size - first;
            first += match (whole, left) {
                (true, 3..) => self.add_rows::<S, 3, 8>(simd, first, out),
                (true, 2) => self.add_rows::<S, 2, 8>(simd, first, out),
                (true, _) => self.add_rows::<S, 1, 8>(simd, first, out),
                (false, _) => self.add_rows::<S, 1, 4>(simd, first, out),
            };
        }
    }

    /// Adds the entries of I panels of rows up to the diagonal, J columns at a time; returns I.
    #[inline(always)]
    fn add_rows<S: Simd, const I: usize, const J: usize>(&self, simd: S, first: usize, out: &mut [f64]) -> usize {
        // Whole tiles up to the right edge of these panels, some entries above the diagonal with them, so that no loop tests
        // for the diagonal.
        let left = std::array::from_fn(|i| self.panel(first + i));
        let size = self.size * LANES;
        for column in (0..(first + I) * LANES).step_by(J) {
            let right = self.panel(column / LANES);
            let sums = tile_sums::<S, I, J>(simd, left, right, column % LANES);
            for (j, sums) in sums.into_iter().enumerate() {
                let place = (column + j) * size + first * LANES;
                add_column_sums(simd, sums, &mut out[place..place + I * LANES]);
            }
        }
        I
    }

    #[inline(always)]
    fn panel(&self, number: usize) -> &[PanelColumn] {
        &self.panels[number * self.columns..(number + 1) * self.columns]
    }
}

/// The sums over the columns of I panels times J rows of another one, from `first` on.
#[inline(always)]
fn tile_sums<S: Simd, const I: usize, const J: usize>(
    simd: S,
    left: [&[PanelColumn]; I],
    right: &[PanelColumn],
    first: usize,
) -> [[f64x8<S>; I]; J] {
    let mut sums = [[f64x8::splat(simd, 0.0); I]; J];
    // All of one length, so that the loop tests no index.
    let left = left.map(|panel| &panel[..right.len()]);
    for (r, row) in right.iter().enumerate() {
        let factors = left.map(|panel| f64x8::simd_from(simd, panel[r].0));
        for (j, sums) in sums.iter_mut().enumerate() {
            let other = f64x8::splat(simd, row.0[first + j]);
            for (sum, factor) in sums.iter_mut().zip(factors) {
                // Fused on every processor, where it must be emulated too: else the last bits would differ.
                *sum = factor.mul_add_precise(other, *sum);
            }
        }
    }
    sums
}

/// Adds the sums of one column to its entries in `out`.
#[inline(always)]
fn add_column_sums<S: Simd, const I: usize>(simd: S, sums: [f64x8<S>; I], out: &mut [f64]) {
    for (out, sum) in out.chunks_exact_mut(LANES).zip(sums) {
        (f64x8::from_slice(simd, out) + sum).store_slice(out);
    }
}

/// `max_j |L^-1 c_j|` over all columns (r x k) and all directions of a lower triangular L (r x r), by forward
/// substitution; infinite where L has a zero on its diagonal and the column needs it.
pub fn largest_triangular_solve_norm(factor: &DMatrix<f64>, columns: &DMatrix<f64>) -> f64 {
    // Row by row, so that the substitution runs along memory.
    let rows = factor.transpose();
    let rows: Vec<&[f64]> = (0..rows.ncols()).map(|i| &rows.as_slice()[i * rows.nrows()..][..=i]).collect();
    largest_or_nan(columns.column_iter().map(|column| squared_triangular_solve_norm(&rows, column.as_slice()))).sqrt()
}

/// `|L^-1 c|^2` for the rows of L up to their diagonal entries.
fn squared_triangular_solve_norm(rows: &[&[f64]], column: &[f64]) -> f64 {
    let mut solved: Vec<fx128> = Vec::with_capacity(rows.len());
    let mut total = fx128::from(0.0);
    for (row, c) in rows.iter().zip(column) {
        let (diagonal, before) = (row[solved.len()], &row[..solved.len()]);
        let known = before.iter().zip(&solved);
        let left = known.fold(fx128::from(*c), |left, (l, x)| left - fx128::from(*l) * *x);
        // A direction without noise that the column does not use: 0 / 0 would make it NaN.
        let x = if left.0 == 0.0 { fx128::from(0.0) } else { left / fx128::from(diagonal) };
        total += x * x;
        solved.push(x);
    }
    // The pair arithmetic turns an infinite quotient into NaN.
    if total.0.is_nan() { f64::INFINITY } else { total.0 }
}

/// `sqrt(max_j w_j' K w_j)` over columns (m x k) and a symmetric K (m x m).
pub fn largest_quadratic_norm(k: &DMatrix<f64>, columns: &DMatrix<f64>) -> f64 {
    largest_or_nan(columns.column_iter().map(|column| quadratic_form(k, column.as_slice()))).sqrt()
}

/// `w' K w`.
fn quadratic_form(k: &DMatrix<f64>, weights: &[f64]) -> f64 {
    let mut total = fx128::from(0.0);
    for (b, weight) in weights.iter().enumerate() {
        let mut moved = fx128::from(0.0);
        for (a, other) in weights.iter().enumerate() {
            moved += fx128::from(k[(a, b)]) * fx128::from(*other);
        }
        total += moved * fx128::from(*weight);
    }
    total.0
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

    #[test]
    fn tiles_are_neighbouring_columns() {
        let mut matrix = DMatrix::zeros(2, TILE + 3);
        for_each_column_tile(&mut matrix, |start, mut tile| {
            (0..tile.ncols()).for_each(|j| tile[(1, j)] = (start + j) as f64);
        });
        assert!(matrix.column_iter().enumerate().all(|(j, column)| column[0] == 0.0 && column[1] == j as f64));
        for_each_column_tile(&mut DMatrix::zeros(0, 4), |_, _| unreachable!("a matrix without rows has no tiles"));
    }

    /// Entry by entry, with the sums in the order that is promised: to the last bit, for all widths of a last group.
    #[test]
    fn entries_are_fused_sums_in_order() {
        for (size, columns) in [(1, 3), (2, 7), (3, 1), (4, 9), (5, 4), (8, 6)] {
            let k = size * LANES;
            let value = |i: usize, r: usize| ((3 * i + 7 * r + 1) as f64).sin();
            let panels: Vec<PanelColumn> = (0..size * columns)
                .map(|at| PanelColumn(std::array::from_fn(|l| value(at / columns * LANES + l, at % columns))))
                .collect();
            let mut out = vec![0.5; k * k];
            add_outer_panels(&mut out, &panels, columns);
            for (j, i) in (0..k).flat_map(|j| (j..k).map(move |i| (j, i))) {
                let sum = (0..columns).fold(0.0, |sum, r| value(i, r).mul_add(value(j, r), sum));
                assert_eq!(out[j * k + i], 0.5 + sum, "{size} panels, {columns} columns, entry {i}, {j}");
            }
        }
    }

    /// On threads of a pool each piece is taken by the thread that asks, unless its work is all that there is.
    #[test]
    fn pieces_are_shared_where_there_is_no_other_work() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let threads = || {
            let mut places = [usize::MAX; 2];
            let both = std::sync::Barrier::new(2);
            let waits = ALONE.get();
            for_each_piece_in_parallel(places.chunks_mut(1), |_, place| {
                // Without a second thread this would wait for ever.
                if waits {
                    both.wait();
                }
                assert!(!ALONE.get(), "the other piece is other work");
                place[0] = rayon::current_thread_index().unwrap();
            });
            assert_eq!(ALONE.get(), waits);
            places[0] == places[1]
        };
        assert!(pool.install(threads), "one thread takes all");
        assert!(!pool.install(|| run_alone(threads)), "two threads take one each");
        assert!(pool.install(threads), "one thread takes all again");
        let failed = pool.install(|| std::panic::catch_unwind(|| run_alone(|| panic!("on purpose"))));
        assert!(failed.is_err() && pool.broadcast(|_| ALONE.get()) == [false, false]);
    }

    #[test]
    fn no_columns_add_nothing() {
        let mut out = vec![1.0; 64];
        add_outer_panels(&mut out, &[], 0);
        assert_eq!(out, [1.0; 64]);
    }

    /// `L = [[1, 0], [1, e]]`, `c = (1, 1 + e h)` has the solution `(1, h)` whatever e; in ordinary precision it is
    /// lost for small e.
    #[test]
    fn a_solution_that_ordinary_precision_loses() {
        let e = 2f64.powi(-40);
        let factor = DMatrix::from_row_slice(2, 2, &[1.0, 0.0, 1.0, e]);
        let columns = DMatrix::from_column_slice(2, 2, &[1.0, 1.0 + e, 0.5, 0.5]);
        assert!((largest_triangular_solve_norm(&factor, &columns) - 2f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn quadratic_forms_cancel_without_loss() {
        let k = DMatrix::from_row_slice(2, 2, &[1.0, 1.0 - 2f64.powi(-50), 1.0 - 2f64.powi(-50), 1.0]);
        let columns = DMatrix::from_column_slice(2, 1, &[3.0, -3.0]);
        // 2 * 9 * 2^-50
        let expected = (18.0 * 2f64.powi(-50)).sqrt();
        assert!((largest_quadratic_norm(&k, &columns) / expected - 1.0).abs() < 1e-15);
    }
}
