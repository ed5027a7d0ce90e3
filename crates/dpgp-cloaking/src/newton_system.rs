//! The linear system of a Newton step, exact where weights move together and diagonal elsewhere.

use nalgebra::{DMatrix, DVector};

use super::problem::{Evaluation, WeightProblem};
use dpgp_linalg::{Cholesky, LinalgError, each_piece, transposed_product, transposed_product_into};

/// A column whose curvature is below this share of its slack over its weight is on its way to no weight at all, and is
/// solved for by itself.
const STRONG: f64 = 0.03;

/// `(H + diag(s / v)) x = b`, where the rows and columns of `H` that are weak beside the diagonal `s / v` are replaced by
/// their diagonal. The number of strong columns falls towards the size of the support of the optimum as the
/// method converges, and with it the cost, `k^3 / 3`; what is neglected vanishes with the weights of the weak columns.
pub(super) struct NewtonSystem {
    strong: Vec<usize>,
    factor: Cholesky,
    diagonal: Vec<f64>,
}

impl NewtonSystem {
    /// The system at an evaluated point, for the ratios `s / v`.
    ///
    /// # Errors
    /// [`LinalgError`] if rounding leaves the system indefinite.
    pub fn new(problem: &dyn WeightProblem, at: &Evaluation, ratios: &[f64]) -> Result<Self, LinalgError> {
        let terms = problem.terms(at);
        let curvatures = curvatures(&at.coordinates, &terms);
        let strong: Vec<usize> = (0..ratios.len()).filter(|&i| curvatures[i] > STRONG * ratios[i]).collect();
        let coordinates = at.coordinates.select_columns(&strong);
        let factor = Cholesky::assembled("the Newton system of the noise design", || {
            let mut system = hessian(&coordinates, &terms);
            strong.iter().enumerate().for_each(|(place, &i)| system[(place, place)] += ratios[i]);
            system
        })?;
        let diagonal = curvatures.iter().zip(ratios).map(|(c, r)| c + r).collect();
        Ok(Self { strong, factor, diagonal })
    }

    /// The solution for a right-hand side.
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut solution: Vec<f64> = right.iter().zip(&self.diagonal).map(|(b, d)| b / d).collect();
        let strong = DMatrix::from_iterator(self.strong.len(), 1, self.strong.iter().map(|&i| right[i]));
        let solved = self.factor.solve(&strong);
        self.strong.iter().zip(solved.iter()).for_each(|(&i, x)| solution[i] = *x);
        solution
    }
}

/// Columns of the Hessian at once: so few that their products stay in the cache of the second level.
const PANEL: usize = 64;

/// `sum_q (A' diag(d_q) A)^2`, squared by elements, for `A` (r x k): on and below the diagonal, and zeros or parts of it above.
/// The factorisation reads nothing else. A diagonal of few entries costs as few products.
fn hessian(coordinates: &DMatrix<f64>, terms: &[DVector<f64>]) -> DMatrix<f64> {
    let size = coordinates.ncols();
    let mut hessian = DMatrix::zeros(size, size);
    each_piece(hessian.as_mut_slice().chunks_mut((PANEL * size).max(1)), |place, panel| {
        let (start, width) = (place * PANEL, panel.len() / size);
        let sums = sums_of_squares(coordinates, terms, start, width);
        for (to, from) in panel.chunks_exact_mut(size).zip(sums.column_iter()) {
            to[start..].copy_from_slice(from.as_slice());
        }
    });
    hessian
}

/// `width` columns of that sum, from `start` on, from the diagonal of the first one down.
fn sums_of_squares(
    coordinates: &DMatrix<f64>,
    terms: &[DVector<f64>],
    start: usize,
    width: usize,
) -> DMatrix<f64> {
    let (rank, size) = coordinates.shape();
    let below = some_columns(coordinates, start, size - start);
    let mut sums = DMatrix::zeros(size - start, width);
    let mut products = sums.clone();
    for term in terms {
        let scaled = last_rows_scaled(&coordinates.as_slice()[start * rank..][..width * rank], rank, term);
        transposed_product_into(&mut products, &below, &scaled);
        let squares = products.as_slice().iter().map(|p| p * p);
        sums.as_mut_slice().iter_mut().zip(squares).for_each(|(sum, square)| *sum += square);
    }
    sums
}

