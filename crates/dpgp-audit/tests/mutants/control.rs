//! What the program does beside its answer depends on the data, or its randomness does.

use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::dice::NoiseSampler;
use super::mutant::{Mutant, Truth};
use dpgp_accounting::Guarantee;

pub(super) fn all() -> Vec<Mutant> {
    vec![seldom_raw(), too_often_raw(), batches(), seeded_by_data(), seeded_once()]
}

/// Laplace noise, but with a probability the raw count, marked as such by being far off.
fn raw_with(probability: f64, count: f64, dice: &mut NoiseSampler, out: &mut Vec<f64>) {
    out.push(if dice.happens(probability) { 1000.0 + count } else { count + dice.laplace(1.0) });
}

/// A failure of probability delta = 0.01 that publishes the count as it is.
///
/// Truth: delta; all else keeps epsilon.
fn seldom_raw() -> Mutant {
    Mutant {
        name: "raw-with-probability-delta",
        what: "the raw count with a probability of delta",
        claim: Guarantee { epsilon: 1.0, delta: 0.01 },
        truth: Truth::Delta(0.01),
        inputs: [&[0.0], &[1.0]],
        release: |count, dice, out| raw_with(0.01, count[0], dice, out),
    }
}

/// The same with twice that probability.
///
/// Truth: 0.02.
fn too_often_raw() -> Mutant {
    Mutant {
        name: "raw-with-twice-delta",
        what: "the raw count with twice that probability",
        truth: Truth::Delta(0.02),
        release: |count, dice, out| raw_with(0.02, count[0], dice, out),
        ..seldom_raw()
    }
}

/// A noisy sum beside the number of batches of four rows that it took, as progress bars and logs tell.
///
/// Truth: eight rows take two batches, nine take three.
fn batches() -> Mutant {
    Mutant {
        name: "size-in-control-flow",
        what: "the number of batches follows the number of rows",
        claim: Guarantee::pure(1.0),
        truth: Truth::Epsilon(f64::INFINITY),
        inputs: [&[1.0; 8], &[1.0; 9]],
        release: |rows, dice, out| {
            out.push(rows.iter().sum::<f64>() + dice.laplace(1.0));
            out.push(rows.len().div_ceil(4) as f64);
        },
    }
}

/// Noise from a seed that is made of the data, so that a release can be repeated.
///
/// Truth: each input has one output.
fn seeded_by_data() -> Mutant {
    Mutant {
        name: "seeded-by-the-data",
        what: "noise from a seed made of the data",
        inputs: [&[0.0], &[1.0]],
        release: |count, _, out| {
            let mut dice = NoiseSampler::new(Pcg64::seed_from_u64(count[0].to_bits()));
            out.push(count[0] + dice.laplace(1.0));
        },
        ..batches()
    }
}

/// Noise from a seed that stands in the program.
///
/// Truth: each input has one output.
fn seeded_once() -> Mutant {
    Mutant {
        name: "seeded-in-the-program",
        what: "noise from a seed that stands in the program",
        release: |count, _, out| {
            let mut dice = NoiseSampler::new(Pcg64::seed_from_u64(42));
            out.push(count[0] + dice.laplace(1.0));
        },
        ..seeded_by_data()
    }
}
