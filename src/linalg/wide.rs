//! The few computations that an audit repeats in twice the precision (106 bits, pairs of numbers).

use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Mat, Par, fx128};
use nalgebra::DMatrix;

use super::largest;

/// Columns that are worked on at a time.
const CHUNK: usize = 256;

/// `max_j |L^-1 c_j|` over all columns (r x k) and all directions of a lower triangular L (r x r).
pub fn largest_solved_norm(factor: &DMatrix<f64>, columns: &DMatrix<f64>) -> f64 {
    let factor = widened(factor, 0, factor.ncols());
    let norms = (0..columns.ncols()).step_by(CHUNK).map(|from| {
        let mut solved = widened(columns, from, CHUNK.min(columns.ncols() - from));
        solve_lower_triangular_in_place(factor.as_ref(), solved.as_mut(), Par::Seq);
        largest((0..solved.ncols()).map(|j| squared(&solved, j)))
    });
    largest(norms).sqrt()
}

/// `sqrt(max_j w_j' K w_j)` over columns (m x k) and a symmetric K (m x m).
pub fn largest_quadratic_norm(k: &DMatrix<f64>, columns: &DMatrix<f64>) -> f64 {
    let form = |j: usize| {
        let column = columns.column(j);
        let mut total = fx128::from(0.0);
        for (b, weight) in column.iter().enumerate() {
            let mut moved = fx128::from(0.0);
            for (a, other) in column.iter().enumerate() {
                moved += fx128::from(k[(a, b)]) * fx128::from(*other);
            }
            total += moved * fx128::from(*weight);
        }
        total.0
    };
    largest((0..columns.ncols()).map(form)).sqrt()
}

fn widened(matrix: &DMatrix<f64>, from: usize, columns: usize) -> Mat<fx128> {
    Mat::from_fn(matrix.nrows(), columns, |i, j| fx128::from(matrix[(i, from + j)]))
}

fn squared(matrix: &Mat<fx128>, column: usize) -> f64 {
    let mut total = fx128::from(0.0);
    for i in 0..matrix.nrows() {
        total += matrix[(i, column)] * matrix[(i, column)];
    }
    total.0
}

#[cfg(test)]
mod tests {
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
