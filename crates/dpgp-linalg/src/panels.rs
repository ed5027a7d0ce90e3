//! Products of wide matrices in panels of eight rows, and computations in 106 bits.
//!
//! An audit repeats a few computations in twice the precision, because a bound in ordinary precision cannot
//! confirm itself. Pairs of doubles hold the numbers, and results are rounded once.

use faer::fx128;
use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch, f64x8};
use nalgebra::DMatrix;

use super::largest_or_nan;

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
                add(simd, sums, &mut out[place..place + I * LANES]);
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
fn add<S: Simd, const I: usize>(simd: S, sums: [f64x8<S>; I], out: &mut [f64]) {
    for (out, sum) in out.chunks_exact_mut(LANES).zip(sums) {
        (f64x8::from_slice(simd, out) + sum).store_slice(out);
    }
}

/// `max_j |L^-1 c_j|` over all columns (r x k) and all directions of a lower triangular L (r x r), by forward
/// substitution; infinite where L has a zero on its diagonal and the column needs it.
pub fn largest_solved_norm(factor: &DMatrix<f64>, columns: &DMatrix<f64>) -> f64 {
    // Row by row, so that the substitution runs along memory.
    let rows = factor.transpose();
    let rows: Vec<&[f64]> = (0..rows.ncols()).map(|i| &rows.as_slice()[i * rows.nrows()..][..=i]).collect();
    largest_or_nan(columns.column_iter().map(|column| solved_square(&rows, column.as_slice()))).sqrt()
}

/// `|L^-1 c|^2` for the rows of L up to their diagonal entries.
fn solved_square(rows: &[&[f64]], column: &[f64]) -> f64 {
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

    #[test]
    fn no_columns_add_nothing() {
        let mut out = vec![1.0; 64];
        add_outer_panels(&mut out, &[], 0);
        assert_eq!(out, [1.0; 64]);
    }
}

#[cfg(test)]
mod wide_tests {
    use super::*;

    /// `L = [[1, 0], [1, e]]`, `c = (1, 1 + e h)` has the solution `(1, h)` whatever e; in ordinary precision it is
    /// lost for small e.
    #[test]
    fn a_solution_that_ordinary_precision_loses() {
        let e = 2f64.powi(-40);
        let factor = DMatrix::from_row_slice(2, 2, &[1.0, 0.0, 1.0, e]);
        let columns = DMatrix::from_column_slice(2, 2, &[1.0, 1.0 + e, 0.5, 0.5]);
        assert!((largest_solved_norm(&factor, &columns) - 2f64.sqrt()).abs() < 1e-15);
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
