//! A primal-dual interior-point method for weight problems.

use nalgebra::DMatrix;

use super::objective::{Evaluation, WeightProblem};
use crate::linalg::{Cholesky, LinalgError};

/// Multiplicative steps before Newton's: cheap, monotone, and they find the region of the optimum.
const WARM_STEPS: usize = 12;
/// Where the warm start stops shrinking a weight, relative to the mean.
const LEAST_WEIGHT: f64 = 1e-4;
/// The least slack to begin with, and that of a start which is near the optimum.
const LEAST_SLACK: f64 = 0.1;
const LEAST_SLACK_GIVEN: f64 = 0.02;
/// Most Newton steps.
const NEWTON_STEPS: usize = 150;
/// How close a step may come to the boundary.
const TO_BOUNDARY: f64 = 0.99;
/// Newton steps without a better gap before the method gives up. On steeply graded maps the gap rises again when
/// the weights of the smallest directions come into play, and falls fast after that.
const PATIENCE: usize = 40;
/// The same once the gap is below [`GOOD_GAP`], where only rounding can be in the way.
const LITTLE_PATIENCE: usize = 3;
/// A gap far below what anyone asks for.
const GOOD_GAP: f64 = 1e-9;
/// The gap at which the method stops; the certificate prints what was reached.
pub(super) const TARGET_GAP: f64 = 1e-11;

/// The best weights found and their gap.
pub(super) struct Solution {
    pub weights: Vec<f64>,
    pub gap: f64,
    pub steps: usize,
}

/// Minimises `sum v - phi(v)` over `v >= 0` on the optimality conditions `1 - g(v) - s = 0`, `v_i s_i = mu`, `mu -> 0`.
///
/// Eliminating the slacks s, a Newton step solves `(H + diag(s/v)) dv = g - 1 + mu / v` with
/// `ds = (mu - v s - s dv) / v`. The best iterate by the certified gap is returned, so a step that overshoots, or one that
/// rounding makes impossible near the optimum, costs nothing.
///
/// It begins at the given weights, or at those of a few multiplicative steps, and stops at the gap `target`.
///
/// # Errors
/// [`LinalgError`] if the covariance is singular at the start.
pub(super) fn solve(
    problem: &dyn WeightProblem,
    start: Option<Vec<f64>>,
    target: f64,
) -> Result<Solution, LinalgError> {
    let (weights, least_slack) = match start {
        Some(weights) => (weights, LEAST_SLACK_GIVEN),
        None => (warm_start(problem)?, LEAST_SLACK),
    };
    let at = problem.evaluate(&weights)?;
    let slacks = at.leverages.iter().map(|g| (1.0 - g).max(least_slack)).collect();
    let gap = problem.gap(&weights, &at);
    let mut best = Solution { weights: weights.clone(), gap, steps: 0 };
    let mut iterate = Iterate { weights, slacks, at };
    for steps in 1..=NEWTON_STEPS {
        let patience = if best.gap <= GOOD_GAP { LITTLE_PATIENCE } else { PATIENCE };
        if best.gap <= target || steps > best.steps + patience || iterate.step(problem).is_err() {
            break;
        }
        let gap = problem.gap(&iterate.weights, &iterate.at);
        if gap < best.gap {
            best = Solution { weights: iterate.weights.clone(), gap, steps };
        }
    }
    Ok(best)
}

/// A point on the way to the optimum.
struct Iterate {
    weights: Vec<f64>,
    slacks: Vec<f64>,
    at: Evaluation,
}

impl Iterate {
    /// One Newton step, as long as positivity allows.
    fn step(&mut self, problem: &dyn WeightProblem) -> Result<(), LinalgError> {
        let mu = centring(&self.weights, &self.slacks);
        let (dv, ds) = self.direction(problem, mu)?;
        let (primal, dual) = (boundary(&self.weights, &dv), boundary(&self.slacks, &ds));
        advance(&mut self.weights, &dv, primal);
        advance(&mut self.slacks, &ds, dual);
        self.at = problem.evaluate(&self.weights)?;
        Ok(())
    }

    fn direction(&self, problem: &dyn WeightProblem, mu: f64) -> Result<(Vec<f64>, Vec<f64>), LinalgError> {
        let Self { weights, slacks, at } = self;
        let mut system = problem.hessian(at);
        let mut right = DMatrix::zeros(weights.len(), 1);
        for (i, (v, s)) in weights.iter().zip(slacks).enumerate() {
            system[(i, i)] += s / v;
            right[i] = at.leverages[i] - 1.0 + mu / v;
        }
        let dv = Cholesky::new("the Newton system of the noise design", &system)?.solve(&right);
        let slack_step = |i: usize| (mu - slacks[i] * (weights[i] + dv[i])) / weights[i];
        let ds = (0..weights.len()).map(slack_step).collect();
        Ok((dv.as_slice().to_vec(), ds))
    }
}

/// `v_i <- v_i g_i` from equal weights.
fn warm_start(problem: &dyn WeightProblem) -> Result<Vec<f64>, LinalgError> {
    let mut weights = vec![1.0; problem.columns()];
    for _ in 0..WARM_STEPS {
        let at = problem.evaluate(&weights)?;
        let floor = LEAST_WEIGHT * weights.iter().sum::<f64>() / weights.len() as f64;
        for (weight, leverage) in weights.iter_mut().zip(&at.leverages) {
            *weight = (*weight * leverage).max(floor);
        }
    }
    Ok(weights)
}

/// A tenth of the present complementarity, less when it is already small.
fn centring(weights: &[f64], slacks: &[f64]) -> f64 {
    let mean = weights.iter().zip(slacks).map(|(v, s)| v * s).sum::<f64>() / weights.len() as f64;
    mean * mean.sqrt().clamp(1e-3, 0.1)
}

/// The longest step of at most 1 that keeps all values positive.
fn boundary(values: &[f64], step: &[f64]) -> f64 {
    let limit = |(v, d): (&f64, &f64)| if *d < 0.0 { -TO_BOUNDARY * v / d } else { 1.0 };
    values.iter().zip(step).map(limit).fold(1.0, f64::min)
}

fn advance(values: &mut [f64], step: &[f64], length: f64) {
    for (value, d) in values.iter_mut().zip(step) {
        *value += length * d;
    }
}
