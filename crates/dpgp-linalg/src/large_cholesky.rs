//! The Cholesky factorisation of a large matrix, on all threads where there is no other work.

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, MatMut, MatRef, Par};
use nalgebra::DMatrix;

use super::pieces::each_piece;

/// Columns that are factorised before the rest is updated, and columns of the rest that one thread updates at a time.
const PANEL: usize = 192;

/// Replaces the lower triangle of `a` (n x n) by the factor L of `A = L L'`, panel by panel; what stands above the diagonal is left
/// undefined. False if it is not positive definite. `factorise` does the same to a block of the diagonal. Cost `n^3 / 3`, most of it
/// products of matrices.
///
/// The panels do not depend on the number of threads, so that no bit does. Source: the blocked form of Golub and Van Loan 2013,
/// Section 4.2.6.
pub(super) fn factorise_in_panels(a: &mut DMatrix<f64>, factorise: impl Fn(MatMut<'_, f64>) -> bool) -> bool {
    let size = a.nrows();
    for start in (0..size).step_by(PANEL) {
        let width = PANEL.min(size - start);
        let (first, below) = (start + width, size - start - width);
        let (done, rest) = a.as_mut_slice().split_at_mut(first * size);
        let panel = &mut done[start * size..];
        if !factorise(columns_mut(panel, size).submatrix_mut(start, 0, width, width)) {
            return false;
        }
        // The rows below as columns, of which threads take some each.
        let mut rows = vec![0.0; width * below];
        columns_mut(&mut rows, width)
            .copy_from(columns(panel, size).submatrix(first, 0, below, width).transpose());
        let corner = Corner(columns(panel, size).submatrix(start, 0, width, width));
        each_piece(rows.chunks_mut(PANEL * width), |_, rows| corner.solve(rows));
        let rows = Rows { columns: columns(&rows, width), size };
        columns_mut(panel, size).submatrix_mut(first, 0, below, width).copy_from(rows.columns.transpose());
        each_piece(rest.chunks_mut(PANEL * size), |place, tile| rows.subtract(place * PANEL, tile));
    }
    true
}

/// The factor of a block of the diagonal (w x w).
struct Corner<'a>(MatRef<'a, f64>);

impl Corner<'_> {
    /// Replaces rows, which stand here as columns (w each), by those of the factor.
    fn solve(&self, rows: &mut [f64]) {
        let width = self.0.nrows();
        solve_lower_triangular_in_place(self.0, columns_mut(rows, width), Par::Seq);
    }
}

/// The rows of the factor below a block of the diagonal, as columns; they are the last ones of n.
struct Rows<'a> {
    columns: MatRef<'a, f64>,
    size: usize,
}

impl Rows<'_> {
    /// Subtracts their products from some columns of the matrix (n each), the first of which is `above` columns behind the block.
    fn subtract(&self, above: usize, tile: &mut [f64]) {
        let (left, here) = (self.columns.ncols() - above, tile.len() / self.size);
        let out = columns_mut(tile, self.size).submatrix_mut(self.size - left, 0, left, here);
        let (rows, others) = (self.columns.subcols(above, left), self.columns.subcols(above, here));
        matmul(out, Accum::Add, rows.transpose(), others, -1.0, Par::Seq);
    }
}

fn columns(numbers: &[f64], rows: usize) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice(numbers, rows, numbers.len() / rows)
}

fn columns_mut(numbers: &mut [f64], rows: usize) -> MatMut<'_, f64> {
    let count = numbers.len() / rows;
    MatMut::from_column_major_slice_mut(numbers, rows, count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cholesky::in_place;

    /// A matrix of three panels, the last of which is short.
    fn matrix() -> DMatrix<f64> {
        let size = 2 * PANEL + 70;
        DMatrix::from_fn(size, size, |i, j| {
            let apart = i.abs_diff(j) as f64 / 40.0;
            (-apart).exp() + f64::from(u8::from(i == j)) * 0.01
        })
    }

    fn lower() -> DMatrix<f64> {
        let mut factor = matrix();
        assert!(factorise_in_panels(&mut factor, in_place));
        factor.lower_triangle()
    }

    #[test]
    fn the_factor_is_that_of_the_matrix_on_any_number_of_threads() {
        let factor = lower();
        assert!((&factor * factor.transpose() - matrix()).amax() < 1e-13);
        let mut whole = matrix();
        assert!(in_place(super::super::view::view_mut(&mut whole)));
        assert!((whole.lower_triangle() - &factor).amax() < 1e-12);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(pool.install(lower), factor);
    }

    /// Indefinite in the second panel alone.
    #[test]
    fn an_indefinite_matrix_is_refused() {
        let mut matrix = matrix();
        matrix[(PANEL + 3, PANEL + 3)] = 0.0;
        assert!(!factorise_in_panels(&mut matrix, in_place));
    }
}
