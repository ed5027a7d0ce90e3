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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gaussian_delta;

    /// The hockey-stick divergence of losses on a grid.
    fn divergence(losses: &Discrete, epsilon: f64) -> f64 {
        let over = losses.losses().filter(|(loss, _)| *loss > epsilon);
        losses.infinite + over.map(|(loss, mass)| mass * -f64::exp_m1(epsilon - loss)).sum::<f64>()
    }

    const GAUSSIAN: DominatingPair = DominatingPair { p: 1.0, q: 0.0, sd: 2.0 };
    const RANGE: Range = Range { low: -14.0, high: 15.0 };

    /// Exact at grid points, linear in `e^epsilon` between them; beyond seven standard deviations lies less than 1e-11.
    #[test]
    fn dots_are_connected() {
        for width in [0.5, 0.125] {
            let losses = Discrete::dominating(&GAUSSIAN, width, RANGE);
            for place in -4..8 {
                let (low, high) = (f64::from(place) * width, f64::from(place + 1) * width);
                let ends = [low, high].map(|epsilon| divergence(&losses, epsilon));
                let exact = gaussian_delta(GAUSSIAN.sd, low);
                assert!((0.0..1e-11).contains(&(ends[0] - exact)), "{width} {low}: {} {exact}", ends[0]);
                let between = (0.5 * (low.exp() + high.exp())).ln();
                let chord = divergence(&losses, between) - 0.5 * (ends[0] + ends[1]);
                assert!(chord.abs() < 1e-12, "{width} {low}: {chord}");
            }
            let all = losses.masses.iter().sum::<f64>() + losses.infinite;
            assert!((0.0..1e-11).contains(&(all - 1.0)), "{all}");
        }
    }

    /// Losses below the range are raised to the first point, those above are infinite.
    #[test]
    fn ends_are_raised() {
        let narrow = Discrete::dominating(&GAUSSIAN, 0.25, Range { low: 0.0, high: 1.0 });
        // The loss x / 4 - 1 / 8 is -1/8 to 1/8 there, which lies between -1/4 and 1/4, the losses of -1/2 and 3/2.
        assert_eq!((narrow.first, narrow.masses.len()), (-1, 3));
        let beyond = dpgp_number::normal_cdf(-0.25);
        assert!((narrow.infinite - beyond).abs() < 1e-14, "{}", narrow.infinite);
        assert!(narrow.masses[0] > dpgp_number::normal_cdf(-0.75));
    }

    /// `8 (1/4 + 1/2 u (4 + 3))` with the unit roundoff u.
    #[test]
    fn errors_are_those_of_both_factors() {
        let cell = Masses { p: 1.0, q: 0.5, p_error: 9.0, q_error: 0.25 };
        let more = raised_error(cell, -3.0, 8.0) - 2.0;
        assert!((more / (28.0 * f64::EPSILON) - 1.0).abs() < 0.1, "{more:e}");
    }

    /// At x = -31.5 the loss is the grid point -8: nothing is between the ends, and the tail of `N(1, 4)` is raised by its error, which
    /// is `4 (1 + (32.5 / 2)^2)` units in the last place of it.
    #[test]
    fn the_bottom_is_raised_by_its_error() {
        let ends = Discrete::dominating(&GAUSSIAN, 0.125, Range { low: -31.5, high: -31.5 });
        assert_eq!((ends.first, ends.masses.len()), (-64, 1));
        let more = ends.masses[0] / dpgp_number::normal_cdf(-16.25) - 1.0;
        let error = 4.0 * f64::EPSILON * (1.0 + 16.25 * 16.25);
        assert!((more / error - 1.0).abs() < 0.3, "{more:e} {error:e}");
    }

    /// Where masses are small their errors can be told from them: both points of a cell are raised by no less than that of its mass.
    #[test]
    fn cells_are_raised_by_their_errors() {
        let width = 0.125;
        let losses = Discrete::dominating(&GAUSSIAN, width, Range { low: -30.0, high: -29.0 });
        let cuts = [-61, -60, -59].map(|place| GAUSSIAN.cut(GAUSSIAN.point(f64::from(place) * width)));
        assert_eq!((losses.first, losses.masses.len()), (-61, 3));
        let total: f64 = losses.masses.iter().sum();
        let cells = [cuts[0].to(&cuts[1]), cuts[1].to(&cuts[2])];
        let errors: f64 = cells.iter().map(|cell| cell.p_error).sum();
        assert!(total - cuts[2].beyond.p > 2.0 * errors / -f64::exp_m1(-width), "{total:e} {errors:e}");
    }

    /// Above x = 32.5, where the loss is the grid point 8, the mass is infinite and raised alike.
    #[test]
    fn what_lies_above_is_raised_by_its_error() {
        let ends = Discrete::dominating(&GAUSSIAN, 0.125, Range { low: 32.5, high: 32.5 });
        let more = ends.infinite / dpgp_number::normal_cdf(-15.75) - 1.0;
        let error = 4.0 * f64::EPSILON * (1.0 + 16.75 * 16.75);
        assert!((more / error - 1.0).abs() < 0.3, "{more:e} {error:e}");
    }
}
