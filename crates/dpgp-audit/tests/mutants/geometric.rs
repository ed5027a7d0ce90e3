//! Whole noise.

use super::mutant::{Mutant, Truth};
use dpgp_accounting::Guarantee;

pub(super) fn all() -> Vec<Mutant> {
    vec![geometric(), truncated(), double_rate(), on_reals()]
}

/// Two-sided geometric noise, `P(k)` proportional to `e^(-epsilon |k|)`.
///
/// Truth: `epsilon`, the ratio of neighbouring probabilities. Source: Ghosh, Roughgarden and Sundararajan 2009.
fn geometric() -> Mutant {
    Mutant {
        name: "geometric",
        what: "two-sided geometric noise on a count",
        claim: Guarantee::pure(1.0),
        truth: Truth::Epsilon(1.0),
        inputs: [&[2.0], &[1.0]],
        release: |x, dice, out| out.push(x[0] + dice.geometric(1.0)),
    }
}

/// The same, clamped to the possible counts 0 to 5: TruncatedGeometric of DP-Sniper, after Balcer and Vadhan 2018.
///
/// Truth: `epsilon`, by post-processing; the ends have the ratio of the tails.
fn truncated() -> Mutant {
    Mutant {
        name: "truncated-geometric",
        what: "geometric noise, clamped to the possible counts",
        release: |x, dice, out| out.push((x[0] + dice.geometric(1.0)).clamp(0.0, 5.0)),
        ..geometric()
    }
}

/// The ratio is `e^(-2 epsilon)`, as if the sensitivity were 1/2.
///
/// Truth: `2 epsilon`.
fn double_rate() -> Mutant {
    Mutant {
        name: "geometric-double-rate",
        what: "geometric noise for half the sensitivity",
        truth: Truth::Epsilon(2.0),
        release: |x, dice, out| out.push(x[0] + dice.geometric(2.0)),
        ..geometric()
    }
}

/// Whole noise on an amount that is not whole.
///
/// Truth: the fraction of the amount stays.
fn on_reals() -> Mutant {
    Mutant {
        name: "geometric-on-reals",
        what: "whole noise on an amount with a fraction",
        truth: Truth::Epsilon(f64::INFINITY),
        inputs: [&[2.0], &[1.5]],
        ..geometric()
    }
}
