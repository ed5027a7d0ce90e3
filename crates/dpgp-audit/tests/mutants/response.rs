//! Randomised response.

use super::dice::NoiseSampler;
use super::mutant::{Mutant, Truth};
use dpgp_accounting::Guarantee;

pub(super) fn all() -> Vec<Mutant> {
    vec![randomised(), two_coins(), of_eight(), of_eight_as_of_two(), rappor_once(), rappor(), rappor_half()]
}

/// `e / (1 + e)`: the probability of the true one of two answers at an epsilon of 1.
fn of_two() -> f64 {
    1.0 / (1.0 + (-1f64).exp())
}

/// The true bit with a probability of `e^epsilon / (1 + e^epsilon)`.
///
/// Truth: `epsilon`. Source: Warner 1965.
fn randomised() -> Mutant {
    Mutant {
        name: "randomised-response",
        what: "the true bit with probability e / (1 + e)",
        claim: Guarantee::pure(1.0),
        truth: Truth::Epsilon(1.0),
        inputs: [&[0.0], &[1.0]],
        release: |bit, dice, out| out.push(if dice.happens(of_two()) { bit[0] } else { 1.0 - bit[0] }),
    }
}

/// With that probability p the true bit, otherwise what a fair coin shows, which may be the true bit too.
///
/// Truth: the true bit has `(1 + p) / 2`, the other one `(1 - p) / 2`.
fn two_coins() -> Mutant {
    let p = of_two();
    Mutant {
        name: "response-by-two-coins",
        what: "with probability e / (1 + e) the truth, else a coin",
        truth: Truth::Epsilon(((1.0 + p) / (1.0 - p)).ln()),
        release: |bit, dice, out| {
            let coin = if dice.happens(0.5) { 1.0 } else { 0.0 };
            out.push(if dice.happens(of_two()) { bit[0] } else { coin });
        },
        ..randomised()
    }
}

/// The true one of eight answers with a probability, otherwise one of the others.
fn answer(truth: f64, probability: f64, dice: &mut NoiseSampler) -> f64 {
    if dice.happens(probability) { truth } else { (truth + 1.0 + dice.side(7) as f64) % 8.0 }
}

/// One of eight answers, the true one with a probability of `e / (e + 7)`.
///
/// Truth: `epsilon`; each other one has `1 / (e + 7)`. Source: Kairouz, Oh and Viswanath 2014.
fn of_eight() -> Mutant {
    Mutant {
        name: "response-of-eight",
        what: "the true one of eight with probability e / (e + 7)",
        inputs: [&[2.0], &[5.0]],
        release: |truth, dice, out| out.push(answer(truth[0], 1f64.exp() / (1f64.exp() + 7.0), dice)),
        ..randomised()
    }
}

/// The same with the probability for two answers.
///
/// Truth: each other answer has a seventh of `1 / (1 + e)`: `epsilon + ln 7`.
fn of_eight_as_of_two() -> Mutant {
    Mutant {
        name: "response-of-eight-as-of-two",
        what: "the true one of eight with probability e / (1 + e)",
        truth: Truth::Epsilon(1.0 + 7f64.ln()),
        release: |truth, dice, out| out.push(answer(truth[0], of_two(), dice)),
        ..of_eight()
    }
}

/// Bits of a Bloom filter of 20 places with 4 hashes, for two values whose hashes differ.
const FILTERS: [&[f64]; 2] = [
    &[1., 1., 1., 1., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0.],
    &[0., 0., 0., 0., 1., 1., 1., 1., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0.],
];

/// A bit that is replaced by that of a fair coin with a probability f.
fn permanent(bit: f64, f: f64, dice: &mut NoiseSampler) -> f64 {
    let coin = if dice.happens(0.5) { 1.0 } else { 0.0 };
    if dice.happens(f) { coin } else { bit }
}

/// The epsilon of a filter whose bits are told with a probability of `1 - f / 2`, where 4 bits of each value differ.
fn filter_epsilon(f: f64) -> f64 {
    8.0 * ((2.0 - f) / f).ln()
}

/// The permanent response of RAPPOR, f = 0.95: OneTimeRAPPOR of DP-Sniper.
///
/// Truth: `2 h ln((1 - f/2) / (f/2))`. Source: Erlingsson, Pihur and Korolova 2014, Theorem 1.
fn rappor_once() -> Mutant {
    Mutant {
        name: "rappor-once",
        what: "permanent response of RAPPOR on a Bloom filter",
        claim: Guarantee::pure(filter_epsilon(0.95)),
        truth: Truth::Epsilon(filter_epsilon(0.95)),
        inputs: FILTERS,
        release: |bits, dice, out| out.extend(bits.iter().map(|bit| permanent(*bit, 0.95, dice))),
    }
}

/// Both responses of RAPPOR, f = 0.75, p = 0.45, q = 0.55: a bit is shown with a probability of 0.5125 if it is set and of
/// 0.4875 if not.
///
/// Truth: `h ln(q* (1 - p*) / (p* (1 - q*)))`. Source: Erlingsson, Pihur and Korolova 2014, Theorem 2.
fn rappor() -> Mutant {
    let epsilon = 8.0 * (0.5125f64 / 0.4875).ln();
    Mutant {
        name: "rappor",
        what: "both responses of RAPPOR on a Bloom filter",
        claim: Guarantee::pure(epsilon),
        truth: Truth::Epsilon(epsilon),
        release: |bits, dice, out| {
            for bit in bits {
                let shown = if permanent(*bit, 0.75, dice) == 1.0 { 0.55 } else { 0.45 };
                out.push(if dice.happens(shown) { 1.0 } else { 0.0 });
            }
        },
        ..rappor_once()
    }
}

/// The permanent response, f = 0.75, which counts the bits of one value and forgets those of the other.
///
/// Truth: twice what is claimed.
fn rappor_half() -> Mutant {
    let epsilon = filter_epsilon(0.75);
    Mutant {
        name: "rappor-counts-one-value",
        what: "RAPPOR's epsilon by the bits of one value",
        claim: Guarantee::pure(epsilon / 2.0),
        truth: Truth::Epsilon(epsilon),
        release: |bits, dice, out| out.extend(bits.iter().map(|bit| permanent(*bit, 0.75, dice))),
        ..rappor_once()
    }
}
