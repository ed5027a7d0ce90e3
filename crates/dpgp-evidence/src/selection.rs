//! Private selection: the recomputed budget of each draw, and an attack on the draws.
//!
//! The proof is checked part by part. The attacks run the same functions that drew for the results.

use std::convert::Infallible;

use rand_pcg::Pcg64;

use crate::finding::AttackContext;
use crate::finding::{AuditBound, AuditCheck, AuditVerdict, ROUNDING};
use crate::records::check_records;
use dpgp_accounting::Guarantee;
use dpgp_audit::short;
use dpgp_audit::{MechanismOutputs, attack};
use dpgp_linalg::largest_or_nan;
use dpgp_mechanisms::{CoinPressStep, MeanInterval, PrivateSelection, coinpress_mean};
use dpgp_task::PrivateSelectionEvidence;

/// Means that are sampled under either data set.
const MEANS: usize = 10_000;
/// Whole selections that are sampled under either.
const SELECTIONS: usize = 500;

/// All checks of one selection.
///
/// Obligation: by Theorem 3.4 of Liu and Talwar 2019 the claim follows from the budget of one draw, and that from its
/// parts, which are judged one by one. Attacks on whole draws and selections look for what the proof may have missed.
pub(super) fn check_selection(
    draws: &PrivateSelectionEvidence,
    claim: Guarantee,
    attacks: &AttackContext<'_>,
) -> Vec<AuditCheck> {
    let draw = Guarantee::from(draws.selection.draw);
    let mut checks = vec![check_total_budget(draws, claim)];
    checks
        .extend(draws.sums.iter().map(|sums| annotate_part_check("sums of one draw", check_records(sums, draw), draw)));
    checks.push(annotate_part_check("CoinPress means of one draw", check_coinpress(draws, draw), draw));
    checks.push(attack_mean(draws, draw, attacks));
    checks.push(attack_selection(draws, claim, attacks));
    checks
}

/// The budget that Theorem 3.4 of Liu and Talwar 2019 makes of that of a draw: `3 e + 3 sqrt(2 d)` and `sqrt(2 d) T +
/// (1 - gamma)^T`, the probability that T draws did not stop.
fn check_total_budget(draws: &PrivateSelectionEvidence, claim: Guarantee) -> AuditCheck {
    let PrivateSelection { gamma, most, .. } = draws.selection;
    let Guarantee { epsilon, delta } = draws.selection.draw.into();
    let lost = (2.0 * delta).sqrt();
    let spent = 3.0 * (epsilon + lost);
    let times = f64::from(most);
    let missed = lost * times + (times * (-gamma).ln_1p()).exp();
    let holds = spent <= claim.epsilon * (1.0 + ROUNDING) && missed <= claim.delta * (1.0 + ROUNDING);
    let note =
        format!("delta <= {} for at most {most} draws, each ({}, {})-DP", short(missed), short(epsilon), short(delta));
    let verdict = if holds { AuditVerdict::Holds } else { AuditVerdict::NotAudited };
    AuditCheck { verdict, found: AuditBound::EpsilonAtMost(spent), note }
}

/// A check of a part, at the budget of one draw.
fn annotate_part_check(what: &str, check: AuditCheck, claim: Guarantee) -> AuditCheck {
    let note = format!("{what}, at ({}, {}): {}", short(claim.epsilon), short(claim.delta), check.note);
    AuditCheck { note, ..check }
}

/// CoinPress as a Gaussian mechanism: the steps of a mean, each a Gaussian mechanism given the former: the root of the sum of their squared shifts, of the
/// worst range.
fn check_coinpress(draws: &PrivateSelectionEvidence, claim: Guarantee) -> AuditCheck {
    let squares = largest_or_nan(draws.ranges.iter().map(|&(_, radius)| {
        let (mut radius, mut squares) = (radius, 0.0);
        for &rho in &draws.shares {
            let step = CoinPressStep::new(draws.rows, 1, radius, rho);
            // A replaced value moves from one end of the clip to the other at most: 2 clip / n, by the noise.
            squares += (2.0 * step.clip / draws.rows as f64 / step.sd).powi(2);
            radius = step.next_radius;
        }
        squares
    }));
    AuditCheck::from_shift(squares.sqrt(), claim, format!("{} steps", draws.shares.len()))
}

/// A mean to a millionth of the range. An experiment is no release, so that its law is asked for, and not what the last bits of
/// doubles tell of it.
fn round_mean(mean: f64, draws: &PrivateSelectionEvidence) -> f64 {
    let grid = widest_range(draws).radius / 1e6;
    (mean / grid).round()
}

/// The values of a candidate at the bottom of its range, one of them perhaps at the top.
fn candidate_values(range: MeanInterval, rows: usize, moved: bool) -> Vec<f64> {
    let mut values = vec![range.centre - range.radius; rows];
    if let (true, Some(first)) = (moved, values.first_mut()) {
        *first = range.centre + range.radius;
    }
    values
}

/// An attack on one draw: means under two data sets, of which one has all values at the bottom and the other one at the top.
fn attack_mean(draws: &PrivateSelectionEvidence, claim: Guarantee, attacks: &AttackContext<'_>) -> AuditCheck {
    let [one, other] = [false, true].map(|moved| {
        let mut stream = attacks.stream(&format!("mean {moved}"));
        MechanismOutputs::new(1, (0..MEANS).map(|_| round_mean(draw_mean(draws, moved, &mut stream), draws)).collect())
    });
    let found = attack([&one, &other], claim, attacks.confidence);
    attack_check(found.epsilon, claim, format!("{MEANS} CoinPress means of one draw"))
}

/// A CoinPress mean of the values of the candidate with the widest range.
fn draw_mean(draws: &PrivateSelectionEvidence, moved: bool, stream: &mut Pcg64) -> f64 {
    let range = widest_range(draws);
    coinpress_mean(&mut candidate_values(range, draws.rows, moved), range, &draws.shares, stream)
}

/// An attack on the whole: selections between two candidates whose values differ in one record.
fn attack_selection(draws: &PrivateSelectionEvidence, claim: Guarantee, attacks: &AttackContext<'_>) -> AuditCheck {
    let [one, other] = [false, true].map(|moved| {
        let mut stream = attacks.stream(&format!("selection {moved}"));
        MechanismOutputs::new(1, (0..SELECTIONS).map(|_| draw_selection(draws, moved, &mut stream)).collect())
    });
    let found = attack([&one, &other], claim, attacks.confidence);
    attack_check(found.epsilon, claim, format!("{SELECTIONS} selections between two candidates"))
}

/// One run of the whole mechanism, draws and stop, by the code that releases run. The candidate that is selected, 0 or 1, of which the second one alone has the record that may be moved; -1 for none.
fn draw_selection(draws: &PrivateSelectionEvidence, moved: bool, stream: &mut Pcg64) -> f64 {
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
    AuditCheck { verdict, found: AuditBound::EpsilonAtLeast(found), note: format!("{what} on each of two datasets") }
}

/// The widest range of a candidate, in which a record moves the most. Noise is scaled by the range, so that it is as good as
/// another for the proof; rounding and clips show most in it.
fn widest_range(draws: &PrivateSelectionEvidence) -> MeanInterval {
    let (centre, radius) =
        draws.ranges.iter().copied().fold((0.0, 0.0), |most, range| if range.1 > most.1 { range } else { most });
    MeanInterval { centre, radius }
}
