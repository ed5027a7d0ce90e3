//! Privacy losses on a grid, rounded up so that the grid dominates a pair of distributions, or down so that
//! the pair dominates it. Rounding errors are bounded.

use super::pair::{DominatingPair, GridOutputRange};
use dpgp_number::normal_cdf;

/// A distribution of privacy losses under `P`: `masses[i]` at `(first + i) width`, the rest infinite or dropped.
#[derive(Debug, Clone)]
pub(super) struct DiscreteLossDistribution {
    pub first: i64,
    /// Nats.
    pub width: f64,
    pub masses: Vec<f64>,
    /// The mass of an infinite loss.
    pub infinite: f64,
}

impl DiscreteLossDistribution {
    /// The losses with their masses.
    pub fn losses_with_masses(&self) -> impl Iterator<Item = (f64, f64)> {
        let Self { first, width, .. } = *self;
        self.masses.iter().enumerate().map(move |(i, mass)| ((first + i as i64) as f64 * width, *mass))
    }

    /// Connects the dots: the masses `(p, q)` between neighbouring grid points are moved onto both, keeping their
    /// sums, `P` at `l + w` having `(p - q e^l) / (1 - e^-w)`. That spreads the likelihood ratio, so the pair dominates, and
    /// its hockey-stick divergence is exact at the grid points and linear in `e^epsilon` between them. Source: Doroshenko et
    /// al. 2022, Section 4. Below `low` losses are raised to the grid, above `high` to infinity; masses are raised by
    /// their rounding errors.
    pub fn discretise_dominating(pair: &DominatingPair, width: f64, range: GridOutputRange) -> Self {
        let first = (pair.loss(range.low) / width).floor() as i64;
        let last = (pair.loss(range.high) / width).ceil() as i64;
        let mut masses = vec![0.0; (last - first + 1).max(1) as usize];
        let mut cut = pair.masses_beyond(pair.point_at_loss(first as f64 * width));
        let bottom = pair.masses_beyond(f64::NEG_INFINITY).masses_between(&cut);
        masses[0] = bottom.p + bottom.p_error;
        for (i, loss) in (first..last).enumerate() {
            let next = pair.masses_beyond(pair.point_at_loss((loss + 1) as f64 * width));
            let cell = cut.masses_between(&next);
            let ratio = (loss as f64 * width).exp();
            // 1 - e^-w, which would cancel for narrow cells.
            let share = -(-width).exp_m1();
            let upper = ((cell.p - cell.q * ratio) / share).clamp(0.0, cell.p);
            // Raising masses can only raise a hockey-stick divergence, so rounding errors are added on both points.
            let error = (cell.p_error + ratio_rounding_error(cell, loss as f64 * width, ratio)) / share;
            masses[i] += cell.p - upper + error.min(cell.p + cell.p_error);
            masses[i + 1] += upper + error.min(cell.p + cell.p_error);
            cut = next;
        }
        let top = cut.masses_between(&pair.masses_beyond(f64::INFINITY));
        Self { first, width, masses, infinite: top.p + top.p_error }
    }
}

/// A bound on the rounding error of `q e^l`. An error of `e^l` is relative to it, and so is that of q to q: as a share
/// of p, which is not far from their product, neither grows with `e^l`.
fn ratio_rounding_error(cell: PairMasses, loss: f64, ratio: f64) -> f64 {
    ratio * (cell.q_error + cell.q * f64::EPSILON * (4.0 + loss.abs()))
}

/// Masses of one set under both distributions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PairMasses {
    pub p: f64,
    pub q: f64,
    /// A bound on the rounding error of `p`.
    pub p_error: f64,
    /// A bound on that of `q`. It is relative to `q`, which may be far less than `p`.
    pub q_error: f64,
}

/// A point with the masses beyond it, on its side of zero: they keep their relative accuracy.
#[derive(Debug, Clone, Copy)]
pub(super) struct MassesBeyondPoint {
    pub x: f64,
    pub beyond: PairMasses,
}

