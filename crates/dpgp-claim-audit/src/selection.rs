//! Private selection. For the exponential mechanism: its probabilities under pairs of datasets that are made to
//! differ as much as possible. They are computed, not sampled, so a violation is certain. For private selection from
//! random draws: the recomputed budget of each draw, and an attack on the draws.
//!
//! The proof of the latter is checked part by part. The attacks run the same functions that drew for the results.

use std::cell::OnceCell;
use std::convert::Infallible;

use nalgebra::{DMatrix, DVector, Dyn, LU, SVD};
use rand_pcg::Pcg64;

use crate::finding::{AttackContext, AuditCheck, AuditVerdict, ROUNDING, RecomputedBound};
use crate::records::check_record_sum_noise;
use dpgp_accounting::Guarantee;
use dpgp_audit::{MechanismOutputs, attack, format_four_significant};
use dpgp_linalg::largest_or_nan;
use dpgp_mechanisms::{CoinPressStepDesign, MeanInterval, PrivateSelection, coinpress_mean};
use dpgp_task::{AuditedPrivateSelection, SelectionErrorFunction};

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
pub(super) fn check_exponential_mechanism(selected: &SelectionErrorFunction) -> AuditCheck {
    let search = search_worst_datasets(selected);
    let (used, claimed) = (selected.sensitivity, selected.epsilon);
    let valid = largest_or_nan((0..selected.candidate_count()).map(|c| largest_or_nan(row_change_bounds(selected, c))));
    let moved = match selected.rows {
        ..=SEARCHED => {
            format!(
                "largest change of a sum of squares that a search found: {}",
                format_four_significant(search.change_of_sum)
            )
        }
        rows => format!("no search, because there are too many rows ({rows})"),
    };
    let told = format!(
        "sensitivity used: {}; valid upper bound: {}; {moved}",
        format_four_significant(used),
        format_four_significant(valid)
    );
    let at_least = RecomputedBound::EpsilonAtLeast(search.epsilon);
    if search.epsilon > claimed * (1.0 + ROUNDING) {
        return AuditCheck { verdict: AuditVerdict::Broken, found: at_least, note: told };
    }
    if valid <= used * (1.0 + ROUNDING) {
        let found = RecomputedBound::EpsilonAtMost(claimed * valid / used);
        let note = format!("{told}; epsilon is at least {}", format_four_significant(search.epsilon));
        return AuditCheck { verdict: AuditVerdict::Holds, found, note };
    }
    let note = format!("{told}; the sensitivity used is below the valid bound, so nothing is proved");
    AuditCheck { verdict: AuditVerdict::NotAudited, found: at_least, note }
}

/// The most that the clipped square of an error changes when the error moves by v: `2 T v - v^2` for `v <= T`, where it
/// ends at the clip T, else `T^2`, from zero to the clip. Infinite without a clip.
fn max_clipped_square_change(v: f64, clip: f64) -> f64 {
    if v <= clip { (2.0 * clip - v) * v } else { clip * clip }
}

/// For each row, how far the sum of squares of a candidate moves at most when its target does: once as a test point,
/// and through the predictions of each fold that trains on it.
fn row_change_bounds(selected: &SelectionErrorFunction, candidate: usize) -> Vec<f64> {
    let SelectionErrorFunction { clip, change, rows, .. } = *selected;
    let mut of_row = vec![max_clipped_square_change(change, clip); rows];
    for fold in selected.fold_prediction_maps(candidate) {
        for (column, &row) in fold.columns.column_iter().zip(&fold.rows) {
            // Entries of zero do not move anything; without a clip they would count as infinity times zero.
            let entries = column.iter().filter(|c| **c != 0.0);
            of_row[row] += entries.map(|c| max_clipped_square_change(change * c.abs(), clip)).sum::<f64>();
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
    for candidate in candidates_with_largest_change_bounds(selected) {
        let solver = WantedErrorsSolver::new(&maps[candidate]);
        for row in find_most_influential_rows(selected, solver.map) {
            let moved = solver.map.column(row) * selected.change;
            let Some(targets) = adversarial_targets(selected, &solver, &moved, row) else { continue };
            let mut after = targets.clone();
            after[row] += selected.change;
            let (before, after) =
                (squared_error_sums(selected, &maps, &targets), squared_error_sums(selected, &maps, &after));
            worst.change_of_sum = worst.change_of_sum.max((after[candidate] - before[candidate]).abs());
            worst.epsilon = worst.epsilon.max(max_log_probability_ratio(selected, &before, &after));
        }
    }
    worst
}

/// The candidates with the greatest valid bounds: where the sensitivity used is too small, it is so for the largest of
/// them.
fn candidates_with_largest_change_bounds(selected: &SelectionErrorFunction) -> Vec<usize> {
    let mut candidates: Vec<(usize, f64)> =
        (0..selected.candidate_count()).map(|c| (c, largest_or_nan(row_change_bounds(selected, c)))).collect();
    candidates.sort_by(|a, b| b.1.total_cmp(&a.1));
    candidates.into_iter().take(CANDIDATES).map(|(candidate, _)| candidate).collect()
}

/// The rows that move the errors of a candidate most, in sum; a move beyond the clip counts as one to the clip.
fn find_most_influential_rows(selected: &SelectionErrorFunction, map: &DMatrix<f64>) -> Vec<usize> {
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
    solver: &WantedErrorsSolver<'_>,
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
    let targets = solver.targets_with_errors(&wanted);
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
struct WantedErrorsSolver<'a> {
    map: &'a DMatrix<f64>,
    lu: LU<f64, Dyn, Dyn>,
    /// For a map that cannot be inverted.
    svd: OnceCell<SVD<f64, Dyn, Dyn>>,
}

impl<'a> WantedErrorsSolver<'a> {
    fn new(map: &'a DMatrix<f64>) -> Self {
        Self { map, lu: map.clone().lu(), svd: OnceCell::new() }
    }

    /// Targets with these errors, or as nearly as can be.
    fn targets_with_errors(&self, wanted: &DVector<f64>) -> Option<DVector<f64>> {
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
                    if self.clipped_square_sum_change(&tried) > self.clipped_square_sum_change(&errors) {
                        errors = tried;
                        targets[i] = end;
                    }
                }
            }
        }
    }

    /// How far the sum of clipped squares moves.
    fn clipped_square_sum_change(&self, errors: &DVector<f64>) -> f64 {
        let pairs = errors.iter().zip(self.moved.iter());
        pairs.map(|(e, v)| self.clipped_square(e + v) - self.clipped_square(*e)).sum()
    }

    /// The square of an error, clipped as the task clips it.
    fn clipped_square(&self, error: f64) -> f64 {
        error.clamp(-self.clip, self.clip).powi(2)
    }
}

