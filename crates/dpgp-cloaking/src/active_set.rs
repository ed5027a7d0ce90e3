//! Large problems: the optimum over few columns, extended by the columns that it does not cover.

use nalgebra::DMatrix;

use super::interior_point::{self, TARGET_GAP, WeightSolution};
use super::options::{LeverageEvaluation, WeightProblem};
use dpgp_linalg::{LinalgError, gram, largest_or_nan};

/// Up to so many columns the interior point takes all of them at once, and so many times the rank.
const SMALL: usize = 600;
const SMALL_PER_RANK: usize = 5;
/// Most rounds.
const ROUNDS: usize = 60;
/// The gap of the first round's own problem.
const FIRST_GAP: f64 = 0.1;
/// The gap of a round's own problem, relative to that of the whole problem in the round before.
const SHARPER: f64 = 0.002;
/// A weight below this share of the mean leaves the set.
const NEGLIGIBLE: f64 = 1e-4;
/// The weight of a column that enters, as a share of the mean.
const ENTRY_WEIGHT: f64 = 0.1;

/// Minimises over all columns by a changing subset of them. The optimum over a subset, rescaled, is feasible for
/// all columns, and it is the optimum as soon as it covers them. Columns that it does not cover enter the subset,
/// those without weight leave it, and one that comes back stays, so that none comes and goes for ever. The gap is that of the whole problem at every moment, so stopping early costs
/// noise and never privacy. A round over all columns costs no more than their leverages.
///
/// # Errors
/// [`LinalgError`] if the covariance is singular at the start.
pub(super) fn solve_by_active_set(problem: &dyn WeightProblem) -> Result<WeightSolution, LinalgError> {
    let (rank, count) = problem.columns().shape();
    let at_once = SMALL.max(SMALL_PER_RANK * rank);
    if count <= at_once {
        return interior_point::solve_by_interior_point(problem, None, TARGET_GAP);
    }
    let mut active = initial_columns(problem, at_once);
    let mut best = WeightSolution { weights: Vec::new(), gap: f64::INFINITY, steps: 0 };
    let (mut start, mut steps) = (None, 0);
    let (mut was_active, mut stays) = (vec![false; count], vec![false; count]);
    for _ in 0..ROUNDS {
        let target = if best.gap.is_finite() { (SHARPER * best.gap).max(TARGET_GAP) } else { FIRST_GAP };
        let found = interior_point::solve_by_interior_point(problem.restrict(&active).as_ref(), start.take(), target)?;
        steps += found.steps;
        let mut weights = vec![0.0; count];
        active.iter().zip(&found.weights).for_each(|(&at, &weight)| weights[at] = weight);
        // The gap of the whole problem: the best is kept by it, however the subsets were chosen.
        let at = problem.evaluate(&weights)?;
        let gap = problem.gap(&weights, &at);
        if gap < best.gap {
            best = WeightSolution { weights: weights.clone(), gap, steps };
        }
        // No more than an optimum needs: weights that are right for the others are far off beside many that are new.
        let entering = select_distinct_directions(&at, uncovered_columns(&at, &active), rank);
        let finished = target <= TARGET_GAP && (entering.is_empty() || found.gap > 0.5 * gap);
        if best.gap <= 2.0 * TARGET_GAP || finished {
            break;
        }
        let mean = found.weights.iter().sum::<f64>() / active.len() as f64;
        active.iter().for_each(|&i| was_active[i] = true);
        entering.iter().for_each(|&i| stays[i] = was_active[i]);
        let kept = active.iter().copied().filter(|&i| stays[i] || weights[i] > NEGLIGIBLE * mean);
        let kept: Vec<usize> = kept.collect();
        if has_full_rank(problem, &kept, &weights) {
            active = kept;
        }
        // The next round starts where this one ended, with a little weight on the columns that enter.
        let kept = active.iter().map(|&i| weights[i]);
        start = Some(kept.chain(entering.iter().map(|_| ENTRY_WEIGHT * mean)).collect());
        active.extend(entering);
    }
    Ok(best)
}

/// Columns to begin with: at equal distances in their order, with some that span the space where those do not.
fn initial_columns(problem: &dyn WeightProblem, count: usize) -> Vec<usize> {
    let mut chosen = evenly_spaced_indices(problem.columns().ncols(), count);
    if problem.restrict(&chosen).evaluate(&vec![1.0; chosen.len()]).is_err() {
        chosen.extend(spanning_columns(problem.columns()));
        chosen.sort_unstable();
        chosen.dedup();
    }
    chosen
}