impl DominatingPair {
    /// The masses of both distributions beyond `x`, away from zero, with bounds on their rounding errors.
    pub fn masses_beyond(&self, x: f64) -> MassesBeyondPoint {
        let (p, q) = (mixture_tail_mass(self.p, 1.0, x, self.sd), mixture_tail_mass(self.q, -1.0, x, self.sd));
        let z = (x.abs() + 1.0) / self.sd;
        // A relative error of x becomes one of z^2 of the tail, whose logarithm falls as -z^2 / 2. At infinity nothing is
        // left, and nothing of it is wrong.
        let relative = if x.is_finite() { 4.0 * f64::EPSILON * (1.0 + z * z) } else { 0.0 };
        MassesBeyondPoint { x, beyond: PairMasses { p, q, p_error: relative * p, q_error: relative * q } }
    }
}

/// The mass of `(1 - rate) N(0, sd^2) + rate N(mean, sd^2)` beyond `x`, away from zero.
fn mixture_tail_mass(rate: f64, mean: f64, x: f64, sd: f64) -> f64 {
    (1.0 - rate) * normal_tail_mass(x, 0.0, sd) + rate * normal_tail_mass(x, mean, sd)
}

/// The mass of `N(mean, sd^2)` beyond `x`, away from zero.
fn normal_tail_mass(x: f64, mean: f64, sd: f64) -> f64 {
    let z = (x - mean) / sd;
    normal_cdf(if x < 0.0 { z } else { -z })
}

impl MassesBeyondPoint {
    /// The masses between this point and one above it.
    pub fn masses_between(&self, above: &Self) -> PairMasses {
        let (a, b) = (self.beyond, above.beyond);
        // Tails on one side are subtracted on that side: their complements would all round to 1.
        let (p, q, error) = match (self.x < 0.0, above.x < 0.0) {
            (true, true) => (b.p - a.p, b.q - a.q, 0.0),
            (false, false) => (a.p - b.p, a.q - b.q, 0.0),
            _ => (1.0 - a.p - b.p, 1.0 - a.q - b.q, f64::EPSILON),
        };
        let (p_error, q_error) = (a.p_error + b.p_error + error, a.q_error + b.q_error + error);
        PairMasses { p: p.max(0.0), q: q.max(0.0), p_error, q_error }
    }
}

/// How far above its grid point the loss of a cell is aimed, as a share of the grid width.
const AIM: f64 = 1e-5;

impl DiscreteLossDistribution {
    /// Merges points into cells whose own loss `ln(p/q)` is a grid point: by data processing a lower bound on every
    /// divergence. Each cell ends where its loss comes just above a grid point, and is then rounded down, so the
    /// bound holds however well that end was found. What is below `low` or uncertain is dropped.
    pub fn discretise_dominated(pair: &DominatingPair, width: f64, range: GridOutputRange) -> Self {
        let first = (pair.loss(range.low) / width).floor() as i64 - 1;
        let last = (pair.loss(range.high) / width).ceil() as i64 + 1;
        let mut masses = vec![0.0; (last - first + 2) as usize];
        let mut start = pair.masses_beyond(range.low);
        while start.x < range.high {
            let LossCell { end, masses: cell } = cell_with_grid_loss(pair, width, &start);
            // A smaller p and a larger q: whatever the rounding, the true cell has at least this mass and loss.
            let mass = cell.p - cell.p_error;
            let loss = (mass / (cell.q + cell.q_error)).ln() / width;
            if mass > 0.0 && loss.floor() as i64 >= first {
                let place = (loss.floor() as i64 - first).min(masses.len() as i64 - 1);
                masses[place as usize] += mass;
            }
            start = end;
        }
        Self { first, width, masses, infinite: 0.0 }
    }
}

/// A cell and the cut where it ends.
struct LossCell {
    end: MassesBeyondPoint,
    masses: PairMasses,
}

