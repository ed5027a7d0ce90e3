//! From the columns of C to noise: rank rule, whitening, solver and safe release. The published gradient
//! schemes are kept for comparison only.

use nalgebra::{DMatrix, DVector};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use super::active_set;
use super::interior_point::WeightSolution;
use super::objective::{LogDetProblem, TraceProblem};
use super::options::{CloakingOptions, Objective, Solver, WeightProblem};
use super::release::{CloakingNoise, OptimalityGap, SolvedDesign};
use dpgp_linalg::{LinalgError, ThinSvd, cholesky_of_gram_matrix, leading_svd};
use dpgp_noise::PrivacyError;
use dpgp_number::{Count, Positive};

/// Most that the decomposition may leave out, as a share of the rank tolerance: the least singular value that is kept
/// is off by less than a thousandth of itself.
const NEGLIGIBLE: f64 = 3e-3;

/// Designs the noise for the distinct columns (t x k) of a map; `counts` holds the number of targets
/// that share each column.
///
/// The log-det optimum depends only on the row space of C, so it is solved on the whitened columns; the trace
/// optimum on the reduced columns.
///
/// Obligation: whatever the solver returns, [`CloakingNoise`] widens the noise until every column is covered, and checks it.
///
/// ```
/// use dpgp_cloaking::{CloakingOptions, Objective, DroppedDirectionRule, Solver, design_cloaking_noise};
/// use nalgebra::DMatrix;
/// // Two predictions, each of one target: 1 and 1/2 times it.
/// let columns = DMatrix::from_row_slice(2, 2, &[1.0, 0.0, 0.0, 0.5]);
/// let options = CloakingOptions {
///     objective: Objective::Trace,
///     rank_tolerance: 1e-10,
///     solver: Solver::InteriorPoint,
///     release: DroppedDirectionRule::Projection,
/// };
/// let cloak = design_cloaking_noise(&columns, &[1, 1], &options)?;
/// // A target moves one prediction only: the least noise has its change as standard deviation, 1 and 1/2.
/// let sd = cloak.standard_deviations();
/// assert!((sd[0] - 1.0).abs() < 1e-6 && (sd[1] - 0.5).abs() < 1e-6);
/// assert!(cloak.sensitivity <= 1.0 && cloak.gap.is_some_and(|gap| gap < 1e-6));
/// # Ok::<(), dpgp_noise::PrivacyError>(())
/// ```
///
/// # Errors
/// [`PrivacyError`] if a factorisation fails, C is zero, or the solver returns no noise.
pub fn design_cloaking_noise(
    columns: &DMatrix<f64>,
    counts: &[usize],
    options: &CloakingOptions,
) -> Result<CloakingNoise, PrivacyError> {
    // Of the solvers one alone draws: the same map always has the same noise.
    design_randomised_cloaking_noise(columns, counts, options, &mut Pcg64::seed_from_u64(0))
}

/// The design of [`design_cloaking_noise`], by a solver that may start at random weights.
///
/// # Errors
/// As [`design_cloaking_noise`].
pub fn design_randomised_cloaking_noise(
    columns: &DMatrix<f64>,
    counts: &[usize],
    options: &CloakingOptions,
    stream: &mut impl Rng,
) -> Result<CloakingNoise, PrivacyError> {
    let reduction = reduce_map_to_rank(columns, counts, options.rank_tolerance)?;
    let problem: Box<dyn WeightProblem> = match options.objective {
        Objective::LogDet => Box::new(LogDetProblem::new(reduction.whitened)),
        Objective::Trace => Box::new(TraceProblem::new(reduction.columns.clone())),
    };
    let solution = match options.solver {
        Solver::InteriorPoint => active_set::solve_by_active_set(problem.as_ref())?,
        Solver::Gradient { step, steps } => ascend_from_equal_weights(problem.as_ref(), counts, step, steps)?,
        Solver::GradientAttempts(attempts) => {
            let full = reduction.scale.len() == columns.nrows();
            attempts.ascend_from_random_weights(problem.as_ref(), counts, full, stream)?
        }
    };
    // Without any weight there is no noise: the exact predictions would be released.
    if solution.weights.iter().all(|w| *w == 0.0) {
        return Err(PrivacyError::NoNoise { solver: options.solver.name() });
    }
    let mut root = problem.covariance_root(&solution.weights)?;
    // M = S M_w S for the whitened columns, back in the coordinates of the reduced ones.
    if options.objective == Objective::LogDet {
        root.column_iter_mut().zip(reduction.scale.iter()).for_each(|(mut column, s)| column *= *s);
    }
    let factor = cholesky_of_gram_matrix("the noise covariance", &root)?;
    let gap = OptimalityGap { objective: options.objective, before: solution.gap };
    let ReducedMap { basis, columns: reduced, unit, .. } = reduction;
    let design = SolvedDesign { basis, columns: reduced, factor, unit, gap, steps: solution.steps };
    CloakingNoise::new(options.release, design, columns)
}

