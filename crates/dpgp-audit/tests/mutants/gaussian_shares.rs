//! Three releases with Gaussian noise that share a budget.

use super::mutant::{Mutant, Truth};
use dpgp_accounting::{Guarantee, gaussian_delta};

pub(super) fn all() -> Vec<Mutant> {
    vec![three_shares(), each_whole(), mu_as_sd()]
}

/// Three releases with noise of `sqrt(3) / mu`, for a mu of 1.
///
/// Truth: that of one release with mu. Source: Dong, Roth and Su 2022, Corollary 3.3.
fn three_shares() -> Mutant {
    Mutant {
        name: "gaussian-three-shares",
        what: "three releases with noise sqrt(3) / mu",
        claim: Guarantee { epsilon: 1.0, delta: gaussian_delta(1.0, 1.0) },
        truth: Truth::of_normals(1.0, 1.0),
        inputs: [&[0.0; 3], &[1.0; 3]],
        release: |answers, dice, out| dice.add_gaussian(answers, 3f64.sqrt(), out),
    }
}

/// Three releases, each with the noise of the whole, `1 / mu`.
///
/// Truth: mu is `sqrt 3` times what was claimed.
fn each_whole() -> Mutant {
    Mutant {
        name: "gaussian-each-whole",
        what: "three releases with noise 1 / mu each",
        truth: Truth::of_normals(3f64.sqrt(), 1.0),
        release: |answers, dice, out| dice.add_gaussian(answers, 1.0, out),
        ..three_shares()
    }
}

/// Three releases for a mu of 1/2, with noise mu where it should be `sqrt(3) / mu`.
///
/// Truth: the shift is `sqrt(3) / mu`.
fn mu_as_sd() -> Mutant {
    Mutant {
        name: "gaussian-mu-as-noise",
        what: "noise mu where it should be sqrt(3) / mu",
        claim: Guarantee { epsilon: 1.0, delta: gaussian_delta(2.0, 1.0) },
        truth: Truth::of_normals(3f64.sqrt() / 0.5, 1.0),
        release: |answers, dice, out| dice.add_gaussian(answers, 0.5, out),
        ..three_shares()
    }
}