/// The end of the cell that starts at a cut, by secants in units of the loss. On a flat density the loss of a
/// cell is in its middle, so the end is as far above the grid point as the start is below.
fn cell_with_grid_loss(pair: &DominatingPair, width: f64, start: &MassesBeyondPoint) -> LossCell {
    let from = pair.loss(start.x) / width;
    let goal = (from + 0.125).floor() + 1.0;
    let mut end = 2.0 * goal - from + AIM;
    let mut slope = 0.5;
    let mut before: Option<(f64, f64)> = None;
    let mut best = cell_up_to_loss(pair, start, end * width);
    // A few secants: a cell that ends elsewhere gives a weaker bound, not a wrong one.
    for _ in 0..8 {
        let over = (best.masses.p / best.masses.q).ln() / width - goal;
        if !over.is_finite() || best.end.x == f64::INFINITY || (0.0..2.0 * AIM).contains(&over) {
            break;
        }
        if let Some((end_before, over_before)) = before {
            let secant = (over - over_before) / (end - end_before);
            slope = if secant.is_finite() { secant.clamp(0.02, 1.0) } else { slope };
        }
        before = Some((end, over));
        end = (end - (over - AIM) / slope).max(goal);
        best = cell_up_to_loss(pair, start, end * width);
    }
    best
}