/// Whether columns with these weights span the space: the smallest directions may be held by the smallest weights.
fn has_full_rank(problem: &dyn WeightProblem, columns: &[usize], weights: &[f64]) -> bool {
    let weights: Vec<f64> = columns.iter().map(|&i| weights[i]).collect();
    problem.restrict(columns).evaluate(&weights).is_ok()
}

/// The other columns with leverages above those of the active ones, largest first.
fn uncovered_columns(at: &LeverageEvaluation, active: &[usize]) -> Vec<usize> {
    let covered = largest_or_nan(active.iter().map(|&i| at.leverages[i]));
    let mut is_active = vec![false; at.leverages.len()];
    active.iter().for_each(|&i| is_active[i] = true);
    let mut found: Vec<usize> = (0..is_active.len()).filter(|&i| !is_active[i] && at.leverages[i] > covered).collect();
    found.sort_by(|&a, &b| at.leverages[b].total_cmp(&at.leverages[a]));
    found
}

/// Two columns crowd when the squared cosine between them is above this.
const CROWDED: f64 = 0.9;
/// Columns among which those that enter are chosen, for each that may enter.
const CANDIDATES: usize = 3;

/// At most `most` of the `candidates` (best first), no two of which nearly point the same way in the metric of the
/// noise: smooth maps have many columns that are nearly alike, and a bound on one of them all but covers the others.
pub(super) fn select_distinct_directions(
    at: &LeverageEvaluation,
    mut candidates: Vec<usize>,
    most: usize,
) -> Vec<usize> {
    candidates.truncate(CANDIDATES * most);
    let products = gram(&at.coordinates.select_columns(&candidates));
    let mut chosen: Vec<usize> = Vec::new();
    for i in 0..candidates.len() {
        if chosen.len() < most && !chosen.iter().any(|&j| is_nearly_parallel(&products, i, j)) {
            chosen.push(i);
        }
    }
    chosen.into_iter().map(|i| candidates[i]).collect()
}

/// Whether two columns nearly point the same way, by all inner products of columns.
fn is_nearly_parallel(products: &DMatrix<f64>, i: usize, j: usize) -> bool {
    products[(i, j)].powi(2) > CROWDED * products[(i, i)] * products[(j, j)]
}

/// At most `count` columns at equal distances in their order.
pub(super) fn evenly_spaced_indices(columns: usize, count: usize) -> Vec<usize> {
    (0..columns).step_by(columns.div_ceil(count.max(1)).max(1)).collect()
}

