//! Which of several answers is the greatest: the variants that StatDP and DP-Sniper are tested on.

use super::mutant::{Mutant, Truth};
use dpgp_accounting::Guarantee;

pub(super) fn all() -> Vec<Mutant> {
    vec![laplace(), exponential(), with_gap(), laplace_value(), exponential_value(), half_noise()]
}

/// A noisy answer, and its place.
struct Greatest {
    place: f64,
    value: f64,
    /// The next greatest.
    next: f64,
}

/// The greatest of noisy answers.
fn greatest(noisy: impl Iterator<Item = f64>) -> Greatest {
    let mut greatest = Greatest { place: 0.0, value: f64::NEG_INFINITY, next: f64::NEG_INFINITY };
    for (place, value) in noisy.enumerate() {
        if value > greatest.value {
            greatest = Greatest { place: place as f64, value, next: greatest.value };
        } else {
            greatest.next = greatest.next.max(value);
        }
    }
    greatest
}

/// The place of the greatest answer with Laplace noise of `2 / epsilon`.
///
/// Truth: at most `epsilon`. Source: Dwork and Roth 2014, Claim 3.9; ReportNoisyMax1.
fn laplace() -> Mutant {
    Mutant {
        name: "noisy-max-laplace",
        what: "place of the greatest, Laplace noise of 2 / epsilon",
        claim: Guarantee::pure(1.0),
        truth: Truth::Epsilon(1.0),
        inputs: [&[1.0; 5], &[0.0, 2.0, 2.0, 2.0, 2.0]],
        release: |answers, dice, out| {
            out.push(greatest(answers.iter().map(|answer| answer + dice.laplace(2.0))).place);
        },
    }
}

/// The same with exponential noise.
///
/// Truth: at most `epsilon`; it is permute and flip (Ding et al. 2021). ReportNoisyMax2.
fn exponential() -> Mutant {
    Mutant {
        name: "noisy-max-exponential",
        what: "place of the greatest, exponential noise of 2 / epsilon",
        release: |answers, dice, out| {
            out.push(greatest(answers.iter().map(|answer| answer + dice.exponential(2.0))).place);
        },
        ..laplace()
    }
}

/// The place, and how far the next answer lies below.
///
/// Truth: at most `epsilon`: the gap is free. Source: Ding, Wang, Zhang and Kifer 2019.
fn with_gap() -> Mutant {
    Mutant {
        name: "noisy-max-with-gap",
        what: "place of the greatest, and the gap to the next",
        release: |answers, dice, out| {
            let found = greatest(answers.iter().map(|answer| answer + dice.laplace(2.0)));
            out.extend([found.place, found.value - found.next]);
        },
        ..laplace()
    }
}

/// The noisy answer itself is released. ReportNoisyMax3.
///
/// Truth: below both maxima the distribution function of the greatest of five is `(e^(epsilon y / 2) / 2)^5`, so that a shift of
/// all by 1 has the ratio `e^(5 epsilon / 2)`; it is no more, since it is a function of five answers with `epsilon / 2` each.
fn laplace_value() -> Mutant {
    Mutant {
        name: "noisy-max-laplace-value",
        what: "the greatest noisy answer, Laplace noise",
        truth: Truth::Epsilon(2.5),
        inputs: [&[0.0; 5], &[1.0; 5]],
        release: |answers, dice, out| {
            out.push(greatest(answers.iter().map(|answer| answer + dice.laplace(2.0))).value);
        },
        ..laplace()
    }
}

/// The same with exponential noise. ReportNoisyMax4.
///
/// Truth: values below 1 are impossible if all answers are 1.
fn exponential_value() -> Mutant {
    Mutant {
        name: "noisy-max-exponential-value",
        what: "the greatest noisy answer, exponential noise",
        truth: Truth::Epsilon(f64::INFINITY),
        release: |answers, dice, out| {
            out.push(greatest(answers.iter().map(|answer| answer + dice.exponential(2.0))).value);
        },
        ..laplace_value()
    }
}

/// Noise of `1 / epsilon`, which is enough only if all answers rise or all fall.
///
/// Truth: at most `2 epsilon`. For two answers d apart the lower one wins with `(2 + d) e^-d / 4`; d rises by 2, from 5 to 7, and
/// the ratio is `7/9 e^2`.
fn half_noise() -> Mutant {
    Mutant {
        name: "noisy-max-half-noise",
        what: "noise of 1 / epsilon; one rises, one falls",
        truth: Truth::Epsilon(2.0),
        inputs: [&[0.0, 5.0], &[-1.0, 6.0]],
        release: |answers, dice, out| {
            out.push(greatest(answers.iter().map(|answer| answer + dice.laplace(1.0))).place);
        },
        ..laplace()
    }
}
