//! Laplace noise on several answers.

use super::mutant::{Mutant, Truth};
use dpgp_accounting::Guarantee;

pub(super) fn all() -> Vec<Mutant> {
    vec![
        histogram(),
        histogram_wrong_scale(),
        histogram_replaced(),
        parallel(),
        largest_change(),
        euclidean_change(),
        missing_noise(),
        same_noise(),
    ]
}

/// A histogram of five bins of which a record that is added changes one: NoisyHist1 of StatDP.
///
/// Truth: `epsilon`, that of the bin that changes.
pub(super) fn histogram() -> Mutant {
    Mutant {
        name: "histogram",
        what: "Laplace noise on each bin; a record is added",
        claim: Guarantee::pure(1.0),
        truth: Truth::Epsilon(1.0),
        inputs: [&[1.0, 1.0, 1.0, 1.0, 1.0], &[2.0, 1.0, 1.0, 1.0, 1.0]],
        release: |bins, dice, out| dice.add_laplace(bins, 1.0, out),
    }
}

/// The same with noise of scale epsilon, at epsilon = 0.1: NoisyHist2 of StatDP.
///
/// Truth: `1 / epsilon`, the shift of 1 over the scale.
fn histogram_wrong_scale() -> Mutant {
    Mutant {
        name: "histogram-wrong-scale",
        what: "noise of scale epsilon on each bin",
        claim: Guarantee::pure(0.1),
        truth: Truth::Epsilon(10.0),
        release: |bins, dice, out| dice.add_laplace(bins, 0.1, out),
        ..histogram()
    }
}

/// The noise for a record that is added, where a record is replaced: it leaves one bin and comes into another.
///
/// Truth: `2 epsilon`, a shift of 1 in each of two bins.
fn histogram_replaced() -> Mutant {
    Mutant {
        name: "histogram-replaced",
        what: "sensitivity for an added record, but one is replaced",
        truth: Truth::Epsilon(2.0),
        inputs: [&[2.0, 1.0, 1.0, 1.0, 1.0], &[1.0, 2.0, 1.0, 1.0, 1.0]],
        ..histogram()
    }
}

/// A count answered twenty times, each time with a twentieth of epsilon: LaplaceParallel of DP-Sniper.
///
/// Truth: `epsilon`, by composition.
fn parallel() -> Mutant {
    Mutant {
        name: "laplace-parallel",
        what: "twenty answers with a twentieth of epsilon each",
        inputs: [&[0.0; 20], &[1.0; 20]],
        release: |answers, dice, out| dice.add_laplace(answers, 20.0, out),
        ..histogram()
    }
}

/// The sensitivity is taken for the largest change of an answer, and four answers change.
///
/// Truth: `4 epsilon`, a shift of 1 in each.
fn largest_change() -> Mutant {
    Mutant {
        name: "laplace-largest-change",
        what: "scale by the largest change; four answers change",
        truth: Truth::Epsilon(4.0),
        inputs: [&[0.0; 4], &[1.0; 4]],
        ..histogram()
    }
}

/// The sensitivity is the Euclidean norm of the change, which Laplace noise does not go by.
///
/// Truth: `2 epsilon`: four shifts of 1 over a scale of 2.
fn euclidean_change() -> Mutant {
    Mutant {
        name: "laplace-euclidean-change",
        what: "scale by the Euclidean norm of the change",
        truth: Truth::Epsilon(2.0),
        release: |answers, dice, out| dice.add_laplace(answers, 2.0, out),
        ..largest_change()
    }
}

/// The last of three answers gets no noise, as by a loop that ends too early.
///
/// Truth: that answer tells the inputs apart.
fn missing_noise() -> Mutant {
    Mutant {
        name: "missing-noise",
        what: "one of three answers has no noise",
        truth: Truth::Epsilon(f64::INFINITY),
        inputs: [&[0.0, 0.0, 0.0], &[0.0, 0.0, 1.0]],
        release: |answers, dice, out| {
            let last = answers.len() - 1;
            dice.add_laplace(&answers[..last], 3.0, out);
            out.push(answers[last]);
        },
        ..histogram()
    }
}

/// The same noise on two answers.
///
/// Truth: their difference is exact.
fn same_noise() -> Mutant {
    Mutant {
        name: "same-noise",
        what: "one noise on two answers",
        truth: Truth::Epsilon(f64::INFINITY),
        inputs: [&[0.0, 0.0], &[1.0, 0.0]],
        release: |answers, dice, out| {
            let noise = dice.laplace(2.0);
            out.extend(answers.iter().map(|answer| answer + noise));
        },
        ..histogram()
    }
}
