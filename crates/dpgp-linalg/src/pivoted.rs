//! A low-rank factor of a positive semidefinite matrix that is never formed.

use fearless_simd::{Level, Simd, dispatch};
use nalgebra::DMatrix;

/// A factor `L` (n x r) with `A ~ L L'`, and the rows of A that it was built from.
#[derive(Debug, Clone)]
pub struct PivotedCholesky {
    /// L (n x r).
    pub factor: DMatrix<f64>,
    /// The pivots in their order: but for rounding, row `pivots[j]` of L is zero behind column j.
    pub pivots: Vec<usize>,
}

/// `L` (n x r) with `A ~ L L'`, by the Cholesky factorisation that pivots on the largest remaining diagonal
/// entry. It stops where that is at most `tolerance` times the largest entry of the diagonal, so that no entry
/// of `A - L L'` is larger; cost `n r^2`. `column(j)` writes column j of A. Source: Harbrecht, Peters and
/// Schneider 2012, Algorithm 1.
pub fn pivoted_cholesky(
    diagonal: &[f64],
    mut column: impl FnMut(usize, &mut [f64]),
    tolerance: f64,
) -> PivotedCholesky {
    let mut growing = GrowingPivotedCholesky::new(diagonal);
    let stop = tolerance * diagonal.iter().copied().fold(0.0, f64::max);
    while growing.pivots.len() < diagonal.len() && growing.left[growing.next_pivot()] > stop {
        growing.add_column(&mut column);
    }
    growing.into_factor_and_pivots()
}

/// The rows of L at the pivots (r x r). They determine the row of L at any other point, so L need not fit into memory.
///
/// ```
/// use dpgp_linalg::{PivotFactor, pivoted_cholesky};
/// use nalgebra::DMatrix;
/// // Two points with variances of 4 and 9 and no covariance: the pivots are the second one and the first.
/// let a = DMatrix::from_row_slice(2, 2, &[4.0, 0.0, 0.0, 9.0]);
/// let whole = pivoted_cholesky(&[4.0, 9.0], |j, out| out.copy_from_slice(a.column(j).as_slice()), 0.0);
/// assert_eq!(whole.pivots, [1, 0]);
/// // A third point has the covariances 6 and 5 with them: its row is 6 / 3 and 5 / 2.
/// let mut row = DMatrix::from_row_slice(1, 2, &[6.0, 5.0]);
/// PivotFactor::new(&whole).rows_from_covariances(&mut row);
/// assert!((row[0] - 2.0).abs() < 1e-15 && (row[1] - 2.5).abs() < 1e-15);
/// ```
#[derive(Debug, Clone)]
pub struct PivotFactor {
    lower: DMatrix<f64>,
}

impl PivotFactor {
    /// Takes them from a factorisation.
    pub fn new(whole: &PivotedCholesky) -> Self {
        Self { lower: whole.factor.select_rows(&whole.pivots) }
    }

    /// Replaces the covariances between some points and the pivots (b x r) by the rows of L at these points, at a cost of `b r^2`. The
    /// variance of a point that the pivots do not explain is its variance minus the squared norm of its row.
    pub fn rows_from_covariances(&self, covariances: &mut DMatrix<f64>) {
        let points = covariances.nrows();
        let level = Level::new();
        let mut columns: Vec<[f64; POINTS]> = vec![[0.0; POINTS]; covariances.ncols()];
        for start in (0..points).step_by(POINTS) {
            let end = points.min(start + POINTS);
            for (to, from) in columns.iter_mut().zip(covariances.column_iter()) {
                to[..end - start].copy_from_slice(&from.as_slice()[start..end]);
            }
            dispatch!(level, simd => simd.vectorize(
                #[inline(always)]
                || substitute_forward(&self.lower, &mut columns)
            ));
            for (from, mut to) in columns.iter().zip(covariances.column_iter_mut()) {
                to.as_mut_slice()[start..end].copy_from_slice(&from[..end - start]);
            }
        }
    }

    /// Makes a point a pivot, given its row of L so far and the variance that the row does not explain.
    ///
    /// # Panics
    /// Unless the row has an entry for each pivot and the variance is positive.
    pub fn add_pivot(&mut self, row: &[f64], unexplained: f64) {
        let rank = self.lower.nrows();
        assert!(row.len() == rank && unexplained > 0.0, "a pivot has a row and a variance");
        let mut lower = std::mem::replace(&mut self.lower, DMatrix::zeros(0, 0)).resize(rank + 1, rank + 1, 0.0);
        row.iter().enumerate().for_each(|(j, entry)| lower[(rank, j)] = *entry);
        lower[(rank, rank)] = unexplained.sqrt();
        self.lower = lower;
    }
}