/// The sums of squared errors of all candidates, with the noise and the clip of the task.
fn squared_error_sums(selected: &SelectionErrorFunction, maps: &[DMatrix<f64>], targets: &DVector<f64>) -> Vec<f64> {
    maps.iter().enumerate().map(|(c, map)| selected.sum_noisy_clipped_squared_errors(c, &(map * targets))).collect()
}

/// The greatest logarithm of a ratio of probabilities, which is the least epsilon that this pair of data sets allows.
fn max_log_probability_ratio(selected: &SelectionErrorFunction, before: &[f64], after: &[f64]) -> f64 {
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

/// Means that are sampled under either data set.
const MEANS: usize = 10_000;
/// Whole selections that are sampled under either.
const SELECTIONS: usize = 500;

/// All checks of one selection.
///
/// Obligation: by Theorem 3.4 of Liu and Talwar 2019 the claim follows from the budget of one draw, and that from its
/// parts, which are judged one by one. Attacks on whole draws and selections look for what the proof may have missed.
pub(super) fn check_private_selection(
    draws: &AuditedPrivateSelection,
    claim: Guarantee,
    attacks: &AttackContext<'_>,
) -> Vec<AuditCheck> {
    let draw = Guarantee::from(draws.selection.draw);
    let mut checks = vec![check_total_budget(draws, claim)];
    checks.extend(
        draws.sums.iter().map(|sums| annotate_part_check("sums of one draw", check_record_sum_noise(sums, draw), draw)),
    );
    checks.push(annotate_part_check("CoinPress means of one draw", check_coinpress(draws, draw), draw));
    checks.push(attack_mean(draws, draw, attacks));
    checks.push(attack_selection(draws, claim, attacks));
    checks
}

/// The budget that Theorem 3.4 of Liu and Talwar 2019 makes of that of a draw: `3 e + 3 sqrt(2 d)` and `sqrt(2 d) T +
/// (1 - gamma)^T`, the probability that T draws did not stop.
fn check_total_budget(draws: &AuditedPrivateSelection, claim: Guarantee) -> AuditCheck {
    let PrivateSelection { gamma, most, .. } = draws.selection;
    let Guarantee { epsilon, delta } = draws.selection.draw.into();
    let lost = (2.0 * delta).sqrt();
    let spent = 3.0 * (epsilon + lost);
    let times = f64::from(most);
    let missed = lost * times + (times * (-gamma).ln_1p()).exp();
    let holds = spent <= claim.epsilon * (1.0 + ROUNDING) && missed <= claim.delta * (1.0 + ROUNDING);
    let note = format!(
        "delta <= {} for at most {most} draws, each ({}, {})-DP",
        format_four_significant(missed),
        format_four_significant(epsilon),
        format_four_significant(delta)
    );
    let verdict = if holds { AuditVerdict::Holds } else { AuditVerdict::NotAudited };
    AuditCheck { verdict, found: RecomputedBound::EpsilonAtMost(spent), note }
}

/// A check of a part, at the budget of one draw.
fn annotate_part_check(what: &str, check: AuditCheck, claim: Guarantee) -> AuditCheck {
    let note = format!(
        "{what}, checked against ({}, {})-DP: {}",
        format_four_significant(claim.epsilon),
        format_four_significant(claim.delta),
        check.note
    );
    AuditCheck { note, ..check }
}

/// CoinPress as a Gaussian mechanism: the steps of a mean, each a Gaussian mechanism given the former: the root of the sum of their squared shifts, of the
/// worst range.
fn check_coinpress(draws: &AuditedPrivateSelection, claim: Guarantee) -> AuditCheck {
    let squares = largest_or_nan(draws.ranges.iter().map(|&(_, radius)| {
        let (mut radius, mut squares) = (radius, 0.0);
        for &rho in &draws.shares {
            let step = CoinPressStepDesign::new(draws.rows, 1, radius, rho);
            // A replaced value moves from one end of the clip to the other at most: 2 clip / n, by the noise.
            squares += (2.0 * step.clip / draws.rows as f64 / step.sd).powi(2);
            radius = step.next_radius;
        }
        squares
    }));
    AuditCheck::from_gaussian_shift(squares.sqrt(), claim, format!("{} steps", draws.shares.len()))
}

/// A mean to a millionth of the range. An experiment is no release, so that its law is asked for, and not what the last bits of
/// doubles tell of it.
fn round_mean_to_grid(mean: f64, draws: &AuditedPrivateSelection) -> f64 {
    let grid = widest_range(draws).radius / 1e6;
    (mean / grid).round()
}

/// The values of a candidate at the bottom of its range, one of them perhaps at the top.
fn extreme_candidate_values(range: MeanInterval, rows: usize, moved: bool) -> Vec<f64> {
    let mut values = vec![range.centre - range.radius; rows];
    if let (true, Some(first)) = (moved, values.first_mut()) {
        *first = range.centre + range.radius;
    }
    values
}

/// An attack on one draw: means under two data sets, of which one has all values at the bottom and the other one at the top.
fn attack_mean(draws: &AuditedPrivateSelection, claim: Guarantee, attacks: &AttackContext<'_>) -> AuditCheck {
    let [one, other] = [false, true].map(|moved| {
        let mut stream = attacks.stream(&format!("mean {moved}"));
        MechanismOutputs::new(
            1,
            (0..MEANS).map(|_| round_mean_to_grid(draw_mean(draws, moved, &mut stream), draws)).collect(),
        )
    });
    let found = attack([&one, &other], claim, attacks.confidence);
    attack_check(found.epsilon, claim, format!("{MEANS} CoinPress means of one draw"))
}

/// A CoinPress mean of the values of the candidate with the widest range.
fn draw_mean(draws: &AuditedPrivateSelection, moved: bool, stream: &mut Pcg64) -> f64 {
    let range = widest_range(draws);
    coinpress_mean(&mut extreme_candidate_values(range, draws.rows, moved), range, &draws.shares, stream)
}

/// An attack on the whole: selections between two candidates whose values differ in one record.
fn attack_selection(draws: &AuditedPrivateSelection, claim: Guarantee, attacks: &AttackContext<'_>) -> AuditCheck {
    let [one, other] = [false, true].map(|moved| {
        let mut stream = attacks.stream(&format!("selection {moved}"));
        MechanismOutputs::new(1, (0..SELECTIONS).map(|_| draw_selection(draws, moved, &mut stream)).collect())
    });
    let found = attack([&one, &other], claim, attacks.confidence);
    attack_check(found.epsilon, claim, format!("{SELECTIONS} selections between two candidates"))
}

/// One run of the whole mechanism, draws and stop, by the code that releases run. The candidate that is selected, 0 or 1, of which the second one alone has the record that may be moved; -1 for none.
fn draw_selection(draws: &AuditedPrivateSelection, moved: bool, stream: &mut Pcg64) -> f64 {
    let chosen = draws.selection.select(stream, |stream| -> Result<_, Infallible> {
        let candidate = usize::from(rand::RngExt::random::<bool>(stream));
        Ok(Some((draw_mean(draws, moved && candidate == 1, stream), candidate)))
    });
    match chosen {
        Ok(Some(candidate)) => candidate as f64,
        Ok(None) => -1.0,
    }
}

/// An attack on samples against a claim.
fn attack_check(found: f64, claim: Guarantee, what: String) -> AuditCheck {
    // The lower bound is a statement of confidence, not a proof: an epsilon above the claim is a break all the same.
    let verdict = if found > claim.epsilon { AuditVerdict::Broken } else { AuditVerdict::Holds };
    AuditCheck {
        verdict,
        found: RecomputedBound::EpsilonAtLeast(found),
        note: format!("{what} on each of two datasets"),
    }
}

/// The widest range of a candidate, in which a record moves the most. Noise is scaled by the range, so that it is as good as
/// another for the proof; rounding and clips show most in it.
fn widest_range(draws: &AuditedPrivateSelection) -> MeanInterval {
    let (centre, radius) =
        draws.ranges.iter().copied().fold((0.0, 0.0), |most, range| if range.1 > most.1 { range } else { most });
    MeanInterval { centre, radius }
}
