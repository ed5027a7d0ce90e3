//! The few computations that an audit repeats in twice the precision (106 bits, pairs of numbers): a bound that was computed
//! in ordinary precision cannot be its own witness. Ordinary numbers are exact in these, and results are rounded once.

use faer::fx128;
use nalgebra::DMatrix;

use super::largest;

/// `max_j |L^-1 c_j|` over all columns (r x k) and all directions of a lower triangular L (r x r), by forward
/// substitution; infinite where L has a zero on its diagonal and the column needs it.
pub fn largest_solved_norm(factor: &DMatrix<f64>, columns: &DMatrix<f64>) -> f64 {
    // Row by row, so that the substitution runs along memory.
    let rows = factor.transpose();
    let rows: Vec<&[f64]> = (0..rows.ncols()).map(|i| &rows.as_slice()[i * rows.nrows()..][..=i]).collect();
    largest(columns.column_iter().map(|column| solved_square(&rows, column.as_slice()))).sqrt()
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
    largest(columns.column_iter().map(|column| quadratic_form(k, column.as_slice()))).sqrt()
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
