//! Large problems: the optimum over few columns, grown by those that it does not cover.

use nalgebra::DMatrix;

use super::interior_point::{self, Solution, TARGET_GAP};
use super::objective::WeightProblem;
use crate::linalg::{LinalgError, largest};

/// Up to so many columns the interior point takes all of them at once.
const SMALL: usize = 600;
/// Columns to begin with, times the rank; as many as the rank enter in each round.
const FIRST: usize = 3;
/// Most rounds.
const ROUNDS: usize = 60;
/// Rounds after which no column leaves any more, so that none comes and goes for ever.
const LEAVING: usize = 20;
/// The gap of a round's own problem, relative to that of the whole problem in the round before.
const SHARPER: f64 = 0.002;
/// A weight below this share of the mean leaves the set.
const NEGLIGIBLE: f64 = 1e-4;

/// Minimises over all `columns` (r x k) by a growing subset of them. The optimum over a subset, rescaled, is feasible for
/// all columns, and it is the optimum as soon as it covers them. Columns that it does not cover enter the subset,
/// those without weight leave it. The gap is that of the whole problem at every moment, so stopping early costs
/// noise and never privacy.
///
/// # Errors
/// [`LinalgError`] if the covariance is singular at the start.
pub(super) fn solve(problem: &dyn WeightProblem, columns: &DMatrix<f64>) -> Result<Solution, LinalgError> {
    let (rank, count) = columns.shape();
    if count <= SMALL.max(2 * FIRST * rank) {
        return interior_point::solve(problem, None, TARGET_GAP);
    }
    let mut active = first(columns);
    let mut best = Solution { weights: Vec::new(), gap: f64::INFINITY, steps: 0 };
    let (mut start, mut steps) = (None, 0);
    for round in 0..ROUNDS {
        let part = problem.restrict(&active);
        let target = if best.gap.is_finite() { (SHARPER * best.gap).max(TARGET_GAP) } else { 0.1 };
        let found = interior_point::solve(part.as_ref(), start.take(), target)?;
        steps += found.steps;
        let mut weights = vec![0.0; count];
        active.iter().zip(&found.weights).for_each(|(&at, &weight)| weights[at] = weight);
        let leverages = problem.evaluate(&weights)?;
        let gap = problem.gap(&weights, &leverages);
        if gap < best.gap {
            best = Solution { weights: weights.clone(), gap, steps };
        }
        let covered = largest(active.iter().map(|&i| leverages.leverages[i]));
        let entering = uncovered(&leverages.leverages, covered, &active, rank);
        let finished = target <= TARGET_GAP && (entering.is_empty() || found.gap > 0.5 * gap);
        if best.gap <= 2.0 * TARGET_GAP || finished {
            break;
        }
        let mean = found.weights.iter().sum::<f64>() / active.len() as f64;
        active.retain(|&i| round >= LEAVING || weights[i] > NEGLIGIBLE * mean);
        let kept = active.iter().map(|&i| weights[i]);
        start = Some(kept.chain(entering.iter().map(|_| 0.1 * mean)).collect());
        active.extend(entering);
    }
    Ok(best)
}

/// The columns with the largest leverages above that of the active ones, at most so many.
fn uncovered(leverages: &[f64], covered: f64, active: &[usize], most: usize) -> Vec<usize> {
    let mut found: Vec<usize> = (0..leverages.len()).filter(|&i| leverages[i] > covered).collect();
    found.retain(|i| !active.contains(i));
    found.sort_by(|&a, &b| leverages[b].total_cmp(&leverages[a]));
    found.truncate(most);
    found
}

/// As many columns as the rank that span the space (each the one farthest from the span of those before it), and the
/// longest of the others.
fn first(columns: &DMatrix<f64>) -> Vec<usize> {
    let (rank, count) = columns.shape();
    let mut rest = columns.clone();
    let mut chosen = Vec::with_capacity(FIRST * rank);
    let norms = |of: &DMatrix<f64>| of.column_iter().map(|c| c.norm_squared()).collect::<Vec<f64>>();
    let longest = |norms: &[f64], chosen: &[usize]| {
        let free = (0..count).filter(|i| !chosen.contains(i));
        free.max_by(|&a, &b| norms[a].total_cmp(&norms[b]))
    };
    let lengths = norms(columns);
    for _ in 0..rank {
        let Some(next) = longest(&norms(&rest), &chosen) else { break };
        let direction = rest.column(next).normalize();
        let along = rest.tr_mul(&direction);
        rest.ger(-1.0, &direction, &along, 1.0);
        chosen.push(next);
    }
    let mut others: Vec<usize> = (0..count).filter(|i| !chosen.contains(i)).collect();
    others.sort_by(|&a, &b| lengths[b].total_cmp(&lengths[a]));
    chosen.extend(others.into_iter().take((FIRST - 1) * rank));
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::cloaking::log_det::LogDet;
    use crate::privacy::cloaking::trace::Trace;

    /// The optimum is that of the interior point on all columns at once, for both objectives.
    #[test]
    fn the_optimum_is_that_of_all_columns_at_once() {
        let columns =
            DMatrix::from_fn(6, 700, |i, j| ((i * i + 1) as f64 * 0.37 * j as f64 + i as f64).sin());
        let problems: [Box<dyn WeightProblem>; 2] =
            [Box::new(LogDet::new(columns.clone())), Box::new(Trace::new(columns.clone()))];
        for problem in problems {
            let grown = solve(problem.as_ref(), &columns).unwrap();
            let whole = interior_point::solve(problem.as_ref(), None, TARGET_GAP).unwrap();
            assert!(grown.gap <= 1e-9 && whole.gap <= 1e-9, "{} {}", grown.gap, whole.gap);
            let volume = |weights: &[f64]| {
                let root = problem.root(weights).unwrap();
                let scale = problem.evaluate(weights).unwrap().largest();
                let m = root.tr_mul(&root) * scale;
                (m.clone().determinant().ln(), m.trace())
            };
            let (ours, theirs) = (volume(&grown.weights), volume(&whole.weights));
            assert!((ours.0 - theirs.0).abs() < 1e-4 && (ours.1 / theirs.1 - 1.0).abs() < 1e-4);
        }
    }
}
