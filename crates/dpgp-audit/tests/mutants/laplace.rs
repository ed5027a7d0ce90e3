//! Laplace noise on one count.

use super::mutant::{Mutant, Truth};
use dpgp_accounting::Guarantee;

pub(super) fn all() -> Vec<Mutant> {
    vec![laplace(), rounded(), clamped(), scale_is_epsilon(), scale_from_variance(), rejected(), closest(), averaged()]
}

/// Laplace noise of scale `1 / epsilon`.
///
/// Truth: `epsilon`, the shift of 1 over the scale. Source: Dwork et al. 2006.
fn laplace() -> Mutant {
    Mutant {
        name: "laplace",
        what: "Laplace noise on a count",
        claim: Guarantee::pure(1.0),
        truth: Truth::Epsilon(1.0),
        inputs: [&[0.0], &[1.0]],
        release: |x, dice, out| out.push(x[0] + dice.laplace(1.0)),
    }
}

/// The same, rounded to whole numbers afterwards.
///
/// Truth: at most `epsilon`, by post-processing.
fn rounded() -> Mutant {
    Mutant {
        name: "laplace-rounded",
        what: "Laplace noise, then rounded to whole numbers",
        release: |x, dice, out| out.push((x[0] + dice.laplace(1.0)).round()),
        ..laplace()
    }
}

/// The same, brought into the range of possible counts afterwards.
///
/// Truth: `epsilon`, by post-processing; the ends of the range keep the ratio of the tails.
fn clamped() -> Mutant {
    Mutant {
        name: "laplace-clamped",
        what: "Laplace noise, then clamped to 0 and above",
        release: |x, dice, out| out.push((x[0] + dice.laplace(1.0)).max(0.0)),
        ..laplace()
    }
}

/// The scale is `epsilon` where it should be `1 / epsilon`, at epsilon = 1/2.
///
/// Truth: 2, the shift of 1 over the scale of 1/2.
fn scale_is_epsilon() -> Mutant {
    Mutant {
        name: "laplace-scale-epsilon",
        what: "the scale is epsilon, not 1 / epsilon",
        claim: Guarantee::pure(0.5),
        truth: Truth::Epsilon(2.0),
        release: |x, dice, out| out.push(x[0] + dice.laplace(0.5)),
        ..laplace()
    }
}

/// The scale that gives a variance of `1 / epsilon^2`; that of scale b is `2 b^2`.
///
/// Truth: `sqrt(2) epsilon`, the shift of 1 over `1 / (sqrt(2) epsilon)`.
fn scale_from_variance() -> Mutant {
    Mutant {
        name: "laplace-scale-from-variance",
        what: "the standard deviation is 1 / epsilon, not the scale",
        truth: Truth::Epsilon(2f64.sqrt()),
        release: |x, dice, out| out.push(x[0] + dice.laplace(0.5f64.sqrt())),
        ..laplace()
    }
}

/// Noise is drawn again until the answer is possible, which is a choice that depends on the count.
///
/// Truth: the density is that of Laplace noise over the probability of `y >= 0`, 1/2 at x = 0 and `1 - e^-epsilon / 2` at 1;
/// the greatest ratio, at y = 0, is `e^epsilon (2 - e^-epsilon)`.
fn rejected() -> Mutant {
    Mutant {
        name: "laplace-until-possible",
        what: "noise is drawn again until the answer is not negative",
        truth: Truth::Epsilon(1.0 + (2.0 - (-1f64).exp()).ln()),
        release: |x, dice, out| {
            let mut answer = -1.0;
            while answer < 0.0 {
                answer = x[0] + dice.laplace(1.0);
            }
            out.push(answer);
        },
        ..laplace()
    }
}

/// Of two noisy answers the one that is nearer to the truth is released.
///
/// Truth: the less of two exponential sizes of mean 1 has mean 1/2, so that the noise is Laplace of half the scale: `2 epsilon`.
fn closest() -> Mutant {
    Mutant {
        name: "laplace-closest-of-two",
        what: "of two noisy answers the one nearer to the truth",
        truth: Truth::Epsilon(2.0),
        release: |x, dice, out| {
            let noise = [dice.laplace(1.0), dice.laplace(1.0)];
            out.push(x[0] + if noise[0].abs() < noise[1].abs() { noise[0] } else { noise[1] });
        },
        ..laplace()
    }
}

/// The mean of four noisy answers at the price of one.
///
/// Truth: at most `4 epsilon`, by composition; the tails reach it.
fn averaged() -> Mutant {
    Mutant {
        name: "laplace-averaged",
        what: "the mean of four noisy answers, paid once",
        truth: Truth::Epsilon(4.0),
        release: |x, dice, out| {
            let sum: f64 = (0..4).map(|_| dice.laplace(1.0)).sum();
            out.push(x[0] + sum / 4.0);
        },
        ..laplace()
    }
}