/// The factor of [`pivoted_cholesky`] with a remainder of at most `remainder` in its trace, which bounds all of its eigenvalues;
/// none if its rank exceeds `most`, or is about to.
///
/// ```
/// use dpgp_linalg::low_rank_factor;
/// // All entries are 1: one column is all of it.
/// let factor = low_rank_factor(&[1.0; 4], |_, column| column.fill(1.0), 1e-12, 2);
/// assert!(factor.is_some_and(|factor| factor.as_slice() == [1.0; 4]));
/// ```
pub fn low_rank_factor(
    diagonal: &[f64],
    mut column: impl FnMut(usize, &mut [f64]),
    remainder: f64,
    most: usize,
) -> Option<DMatrix<f64>> {
    let mut growing = GrowingPivotedCholesky::new(diagonal);
    let whole = growing.remaining_trace();
    while growing.remaining_trace() > remainder {
        // The eigenvalues of a smooth kernel fall ever more slowly: at best it goes on as it began.
        let fallen = (growing.remaining_trace() / whole).ln() * most as f64;
        let rank = growing.pivots.len();
        let is_slow = rank % PROBE == PROBE - 1 && fallen > (remainder / whole).ln() * rank as f64;
        if rank >= most.min(diagonal.len()) || is_slow {
            return None;
        }
        growing.add_column(&mut column);
    }
    Some(growing.into_factor_and_pivots().factor)
}

/// Columns after which the fall of the remainder is looked at.
const PROBE: usize = 32;

/// Points at once: few enough for a column of them to stay in registers or the cache of the first level.
const POINTS: usize = 64;

/// Replaces each row b of some columns by `L^-1 b` for a lower triangular L.
#[inline(always)]
fn substitute_forward(lower: &DMatrix<f64>, columns: &mut [[f64; POINTS]]) {
    for j in 0..columns.len() {
        let mut next = columns[j];
        for (i, column) in columns[..j].iter().enumerate() {
            let factor = -lower[(j, i)];
            for (value, known) in next.iter_mut().zip(column) {
                *value = factor.mul_add(*known, *value);
            }
        }
        let scale = 1.0 / lower[(j, j)];
        for (to, from) in columns[j].iter_mut().zip(next) {
            *to = from * scale;
        }
    }
}

/// A pivoted factorisation on its way.
struct GrowingPivotedCholesky {
    /// The diagonal of what is left.
    left: Vec<f64>,
    columns: Vec<f64>,
    pivots: Vec<usize>,
}

impl GrowingPivotedCholesky {
    fn new(diagonal: &[f64]) -> Self {
        Self { left: diagonal.to_vec(), columns: Vec::new(), pivots: Vec::new() }
    }

    fn remaining_trace(&self) -> f64 {
        self.left.iter().map(|rest| rest.max(0.0)).sum()
    }

    /// The place of the largest diagonal entry: in a positive semidefinite matrix no entry exceeds it, so that it bounds what is left.
    fn next_pivot(&self) -> usize {
        (0..self.left.len()).fold(0, |best, i| if self.left[i] > self.left[best] { i } else { best })
    }

    fn add_column(&mut self, column: &mut impl FnMut(usize, &mut [f64])) {
        let (n, pivot) = (self.left.len(), self.next_pivot());
        let mut next = vec![0.0; n];
        column(pivot, &mut next);
        let level = Level::new();
        dispatch!(level, simd => simd.vectorize(
            #[inline(always)]
            || subtract_column_products(&mut next, &self.columns, pivot)
        ));
        let scale = 1.0 / self.left[pivot].sqrt();
        for (v, rest) in next.iter_mut().zip(&mut self.left) {
            *v *= scale;
            *rest -= *v * *v;
        }
        // Zero in exact arithmetic; a remainder of rounding could be picked again.
        self.left[pivot] = 0.0;
        self.columns.extend(next);
        self.pivots.push(pivot);
    }

    fn into_factor_and_pivots(self) -> PivotedCholesky {
        let factor = DMatrix::from_vec(self.left.len(), self.pivots.len(), self.columns);
        PivotedCholesky { factor, pivots: self.pivots }
    }
}

/// Entries that are subtracted from together, so that they stay in the cache of the first level.
const BLOCK: usize = 1024;