/// As many columns (r x k) as the rank that span the space: each the one farthest from the span of those before it.
pub(super) fn spanning_columns(columns: &DMatrix<f64>) -> Vec<usize> {
    let mut rest = columns.clone();
    let mut chosen = Vec::new();
    for _ in 0..columns.nrows().min(columns.ncols()) {
        let lengths = rest.column_iter().map(|column| column.norm_squared()).enumerate();
        let Some((next, _)) = lengths.max_by(|a, b| a.1.total_cmp(&b.1)) else { break };
        // One step of Gram and Schmidt on all columns at once.
        let direction = rest.column(next).normalize();
        let along = rest.tr_mul(&direction);
        rest.ger(-1.0, &direction, &along, 1.0);
        rest.column_mut(next).fill(0.0);
        chosen.push(next);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;
    use crate::objective::{LogDetProblem, TraceProblem};

    /// The optimum is that of the interior point on all columns at once, for both objectives.
    #[test]
    fn the_optimum_is_that_of_all_columns_at_once() {
        let columns = DMatrix::from_fn(6, 700, |i, j| ((i * i + 1) as f64 * 0.37 * j as f64 + i as f64).sin());
        let problems: [Box<dyn WeightProblem>; 2] =
            [Box::new(LogDetProblem::new(columns.clone())), Box::new(TraceProblem::new(columns.clone()))];
        for problem in problems {
            let grown = solve_by_active_set(problem.as_ref()).unwrap();
            let whole = interior_point::solve_by_interior_point(problem.as_ref(), None, TARGET_GAP).unwrap();
            assert!(grown.gap <= 1e-9 && whole.gap <= 1e-9, "{} {}", grown.gap, whole.gap);
            // The steps of all rounds count, and no round is without one.
            assert!(grown.steps >= 2 && grown.steps < 500, "{}", grown.steps);
            let volume = |weights: &[f64]| {
                let root = problem.covariance_root(weights).unwrap();
                let scale = problem.evaluate(weights).unwrap().largest_leverage();
                let m = root.tr_mul(&root) * scale;
                (m.clone().determinant().ln(), m.trace())
            };
            let (ours, theirs) = (volume(&grown.weights), volume(&whole.weights));
            assert!((ours.0 - theirs.0).abs() < 1e-4 && (ours.1 / theirs.1 - 1.0).abs() < 1e-4);
        }
    }

    /// A smooth map whose singular values fall to 1e-6 of the largest: for the trace its last directions have weights that
    /// are negligible beside the others.
    #[test]
    fn steeply_graded_maps_keep_their_span() {
        let columns = DMatrix::from_fn(9, 900, |i, j| {
            let place = j as f64 / 450.0 - 1.0;
            10f64.powf(-0.75 * i as f64) * (i as f64 * place.acos()).cos()
        });
        let found = solve_by_active_set(&TraceProblem::new(columns)).unwrap();
        assert!(found.gap <= 1e-2, "{}", found.gap);
    }

    /// A direction that only one column has is found, though a stride misses that column.
    #[test]
    fn a_direction_of_one_column_is_covered() {
        let columns = DMatrix::from_fn(3, 1000, |i, j| match i {
            2 => f64::from(u8::from(j == 7)),
            _ => (j as f64 + 2.0 * i as f64).sin(),
        });
        let found = solve_by_active_set(&LogDetProblem::new(columns)).unwrap();
        assert!(found.gap <= 1e-9 && found.weights[7] > 0.9, "{} {}", found.gap, found.weights[7]);
    }

    /// Active columns reach .9: two of the others lie above it, the larger first; one that is level is covered.
    #[test]
    fn what_is_not_covered_enters_in_order() {
        let leverages = vec![0.5, 0.9, 1.1, 1.2, 0.7, 0.9];
        let at = LeverageEvaluation { leverages, coordinates: DMatrix::zeros(1, 6), spectrum: Vec::new() };
        assert_eq!(uncovered_columns(&at, &[0, 1]), [3, 2]);
        assert_eq!(uncovered_columns(&at, &[3]), [0; 0]);
    }

    #[test]
    fn columns_span_a_plane_or_a_line() {
        let problem = LogDetProblem::new(DMatrix::from_row_slice(2, 3, &[1.0, 2.0, 0.0, 0.0, 0.0, 1.0]));
        assert!(has_full_rank(&problem, &[0, 2], &[1.0, 1.0, 1.0]));
        assert!(
            !has_full_rank(&problem, &[0, 1], &[1.0, 1.0, 1.0]) && !has_full_rank(&problem, &[0, 2], &[1.0, 1.0, 0.0])
        );
    }
}

#[cfg(test)]
mod spread_tests {
    use super::*;

    #[test]
    fn columns_that_crowd_are_passed_over() {
        let coordinates = DMatrix::from_row_slice(2, 4, &[1.0, 0.99, 0.0, 0.1, 0.0, 0.1, 1.0, 1.0]);
        let at = LeverageEvaluation { leverages: vec![1.0; 4], coordinates, spectrum: Vec::new() };
        assert_eq!(select_distinct_directions(&at, vec![0, 1, 3, 2], 3), [0, 3]);
        assert_eq!(select_distinct_directions(&at, vec![2, 1, 0], 1), [2]);
        assert_eq!(select_distinct_directions(&at, Vec::new(), 3), [0; 0]);
    }

    #[test]
    fn strides_cover_the_whole_and_spanning_columns_span() {
        assert_eq!(evenly_spaced_indices(10, 4), [0, 3, 6, 9]);
        assert_eq!(evenly_spaced_indices(3, 9), [0, 1, 2]);
        let columns = DMatrix::from_fn(3, 50, |i, j| if i < 2 { (i + j) as f64 } else { f64::from(u8::from(j == 7)) });
        let mut found = spanning_columns(&columns);
        assert!(columns.select_columns(&found).rank(1e-9) == 3, "{found:?}");
        found.dedup();
        assert_eq!(found.len(), 3);
    }

    /// Cosines do not change with the lengths of columns.
    #[test]
    fn long_columns_crowd_no_more_than_short_ones() {
        for size in [0.1, 10.0] {
            let coordinates = DMatrix::from_row_slice(2, 3, &[size, 0.99 * size, 0.5, 0.0, 0.1 * size, 0.5]);
            let at = LeverageEvaluation { leverages: vec![1.0; 3], coordinates, spectrum: Vec::new() };
            assert_eq!(select_distinct_directions(&at, vec![0, 1, 2], 3), [0, 2], "{size}");
        }
    }
}