/// `diag(d)` times the last rows of some columns (`rank` each), as many as d has entries.
fn last_rows_scaled(columns: &[f64], rank: usize, d: &DVector<f64>) -> DMatrix<f64> {
    let mut scaled = Vec::with_capacity(columns.len() / rank * d.len());
    for column in columns.chunks_exact(rank) {
        scaled.extend(column[rank - d.len()..].iter().zip(d.as_slice()).map(|(a, d)| a * d));
    }
    DMatrix::from_vec(d.len(), columns.len() / rank, scaled)
}

/// A copy of neighbouring columns.
fn some_columns(matrix: &DMatrix<f64>, start: usize, count: usize) -> DMatrix<f64> {
    let rows = matrix.nrows();
    DMatrix::from_vec(rows, count, matrix.as_slice()[start * rows..(start + count) * rows].to_vec())
}

/// The diagonal of the Hessian.
fn curvatures(coordinates: &DMatrix<f64>, terms: &[DVector<f64>]) -> Vec<f64> {
    let squares = coordinates.map(|a| a * a);
    let mut diagonals = DMatrix::zeros(coordinates.nrows(), terms.len());
    for (mut column, term) in diagonals.column_iter_mut().zip(terms) {
        column.rows_mut(squares.nrows() - term.len(), term.len()).copy_from(term);
    }
    let products = transposed_product(&squares, &diagonals);
    products.row_iter().map(|row| row.norm_squared()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log_det::LogDet;
    use crate::trace::Trace;

    fn problems() -> [Box<dyn WeightProblem>; 2] {
        let columns = DMatrix::from_fn(4, 9, |i, j| ((i * i + 2) as f64 * 0.7 * j as f64 + i as f64).sin());
        [Box::new(LogDet::new(columns.clone())), Box::new(Trace::new(columns))]
    }

    /// The Hessian is what differences of the leverages say, within the error that the trace objective allows itself.
    #[test]
    fn the_hessian_is_the_slope_of_the_leverages() {
        for (problem, error) in problems().into_iter().zip([1e-6, 0.025]) {
            let weights: Vec<f64> = (0..9).map(|i| 0.5 + 0.1 * f64::from(i)).collect();
            let at = problem.evaluate(&weights).unwrap();
            let (terms, step) = (problem.terms(&at), 1e-5);
            let lower = hessian(&at.coordinates, &terms);
            let diagonal = curvatures(&at.coordinates, &terms);
            let largest = lower.amax();
            for j in 0..9 {
                let moved = |by: f64| {
                    let mut weights = weights.clone();
                    weights[j] += by;
                    problem.evaluate(&weights).unwrap().leverages
                };
                let (up, down) = (moved(step), moved(-step));
                for i in j..9 {
                    let slope = (down[i] - up[i]) / (2.0 * step);
                    assert!((lower[(i, j)] - slope).abs() < error * largest, "{i} {j} {slope}");
                }
                assert!((lower[(j, j)] / diagonal[j] - 1.0).abs() < 1e-12);
            }
        }
    }

    /// With no slack to speak of every column is strong, and the solution is exact.
    #[test]
    fn strong_columns_are_solved_together() {
        let problem = &problems()[0];
        let at = problem.evaluate(&[1.0; 9]).unwrap();
        let ratios = [1e-3; 9];
        let system = NewtonSystem::new(problem.as_ref(), &at, &ratios).unwrap();
        let right: Vec<f64> = (0..9).map(|i| 1.0 - 0.3 * f64::from(i)).collect();
        let solution = DVector::from_vec(system.solve(&right));
        let lower = hessian(&at.coordinates, &problem.terms(&at)).lower_triangle();
        let whole = &lower + lower.transpose() - DMatrix::from_diagonal(&lower.diagonal())
            + DMatrix::identity(9, 9) * 1e-3;
        assert!((whole * solution - DVector::from_vec(right)).amax() < 1e-9);
    }
}
