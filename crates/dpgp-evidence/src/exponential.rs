//! The exponential mechanism: its probabilities under pairs of datasets that are made to differ as much as
//! possible.
//!
//! The probabilities are computed, not sampled, so a violation is certain.

use std::cell::OnceCell;

use nalgebra::{DMatrix, DVector, Dyn, LU, SVD};

use crate::finding::{AuditBound, AuditCheck, AuditVerdict, ROUNDING};
use dpgp_audit::short;
use dpgp_linalg::largest_or_nan;
use dpgp_task::SelectionErrorFunction;

/// Rows of each candidate that are tried as the one that changes.
const ROWS: usize = 6;
/// Sweeps of coordinate ascent where targets have a range.
const SWEEPS: usize = 3;
/// How many times the change an error is made where no clip bounds it.
const FAR: f64 = 100.0;

/// Rows up to which data sets are searched: it needs a factorisation for each candidate that is tried.
const SEARCHED: usize = 400;
/// Candidates that are tried: those whose utility can move most.
const CANDIDATES: usize = 12;

/// The worst that a search over data sets found.
struct WorstDatasetPair {
    /// The greatest logarithm of a ratio of probabilities.
    epsilon: f64,
    /// The greatest change of a sum of squares, in squared targets.
    change_of_sum: f64,
}

/// The exact ratio of the probabilities of each candidate, by enumeration, for the worst of many pairs of data sets;
/// and the valid bound on the change of the utility, recomputed, where errors are clipped.
///
/// Obligation: with a sensitivity D that bounds the change of every utility the mechanism is epsilon-DP, and `valid /
/// D` times epsilon where the valid bound is another one: the ratio of two weights is at most `e^(epsilon valid / (2
/// D))`. A pair of data sets with a greater ratio refutes the claim, whatever was assumed.
pub(super) fn check_exponential(selected: &SelectionErrorFunction) -> AuditCheck {
    let search = search_worst_datasets(selected);
    let (used, claimed) = (selected.sensitivity, selected.epsilon);
    let valid = largest_or_nan((0..selected.candidate_count()).map(|c| largest_or_nan(row_change_bounds(selected, c))));
    let moved = match selected.rows {
        ..=SEARCHED => {
            format!("largest change of a sum of squares that a search found: {}", short(search.change_of_sum))
        }
        rows => format!("no search, because {rows} rows are too many"),
    };
    let told = format!("sensitivity used: {}; valid upper bound: {}; {moved}", short(used), short(valid));
    let at_least = AuditBound::EpsilonAtLeast(search.epsilon);
    if search.epsilon > claimed * (1.0 + ROUNDING) {
        return AuditCheck { verdict: AuditVerdict::Broken, found: at_least, note: told };
    }
    if valid <= used * (1.0 + ROUNDING) {
        let found = AuditBound::EpsilonAtMost(claimed * valid / used);
        let note = format!("{told}; the attack proves epsilon >= {}", short(search.epsilon));
        return AuditCheck { verdict: AuditVerdict::Holds, found, note };
    }
    let note = format!("{told}; the sensitivity used is below the bound, so nothing is proved");
    AuditCheck { verdict: AuditVerdict::NotAudited, found: at_least, note }
}

/// The most that the clipped square of an error changes when the error moves by v: `2 T v - v^2` for `v <= T`, where it
/// ends at the clip T, else `T^2`, from zero to the clip. Infinite without a clip.
fn max_square_change(v: f64, clip: f64) -> f64 {
    if v <= clip { (2.0 * clip - v) * v } else { clip * clip }
}

/// For each row, how far the sum of squares of a candidate moves at most when its target does: once as a test point,
/// and through the predictions of each fold that trains on it.
fn row_change_bounds(selected: &SelectionErrorFunction, candidate: usize) -> Vec<f64> {
    let SelectionErrorFunction { clip, change, rows, .. } = *selected;
    let mut of_row = vec![max_square_change(change, clip); rows];
    for fold in selected.columns(candidate) {
        for (column, &row) in fold.columns.column_iter().zip(&fold.rows) {
            // Entries of zero do not move anything; without a clip they would count as infinity times zero.
            let entries = column.iter().filter(|c| **c != 0.0);
            of_row[row] += entries.map(|c| max_square_change(change * c.abs(), clip)).sum::<f64>();
        }
    }
    of_row
}

