//! Privacy losses on a grid, from below: the pair they belong to is dominated.

use super::discrete::Discrete;
use super::edge::{Edge, Masses};
use super::pair::Pair;

/// How far above its grid point the loss of a cell is aimed, as a share of the grid width.
const AIM: f64 = 1e-5;

impl Discrete {
    /// Merges points into cells whose own loss `ln(p/q)` is a grid point: by data processing a lower bound on every
    /// divergence. Each cell ends where its loss comes just above a grid point, and is then rounded down, so the
    /// bound holds however well that end was found. What is below `low` or uncertain is dropped.
    pub fn dominated(pair: &Pair, width: f64, (low, high): (f64, f64)) -> Self {
        let first = (pair.loss(low) / width).floor() as i64 - 1;
        let last = (pair.loss(high) / width).ceil() as i64 + 1;
        let mut masses = vec![0.0; (last - first + 2) as usize];
        let mut edge = pair.edge(low);
        while edge.x < high {
            let (next, cell) = end_of_cell(pair, width, &edge);
            let mass = cell.p - cell.error;
            let loss = ((cell.p - cell.error) / (cell.q + cell.error)).ln() / width;
            if mass > 0.0 && loss.floor() as i64 >= first {
                let place = (loss.floor() as i64 - first).min(masses.len() as i64 - 1);
                masses[place as usize] += mass;
            }
            edge = next;
        }
        Self { first, width, masses, infinite: 0.0 }
    }
}

/// The end of the cell that starts at an edge, by secants in units of the loss. On a flat density the loss of a
/// cell is in its middle, so the end is as far above the grid point as the start is below.
fn end_of_cell(pair: &Pair, width: f64, start: &Edge) -> (Edge, Masses) {
    let from = pair.loss(start.x) / width;
    let goal = (from + 0.125).floor() + 1.0;
    let mut end = 2.0 * goal - from + AIM;
    let mut slope = 0.5;
    let mut before: Option<(f64, f64)> = None;
    let mut best = cell(pair, start, end * width);
    for _ in 0..8 {
        let over = (best.1.p / best.1.q).ln() / width - goal;
        if !over.is_finite() || best.0.x == f64::INFINITY || (0.0..2.0 * AIM).contains(&over) {
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

fn cell(pair: &Pair, start: &Edge, loss: f64) -> (Edge, Masses) {
    let end = pair.edge(pair.point(loss).max(start.x + 1e-9 * pair.sd()));
    let masses = start.to(&end);
    (end, masses)
}