/// Subtracts from each entry of `next` its entries of all columns times theirs at the pivot, column by column.
#[inline(always)]
fn subtract_column_products(next: &mut [f64], columns: &[f64], pivot: usize) {
    let n = next.len();
    for (block, next) in next.chunks_mut(BLOCK).enumerate() {
        let start = block * BLOCK;
        for previous in columns.chunks_exact(n) {
            let share = previous[pivot];
            next.iter_mut().zip(&previous[start..]).for_each(|(v, p)| *v -= share * p);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_column(a: &DMatrix<f64>, j: usize, out: &mut [f64]) {
        out.copy_from_slice(a.column(j).as_slice());
    }

    #[test]
    fn a_smooth_kernel_has_low_rank_and_a_small_remainder() {
        let x: Vec<f64> = (0..200).map(|i| -4.0 + 0.04 * f64::from(i)).collect();
        let k = DMatrix::from_fn(200, 200, |i, j| (-0.5 * (x[i] - x[j]).powi(2)).exp());
        let PivotedCholesky { factor, pivots } =
            pivoted_cholesky(&[1.0; 200], |j, out| write_column(&k, j, out), 1e-12);
        assert!(
            pivots.iter().enumerate().all(|(j, &pivot)| factor.row(pivot).iter().skip(j + 1).all(|v| v.abs() < 1e-9))
        );
        assert!(factor.ncols() < 40, "{}", factor.ncols());
        let remainder = (&factor * factor.transpose() - &k).amax();
        assert!(remainder < 1.1e-12, "{remainder:e}");
    }

    #[test]
    fn the_remainder_of_a_smooth_factor_is_bounded_in_its_trace() {
        let n = 600;
        let x: Vec<f64> = (0..n).map(|i| 6.0 * i as f64 / n as f64).collect();
        for (lengthscale, most, is_found) in [(1.0, 60, true), (1.0, 8, false), (0.01, 200, false)] {
            let k = DMatrix::from_fn(n, n, |i, j| (-0.5 * ((x[i] - x[j]) / lengthscale).powi(2)).exp());
            let mut computed = 0;
            let factor = low_rank_factor(
                &vec![1.0; n],
                |j, out| {
                    computed += 1;
                    write_column(&k, j, out);
                },
                1e-10,
                most,
            );
            assert_eq!(factor.is_some(), is_found, "{lengthscale} {most}");
            // A kernel that is too rough is given up early.
            assert!(is_found || computed < 40, "{computed}");
            if let Some(factor) = factor {
                let left = k - &factor * factor.transpose();
                assert!(factor.ncols() < 40 && left.trace() < 1e-9, "{} {:e}", factor.ncols(), left.trace());
            }
        }
    }

    /// Pivots of the first hundred points, with more added until they explain the others, factorise the whole matrix.
    #[test]
    fn pivots_of_some_points_grow_to_those_of_all() {
        let x: Vec<f64> = (0..200).map(|i| -4.0 + 0.04 * f64::from(i)).collect();
        let k = DMatrix::from_fn(200, 200, |i, j| (-0.5 * (x[i] - x[j]).powi(2)).exp());
        let some = pivoted_cholesky(&[1.0; 100], |j, out| write_column(&k.rows(0, 100).into_owned(), j, out), 1e-12);
        let (mut pivots, mut factor) = (some.pivots.clone(), PivotFactor::new(&some));
        let first = pivots.len();
        let rows = loop {
            let mut rows = k.select_columns(&pivots);
            factor.rows_from_covariances(&mut rows);
            let left = |i: usize| 1.0 - rows.row(i).norm_squared();
            let open = (0..200).max_by(|&i, &j| left(i).total_cmp(&left(j))).unwrap();
            if left(open) <= 1e-12 {
                break rows;
            }
            factor.add_pivot(&rows.row(open).iter().copied().collect::<Vec<f64>>(), left(open));
            pivots.push(open);
        };
        assert!(pivots.len() > first && pivots.len() < 45, "{first} {}", pivots.len());
        assert!((&rows * rows.transpose() - &k).amax() < 1e-11);
    }

    #[test]
    fn a_full_rank_matrix_is_reproduced() {
        let a = DMatrix::from_row_slice(3, 3, &[4.0, 2.0, 0.6, 2.0, 5.0, 1.0, 0.6, 1.0, 3.0]);
        let factor = pivoted_cholesky(&[4.0, 5.0, 3.0], |j, out| write_column(&a, j, out), 0.0).factor;
        assert!((&factor * factor.transpose() - a).amax() < 1e-14);
        assert_eq!(pivoted_cholesky(&[0.0; 2], |_, _| {}, 1e-12).factor.shape(), (2, 0));
    }
}
