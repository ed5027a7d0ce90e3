//! Noise of other shapes on one count.

use super::mutant::{Mutant, Truth};
use dpgp_accounting::Guarantee;

pub(super) fn all() -> Vec<Mutant> {
    vec![cauchy(), one_sided(), uniform(), bounded(), multiplied(), published()]
}

/// Cauchy noise of scale 1.
///
/// Truth: the ratio of densities `(1 + (y - 1)^2) / (1 + y^2)` is greatest where its derivative, proportional to `y^2 - y - 1`,
/// vanishes: at `y = (1 - sqrt 5) / 2`, with the value `(3 + sqrt 5) / 2`.
fn cauchy() -> Mutant {
    let epsilon = ((3.0 + 5f64.sqrt()) / 2.0).ln();
    Mutant {
        name: "cauchy",
        what: "Cauchy noise on a count",
        claim: Guarantee::pure(epsilon),
        truth: Truth::Epsilon(epsilon),
        inputs: [&[0.0], &[1.0]],
        release: |x, dice, out| {
            let noise = (std::f64::consts::PI * (dice.uniform() - 0.5)).tan();
            // To multiples of 2^-20, as long as they are exact.
            out.push(x[0] + (noise.clamp(-1e9, 1e9) * 1_048_576.0).round() / 1_048_576.0);
        },
    }
}

/// Exponential noise: never below the count.
///
/// Truth: outputs below 1 are impossible with a count of 1.
fn one_sided() -> Mutant {
    Mutant {
        name: "one-sided-noise",
        what: "exponential noise, which is never negative",
        claim: Guarantee::pure(1.0),
        truth: Truth::Epsilon(f64::INFINITY),
        release: |x, dice, out| out.push(x[0] + dice.exponential(1.0)),
        ..cauchy()
    }
}

/// Uniform noise within 5 of the count.
///
/// Truth: outputs below -4 are impossible with a count of 1.
fn uniform() -> Mutant {
    Mutant {
        name: "uniform-noise",
        what: "uniform noise, which has ends",
        release: |x, dice, out| out.push(x[0] + dice.within(5.0)),
        ..one_sided()
    }
}

/// Laplace noise that is clamped to 3 scales, so that answers are never far off.
///
/// Truth: the output -3 has the probability `e^-3 / 2` with a count of 0 and is impossible with a count of 1.
fn bounded() -> Mutant {
    Mutant {
        name: "bounded-noise",
        what: "Laplace noise that is clamped before it is added",
        release: |x, dice, out| out.push(x[0] + dice.laplace(1.0).clamp(-3.0, 3.0)),
        ..one_sided()
    }
}

/// The count times one plus noise.
///
/// Truth: a count of 0 stays 0.
fn multiplied() -> Mutant {
    Mutant {
        name: "multiplied-noise",
        what: "the count is multiplied by noise",
        release: |x, dice, out| out.push(x[0] * (1.0 + dice.laplace(1.0))),
        ..one_sided()
    }
}

/// The noise stands beside the noisy count, as in a log.
///
/// Truth: their difference is the count.
fn published() -> Mutant {
    Mutant {
        name: "published-noise",
        what: "the noise stands in a log",
        release: |x, dice, out| {
            let noise = dice.laplace(1.0);
            out.extend([x[0] + noise, noise]);
        },
        ..one_sided()
    }
}
