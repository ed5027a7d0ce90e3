//! Whether two files of outputs hold the same draws.

use std::collections::BTreeMap;

use libm::lgamma;

use dpgp_audit::Outputs;

/// The chance of a refusal where all draws are their own.
const ERROR: f64 = 1e-6;

/// The weights that the sum of squared differences is tried with.
const WEIGHTS: [f64; 8] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

/// The most occurrences of an output at which it tells much that both files have it.
const FEW: u64 = 8;

/// Changes from row to row after which a second file with the very same rows in the very same order is a copy: a file that is sorted has
/// one change for each output.
const CHANGES: usize = 64;

/// Whether outputs fall into both files more evenly than draws of their own do. What an attack learns on half of the rows of one file
/// would then stand in the rows of the other that it judges by.
///
/// *Law.* Let an output occur m times in both files together. Draws of their own are in the first with some probability t each, whatever
/// the two distributions are. Then `P(both files have it) = 1 - t^m - (1-t)^m <= 1 - 2^(1-m)`. Of files of one length, the
/// difference d of the two counts has the least square where `t = 1/2`: `|d|` grows with `|t - 1/2|` in the likelihood ratio order. So
/// `E exp(-w d^2 / m)` is at most that of a fair coin, and by Markov's inequality `P(sum d^2 / m <= D) <= exp(w D) prod E exp(-w d^2 / m)`
/// for every `w > 0`. The counts of a file add up to its length, which leaves one difference less: of V outputs V - 1 are free.
pub(super) fn share_draws(outputs: [&Outputs; 2]) -> bool {
    let whole = Counts::of(outputs, usize::MAX);
    let shortest = outputs.map(Outputs::len).into_iter().min().unwrap_or(0);
    let tests = WEIGHTS.len() as f64 + FEW as f64;
    let of_one_length = Counts::of(outputs, shortest);
    whole.log_chance_of_pairs().min(of_one_length.log_chance_of_squares()) < (ERROR / tests).ln()
}

/// How often each output is in either file.
struct Counts(Vec<[u64; 2]>);

impl Counts {
    /// Of the first rows of each file, which are in an order that tells nothing.
    fn of(outputs: [&Outputs; 2], most: usize) -> Self {
        let mut counts: BTreeMap<Vec<u64>, [u64; 2]> = BTreeMap::new();
        for (file, outputs) in outputs.into_iter().enumerate() {
            for row in outputs.rows().take(most) {
                counts.entry(row.iter().map(|x| x.to_bits()).collect()).or_default()[file] += 1;
            }
        }
        Self(counts.into_values().collect())
    }

    /// The logarithm of a bound on the chance that so many outputs of few occurrences are in both files.
    fn log_chance_of_pairs(&self) -> f64 {
        let chances = (2..=FEW).map(|occurrences| {
            let such = self.0.iter().filter(|[one, other]| one + other == occurrences);
            let (all, both) = such.fold((0.0, 0.0), |(all, both), [one, other]| {
                (all + 1.0, both + f64::from(u8::from(*one > 0 && *other > 0)))
            });
            log_tail(both, all, 1.0 - 0.5f64.powi(occurrences as i32 - 1))
        });
        chances.fold(0.0, f64::min)
    }

    /// The logarithm of a bound on the chance that the counts of files of one length differ so little.
    fn log_chance_of_squares(&self) -> f64 {
        let repeated: Vec<[u64; 2]> = self.0.iter().copied().filter(|[one, other]| one + other > 1).collect();
        let squares =
            repeated.iter().map(|[one, other]| one.abs_diff(*other).pow(2) as f64 / (one + other) as f64);
        let (sum, all) = (squares.sum::<f64>(), self.0.len() as f64);
        let mut by_occurrences: BTreeMap<u64, f64> = BTreeMap::new();
        repeated.iter().for_each(|[one, other]| *by_occurrences.entry(one + other).or_default() += 1.0);
        let chances = WEIGHTS.into_iter().map(|weight| {
            let of_coins =
                by_occurrences.iter().map(|(occurrences, many)| many * log_moment(*occurrences, weight));
            weight * sum + of_coins.sum::<f64>() * (all - 1.0) / all
        });
        chances.fold(0.0, f64::min)
    }
}

/// `ln` of the bound of Chernoff on `P(X >= successes)` for X binomial with this probability.
fn log_tail(successes: f64, trials: f64, probability: f64) -> f64 {
    let share = successes / trials;
    if trials == 0.0 || share <= probability {
        return 0.0;
    }
    -trials * (relative_entropy(share, probability) + relative_entropy(1.0 - share, 1.0 - probability))
}

/// One of the two terms of it.
fn relative_entropy(share: f64, probability: f64) -> f64 {
    if share > 0.0 { share * (share / probability).ln() } else { 0.0 }
}

/// Occurrences from which on a difference is normal to many digits.
const MANY: u64 = 4000;

