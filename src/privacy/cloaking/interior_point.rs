//! A primal-dual interior-point method for weight problems.

use nalgebra::DMatrix;

use super::objective::{Evaluation, WeightProblem};
use crate::linalg::{Cholesky, LinalgError};

/// Multiplicative steps before Newton's: cheap, monotone, and they find the region of the optimum.
const WARM_STEPS: usize = 12;
/// Most Newton steps.
const NEWTON_STEPS: usize = 80;
/// How close a step may come to the boundary.
const TO_BOUNDARY: f64 = 0.99;
/// The gap at which the method stops; the certificate prints what was reached.
const TARGET_GAP: f64 = 1e-11;

/// The best weights found and their gap.
pub(super) struct Solution {
    pub weights: Vec<f64>,
    pub gap: f64,
    pub steps: usize,
}

/// Minimises `sum v - phi(v)` over `v >= 0` on the optimality conditions `1 - g(v) - s = 0`, `v_i s_i = mu`, `mu -> 0`.
///
/// Eliminating the slacks s, a Newton step solves `(H + diag(s/v)) dv = g - 1 + mu / v` with
/// `ds = (mu - v s - s dv) / v`. The best iterate by the certified gap is returned, so a step that overshoots costs nothing.
///
/// # Errors
/// [`LinalgError`] if the covariance is singular at the start or a Newton system cannot be factorised.
pub(super) fn solve(problem: &dyn WeightProblem) -> Result<Solution, LinalgError> {
    let mut weights = warm_start(problem)?;
    let mut at = problem.evaluate(&weights)?;
    let mut slacks: Vec<f64> = at.leverages.iter().map(|g| (1.0 - g).max(0.1)).collect();
    let mut best = Solution { gap: problem.gap(&weights, &at), weights: weights.clone(), steps: 0 };
    for steps in 1..=NEWTON_STEPS {
        let mu = centring(&weights, &slacks);
        let (dv, ds) = direction(problem, &at, &weights, &slacks, mu)?;
        let length = boundary(&weights, &dv).min(boundary(&slacks, &ds));
        advance(&mut weights, &dv, length);
        advance(&mut slacks, &ds, length);
        at = problem.evaluate(&weights)?;
        let gap = problem.gap(&weights, &at);
        if gap < best.gap {
            best = Solution { weights: weights.clone(), gap, steps };
        }
        if best.gap <= TARGET_GAP || steps > best.steps + 10 {
            break;
        }
    }
    Ok(best)
}

/// `v_i <- v_i g_i` from equal weights.
fn warm_start(problem: &dyn WeightProblem) -> Result<Vec<f64>, LinalgError> {
    let mut weights = vec![1.0; problem.columns()];
    for _ in 0..WARM_STEPS {
        let at = problem.evaluate(&weights)?;
        for (weight, leverage) in weights.iter_mut().zip(&at.leverages) {
            *weight = (*weight * leverage).max(f64::MIN_POSITIVE.sqrt());
        }
    }
    Ok(weights)
}

/// A tenth of the present complementarity, less when it is already small.
fn centring(weights: &[f64], slacks: &[f64]) -> f64 {
    let mean = weights.iter().zip(slacks).map(|(v, s)| v * s).sum::<f64>() / weights.len() as f64;
    mean * mean.sqrt().clamp(1e-3, 0.1)
}

fn direction(
    problem: &dyn WeightProblem,
    at: &Evaluation,
    weights: &[f64],
    slacks: &[f64],
    mu: f64,
) -> Result<(Vec<f64>, Vec<f64>), LinalgError> {
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
