//! Private choices of a candidate by utilities, each of which changes by at most 1.

use super::dice::NoiseSampler;
use super::mutant::{Mutant, Truth};
use dpgp_accounting::Guarantee;

pub(super) fn all() -> Vec<Mutant> {
    vec![exponential(), permuted(), without_half(), permuted_without_half(), wrong_sensitivity(), exact_value()]
}

/// The place that is chosen with probabilities proportional to `exp(rate u)`. Source: McSherry and Talwar 2007.
fn chosen(utilities: &[f64], rate: f64, dice: &mut NoiseSampler) -> f64 {
    let weights: Vec<f64> = utilities.iter().map(|utility| (rate * utility).exp()).collect();
    dice.place(&weights)
}

/// Candidates in random order, of which the first is taken whose coin of probability `exp(rate (u - max))` shows heads. Source:
/// McKenna and Sheldon 2020.
fn flipped(utilities: &[f64], rate: f64, dice: &mut NoiseSampler) -> f64 {
    let most = utilities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut left: Vec<usize> = (0..utilities.len()).collect();
    // The best candidate is always taken when its turn comes.
    loop {
        let place = left.swap_remove(dice.side(left.len()));
        if dice.happens((rate * (utilities[place] - most)).exp()) {
            return place as f64;
        }
    }
}

/// The exponential mechanism.
///
/// Truth: at most `epsilon`.
fn exponential() -> Mutant {
    Mutant {
        name: "exponential",
        what: "exponential mechanism, weights exp(epsilon u / 2)",
        claim: Guarantee::pure(1.0),
        truth: Truth::Epsilon(1.0),
        inputs: [&[1.0, 4.0, 4.0], &[0.0, 5.0, 5.0]],
        release: |utilities, dice, out| out.push(chosen(utilities, 0.5, dice)),
    }
}

/// Permute and flip.
///
/// Truth: at most `epsilon`.
fn permuted() -> Mutant {
    Mutant {
        name: "permute-and-flip",
        what: "permute and flip, coins exp(epsilon (u - max) / 2)",
        release: |utilities, dice, out| out.push(flipped(utilities, 0.5, dice)),
        ..exponential()
    }
}

/// Weights `exp(epsilon u)`, where utilities of some candidates rise and those of others fall.
///
/// Truth: at most `2 epsilon`, the mechanism for twice the epsilon; the ratio for the worse of two candidates comes near it.
fn without_half() -> Mutant {
    Mutant {
        name: "exponential-without-half",
        what: "exponential mechanism, weights exp(epsilon u)",
        truth: Truth::Epsilon(2.0),
        inputs: [&[0.0, 4.0], &[-1.0, 5.0]],
        release: |utilities, dice, out| out.push(chosen(utilities, 1.0, dice)),
        ..exponential()
    }
}

/// Coins `exp(epsilon (u - max))`.
///
/// Truth: `2 epsilon`; the worse of two candidates is taken with a probability of `exp(epsilon (u - max)) / 2`.
fn permuted_without_half() -> Mutant {
    Mutant {
        name: "permute-and-flip-without-half",
        what: "permute and flip, coins exp(epsilon (u - max))",
        release: |utilities, dice, out| out.push(flipped(utilities, 1.0, dice)),
        ..without_half()
    }
}

/// A person has three rows, each of which changes a utility by 1, and a sensitivity of 1 is used.
///
/// Truth: at most `3 epsilon`.
fn wrong_sensitivity() -> Mutant {
    Mutant {
        name: "exponential-three-rows",
        what: "exponential mechanism for 1 row, a person has 3",
        truth: Truth::Epsilon(3.0),
        inputs: [&[0.0, 6.0], &[-3.0, 9.0]],
        ..exponential()
    }
}

/// A median that is chosen among the values of the rows: by the exponential mechanism, with ranks as utilities.
///
/// Truth: a value that only one input has tells them apart.
fn exact_value() -> Mutant {
    Mutant {
        name: "median-of-the-values",
        what: "a private median that is one of the values",
        truth: Truth::Epsilon(f64::INFINITY),
        inputs: [&[1.0, 2.0, 3.0, 4.0, 5.0], &[1.0, 2.0, 3.5, 4.0, 5.0]],
        release: |values, dice, out| {
            let middle = (values.len() / 2) as f64;
            let ranks: Vec<f64> = (0..values.len()).map(|rank| -(rank as f64 - middle).abs()).collect();
            out.push(values[chosen(&ranks, 0.5, dice) as usize]);
        },
        ..exponential()
    }
}
