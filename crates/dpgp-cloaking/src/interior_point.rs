//! A primal-dual interior-point method for weight problems.

use super::newton_system::NewtonSystem;
use super::problem::{Evaluation, WeightProblem};
use dpgp_linalg::LinalgError;

/// Multiplicative steps before Newton's: cheap, monotone, and they find the region of the optimum.
const WARM_STEPS: usize = 6;
/// Where the warm start stops shrinking a weight, relative to the mean.
const LEAST_WEIGHT: f64 = 1e-4;
/// The least slack to begin with.
const LEAST_SLACK: f64 = 0.02;
/// Most Newton steps.
const NEWTON_STEPS: usize = 150;
/// The share of the way to the boundary that a step leaves. Less of it saves a step in ten, and leaves steep maps with weights so small that
/// they do not come back.
const AWAY_FROM_BOUNDARY: f64 = 0.01;
/// Newton steps without a better gap before the method gives up. On steeply graded maps the gap rises again when
/// the weights of the smallest directions come into play, and falls fast after that.
const PATIENCE: usize = 40;
/// The same once the gap is below [`GOOD_GAP`], where only rounding can be in the way.
const LITTLE_PATIENCE: usize = 3;
/// A gap far below that of any use.
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
/// Eliminating the slacks s, a Newton step solves `(H + diag(s/v)) dv = g - 1 + (mu - e) / v` with
/// `ds = (mu - e - v s - s dv) / v`. Each system is solved twice: for `mu = 0`, which tells how far mu may fall, and for that mu
/// with the second-order error `e = dv ds` of the first. The best iterate by the certified gap is returned, so a step that
/// overshoots, or one that rounding makes impossible near the optimum, costs nothing.
///
/// It begins at the given weights, or at those of a few multiplicative steps, and stops at the gap `target`.
/// Source: Mehrotra 1992, "On the implementation of a primal-dual interior point method".
///
/// # Errors
/// [`LinalgError`] if the covariance is singular at the start.
pub(super) fn solve(
    problem: &dyn WeightProblem,
    start: Option<Vec<f64>>,
    target: f64,
) -> Result<Solution, LinalgError> {
    let weights = match start {
        Some(weights) => weights,
        None => warm_start(problem)?,
    };
    let at = problem.evaluate(&weights)?;
    // The residual of `1 - g - s = 0` need not vanish at the start: full steps remove it.
    let slacks = at.leverages.iter().map(|g| (1.0 - g).max(LEAST_SLACK)).collect();
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
    /// One step, as long as positivity allows.
    fn step(&mut self, problem: &dyn WeightProblem) -> Result<(), LinalgError> {
        let ratios: Vec<f64> = self.slacks.iter().zip(&self.weights).map(|(s, v)| s / v).collect();
        let system = NewtonSystem::new(problem, &self.at, &ratios)?;
        let complementarity: Vec<f64> = self.weights.iter().zip(&self.slacks).map(|(v, s)| v * s).collect();
        let predicted = self.direction(&system, &complementarity, 0.0);
        let mu = self.centring(&complementarity, &predicted);
        let error = predicted.weights.iter().zip(&predicted.slacks).map(|(dv, ds)| dv * ds);
        let corrected: Vec<f64> = complementarity.iter().zip(error).map(|(c, e)| c + e).collect();
        let step = self.direction(&system, &corrected, mu);
        let (primal, dual) = self.lengths(&step, 1.0 - AWAY_FROM_BOUNDARY);
        advance(&mut self.weights, &step.weights, primal);
        advance(&mut self.slacks, &step.slacks, dual);
        self.at = problem.evaluate(&self.weights)?;
        Ok(())
    }

    /// The step towards `v s = mu`, for `v s` and the error of the first step in `products`.
    fn direction(&self, system: &NewtonSystem, products: &[f64], mu: f64) -> Step {
        let Self { weights: v, slacks: s, at } = self;
        let right = (0..v.len()).map(|i| at.leverages[i] - 1.0 + s[i] + (mu - products[i]) / v[i]);
        let dv = system.solve(&right.collect::<Vec<f64>>());
        let ds = (0..v.len()).map(|i| (mu - products[i] - s[i] * dv[i]) / v[i]).collect();
        Step { slacks: ds, weights: dv }
    }

    /// How far mu may fall: the mean complementarity after the predicted step, with the cube of its share of the present one.
    fn centring(&self, complementarity: &[f64], step: &Step) -> f64 {
        let count = complementarity.len() as f64;
        let (primal, dual) = self.lengths(step, 1.0);
        let after = (0..complementarity.len())
            .map(|i| (self.weights[i] + primal * step.weights[i]) * (self.slacks[i] + dual * step.slacks[i]));
        let now = complementarity.iter().sum::<f64>() / count;
        let then = after.sum::<f64>() / count;
        now * (then / now).clamp(0.0, 1.0).powi(3)
    }

    /// The longest steps of at most 1 that keep weights and slacks non-negative, times `share` if they end at the boundary.
    fn lengths(&self, step: &Step, share: f64) -> (f64, f64) {
        (boundary(&self.weights, &step.weights, share), boundary(&self.slacks, &step.slacks, share))
    }
}