/// The worst of many pairs of data sets: targets at which the sums of squares of a candidate move far when one row's
/// does.
fn search_worst_datasets(selected: &SelectionErrorFunction) -> WorstDatasetPair {
    let mut worst = WorstDatasetPair { epsilon: 0.0, change_of_sum: 0.0 };
    if selected.rows > SEARCHED {
        return worst;
    }
    let maps: Vec<DMatrix<f64>> = (0..selected.candidate_count()).map(|c| selected.error_map(c)).collect();
    for candidate in worst_candidates(selected) {
        let solver = ErrorSolver::new(&maps[candidate]);
        for row in worst_rows(selected, solver.map) {
            let moved = solver.map.column(row) * selected.change;
            let Some(targets) = adversarial_targets(selected, &solver, &moved, row) else { continue };
            let mut after = targets.clone();
            after[row] += selected.change;
            let (before, after) = (error_sums(selected, &maps, &targets), error_sums(selected, &maps, &after));
            worst.change_of_sum = worst.change_of_sum.max((after[candidate] - before[candidate]).abs());
            worst.epsilon = worst.epsilon.max(max_log_ratio(selected, &before, &after));
        }
    }
    worst
}

/// The candidates with the greatest valid bounds: where the sensitivity used is too small, it is so for the largest of
/// them.
fn worst_candidates(selected: &SelectionErrorFunction) -> Vec<usize> {
    let mut candidates: Vec<(usize, f64)> =
        (0..selected.candidate_count()).map(|c| (c, largest_or_nan(row_change_bounds(selected, c)))).collect();
    candidates.sort_by(|a, b| b.1.total_cmp(&a.1));
    candidates.into_iter().take(CANDIDATES).map(|(candidate, _)| candidate).collect()
}

/// The rows that move the errors of a candidate most, in sum; a move beyond the clip counts as one to the clip.
fn worst_rows(selected: &SelectionErrorFunction, map: &DMatrix<f64>) -> Vec<usize> {
    let weights: Vec<f64> = (0..selected.rows)
        .map(|row| map.column(row).iter().map(|v| (selected.change * v.abs()).min(selected.clip)).sum())
        .collect();
    let mut rows: Vec<usize> = (0..selected.rows).collect();
    rows.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
    rows.truncate(ROWS);
    rows
}

/// Targets before the change of a row that put every error where its square moves most: just within the clip after it.
/// Where targets have a range, the nearest ones within it are improved by coordinate ascent. The search proves nothing
/// but what it finds, so it need not end at the worst targets.
fn adversarial_targets(
    selected: &SelectionErrorFunction,
    solver: &ErrorSolver<'_>,
    moved: &DVector<f64>,
    row: usize,
) -> Option<DVector<f64>> {
    if selected.clip.is_infinite() && selected.range.is_none() {
        // Nothing bounds an error: the row's own target is moved far away.
        let far = FAR * selected.change;
        return Some(DVector::from_fn(selected.rows, |i, _| if i == row { far } else { 0.0 }));
    }
    let clip = if selected.clip.is_finite() { selected.clip } else { FAR * selected.change };
    let wanted = moved.map(|v| match v.abs() < clip {
        true if v == 0.0 => 0.0,
        true => v.signum() * clip - v,
        // A longer move goes furthest from zero on.
        false => 0.0,
    });
    let targets = solver.solution(&wanted);
    let Some((low, high)) = selected.range else { return targets };
    let mut targets = targets.unwrap_or_else(|| DVector::zeros(selected.rows));
    // The row's own target must stay in the range after its change.
    let top = (high - selected.change).max(low);
    targets.iter_mut().enumerate().for_each(|(i, y)| *y = y.clamp(low, if i == row { top } else { high }));
    let ascent = CoordinateAscent { map: solver.map, moved, clip, row, ends: [low, high] };
    ascent.climb(&mut targets);
    Some(targets)
}

