//! Privacy losses on a grid, from above: the pair they belong to dominates.

use super::cut::Masses;
use super::pair::{DominatingPair, Range};

/// A distribution of privacy losses under `P`: `masses[i]` at `(first + i) width`, the rest infinite or dropped.
#[derive(Debug, Clone)]
pub(super) struct Discrete {
    pub first: i64,
    /// Nats.
    pub width: f64,
    pub masses: Vec<f64>,
    /// The mass of an infinite loss.
    pub infinite: f64,
}

impl Discrete {
    /// The losses with their masses.
    pub fn losses(&self) -> impl Iterator<Item = (f64, f64)> {
        let Self { first, width, .. } = *self;
        self.masses.iter().enumerate().map(move |(i, mass)| ((first + i as i64) as f64 * width, *mass))
    }

    /// Connects the dots: the masses `(p, q)` between neighbouring grid points are moved onto both, keeping their
    /// sums, `P` at `l + w` having `(p - q e^l) / (1 - e^-w)`. That spreads the likelihood ratio, so the pair dominates, and
    /// its hockey-stick divergence is exact at the grid points and linear in `e^epsilon` between them. Source: Doroshenko et
    /// al. 2022, Section 4. Below `low` losses are raised to the grid, above `high` to infinity; masses are raised by
    /// their rounding errors.
    pub fn dominating(pair: &DominatingPair, width: f64, range: Range) -> Self {
        let first = (pair.loss(range.low) / width).floor() as i64;
        let last = (pair.loss(range.high) / width).ceil() as i64;
        let mut masses = vec![0.0; (last - first + 1).max(1) as usize];
        let mut cut = pair.cut(pair.point(first as f64 * width));
        let bottom = pair.cut(f64::NEG_INFINITY).to(&cut);
        masses[0] = bottom.p + bottom.p_error;
        for (i, loss) in (first..last).enumerate() {
            let next = pair.cut(pair.point((loss + 1) as f64 * width));
            let cell = cut.to(&next);
            let ratio = (loss as f64 * width).exp();
            // 1 - e^-w, which would cancel for narrow cells.
            let share = -(-width).exp_m1();
            let upper = ((cell.p - cell.q * ratio) / share).clamp(0.0, cell.p);
            // Raising masses can only raise a hockey-stick divergence, so rounding errors are added on both points.
            let error = (cell.p_error + raised_error(cell, loss as f64 * width, ratio)) / share;
            masses[i] += cell.p - upper + error.min(cell.p + cell.p_error);
            masses[i + 1] += upper + error.min(cell.p + cell.p_error);
            cut = next;
        }
        let top = cut.to(&pair.cut(f64::INFINITY));
        Self { first, width, masses, infinite: top.p + top.p_error }
    }
}

/// A bound on the rounding error of `q e^l`. An error of `e^l` is relative to it, and so is that of q to q: as a share
/// of p, which is not far from their product, neither grows with `e^l`.
fn raised_error(cell: Masses, loss: f64, ratio: f64) -> f64 {
    ratio * (cell.q_error + cell.q * f64::EPSILON * (4.0 + loss.abs()))
}
