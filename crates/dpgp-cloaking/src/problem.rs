//! What the solvers need to know of an objective.

use nalgebra::{DMatrix, DVector};

use dpgp_linalg::{LinalgError, largest};

/// A convex problem over weights `v >= 0`, one for each column: minimise `sum v - phi(M(v))` where the
/// gradient of `phi` is the vector of leverages `g_i = c_i' M(v)^-1 c_i`. It is optimal where every
/// `g_i <= 1`, with equality wherever `v_i > 0`.
pub(super) trait WeightProblem {
    /// The columns (r x k).
    fn columns(&self) -> &DMatrix<f64>;

    /// The same problem over some of the columns.
    fn restrict(&self, columns: &[usize]) -> Box<dyn WeightProblem>;

    /// The leverages of all columns, with what the Hessian needs. Columns without weight do not matter to M.
    ///
    /// # Errors
    /// [`LinalgError`] if `M(v)` is singular.
    fn evaluate(&self, weights: &[f64]) -> Result<Evaluation, LinalgError>;

    /// Positive diagonals `d_q` with which the Hessian `-d g_i / d v_j` is `sum_q (a_i' diag(d_q) a_j)^2`, for the coordinates `a_i` of
    /// the columns: exactly, or to a small relative error in every direction. One of less than r entries belongs to the last coordinates;
    /// it is zero on the others.
    fn terms(&self, at: &Evaluation) -> Vec<DVector<f64>>;

    /// How far the rescaled covariance is from optimal: an upper bound, zero at the optimum.
    fn gap(&self, weights: &[f64], at: &Evaluation) -> f64;

    /// Rows R with `M(v) = R' R`, in the coordinates of the columns.
    ///
    /// # Errors
    /// [`LinalgError`] if the factorisation behind it fails.
    fn root(&self, weights: &[f64]) -> Result<DMatrix<f64>, LinalgError>;
}

/// Leverages and the coordinates that they were computed in.
pub(super) struct Evaluation {
    /// `g_i = c_i' M^-1 c_i`.
    pub leverages: Vec<f64>,
    /// The columns in the coordinates of the factor of M (r x k).
    pub coordinates: DMatrix<f64>,
    /// Eigenvalues of M, where the objective diagonalises it.
    pub spectrum: Vec<f64>,
}

impl Evaluation {
    /// The largest leverage.
    pub fn largest(&self) -> f64 {
        largest(self.leverages.iter().copied())
    }
}
