//! The gradient scheme from random weights, as the authors of the papers ran it: kept for comparison only.

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::interior_point::Solution;
use super::problem::WeightProblem;
use dpgp_linalg::{LinalgError, gram_factor};
use dpgp_number::{Count, Positive};

/// How the attempts are made.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attempts {
    /// Step length.
    pub step: Positive,
    /// The most steps of an attempt.
    pub steps: Count,
    /// The number of attempts, of which the one with the least log det of the covariance is used.
    pub attempts: Count,
    /// Weights start uniformly between 0 and this.
    pub below: Positive,
    /// An attempt ends when no weight moves by this.
    pub still: Positive,
}

impl Attempts {
    /// `v_j <- max(0, v_j + step (g_j - 1))` for a weight of each target (`counts` says how many share a column), from random
    /// weights; of several attempts the one with the least log det M. Where the map has fewer directions than predictions
    /// (`full` is false) M is singular, and the first attempt is as good as any. Source: Smith's dp4gp, 2018.
    ///
    /// # Errors
    /// [`LinalgError`] if the covariance becomes singular in the directions that are kept.
    pub(super) fn ascend(
        &self,
        problem: &dyn WeightProblem,
        counts: &[usize],
        full: bool,
        stream: &mut impl Rng,
    ) -> Result<Solution, LinalgError> {
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
        Ok(Solution { gap: problem.gap(&best.weights, &at), ..best })
    }

    fn attempt(
        &self,
        problem: &dyn WeightProblem,
        counts: &[usize],
        stream: &mut impl Rng,
    ) -> Result<Solution, LinalgError> {
        let start =
            counts.iter().map(|&n| (0..n).map(|_| self.below.get() * stream.random::<f64>()).collect());
        let mut targets: Vec<Vec<f64>> = start.collect();
        let mut steps = 0;
        let mut moved = f64::INFINITY;
        while steps < self.steps.get() && moved >= self.still.get() {
            let at = problem.evaluate(&sums(&targets))?;
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
        Ok(Solution { weights: sums(&targets), gap: f64::INFINITY, steps })
    }
}

/// The weight of each column: that of all targets that share it.
fn sums(targets: &[Vec<f64>]) -> Vec<f64> {
    targets.iter().map(|weights| weights.iter().sum()).collect()
}

/// Up to a constant of the coordinates.
fn log_det(problem: &dyn WeightProblem, weights: &[f64]) -> Result<f64, LinalgError> {
    let factor = gram_factor("the noise covariance", &problem.root(weights)?)?;
    Ok(2.0 * factor.factor().diagonal().iter().map(|entry| entry.abs().ln()).sum::<f64>())
}

#[cfg(test)]
mod tests {
    use super::*;

    use nalgebra::DMatrix;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use crate::log_det::LogDet;

    fn of(attempts: usize, still: f64) -> Attempts {
        Attempts {
            step: Positive::constant(0.05),
            steps: Count::literal::<5>(),
            attempts: Count::new(attempts).unwrap(),
            below: Positive::constant(0.8),
            still: Positive::new(still).unwrap(),
        }
    }

    fn columns() -> LogDet {
        LogDet::new(DMatrix::from_row_slice(2, 3, &[1.0, 0.5, 0.2, 0.3, -1.0, 0.7]))
    }

    fn found(scheme: Attempts, full: bool) -> Solution {
        scheme.ascend(&columns(), &[2, 1, 3], full, &mut Pcg64::seed_from_u64(4)).unwrap()
    }

    /// More attempts with the same draws cannot end with a larger determinant; of a map without full rank the first is kept.
    #[test]
    fn the_attempt_with_the_least_determinant_is_kept() {
        let least = |attempts| log_det(&columns(), &found(of(attempts, 1e-9), true).weights).unwrap();
        assert!(least(30) < least(1), "{} {}", least(30), least(1));
        assert_eq!(found(of(30, 1e-9), false).weights, found(of(1, 1e-9), true).weights);
    }

    /// Five steps, or one where none moves a weight by so much; no weight is negative.
    #[test]
    fn an_attempt_ends_after_its_steps_or_when_nothing_moves() {
        let (all, one) = (found(of(1, 1e-9), true), found(of(1, 1e6), true));
        assert_eq!((all.steps, one.steps), (5, 1));
        assert!(all.weights.iter().all(|weight| *weight >= 0.0) && all.gap > 0.0);
    }

    /// A single column of one target starts at a weight w, has the leverage 1 / w and moves by `0.05 (1 / w - 1)`.
    #[test]
    fn a_step_follows_the_leverage() {
        let scheme = Attempts { steps: Count::literal::<1>(), ..of(1, 1e-9) };
        let problem = LogDet::new(DMatrix::from_element(1, 1, 1.0));
        let found = scheme.ascend(&problem, &[1], true, &mut Pcg64::seed_from_u64(9)).unwrap();
        let start = 0.8 * Pcg64::seed_from_u64(9).random::<f64>();
        assert!((found.weights[0] - (start + 0.05 * (1.0 / start - 1.0))).abs() < 1e-12);
    }
}
