//! Privacy losses on a grid, from below: the pair they belong to is dominated.

use super::cut::{Cut, Masses};
use super::discrete::Discrete;
use super::pair::{DominatingPair, Range};

/// How far above its grid point the loss of a cell is aimed, as a share of the grid width.
const AIM: f64 = 1e-5;

impl Discrete {
    /// Merges points into cells whose own loss `ln(p/q)` is a grid point: by data processing a lower bound on every
    /// divergence. Each cell ends where its loss comes just above a grid point, and is then rounded down, so the
    /// bound holds however well that end was found. What is below `low` or uncertain is dropped.
    pub fn dominated(pair: &DominatingPair, width: f64, range: Range) -> Self {
        let first = (pair.loss(range.low) / width).floor() as i64 - 1;
        let last = (pair.loss(range.high) / width).ceil() as i64 + 1;
        let mut masses = vec![0.0; (last - first + 2) as usize];
        let mut start = pair.cut(range.low);
        while start.x < range.high {
            let LossCell { end, masses: cell } = end_of_cell(pair, width, &start);
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
    end: Cut,
    masses: Masses,
}

/// The end of the cell that starts at a cut, by secants in units of the loss. On a flat density the loss of a
/// cell is in its middle, so the end is as far above the grid point as the start is below.
fn end_of_cell(pair: &DominatingPair, width: f64, start: &Cut) -> LossCell {
    let from = pair.loss(start.x) / width;
    let goal = (from + 0.125).floor() + 1.0;
    let mut end = 2.0 * goal - from + AIM;
    let mut slope = 0.5;
    let mut before: Option<(f64, f64)> = None;
    let mut best = cell(pair, start, end * width);
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
        best = cell(pair, start, end * width);
    }
    best
}

/// The cell from a cut to a loss, or a little further where the loss lies below it.
fn cell(pair: &DominatingPair, start: &Cut, loss: f64) -> LossCell {
    let end = pair.cut(pair.point(loss).max(start.x + 1e-9 * pair.sd));
    LossCell { end, masses: start.to(&end) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gaussian_delta;

    /// The loss of a cell is just above the grid point that it is rounded down to, wherever the cell starts.
    #[test]
    fn cells_end_just_above_a_grid_point() {
        for (sd, width) in [(2.0, 0.06), (0.7, 0.15)] {
            let pair = DominatingPair { p: 1.0, q: 0.0, sd };
            for place in -30..30 {
                let start = pair.cut(0.1 * sd * f64::from(place) + 0.013);
                let goal = (pair.loss(start.x) / width + 0.125).floor() + 1.0;
                let LossCell { end, masses } = end_of_cell(&pair, width, &start);
                let over = (masses.p / masses.q).ln() / width - goal;
                assert!(end.x > start.x && (0.0..3.0 * AIM).contains(&over), "{sd} {place}: {over}");
            }
        }
    }

    /// Never above the divergence, and not far below on a fine grid.
    #[test]
    fn divergences_are_bounded_from_below() {
        let pair = DominatingPair { p: 1.0, q: 0.0, sd: 2.0 };
        let losses = Discrete::dominated(&pair, 0.02, Range { low: -14.0, high: 15.0 });
        for place in -40..80 {
            let epsilon = 0.02 * f64::from(place);
            let over = losses.losses().filter(|(loss, _)| *loss > epsilon);
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
        let start = pair.cut(5.0);
        let LossCell { end, masses } = end_of_cell(&pair, width, &start);
        assert!(masses.p > 0.0 && masses.q == 0.0);
        // (5 - 0.5) / 0.125^2 = 288 is 822.86 widths.
        let aimed = pair.point(width * (2.0 * 823.0 - 288.0 / width + AIM));
        assert!((end.x - aimed).abs() < 1e-12, "{} {aimed}", end.x);
    }

    /// The grid begins a point below the loss of the range, where rounding may put the first cell.
    #[test]
    fn grids_begin_below_the_range() {
        let pair = DominatingPair { p: 1.0, q: 0.0, sd: 2.0 };
        // (-14 - 1/2) / 4 = -3.625 and (15 - 1/2) / 4 = 3.625, in widths of a half.
        let losses = Discrete::dominated(&pair, 0.5, Range { low: -14.0, high: 15.0 });
        assert_eq!((losses.first, losses.masses.len()), (-9, 20));
    }
}