/// C in the coordinates of its leading singular directions.
struct ReducedMap {
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

/// Cuts the SVD of the whole map (t x n), `C = U diag(s) W'`, by the rank rule. It is computed on the distinct
/// columns scaled by the roots of their counts, which has the same U and s.
fn reduce_map_to_rank(columns: &DMatrix<f64>, counts: &[usize], tolerance: f64) -> Result<ReducedMap, PrivacyError> {
    let svd = leading_svd("C", &scale_columns(columns.clone(), counts, f64::sqrt), NEGLIGIBLE * tolerance)?;
    let rank = numerical_rank(&svd, tolerance);
    if rank == 0 {
        return Err(PrivacyError::NothingToProtect);
    }
    let unit = svd.s[0];
    let scale = svd.s.rows(0, rank) / unit;
    let whitened = scale_columns(svd.v.columns(0, rank).transpose(), counts, |n| 1.0 / n.sqrt());
    let mut columns = whitened.clone();
    columns.column_iter_mut().for_each(|mut column| column.component_mul_assign(&scale));
    Ok(ReducedMap { basis: svd.u.columns(0, rank).into_owned(), unit, scale, columns, whitened })
}

/// Multiplies each column by a function of its count.
fn scale_columns(mut c: DMatrix<f64>, counts: &[usize], factor: fn(f64) -> f64) -> DMatrix<f64> {
    for (mut column, &count) in c.column_iter_mut().zip(counts) {
        column *= factor(count as f64);
    }
    c
}

/// The number of singular values above the tolerance; none if all are zero.
fn numerical_rank(svd: &ThinSvd, tolerance: f64) -> usize {
    // They fall, so the first is the largest.
    let Some(largest) = svd.s.iter().next() else { return 0 };
    svd.s.iter().filter(|s| **s > tolerance * largest && **s > 0.0).count()
}

/// `v_j <- max(0, v_j + step (g_j - 1))` from equal weights, for a fixed number of steps, with a weight for each
/// target (`counts` says how many targets share a column).
///
/// A fixed step converges slowly (a gap of 0.01 to 0.03 nats is left after 1000 steps of 0.05 on the !Kung data), can
/// cycle, and may clip all weights to zero; the caller refuses the latter. Source: Smith et al. 2021, Eq. 7, with the projection that their text implies.
///
/// # Errors
/// [`LinalgError`] if the covariance becomes singular, as it does when too many weights are clipped.
pub(super) fn ascend_from_equal_weights(
    problem: &dyn WeightProblem,
    counts: &[usize],
    step: f64,
    steps: usize,
) -> Result<WeightSolution, LinalgError> {
    let mut weights: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
    for _ in 0..steps {
        let at = problem.evaluate(&weights)?;
        for ((weight, leverage), &count) in weights.iter_mut().zip(&at.leverages).zip(counts) {
            *weight = (*weight + count as f64 * step * (leverage - 1.0)).max(0.0);
        }
        if weights.iter().all(|w| *w == 0.0) {
            return Ok(WeightSolution { weights, gap: f64::INFINITY, steps });
        }
    }
    let gap = problem.gap(&weights, &problem.evaluate(&weights)?);
    Ok(WeightSolution { weights, gap, steps })
}

/// Several attempts with the gradient scheme, each from random weights.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomStarts {
    /// The step length.
    pub step: Positive,
    /// The maximum number of steps in an attempt.
    pub steps: Count,
    /// The number of attempts. The one with the smallest log det of the covariance is used, or the first if the map has fewer directions than predictions.
    pub attempts: Count,
    /// Each weight starts at a uniformly random value between 0 and this number.
    pub below: Positive,
    /// An attempt ends after a step in which every weight changes by less than this number.
    pub still: Positive,
}

