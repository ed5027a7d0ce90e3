//! Settings of a noise design: objectives, sampling recipes, and the interface between objectives and
//! solvers.

use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};

use super::design::RandomStarts;
use dpgp_linalg::{LinalgError, largest_or_nan};

/// How the weights of the noise design are found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Solver {
    /// An interior-point method. The gap is usually about 1e-11. On maps whose singular values differ by many orders of magnitude,
    /// rounding can stop it earlier. The certificate of each result states the gap that was reached.
    InteriorPoint,
    /// The published gradient scheme, for comparison.
    Gradient {
        /// The step length.
        step: f64,
        /// The number of steps.
        steps: usize,
    },
    /// The gradient scheme started from random weights, as the papers' authors ran it, for comparison.
    GradientAttempts(RandomStarts),
}

impl Solver {
    /// Its name, as specs spell it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::InteriorPoint => "interior-point",
            Self::Gradient { .. } => "gradient",
            Self::GradientAttempts(_) => "gradient-attempts",
        }
    }
}

/// The settings of a noise design.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CloakingOptions {
    /// The objective.
    pub objective: Objective,
    /// Directions of C whose singular value, relative to the largest, is below this tolerance are dropped.
    pub rank_tolerance: f64,
    /// The solver.
    pub solver: Solver,
    /// The release recipe.
    pub release: DroppedDirectionRule,
}

/// What the noise covariance M minimises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// `log det M`, as published. The noise depends on the rank tolerance.
    LogDet,
    /// `tr M`, the expected squared noise.
    Trace,
}

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
    fn evaluate(&self, weights: &[f64]) -> Result<LeverageEvaluation, LinalgError>;

    /// Positive diagonals `d_q` with which the Hessian `-d g_i / d v_j` is `sum_q (a_i' diag(d_q) a_j)^2`, for the coordinates `a_i` of
    /// the columns: exactly, or to a small relative error in every direction. One of less than r entries belongs to the last coordinates;
    /// it is zero on the others.
    fn hessian_terms(&self, at: &LeverageEvaluation) -> Vec<DVector<f64>>;

    /// The exponent e for which `v_i g_i^e` are the optimal weights if the columns are orthogonal, whatever v is.
    fn multiplicative_exponent(&self) -> i32;

    /// How far the rescaled covariance is from optimal: an upper bound, zero at the optimum.
    fn gap(&self, weights: &[f64], at: &LeverageEvaluation) -> f64;

    /// Rows R with `M(v) = R' R`, in the coordinates of the columns.
    ///
    /// # Errors
    /// [`LinalgError`] if the factorisation behind it fails.
    fn covariance_root(&self, weights: &[f64]) -> Result<DMatrix<f64>, LinalgError>;
}

/// Leverages and the coordinates that they were computed in.
pub(super) struct LeverageEvaluation {
    /// `g_i = c_i' M^-1 c_i`.
    pub leverages: Vec<f64>,
    /// The columns in the coordinates of the factor of M (r x k).
    pub coordinates: DMatrix<f64>,
    /// Eigenvalues of M, where the objective diagonalises it.
    pub spectrum: Vec<f64>,
}

impl LeverageEvaluation {
    /// The largest leverage.
    pub fn largest_leverage(&self) -> f64 {
        largest_or_nan(self.leverages.iter().copied())
    }
}

/// What is released when `rank_tolerance` drops directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DroppedDirectionRule {
    /// `U U' C y` with noise on the kept directions U: the dropped directions are missing from the mean.
    Projection,
    /// `C y` with a little noise in every direction.
    Jitter,
}

#[cfg(test)]
mod tests {
    use super::*;

    use dpgp_number::{Count, Positive};

    #[test]
    fn solvers_are_spelled_as_in_specs() {
        let (one, number) = (Positive::literal(1.0), Count::new(2).unwrap());
        let attempts = RandomStarts { step: one, steps: number, attempts: number, below: one, still: one };
        let gradient = Solver::Gradient { step: 0.5, steps: 3 };
        for solver in [Solver::InteriorPoint, gradient, Solver::GradientAttempts(attempts)] {
            let spelled = serde_json::to_value(solver).unwrap();
            let name = spelled.as_str().or_else(|| spelled.as_object()?.keys().next().map(String::as_str));
            assert_eq!(name, Some(solver.name()));
        }
    }
}
