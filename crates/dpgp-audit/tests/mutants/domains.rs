//! What is released depends on which values occur.

use super::dice::NoiseSampler;
use super::mutant::{Mutant, Truth};
use dpgp_accounting::Guarantee;

pub(super) fn all() -> Vec<Mutant> {
    vec![stable(), low_threshold(), unique_values(), small_hidden(), zero_skipped(), extremes()]
}

/// What stands for a bin that is not shown.
const HIDDEN: f64 = -1000.0;

/// A count with Laplace noise of scale 1 if it is above a threshold; a count of 0 has no bin.
fn shown(count: f64, threshold: f64, dice: &mut NoiseSampler) -> f64 {
    let noisy = count + dice.laplace(1.0);
    if count > 0.0 && noisy > threshold { noisy } else { HIDDEN }
}

/// Bins that occur are shown if their noisy count is above `1 + ln(1 / (2 delta)) / epsilon`, for a delta of 0.05.
///
/// Truth: a bin of one record is shown with a probability of delta. Source: Korolova et al. 2009.
fn stable() -> Mutant {
    Mutant {
        name: "stable-histogram",
        what: "bins that occur, above the threshold for delta",
        claim: Guarantee { epsilon: 1.0, delta: 0.05 },
        truth: Truth::Delta(0.05),
        inputs: [&[0.0], &[1.0]],
        release: |count, dice, out| out.push(shown(count[0], 1.0 + 10f64.ln(), dice)),
    }
}

/// The same with a threshold of 2.
///
/// Truth: a bin of one record is shown with a probability of `e^-1 / 2`.
fn low_threshold() -> Mutant {
    Mutant {
        name: "stable-histogram-low-threshold",
        what: "bins that occur, above too low a threshold",
        truth: Truth::Delta(0.5 * (-1f64).exp()),
        release: |count, dice, out| out.push(shown(count[0], 2.0, dice)),
        ..stable()
    }
}

/// A histogram over the values that occur among the rows, of 0 to 3, each with Laplace noise.
///
/// Truth: a value that occurs once tells the inputs apart.
fn unique_values() -> Mutant {
    Mutant {
        name: "domain-by-unique-values",
        what: "noisy counts of the values that occur",
        claim: Guarantee::pure(1.0),
        truth: Truth::Epsilon(f64::INFINITY),
        inputs: [&[0.0, 0.0, 1.0], &[0.0, 0.0, 1.0, 3.0]],
        release: |rows, dice, out| {
            for value in [0.0, 1.0, 2.0, 3.0] {
                let count = rows.iter().filter(|row| **row == value).count();
                out.push(if count == 0 { HIDDEN } else { count as f64 + dice.laplace(1.0) });
            }
        },
    }
}

/// Counts below 5 are hidden, by the true count.
///
/// Truth: a count of 4 is never shown.
fn small_hidden() -> Mutant {
    Mutant {
        name: "small-counts-hidden",
        what: "counts below 5 are hidden, by the true count",
        inputs: [&[4.0], &[5.0]],
        release: |count, dice, out| {
            out.push(if count[0] < 5.0 { HIDDEN } else { count[0] + dice.laplace(1.0) });
        },
        ..unique_values()
    }
}

/// No noise on a count of zero, which would only do harm.
///
/// Truth: a count of 0 is told exactly.
fn zero_skipped() -> Mutant {
    Mutant {
        name: "zero-without-noise",
        what: "a count of zero gets no noise",
        inputs: [&[0.0], &[1.0]],
        release: |count, dice, out| {
            out.push(if count[0] == 0.0 { 0.0 } else { count[0] + dice.laplace(1.0) });
        },
        ..unique_values()
    }
}

/// A sum of rows whose bounds are their extremes.
///
/// Truth: equal rows have a width of zero and get no noise.
fn extremes() -> Mutant {
    Mutant {
        name: "bounds-from-the-data",
        what: "noise by the width of the data's own range",
        inputs: [&[2.0, 2.0, 2.0, 2.0], &[2.0, 2.0, 2.0, 3.0]],
        release: |rows, dice, out| {
            let low = rows.iter().copied().fold(f64::INFINITY, f64::min);
            let high = rows.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            out.push(rows.iter().sum::<f64>() + dice.laplace(high - low));
        },
        ..unique_values()
    }
}
