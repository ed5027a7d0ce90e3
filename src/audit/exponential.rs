//! The exponential mechanism: its probabilities under pairs of data sets that are made to tell it apart.

use std::cell::OnceCell;

use nalgebra::{DMatrix, DVector, Dyn, LU, SVD};

use super::finding::{Check, Found, ROUNDING, Verdict, short};
use crate::linalg::largest;
use crate::task::Selected;

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

/// What a search over data sets found.
struct Attack {
    epsilon: f64,
    change_of_sum: f64,
}

/// The exact ratio of the probabilities of each candidate, by enumeration, for the worst of many pairs of data sets; and the
/// valid bound on the change of the utility, recomputed, where errors are clipped.
pub(super) fn exponential(selected: &Selected) -> Check {
    let attack = attack(selected);
    let (used, claimed) = (selected.sensitivity, selected.epsilon);
    let valid = largest((0..selected.candidates()).map(|c| largest(bounds(selected, c))));
    let moved = match selected.rows {
        ..=SEARCHED => format!("a sum of squares found to move by {}", short(attack.change_of_sum)),
        rows => format!("no search over data sets of {rows} rows"),
    };
    let told = format!("sensitivity used {}, valid {}; {moved}", short(used), short(valid));
    if attack.epsilon > claimed * (1.0 + ROUNDING) {
        return Check { verdict: Verdict::Broken, found: Found::EpsilonAtLeast(attack.epsilon), note: told };
    }
    if valid <= used * (1.0 + ROUNDING) {
        let found = Found::EpsilonAtMost(claimed * valid / used);
        let note = format!("{told}; attack: epsilon >= {}", short(attack.epsilon));
        return Check { verdict: Verdict::Holds, found, note };
    }
    let note = format!("{told}: the sensitivity used is no bound, so nothing is proved");
    Check { verdict: Verdict::Caveat, found: Found::EpsilonAtLeast(attack.epsilon), note }
}

/// For each row, how far the sum of squares of a candidate moves at most when its target does: an error that moves by v
/// changes its clipped square by `2 T v - v^2` for `v <= T`, else by `T^2`. Infinite without a clip.
fn bounds(selected: &Selected, candidate: usize) -> Vec<f64> {
    let clip = selected.clip;
    let most = |v: f64| if v <= clip { (2.0 * clip - v) * v } else { clip * clip };
    let mut of_row = vec![most(selected.change); selected.rows];
    for fold in selected.columns(candidate) {
        for (column, &row) in fold.columns.column_iter().zip(&fold.rows) {
            of_row[row] +=
                column.iter().filter(|c| **c != 0.0).map(|c| most(selected.change * c.abs())).sum::<f64>();
        }
    }
    of_row
}

fn attack(selected: &Selected) -> Attack {
    let mut worst = Attack { epsilon: 0.0, change_of_sum: 0.0 };
    if selected.rows > SEARCHED {
        return worst;
    }
    let maps: Vec<DMatrix<f64>> = (0..selected.candidates()).map(|c| selected.error_map(c)).collect();
    for candidate in worst_candidates(selected) {
        let solver = Solver::new(&maps[candidate]);
        for row in worst_rows(selected, solver.map) {
            let moved = solver.map.column(row) * selected.change;
            let Some(targets) = adversarial(selected, &solver, &moved, row) else { continue };
            let mut after = targets.clone();
            after[row] += selected.change;
            let (before, after) = (sums(selected, &maps, &targets), sums(selected, &maps, &after));
            worst.change_of_sum = worst.change_of_sum.max((after[candidate] - before[candidate]).abs());
            worst.epsilon = worst.epsilon.max(ratio(selected, &before, &after));
        }
    }
    worst
}

/// The candidates with the greatest valid bounds.
fn worst_candidates(selected: &Selected) -> Vec<usize> {
    let mut candidates: Vec<(usize, f64)> =
        (0..selected.candidates()).map(|c| (c, largest(bounds(selected, c)))).collect();
    candidates.sort_by(|a, b| b.1.total_cmp(&a.1));
    candidates.into_iter().take(CANDIDATES).map(|(candidate, _)| candidate).collect()
}

