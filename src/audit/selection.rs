//! Private selection: the budget of each draw recomputed, and an attack on what is drawn.

use rand_pcg::Pcg64;

use super::Attacks;
use super::attack::epsilon_at_least;
use super::finding::{Check, Found, ROUNDING, Verdict, short};
use super::normal::exact_delta;
use super::records::records;
use crate::linalg::largest;
use crate::privacy::{CoinPressStep, coinpress_mean};
use crate::task::SelectionDraws;

/// Means that are sampled under either data set.
const MEANS: usize = 10_000;
/// Whole selections that are sampled under either.
const SELECTIONS: usize = 500;

/// All checks of one selection.
pub(super) fn selection(
    draws: &SelectionDraws,
    (epsilon, delta): (f64, f64),
    attacks: &Attacks,
) -> Vec<Check> {
    let budget = (draws.selection.epsilon, draws.selection.delta);
    let mut checks = vec![total(draws, (epsilon, delta))];
    checks.extend(draws.sums.iter().map(|sums| part("sums of a draw", records(sums, budget), budget)));
    checks.push(part("CoinPress of a draw", coinpress(draws, budget), budget));
    checks.push(attack_mean(draws, budget, attacks));
    checks.push(attack_selection(draws, (epsilon, delta), attacks));
    checks
}

/// What Theorem 3.4 of Liu and Talwar 2019 makes of the budget of a draw: `3 e + 3 sqrt(2 d)` and `sqrt(2 d) T + (1 - gamma)^T`,
/// the probability that T draws did not stop.
fn total(draws: &SelectionDraws, (epsilon, delta): (f64, f64)) -> Check {
    let selection = &draws.selection;
    let lost = (2.0 * selection.delta).sqrt();
    let spent = 3.0 * (selection.epsilon + lost);
    let most = f64::from(selection.most);
    let missed = lost * most + (most * (-selection.gamma).ln_1p()).exp();
    let holds = spent <= epsilon * (1.0 + ROUNDING) && missed <= delta * (1.0 + ROUNDING);
    let note = format!(
        "delta <= {} for at most {most} draws, if each is ({}, {})-private",
        short(missed),
        short(selection.epsilon),
        short(selection.delta)
    );
    let verdict = if holds { Verdict::Holds } else { Verdict::NotAudited };
    Check { verdict, found: Found::EpsilonAtMost(spent), note }
}

fn part(what: &str, check: Check, (epsilon, delta): (f64, f64)) -> Check {
    let note = format!("{what}, at ({}, {}): {}", short(epsilon), short(delta), check.note);
    Check { note, ..check }
}

/// The steps of a mean, each a Gaussian mechanism given the former: the root of the sum of their squared shifts, of the
/// worst range.
fn coinpress(draws: &SelectionDraws, (epsilon, delta): (f64, f64)) -> Check {
    let shift = |&(_, radius): &(f64, f64)| {
        let (mut radius, mut squares) = (radius, 0.0);
        for &rho in &draws.shares {
            let step = CoinPressStep::new((draws.rows, 1), radius, rho);
            squares += (2.0 * step.clip / draws.rows as f64 / step.sd).powi(2);
            radius = step.next_radius;
        }
        squares
    };
    let found = exact_delta(largest(draws.ranges.iter().map(shift)).sqrt(), epsilon);
    Check::delta(found, delta, format!("{} steps", draws.shares.len()))
}

/// The values of a candidate at the bottom of its range, one of them perhaps at the top.
fn values((centre, radius): (f64, f64), rows: usize, moved: bool) -> Vec<f64> {
    let mut values = vec![centre - radius; rows];
    if let (true, Some(first)) = (moved, values.first_mut()) {
        *first = centre + radius;
    }
    values
}

/// Means under two data sets, of which one has all values at the bottom and the other one at the top.
fn attack_mean(draws: &SelectionDraws, (epsilon, delta): (f64, f64), attacks: &Attacks) -> Check {
    let range = widest(draws);
    let sample = |moved: bool| {
        let mut stream = attacks.stream(&format!("mean {moved}"));
        let mean =
            |_| coinpress_mean(&mut values(range, draws.rows, moved), range, &draws.shares, &mut stream);
        (0..MEANS).map(mean).collect::<Vec<f64>>()
    };
    let found = epsilon_at_least(&sample(false), &sample(true), delta, attacks.confidence);
    empirical(found, epsilon, format!("{MEANS} CoinPress means of a draw"))
}

/// Selections between two candidates whose values differ in one record.
fn attack_selection(draws: &SelectionDraws, (epsilon, delta): (f64, f64), attacks: &Attacks) -> Check {
    let range = widest(draws);
    let sample = |moved: bool| {
        let mut stream = attacks.stream(&format!("selection {moved}"));
        let select = |_| {
            let draw = |stream: &mut Pcg64| -> Result<_, std::convert::Infallible> {
                let candidate = usize::from(rand::RngExt::random::<bool>(stream));
                let mut values = values(range, draws.rows, moved && candidate == 1);
                Ok(Some((coinpress_mean(&mut values, range, &draws.shares, stream), candidate)))
            };
            match draws.selection.select(&mut stream, draw) {
                Ok(Some(candidate)) => candidate as f64,
                Ok(None) | Err(_) => -1.0,
            }
        };
        (0..SELECTIONS).map(select).collect::<Vec<f64>>()
    };
    let found = epsilon_at_least(&sample(false), &sample(true), delta, attacks.confidence);
    empirical(found, epsilon, format!("{SELECTIONS} selections between two candidates"))
}

fn empirical(found: f64, claimed: f64, what: String) -> Check {
    let verdict = if found > claimed { Verdict::Broken } else { Verdict::Holds };
    Check {
        verdict,
        found: Found::EpsilonAtLeast(found),
        note: format!("{what} under either of two data sets"),
    }
}

fn widest(draws: &SelectionDraws) -> (f64, f64) {
    draws.ranges.iter().copied().fold((0.0, 0.0), |most, range| if range.1 > most.1 { range } else { most })
}