/// A step of weights and slacks.
struct Step {
    weights: Vec<f64>,
    slacks: Vec<f64>,
}

/// `v_i <- v_i g_i` from equal weights.
fn warm_start(problem: &dyn WeightProblem) -> Result<Vec<f64>, LinalgError> {
    let mut weights = vec![1.0; problem.columns().ncols()];
    for _ in 0..WARM_STEPS {
        let at = problem.evaluate(&weights)?;
        // A weight that reached zero would stay there, and Newton steps divide by it.
        let floor = LEAST_WEIGHT * weights.iter().sum::<f64>() / weights.len() as f64;
        for (weight, leverage) in weights.iter_mut().zip(&at.leverages) {
            *weight = (*weight * leverage).max(floor);
        }
    }
    Ok(weights)
}

/// The longest step of at most 1 that keeps all values non-negative, times `share` where it ends at zero.
fn boundary(values: &[f64], step: &[f64], share: f64) -> f64 {
    // Steps upwards have no limit.
    let limits = values.iter().zip(step).map(|(v, d)| if *d < 0.0 { -share * v / d } else { 1.0 });
    limits.fold(1.0, f64::min)
}

fn advance(values: &mut [f64], step: &[f64], length: f64) {
    for (value, d) in values.iter_mut().zip(step) {
        *value += length * d;
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;
    use crate::log_det::LogDet;

    /// From 2 and 4 the step (-4, 1) may go half as far, less a hundredth of that; one that stays or rises may go all the way.
    #[test]
    fn steps_end_where_a_value_would_be_negative() {
        assert_eq!(boundary(&[2.0, 4.0], &[-4.0, 1.0], 1.0), 0.5);
        assert_eq!(boundary(&[2.0, 4.0], &[-4.0, -16.0], 1.0), 0.25);
        assert!((boundary(&[2.0, 4.0], &[-4.0, 1.0], 0.99) - 0.495).abs() < 1e-15);
        assert_eq!(boundary(&[2.0, 4.0], &[0.0, 1.0], 0.99), 1.0);
        assert_eq!(boundary(&[2.0], &[-1.0], 0.99), 1.0);
    }

    /// Weights of 1 and 1 with slacks 1 and 3 are 2 apart from the optimum in the mean, and 1 after the predicted step, which may go all
    /// the way: 2 times 1/8. Where nothing is gained mu stays.
    #[test]
    fn mu_falls_with_the_cube_of_what_is_predicted() {
        let at =
            Evaluation { leverages: vec![1.0; 2], coordinates: DMatrix::zeros(1, 2), spectrum: Vec::new() };
        let iterate = Iterate { weights: vec![1.0, 1.0], slacks: vec![1.0, 3.0], at };
        let mu = |weights: [f64; 2], slacks: [f64; 2]| {
            iterate.centring(&[1.0, 3.0], &Step { weights: weights.to_vec(), slacks: slacks.to_vec() })
        };
        assert_eq!(mu([-0.5, 0.0], [0.0, -1.5]), 0.25);
        assert_eq!(mu([0.0, 0.0], [0.0, 0.0]), 2.0);
        assert_eq!(mu([4.0, 0.0], [0.0, 0.0]), 2.0);
        // Half of the way: the second weight becomes 0, the first 3/2 with the slack 1.
        assert_eq!(mu([1.0, -2.0], [0.0, 0.0]), 2.0 * 0.375f64.powi(3));
    }

    /// Of three columns on a line the longest takes all; the others stop at a ten thousandth of the mean.
    #[test]
    fn the_warm_start_keeps_a_little_of_every_weight() {
        let problem = LogDet::new(DMatrix::from_row_slice(1, 3, &[1.0, 0.1, 0.2]));
        let weights = warm_start(&problem).unwrap();
        let mean = weights.iter().sum::<f64>() / 3.0;
        assert!(weights[0] > 2.9 * mean, "{weights:?}");
        for weight in &weights[1..] {
            assert!((weight / mean / LEAST_WEIGHT - 1.0).abs() < 0.01, "{weights:?}");
        }
        // In the plane all weights add up to 2.
        let plane = LogDet::new(DMatrix::from_row_slice(2, 4, &[1.0, 0.0, 0.1, 0.0, 0.0, 1.0, 0.0, 0.1]));
        let weights = warm_start(&plane).unwrap();
        for weight in &weights[2..] {
            assert!((weight / 0.5 / LEAST_WEIGHT - 1.0).abs() < 0.01, "{weights:?}");
        }
    }

    /// Two columns at right angles have the weights 1 and 1, whatever lies between them.
    #[test]
    fn the_optimum_of_a_square_is_known() {
        let problem = LogDet::new(DMatrix::from_row_slice(2, 3, &[1.0, 0.0, 0.5, 0.0, 1.0, 0.5]));
        for start in [None, Some(vec![0.2, 3.0, 1.0])] {
            let found = solve(&problem, start, TARGET_GAP).unwrap();
            assert!(found.gap <= TARGET_GAP && found.steps < 30, "{} {}", found.gap, found.steps);
            let total = found.weights.iter().sum::<f64>();
            assert!((found.weights[0] / total - 0.5).abs() < 1e-6 && found.weights[2] / total < 1e-6);
        }
    }
}