impl RandomStarts {
    /// `v_j <- max(0, v_j + step (g_j - 1))` for a weight of each target (`counts` says how many share a column), from random
    /// weights; of several attempts the one with the least log det M. Where the map has fewer directions than predictions
    /// (`full` is false) M is singular, and the first attempt is as good as any. Source: Smith's dp4gp, 2018.
    ///
    /// # Errors
    /// [`LinalgError`] if the covariance becomes singular in the directions that are kept.
    pub(super) fn ascend_from_random_weights(
        &self,
        problem: &dyn WeightProblem,
        counts: &[usize],
        full: bool,
        stream: &mut impl Rng,
    ) -> Result<WeightSolution, LinalgError> {
        let mut best = self.attempt(problem, counts, stream)?;
        if full {
            let mut least = log_det(problem, &best.weights)?;
            for _ in 1..self.attempts.get() {
                let next = self.attempt(problem, counts, stream)?;
                let found = log_det(problem, &next.weights)?;
                if found < least {
                    (best, least) = (next, found);
                }
            }
        }
        let at = problem.evaluate(&best.weights)?;
        Ok(WeightSolution { gap: problem.gap(&best.weights, &at), ..best })
    }

    fn attempt(
        &self,
        problem: &dyn WeightProblem,
        counts: &[usize],
        stream: &mut impl Rng,
    ) -> Result<WeightSolution, LinalgError> {
        let start = counts.iter().map(|&n| (0..n).map(|_| self.below.get() * stream.random::<f64>()).collect());
        let mut targets: Vec<Vec<f64>> = start.collect();
        let mut steps = 0;
        let mut moved = f64::INFINITY;
        while steps < self.steps.get() && moved >= self.still.get() {
            let at = problem.evaluate(&column_weights(&targets))?;
            moved = 0.0;
            for (weights, leverage) in targets.iter_mut().zip(&at.leverages) {
                for weight in weights {
                    let next = (*weight + self.step.get() * (leverage - 1.0)).max(0.0);
                    moved = (next - *weight).abs().max(moved);
                    *weight = next;
                }
            }
            steps += 1;
        }
        Ok(WeightSolution { weights: column_weights(&targets), gap: f64::INFINITY, steps })
    }
}

/// The weight of each column: that of all targets that share it.
fn column_weights(targets: &[Vec<f64>]) -> Vec<f64> {
    targets.iter().map(|weights| weights.iter().sum()).collect()
}

/// Up to a constant of the coordinates.
fn log_det(problem: &dyn WeightProblem, weights: &[f64]) -> Result<f64, LinalgError> {
    let factor = cholesky_of_gram_matrix("the noise covariance", &problem.covariance_root(weights)?)?;
    Ok(2.0 * factor.factor().diagonal().iter().map(|entry| entry.abs().ln()).sum::<f64>())
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::DroppedDirectionRule;

    /// A target moves one prediction only, the second by a tenth: both objectives, and jitter, have these changes as noise.
    #[test]
    fn noise_has_the_scale_of_the_map() {
        let columns = DMatrix::from_row_slice(2, 2, &[1.0, 0.0, 0.0, 0.1]);
        for objective in [Objective::LogDet, Objective::Trace] {
            for release in [DroppedDirectionRule::Projection, DroppedDirectionRule::Jitter] {
                let solver = Solver::InteriorPoint;
                let options = CloakingOptions { objective, rank_tolerance: 1e-10, solver, release };
                let cloak = design_cloaking_noise(&columns, &[1, 1], &options).unwrap();
                let sd = cloak.standard_deviations();
                assert!((sd[0] - 1.0).abs() < 1e-4 && (sd[1] / 0.1 - 1.0).abs() < 1e-3, "{objective:?} {sd}");
                // Jitter costs what it adds.
                assert!(cloak.gap.is_none_or(|gap| gap < 1e-3), "{objective:?} {:?}", cloak.gap);
            }
        }
    }

    fn svd(values: &[f64]) -> ThinSvd {
        let none = DMatrix::zeros(0, 0);
        ThinSvd { u: none.clone(), s: DVector::from_column_slice(values), v: none }
    }

    /// Of the singular values 4, 0.3 and 0 those above a tenth of 4.
    #[test]
    fn ranks_are_relative_to_the_largest() {
        assert_eq!(numerical_rank(&svd(&[4.0, 0.5, 0.3, 0.0]), 0.1), 2);
        assert_eq!(numerical_rank(&svd(&[4.0, 0.5, 0.0]), 0.0), 2);
        assert_eq!((numerical_rank(&svd(&[0.0]), 0.1), numerical_rank(&svd(&[]), 0.1)), (0, 0));
    }
}