/// Targets for given errors.
struct ErrorSolver<'a> {
    map: &'a DMatrix<f64>,
    lu: LU<f64, Dyn, Dyn>,
    /// For a map that cannot be inverted.
    svd: OnceCell<SVD<f64, Dyn, Dyn>>,
}

impl<'a> ErrorSolver<'a> {
    fn new(map: &'a DMatrix<f64>) -> Self {
        Self { map, lu: map.clone().lu(), svd: OnceCell::new() }
    }

    /// Targets with these errors, or as nearly as can be.
    fn solution(&self, wanted: &DVector<f64>) -> Option<DVector<f64>> {
        let solved = self.lu.solve(wanted);
        // Where the map is nearly singular the factorisation succeeds and its solution is far off.
        solved
            .filter(|y| (self.map * y - wanted).amax() <= 1e-6 * wanted.amax())
            .or_else(|| self.svd.get_or_init(|| self.map.clone().svd(true, true)).solve(wanted, 1e-9).ok())
    }
}

/// Coordinate ascent over targets within a range.
struct CoordinateAscent<'a> {
    map: &'a DMatrix<f64>,
    /// How the errors move when the target of `row` does.
    moved: &'a DVector<f64>,
    clip: f64,
    row: usize,
    ends: [f64; 2],
}

impl CoordinateAscent<'_> {
    /// Moves one target after the other to the end of the range at which the sum of clipped squares moves more.
    fn climb(&self, targets: &mut DVector<f64>) {
        let mut errors = self.map * &*targets;
        for _ in 0..SWEEPS {
            for i in (0..targets.len()).filter(|i| *i != self.row) {
                for end in self.ends {
                    let tried = &errors + self.map.column(i) * (end - targets[i]);
                    if self.square_sum_change(&tried) > self.square_sum_change(&errors) {
                        errors = tried;
                        targets[i] = end;
                    }
                }
            }
        }
    }

    /// How far the sum of clipped squares moves.
    fn square_sum_change(&self, errors: &DVector<f64>) -> f64 {
        let pairs = errors.iter().zip(self.moved.iter());
        pairs.map(|(e, v)| self.clipped_square(e + v) - self.clipped_square(*e)).sum()
    }

    /// The square of an error, clipped as the task clips it.
    fn clipped_square(&self, error: f64) -> f64 {
        error.clamp(-self.clip, self.clip).powi(2)
    }
}

/// The sums of squared errors of all candidates, with the noise and the clip of the task.
fn error_sums(selected: &SelectionErrorFunction, maps: &[DMatrix<f64>], targets: &DVector<f64>) -> Vec<f64> {
    maps.iter().enumerate().map(|(c, map)| selected.sum_squared_errors(c, &(map * targets))).collect()
}

/// The greatest logarithm of a ratio of probabilities, which is the least epsilon that this pair of data sets allows.
fn max_log_ratio(selected: &SelectionErrorFunction, before: &[f64], after: &[f64]) -> f64 {
    let rate = selected.epsilon / (2.0 * selected.sensitivity);
    let pairs = log_probabilities(before, rate).into_iter().zip(log_probabilities(after, rate));
    largest_or_nan(pairs.map(|(a, b)| (a - b).abs()))
}

/// The logarithms of `p_i`, proportional to `exp(-rate s_i)`.
fn log_probabilities(sums: &[f64], rate: f64) -> Vec<f64> {
    // Relative to the least sum no weight overflows, and one of them is 1.
    let least = sums.iter().copied().fold(f64::INFINITY, f64::min);
    let total = sums.iter().map(|s| (-rate * (s - least)).exp()).sum::<f64>().ln();
    sums.iter().map(|s| -rate * (s - least) - total).collect()
}
