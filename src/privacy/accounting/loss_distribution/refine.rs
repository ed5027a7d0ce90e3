//! Enclosures of epsilon or delta on ever finer grids.

use super::composed::Composed;
use super::crossing::{greatest_epsilon, least_epsilon};
use super::cumulant::Sum;
use super::discrete::Discrete;
use super::pair::Pair;
use crate::linalg::normal_pdf;

/// What is given.
#[derive(Debug, Clone, Copy)]
pub(super) enum Target {
    /// Epsilon is asked for.
    Delta(f64),
    /// Delta is asked for.
    Epsilon(f64),
}

/// Where the grid would reach beyond this log likelihood ratio of the components, a step reveals everything: no numbers
/// are attempted, which would overflow.
const MOST: f64 = 300.0;
/// Cells per standard deviation of the loss of one step, at first.
const CELLS: f64 = 8.0;
/// How often the grid is refined.
const REFINEMENTS: u32 = 6;
/// The most points of a grid.
const POINTS: usize = 1 << 21;

/// Deltas below this are not told apart.
const LEAST_DELTA: f64 = 1e-18;

/// Bounds (lower, upper) of what is asked for; they need not be close if they do not reach `enough`.
pub(super) fn enclose(
    pair: &Pair,
    steps: u32,
    target: Target,
    (tolerance, enough): (f64, f64),
) -> (f64, f64) {
    let mut best = match target {
        Target::Delta(_) => (0.0, f64::INFINITY),
        Target::Epsilon(_) => (0.0, 1.0),
    };
    let range = range(pair, steps, target);
    if (range.1 - 0.5) / pair.sd().powi(2) > MOST {
        return best;
    }
    let deviation = deviation(pair);
    let extent = 4.0 * (pair.loss(range.1) - pair.loss(range.0));
    let least = extent.max(32.0 * deviation * f64::from(steps).sqrt()) / POINTS as f64;
    let mut width = (deviation / CELLS).max(least);
    for _ in 0..REFINEMENTS {
        let (lower, upper) = bounds(pair, steps, target, (width, range));
        best = (f64::max(best.0, lower), f64::min(best.1, upper));
        let excess = excess(best, target, tolerance);
        if excess <= 1.0 || width == least || best.1 <= enough {
            break;
        }
        width = (width * (0.8 / excess.sqrt()).max(0.125)).max(least);
    }
    best
}

/// The distance of the bounds in units of the tolerance; it falls with the square of the grid width. A relative error
/// of delta is several times that of epsilon.
fn excess((lower, upper): (f64, f64), target: Target, tolerance: f64) -> f64 {
    let factor = match target {
        Target::Delta(_) => 1.0,
        Target::Epsilon(_) if upper < LEAST_DELTA => return 0.0,
        Target::Epsilon(_) => 5.0,
    };
    if upper > lower { (upper - lower) / (factor * tolerance * upper) } else { 0.0 }
}

/// The part of the line that the grid covers: what is beyond has `P`-mass at most `e^(-z^2 / 2)` on each side.
fn range(pair: &Pair, steps: u32, target: Target) -> (f64, f64) {
    let delta = match target {
        Target::Delta(delta) => delta,
        Target::Epsilon(_) => LEAST_DELTA,
    };
    let z = (2.0 * (f64::from(steps) / (1e-7 * delta)).ln()).sqrt();
    (-z * pair.sd(), 1.0 + z * pair.sd())
}

/// The standard deviation of the loss under `N(0, s^2)`.
fn deviation(pair: &Pair) -> f64 {
    let nodes = (-80..=80).map(|i| 0.05 * f64::from(i));
    let weighted = nodes.map(|z| (0.05 * normal_pdf(z), pair.loss(pair.sd() * z)));
    let (mean, square) = weighted.fold((0.0, 0.0), |(m, s), (w, loss)| (m + w * loss, s + w * loss * loss));
    (square - mean * mean).max(0.0).sqrt()
}

fn bounds(pair: &Pair, steps: u32, target: Target, (width, range): (f64, (f64, f64))) -> (f64, f64) {
    let (above, below) = (Discrete::dominating(pair, width, range), Discrete::dominated(pair, width, range));
    let (above, below) = (Sum::new(&above, steps), Sum::new(&below, steps));
    let tilt = match target {
        Target::Delta(delta) => above.tilt_for_delta(delta),
        Target::Epsilon(epsilon) => above.tilt_for_mean(epsilon),
    };
    let compose = |sum: &Sum<'_>| Composed::new(sum, tilt, POINTS);
    match (target, compose(&above), compose(&below)) {
        (Target::Epsilon(epsilon), above, below) => {
            (below.map_or(0.0, |c| c.lower(epsilon)), above.map_or(1.0, |c| c.upper(epsilon)))
        }
        (Target::Delta(delta), Some(above), below) => {
            let upper = least_epsilon(&above, delta);
            (below.map_or(0.0, |c| greatest_epsilon(&c, delta, upper)), upper)
        }
        (Target::Delta(_), None, _) => (0.0, f64::INFINITY),
    }
}