/// The rows that move the errors of a candidate most, in sum.
fn worst_rows(selected: &Selected, map: &DMatrix<f64>) -> Vec<usize> {
    let capped = |v: &f64| (selected.change * v.abs()).min(selected.clip);
    let weight = |row: usize| map.column(row).iter().map(capped).sum::<f64>();
    let mut rows: Vec<usize> = (0..selected.rows).collect();
    rows.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)));
    rows.truncate(ROWS);
    rows
}

/// Targets before the change of a row that put every error where its square moves most: just within the clip after it.
fn adversarial(
    selected: &Selected,
    solver: &Solver<'_>,
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
        false => 0.0,
    });
    let targets = solver.solution(&wanted);
    let Some((low, high)) = selected.range else { return targets };
    let mut targets = targets.unwrap_or_else(|| DVector::zeros(selected.rows));
    let top = (high - selected.change).max(low);
    targets.iter_mut().enumerate().for_each(|(i, y)| *y = y.clamp(low, if i == row { top } else { high }));
    ascend(solver.map, moved, clip, (row, low, high), &mut targets);
    Some(targets)
}

/// Targets for given errors.
struct Solver<'a> {
    map: &'a DMatrix<f64>,
    lu: LU<f64, Dyn, Dyn>,
    /// For a map that cannot be inverted.
    svd: OnceCell<SVD<f64, Dyn, Dyn>>,
}

impl<'a> Solver<'a> {
    fn new(map: &'a DMatrix<f64>) -> Self {
        Self { map, lu: map.clone().lu(), svd: OnceCell::new() }
    }

    /// Targets with these errors, or as nearly as can be.
    fn solution(&self, wanted: &DVector<f64>) -> Option<DVector<f64>> {
        let close = |y: &DVector<f64>| (self.map * y - wanted).amax() <= 1e-6 * wanted.amax();
        let svd = || self.svd.get_or_init(|| self.map.clone().svd(true, true)).solve(wanted, 1e-9).ok();
        self.lu.solve(wanted).filter(close).or_else(svd)
    }
}

/// Moves one target after the other to the end of the range at which the sum of clipped squares moves more.
fn ascend(
    map: &DMatrix<f64>,
    moved: &DVector<f64>,
    clip: f64,
    (row, low, high): (usize, f64, f64),
    targets: &mut DVector<f64>,
) {
    let gain = |e: &DVector<f64>| {
        let square = |e: f64| e.clamp(-clip, clip).powi(2);
        e.iter().zip(moved.iter()).map(|(e, v)| square(e + v) - square(*e)).sum::<f64>()
    };
    let mut errors = map * &*targets;
    for _ in 0..SWEEPS {
        for i in (0..targets.len()).filter(|i| *i != row) {
            for end in [low, high] {
                let tried = &errors + map.column(i) * (end - targets[i]);
                if gain(&tried) > gain(&errors) {
                    errors = tried;
                    targets[i] = end;
                }
            }
        }
    }
}

/// The sums of squared errors of all candidates.
fn sums(selected: &Selected, maps: &[DMatrix<f64>], targets: &DVector<f64>) -> Vec<f64> {
    maps.iter().enumerate().map(|(c, map)| selected.sum(c, &(map * targets))).collect()
}

/// The greatest logarithm of a ratio of probabilities, `p_i` proportional to `exp(-epsilon s_i / (2 sensitivity))`.
fn ratio(selected: &Selected, before: &[f64], after: &[f64]) -> f64 {
    let rate = selected.epsilon / (2.0 * selected.sensitivity);
    let logs = |sums: &[f64]| {
        let least = sums.iter().copied().fold(f64::INFINITY, f64::min);
        let total = sums.iter().map(|s| (-rate * (s - least)).exp()).sum::<f64>().ln();
        sums.iter().map(|s| -rate * (s - least) - total).collect::<Vec<f64>>()
    };
    let pairs = logs(before).into_iter().zip(logs(after));
    largest(pairs.map(|(a, b)| (a - b).abs()))
}