/// The cell from a cut to a loss, or a little further where the loss lies below it.
fn cell_up_to_loss(pair: &DominatingPair, start: &MassesBeyondPoint, loss: f64) -> LossCell {
    let end = pair.masses_beyond(pair.point_at_loss(loss).max(start.x + 1e-9 * pair.sd));
    LossCell { end, masses: start.masses_between(&end) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NeighbourRelation, PrivacyEvent, Sampling, gaussian_delta};

    /// The hockey-stick divergence of losses on a grid.
    fn divergence(losses: &DiscreteLossDistribution, epsilon: f64) -> f64 {
        let over = losses.losses_with_masses().filter(|(loss, _)| *loss > epsilon);
        losses.infinite + over.map(|(loss, mass)| mass * -f64::exp_m1(epsilon - loss)).sum::<f64>()
    }

    const GAUSSIAN: DominatingPair = DominatingPair { p: 1.0, q: 0.0, sd: 2.0 };
    const RANGE: GridOutputRange = GridOutputRange { low: -14.0, high: 15.0 };

    /// Exact at grid points, linear in `e^epsilon` between them; beyond seven standard deviations lies less than 1e-11.
    #[test]
    fn dots_are_connected() {
        for width in [0.5, 0.125] {
            let losses = DiscreteLossDistribution::discretise_dominating(&GAUSSIAN, width, RANGE);
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
        let narrow =
            DiscreteLossDistribution::discretise_dominating(&GAUSSIAN, 0.25, GridOutputRange { low: 0.0, high: 1.0 });
        // The loss x / 4 - 1 / 8 is -1/8 to 1/8 there, which lies between -1/4 and 1/4, the losses of -1/2 and 3/2.
        assert_eq!((narrow.first, narrow.masses.len()), (-1, 3));
        let beyond = dpgp_number::normal_cdf(-0.25);
        assert!((narrow.infinite - beyond).abs() < 1e-14, "{}", narrow.infinite);
        assert!(narrow.masses[0] > dpgp_number::normal_cdf(-0.75));
    }

    /// `8 (1/4 + 1/2 u (4 + 3))` with the unit roundoff u.
    #[test]
    fn errors_are_those_of_both_factors() {
        let cell = PairMasses { p: 1.0, q: 0.5, p_error: 9.0, q_error: 0.25 };
        let more = ratio_rounding_error(cell, -3.0, 8.0) - 2.0;
        assert!((more / (28.0 * f64::EPSILON) - 1.0).abs() < 0.1, "{more:e}");
    }

    /// At x = -31.5 the loss is the grid point -8: nothing is between the ends, and the tail of `N(1, 4)` is raised by its error, which
    /// is `4 (1 + (32.5 / 2)^2)` units in the last place of it.
    #[test]
    fn the_bottom_is_raised_by_its_error() {
        let ends = DiscreteLossDistribution::discretise_dominating(
            &GAUSSIAN,
            0.125,
            GridOutputRange { low: -31.5, high: -31.5 },
        );
        assert_eq!((ends.first, ends.masses.len()), (-64, 1));
        let more = ends.masses[0] / dpgp_number::normal_cdf(-16.25) - 1.0;
        let error = 4.0 * f64::EPSILON * (1.0 + 16.25 * 16.25);
        assert!((more / error - 1.0).abs() < 0.3, "{more:e} {error:e}");
    }

    /// Where masses are small their errors can be told from them: both points of a cell are raised by no less than that of its mass.
    #[test]
    fn cells_are_raised_by_their_errors() {
        let width = 0.125;
        let losses = DiscreteLossDistribution::discretise_dominating(
            &GAUSSIAN,
            width,
            GridOutputRange { low: -30.0, high: -29.0 },
        );
        let cuts =
            [-61, -60, -59].map(|place| GAUSSIAN.masses_beyond(GAUSSIAN.point_at_loss(f64::from(place) * width)));
        assert_eq!((losses.first, losses.masses.len()), (-61, 3));
        let total: f64 = losses.masses.iter().sum();
        let cells = [cuts[0].masses_between(&cuts[1]), cuts[1].masses_between(&cuts[2])];
        let errors: f64 = cells.iter().map(|cell| cell.p_error).sum();
        assert!(total - cuts[2].beyond.p > 2.0 * errors / -f64::exp_m1(-width), "{total:e} {errors:e}");
    }

    /// Above x = 32.5, where the loss is the grid point 8, the mass is infinite and raised alike.
    #[test]
    fn what_lies_above_is_raised_by_its_error() {
        let ends = DiscreteLossDistribution::discretise_dominating(
            &GAUSSIAN,
            0.125,
            GridOutputRange { low: 32.5, high: 32.5 },
        );
        let more = ends.infinite / dpgp_number::normal_cdf(-15.75) - 1.0;
        let error = 4.0 * f64::EPSILON * (1.0 + 16.75 * 16.75);
        assert!((more / error - 1.0).abs() < 0.3, "{more:e} {error:e}");
    }

    fn pairs() -> Vec<DominatingPair> {
        let mut pairs = Vec::new();
        for rate in [0.1, 0.999, 1.0] {
            let event = PrivacyEvent { noise_multiplier: 0.8, sampling: Sampling::Poisson { rate }, steps: 1 };
            for relation in [NeighbourRelation::AddRemove, NeighbourRelation::ReplaceOne] {
                pairs.extend(DominatingPair::pairs_of_event(&event, relation).unwrap());
            }
        }
        pairs
    }

    #[test]
    fn masses_are_densities_integrated() {
        for pair in pairs() {
            for (low, high) in [(-1.3, -1.299), (-0.0004, 0.0006), (2.5, 2.501)] {
                let masses = pair.masses_beyond(low).masses_between(&pair.masses_beyond(high));
                let middle = 0.5 * (low + high);
                let loss = (masses.p / masses.q).ln();
                assert!((loss - pair.loss(middle)).abs() < 1e-5, "{pair:?} {low}: {loss}");
                let (p, q) = (masses.p_error / masses.p, masses.q_error / masses.q);
                assert!(p.max(q) < 1e-10, "{masses:?}");
            }
            let all = pair.masses_beyond(f64::NEG_INFINITY).masses_between(&pair.masses_beyond(f64::INFINITY));
            assert_eq!((all.p, all.q), (1.0, 1.0));
        }
    }

    fn relative_errors(MassesBeyondPoint { beyond, .. }: &MassesBeyondPoint) -> [f64; 2] {
        [beyond.p_error / beyond.p, beyond.q_error / beyond.q]
    }

    /// At x = 3 the tail is `(1 + 1)^2 = 4` and 1 more times four units in the last place wrong; errors of both ends add up, and one
    /// where their tails lie on different sides.
    #[test]
    fn errors_grow_with_the_tail() {
        let pair = DominatingPair { p: 1.0, q: 0.0, sd: 2.0 };
        let (low, high) = (pair.masses_beyond(-1.0), pair.masses_beyond(3.0));
        for (cut, squares) in [(&low, 2.0), (&high, 5.0)] {
            assert!(
                relative_errors(cut).iter().all(|error| (error / (4.0 * squares * f64::EPSILON) - 1.0).abs() < 1e-12)
            );
        }
        let middle = low.masses_between(&high);
        assert_eq!(middle.p_error, low.beyond.p_error + high.beyond.p_error + f64::EPSILON);
        assert_eq!(middle.q_error, low.beyond.q_error + high.beyond.q_error + f64::EPSILON);
        let tail = high.masses_between(&pair.masses_beyond(5.0));
        assert_eq!(tail.q_error, high.beyond.q_error + pair.masses_beyond(5.0).beyond.q_error);
        // P is N(1, 4), Q is N(0, 4).
        assert!((high.beyond.p - normal_cdf(-1.0)).abs() < 1e-15 && (high.beyond.q - normal_cdf(-1.5)).abs() < 1e-15);
        assert!((low.beyond.p - normal_cdf(-1.0)).abs() < 1e-15 && (low.beyond.q - normal_cdf(-0.5)).abs() < 1e-15);
    }

    /// The loss of a cell is just above the grid point that it is rounded down to, wherever the cell starts.
    #[test]
    fn cells_end_just_above_a_grid_point() {
        for (sd, width) in [(2.0, 0.06), (0.7, 0.15)] {
            let pair = DominatingPair { p: 1.0, q: 0.0, sd };
            for place in -30..30 {
                let start = pair.masses_beyond(0.1 * sd * f64::from(place) + 0.013);
                let goal = (pair.loss(start.x) / width + 0.125).floor() + 1.0;
                let LossCell { end, masses } = cell_with_grid_loss(&pair, width, &start);
                let over = (masses.p / masses.q).ln() / width - goal;
                assert!(end.x > start.x && (0.0..3.0 * AIM).contains(&over), "{sd} {place}: {over}");
            }
        }
    }

    /// Never above the divergence, and not far below on a fine grid.
    #[test]
    fn divergences_are_bounded_from_below() {
        let pair = DominatingPair { p: 1.0, q: 0.0, sd: 2.0 };
        let losses =
            DiscreteLossDistribution::discretise_dominated(&pair, 0.02, GridOutputRange { low: -14.0, high: 15.0 });
        for place in -40..80 {
            let epsilon = 0.02 * f64::from(place);
            let over = losses.losses_with_masses().filter(|(loss, _)| *loss > epsilon);
            let found = over.map(|(loss, mass)| mass * -f64::exp_m1(epsilon - loss)).sum::<f64>();
            let exact = gaussian_delta(pair.sd, epsilon);
            assert!(found <= exact && found > exact - 1e-3, "{epsilon}: {found} {exact}");
        }
        let all = losses.masses.iter().sum::<f64>();
        assert!(all <= 1.0 && all > 1.0 - 1e-9 && losses.infinite == 0.0, "{all}");
    }

    /// Where Q has no mass that is a number the first cell is taken as it is: it ends as far above a grid point as it starts below.
    #[test]
    fn infinite_losses_are_not_searched_for() {
        let (pair, width) = (DominatingPair { p: 1.0, q: 0.0, sd: 0.125 }, 0.35);
        let start = pair.masses_beyond(5.0);
        let LossCell { end, masses } = cell_with_grid_loss(&pair, width, &start);
        assert!(masses.p > 0.0 && masses.q == 0.0);
        // (5 - 0.5) / 0.125^2 = 288 is 822.86 widths.
        let aimed = pair.point_at_loss(width * (2.0 * 823.0 - 288.0 / width + AIM));
        assert!((end.x - aimed).abs() < 1e-12, "{} {aimed}", end.x);
    }

    /// The grid begins a point below the loss of the range, where rounding may put the first cell.
    #[test]
    fn grids_begin_below_the_range() {
        let pair = DominatingPair { p: 1.0, q: 0.0, sd: 2.0 };
        // (-14 - 1/2) / 4 = -3.625 and (15 - 1/2) / 4 = 3.625, in widths of a half.
        let losses =
            DiscreteLossDistribution::discretise_dominated(&pair, 0.5, GridOutputRange { low: -14.0, high: 15.0 });
        assert_eq!((losses.first, losses.masses.len()), (-9, 20));
    }
}
