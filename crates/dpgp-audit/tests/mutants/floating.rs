//! Real noise in floating-point arithmetic.

use super::mutant::{Mutant, Truth};
use dpgp_accounting::{Guarantee, gaussian_delta};

pub(super) fn all() -> Vec<Mutant> {
    vec![snapped(), laplace(), same_power(), single(), few_bits(), gaussian()]
}

/// A count and noise as doubles, whose sum is rounded to multiples of 1/1024.
///
/// Truth: `epsilon` but for the last places of doubles: a probability of `2^-40` at most falls on another side of a rounding.
/// Source: Mironov 2012.
fn snapped() -> Mutant {
    Mutant {
        name: "floating-snapped",
        what: "doubles, rounded to multiples of 1/1024",
        claim: Guarantee::pure(1.0),
        truth: Truth::Epsilon(1.0),
        inputs: [&[0.0], &[1.0]],
        release: |x, dice, out| out.push(((x[0] + dice.raw_laplace()) * 1024.0).round() / 1024.0),
    }
}

/// The sum as it is.
///
/// Truth: with a count of 1 it is a multiple of `2^-53`; with a count of 0 small noise has lower bits.
fn laplace() -> Mutant {
    Mutant {
        name: "floating-laplace",
        what: "a count plus Laplace noise, in doubles",
        truth: Truth::Epsilon(f64::INFINITY),
        release: |x, dice, out| out.push(x[0] + dice.raw_laplace()),
        ..snapped()
    }
}

/// Two numbers between the same powers of 2.
///
/// Truth: between 1/4 and 1/2 the noise on 1.5 is beyond -1, so that the sum is a multiple of `2^-52`, and that on 1.25 is not.
fn same_power() -> Mutant {
    Mutant { name: "floating-same-power", what: "the same on 1.25 and on 1.5", inputs: [&[1.25], &[1.5]], ..laplace() }
}

/// The same in single precision.
///
/// Truth: with a count of 1 the sum is a multiple of `2^-24`.
fn single() -> Mutant {
    Mutant {
        name: "floating-single",
        what: "a count plus Laplace noise, in single precision",
        release: |x, dice, out| out.push(f64::from(x[0] as f32 + dice.raw_laplace() as f32)),
        ..laplace()
    }
}

/// Noise by inversion of a uniform number of 16 bits.
///
/// Truth: each count has `2^17` outputs, hardly any of which the other count has.
fn few_bits() -> Mutant {
    Mutant {
        name: "floating-few-bits",
        what: "Laplace noise from 16 random bits",
        release: |x, dice, out| {
            let size = -((1 + dice.side(1 << 16)) as f64 / 65_536.0).ln();
            out.push(x[0] + if dice.happens(0.5) { size } else { -size });
        },
        ..laplace()
    }
}

/// Gaussian noise in doubles.
///
/// Truth: as of [`laplace`], with a probability above the claimed delta.
fn gaussian() -> Mutant {
    Mutant {
        name: "floating-gaussian",
        what: "a count plus Gaussian noise, in doubles",
        claim: Guarantee { epsilon: 1.0, delta: gaussian_delta(1.0, 1.0) },
        release: |x, dice, out| out.push(x[0] + dice.raw_normal()),
        ..laplace()
    }
}