#[cfg(test)]
mod gradient_tests {
    use super::*;

    use nalgebra::DMatrix;

    use crate::objective::LogDetProblem;

    /// Columns 1 and 1/2 on a line, the second of two targets: `M = 1 + 2/4`, leverages 2/3 and 1/6, so that a step of 3/10 leads to
    /// `1 - 0.3 / 3` and `2 - 2 * 0.3 * 5 / 6`.
    #[test]
    fn a_step_follows_the_leverages() {
        let problem = LogDetProblem::new(DMatrix::from_row_slice(1, 2, &[1.0, 0.5]));
        let found = ascend_from_equal_weights(&problem, &[1, 2], 0.3, 1).unwrap();
        assert!(
            (found.weights[0] - 0.9).abs() < 1e-12 && (found.weights[1] - 1.5).abs() < 1e-12,
            "{:?}",
            found.weights
        );
        assert!(found.steps == 1 && found.gap > 0.0);
        // Far too long a step leaves nothing.
        let none = ascend_from_equal_weights(&problem, &[1, 2], 30.0, 5).unwrap();
        assert_eq!((none.weights, none.gap, none.steps), (vec![0.0; 2], f64::INFINITY, 5));
    }
}

#[cfg(test)]
mod attempts_tests {
    use super::*;

    use nalgebra::DMatrix;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use crate::objective::LogDetProblem;

    fn five_steps(attempts: usize, still: f64) -> RandomStarts {
        RandomStarts {
            step: Positive::literal(0.05),
            steps: Count::literal::<5>(),
            attempts: Count::new(attempts).unwrap(),
            below: Positive::literal(0.8),
            still: Positive::new(still).unwrap(),
        }
    }

    fn columns() -> LogDetProblem {
        LogDetProblem::new(DMatrix::from_row_slice(2, 3, &[1.0, 0.5, 0.2, 0.3, -1.0, 0.7]))
    }

    fn found(scheme: RandomStarts, full: bool) -> WeightSolution {
        scheme.ascend_from_random_weights(&columns(), &[2, 1, 3], full, &mut Pcg64::seed_from_u64(4)).unwrap()
    }

    /// More attempts with the same draws cannot end with a larger determinant; of a map without full rank the first is kept.
    #[test]
    fn the_attempt_with_the_least_determinant_is_kept() {
        let least = |attempts| log_det(&columns(), &found(five_steps(attempts, 1e-9), true).weights).unwrap();
        assert!(least(30) < least(1), "{} {}", least(30), least(1));
        assert_eq!(found(five_steps(30, 1e-9), false).weights, found(five_steps(1, 1e-9), true).weights);
    }

    /// Five steps, or one where none moves a weight by so much; no weight is negative.
    #[test]
    fn an_attempt_ends_after_its_steps_or_when_nothing_moves() {
        let (all, one) = (found(five_steps(1, 1e-9), true), found(five_steps(1, 1e6), true));
        assert_eq!((all.steps, one.steps), (5, 1));
        assert!(all.weights.iter().all(|weight| *weight >= 0.0) && all.gap > 0.0);
    }

    /// A single column of one target starts at a weight w, has the leverage 1 / w and moves by `0.05 (1 / w - 1)`.
    #[test]
    fn a_step_follows_the_leverage() {
        let scheme = RandomStarts { steps: Count::literal::<1>(), ..five_steps(1, 1e-9) };
        let problem = LogDetProblem::new(DMatrix::from_element(1, 1, 1.0));
        let found = scheme.ascend_from_random_weights(&problem, &[1], true, &mut Pcg64::seed_from_u64(9)).unwrap();
        let start = 0.8 * Pcg64::seed_from_u64(9).random::<f64>();
        assert!((found.weights[0] - (start + 0.05 * (1.0 / start - 1.0))).abs() < 1e-12);
    }
}
