//! From the columns of C to noise: rank rule, whitening, solver, safe release.

use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

use super::log_det::LogDet;
use super::objective::WeightProblem;
use super::release::Cloak;
use super::trace::Trace;
use super::{gradient, interior_point};
use crate::linalg::{ThinSvd, gram_factor, thin_svd};
use crate::privacy::PrivacyError;

/// What the noise covariance minimises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// `log det M`, as published; its noise depends on the rank rule.
    LogDet,
    /// `tr M`, the expected squared noise.
    Trace,
}

/// How the weights are found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Solver {
    /// Interior point, to a certified gap of about 1e-11.
    InteriorPoint,
    /// The published gradient scheme, for comparison.
    Gradient {
        /// Step length.
        step: f64,
        /// Number of steps.
        steps: usize,
    },
}

/// What is released when the rank rule drops directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReleaseRecipe {
    /// `U U' C y` with noise on the kept directions U: the mean moves by the dropped ones.
    Projection,
    /// `C y` with a little noise in every direction.
    Jitter,
}

/// The settings of a noise design.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CloakingOptions {
    /// The objective.
    pub objective: Objective,
    /// Directions with a singular value of C below this, relative to the largest, are dropped.
    pub rank_tolerance: f64,
    /// The solver.
    pub solver: Solver,
    /// The release recipe.
    pub release: ReleaseRecipe,
}

/// Designs the noise for the distinct columns (t x k) of a map; `counts` holds the number of targets
/// that share each column.
///
/// The thin SVD of the whole map (t x n), `C = U diag(s) W'`, is cut by the rank rule. It is computed on the
/// distinct columns scaled by the roots of their counts, which has the same U and s. The log-det
/// optimum depends only on the row space, so it is solved on `W'`, the trace optimum on `diag(s / s_1) W'`.
///
/// # Errors
/// [`PrivacyError`] if a factorisation fails, C is zero, or the solver returns no noise.
pub fn cloak(
    columns: &DMatrix<f64>,
    counts: &[usize],
    options: &CloakingOptions,
) -> Result<Cloak, PrivacyError> {
    let svd = thin_svd("C", &scale_columns(columns.clone(), counts, f64::sqrt))?;
    let rank = numerical_rank(&svd, options.rank_tolerance);
    if rank == 0 {
        return Err(PrivacyError::NothingToProtect);
    }
    let whitened = scale_columns(svd.v.columns(0, rank).transpose(), counts, |n| 1.0 / n.sqrt());
    let mut reduced = whitened.clone();
    for (mut row, s) in reduced.row_iter_mut().zip(svd.s.iter()) {
        row *= *s;
    }
    let largest = svd.s[0];
    let problem: Box<dyn WeightProblem> = match options.objective {
        Objective::LogDet => Box::new(LogDet::new(whitened)),
        Objective::Trace => Box::new(Trace::new(&reduced / largest)),
    };
    let solution = match options.solver {
        Solver::InteriorPoint => interior_point::solve(problem.as_ref())?,
        Solver::Gradient { step, steps } => gradient::ascend(problem.as_ref(), counts, step, steps)?,
    };
    if solution.weights.iter().all(|w| *w == 0.0) {
        return Err(PrivacyError::NoNoise { solver: options.solver.name() });
    }
    let mut root = problem.root(&solution.weights)?;
    if options.objective == Objective::LogDet {
        for (mut column, s) in root.column_iter_mut().zip(svd.s.iter()) {
            column *= *s;
        }
    }
    let factor = gram_factor("the noise covariance", &root)?;
    let basis = svd.u.columns(0, rank).into_owned();
    let found = (solution.gap, solution.steps);
    Ok(Cloak::new(options.release, basis, reduced, columns, factor, found)?)
}

/// Multiplies each column by a function of its count.
fn scale_columns(mut c: DMatrix<f64>, counts: &[usize], factor: fn(f64) -> f64) -> DMatrix<f64> {
    for (mut column, &count) in c.column_iter_mut().zip(counts) {
        column *= factor(count as f64);
    }
    c
}

fn numerical_rank(svd: &ThinSvd, tolerance: f64) -> usize {
    let largest = svd.s.iter().copied().next().unwrap_or(0.0);
    svd.s.iter().filter(|s| **s > tolerance * largest && **s > 0.0).count()
}

impl Solver {
    fn name(self) -> &'static str {
        match self {
            Self::InteriorPoint => "interior-point",
            Self::Gradient { .. } => "gradient",
        }
    }
}