/// `ln E exp(-w (2 a - m)^2 / m)` for a the heads of m fair coins.
fn log_moment(coins: u64, weight: f64) -> f64 {
    if coins >= MANY {
        return -0.5 * (2.0 * weight).ln_1p();
    }
    let m = coins as f64;
    let terms = (0..=coins).map(|heads| {
        let heads = heads as f64;
        let chance =
            lgamma(m + 1.0) - lgamma(heads + 1.0) - lgamma(m - heads + 1.0) - m * std::f64::consts::LN_2;
        (chance - weight * (2.0 * heads - m).powi(2) / m).exp()
    });
    terms.sum::<f64>().ln()
}

/// Whether one list of rows is the other in the same order, and no order of few outputs.
pub(super) fn is_copy<R: PartialEq>(one: &[R], other: &[R]) -> bool {
    one == other && one.windows(2).filter(|pair| pair[0] != pair[1]).count() >= CHANGES
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    /// Two rows of a pair: one in each file with probability 1/2 at most. Of two coins: `(e^-2w + 1) / 2`.
    #[test]
    fn chances_have_closed_forms() {
        assert!((log_moment(2, 1.5) - (0.5 * ((-3.0f64).exp() + 1.0)).ln()).abs() < 1e-12);
        assert!((log_tail(20.0, 20.0, 0.5) + 20.0 * 2f64.ln()).abs() < 1e-12);
        assert_eq!((log_tail(5.0, 10.0, 0.5), log_tail(0.0, 0.0, 0.5)), (0.0, 0.0));
        // The exact sum and the normal limit meet.
        for weight in WEIGHTS {
            assert!((log_moment(MANY - 1, weight) - log_moment(MANY, weight)).abs() < 1e-3, "{weight}");
        }
    }

    /// Draws of a nearly normal output, rounded to so many steps.
    fn draws(seed: u64, rows: usize, steps: f64, shift: f64) -> Vec<f64> {
        let mut stream = Pcg64::seed_from_u64(seed);
        let sum = |stream: &mut Pcg64| (0..12).map(|_| stream.random::<f64>()).sum::<f64>() - 6.0;
        (0..rows).map(|_| ((sum(&mut stream) + shift) * steps).round() / steps).collect()
    }

    fn shuffled(mut numbers: Vec<f64>, seed: u64) -> Outputs {
        let mut stream = Pcg64::seed_from_u64(seed);
        for last in (1..numbers.len()).rev() {
            numbers.swap(last, stream.random_range(0..=last));
        }
        Outputs::new(1, numbers)
    }

    fn found(one: Vec<f64>, other: Vec<f64>) -> bool {
        share_draws([&shuffled(one, 7), &shuffled(other, 8)])
    }

    #[test]
    fn copies_are_found_whatever_their_order() {
        for steps in [1e12, 1000.0, 50.0] {
            let one = draws(1, 4000, steps, 0.0);
            assert!(found(one.clone(), one.clone()), "{steps}");
            // A copy with as many rows of its own, and a part of a longer file.
            let beside = [&one[..], &draws(2, 4000, steps, 0.0)].concat();
            assert!(steps < 1000.0 || found(one.clone(), beside), "{steps}");
            let half = [&one[..2000], &draws(3, 2000, steps, 0.0)].concat();
            assert!(steps < 1000.0 || found(one, half), "{steps}");
        }
        let one = draws(1, 100_000, 1e12, 0.0);
        assert!(found(one[500..530].iter().copied().chain(draws(5, 100, 1e12, 0.0)).collect(), one));
    }

    /// Also of few outputs, of one alone, and of distributions that differ.
    #[test]
    fn draws_of_their_own_pass() {
        for seed in 10..40 {
            for (steps, shift) in
                [(1e12, 0.0), (1000.0, 0.0), (1000.0, 0.5), (50.0, 0.0), (5.0, 0.0), (1.0, 0.3)]
            {
                let (one, other) = (draws(seed, 3000, steps, 0.0), draws(seed + 1000, 4000, steps, shift));
                assert!(!found(one, other), "{seed} {steps} {shift}");
            }
        }
        assert!(!found(vec![1.0; 500], vec![1.0; 500]) && !found(vec![1.0; 500], vec![2.0; 500]));
        let coins = |ones: usize| (0..1000).map(|i| f64::from(u8::from(i < ones))).collect::<Vec<f64>>();
        assert!(!found(coins(500), coins(500)));
    }

    #[test]
    fn a_copy_of_few_outputs_is_known_by_its_order() {
        let coins = draws(1, 400, 0.5, 1.0);
        assert!(is_copy(&coins, &coins) && !is_copy(&coins, &draws(2, 400, 0.5, 1.0)));
        let mut sorted = coins;
        sorted.sort_by(f64::total_cmp);
        assert!(!is_copy(&sorted, &sorted));
    }
}
