//! Sums of bins up to each bin.

use super::mutant::{Mutant, Truth};
use super::vectors::histogram;

pub(super) fn all() -> Vec<Mutant> {
    vec![prefix_sums(), prefix_sums_own_noise()]
}

/// Sums of noisy bins up to each bin: PrefixSum of DP-Sniper. One bin changes.
///
/// Truth: `epsilon`, by post-processing of the noisy bins.
fn prefix_sums() -> Mutant {
    Mutant {
        name: "prefix-sums",
        what: "sums of noisy bins up to each bin",
        release: |bins, dice, out| {
            let mut sum = 0.0;
            for bin in bins {
                sum += bin + dice.laplace(1.0);
                out.push(sum);
            }
        },
        ..histogram()
    }
}

/// Noise on each sum up to a bin, as if one sum changed.
///
/// Truth: `5 epsilon`; all five sums change by 1.
fn prefix_sums_own_noise() -> Mutant {
    Mutant {
        name: "prefix-sums-own-noise",
        what: "noise on each sum up to a bin, as if one changed",
        truth: Truth::Epsilon(5.0),
        release: |bins, dice, out| {
            let mut sum = 0.0;
            for bin in bins {
                sum += bin;
                out.push(sum + dice.laplace(1.0));
            }
        },
        ..histogram()
    }
}
