//! From the columns of C to noise: rank rule, whitening, solver, safe release.

use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};

use super::log_det::LogDet;
use super::objective::WeightProblem;
use super::release::{Cloak, Design, Gap};
use super::trace::Trace;
use super::{active_set, gradient};
use crate::linalg::{ThinSvd, gram_factor, thin_svd};
use crate::privacy::PrivacyError;

/// What the noise covariance minimises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// `log det M`, as published; its noise depends on the rank rule.
    LogDet,
    /// `tr M`, the expected squared noise.
    Trace,
}

/// How the weights are found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
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
/// The log-det optimum depends only on the row space of C, so it is solved on the whitened columns; the trace
/// optimum on the reduced columns.
///
/// # Errors
/// [`PrivacyError`] if a factorisation fails, C is zero, or the solver returns no noise.
pub fn cloak(
    columns: &DMatrix<f64>,
    counts: &[usize],
    options: &CloakingOptions,
) -> Result<Cloak, PrivacyError> {
    let reduction = reduce(columns, counts, options.rank_tolerance)?;
    let problem: Box<dyn WeightProblem> = match options.objective {
        Objective::LogDet => Box::new(LogDet::new(reduction.whitened)),
        Objective::Trace => Box::new(Trace::new(reduction.columns.clone())),
    };
    let solution = match options.solver {
        Solver::InteriorPoint => active_set::solve(problem.as_ref())?,
        Solver::Gradient { step, steps } => gradient::ascend(problem.as_ref(), counts, step, steps)?,
    };
    if solution.weights.iter().all(|w| *w == 0.0) {
        return Err(PrivacyError::NoNoise { solver: options.solver.name() });
    }
    let mut root = problem.root(&solution.weights)?;
    if options.objective == Objective::LogDet {
        root.column_iter_mut().zip(reduction.scale.iter()).for_each(|(mut column, s)| column *= *s);
    }
    let factor = gram_factor("the noise covariance", &root)?;
    let gap = Gap { objective: options.objective, before: solution.gap };
    let Reduction { basis, columns: reduced, unit, .. } = reduction;
    let design = Design { basis, columns: reduced, factor, unit, gap, steps: solution.steps };
    Cloak::new(options.release, design, columns)
}

/// C in the coordinates of its leading singular directions.
struct Reduction {
    /// The directions kept, orthonormal (t x r).
    basis: DMatrix<f64>,
    /// The largest singular value; all else is for the map divided by it.
    unit: f64,
    /// The singular values kept, falling from 1 (r).
    scale: DVector<f64>,
    /// `diag(s) W'` for the distinct columns (r x k): C is the basis times this, up to what is dropped.
    columns: DMatrix<f64>,
    /// `W'` for the distinct columns (r x k).
    whitened: DMatrix<f64>,
}

/// Cuts the thin SVD of the whole map (t x n), `C = U diag(s) W'`, by the rank rule. It is computed on the distinct
/// columns scaled by the roots of their counts, which has the same U and s.
fn reduce(columns: &DMatrix<f64>, counts: &[usize], tolerance: f64) -> Result<Reduction, PrivacyError> {
    let svd = thin_svd("C", &scale_columns(columns.clone(), counts, f64::sqrt))?;
    let rank = numerical_rank(&svd, tolerance);
    if rank == 0 {
        return Err(PrivacyError::NothingToProtect);
    }
    let unit = svd.s[0];
    let scale = svd.s.rows(0, rank) / unit;
    let whitened = scale_columns(svd.v.columns(0, rank).transpose(), counts, |n| 1.0 / n.sqrt());
    let mut columns = whitened.clone();
    columns.column_iter_mut().for_each(|mut column| column.component_mul_assign(&scale));
    Ok(Reduction { basis: svd.u.columns(0, rank).into_owned(), unit, scale, columns, whitened })
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
