//! Gaussian noise. Truths are exact deltas of two normal distributions (Balle and Wang 2018, Theorem 8).

use super::mutant::{Mutant, Truth};
use dpgp_accounting::{Calibration, Guarantee, zcdp_epsilon};

pub(super) fn all() -> Vec<Mutant> {
    vec![gaussian(), rounded(), textbook(), rho_as_sd(), variance_as_sd(), largest_change(), divided_twice(), pure()]
}

/// The claim of calibrated noise.
const CLAIM: Guarantee = Guarantee { epsilon: 1.0, delta: 0.01 };

/// The least standard deviation for it and a sensitivity of 1, rounded up.
const SD: f64 = 1.877_876;

/// The least noise for the claim.
///
/// Truth: the claimed delta. Source: Balle and Wang 2018.
fn gaussian() -> Mutant {
    Mutant {
        name: "gaussian",
        what: "Gaussian noise by exact calibration",
        claim: CLAIM,
        truth: Truth::of_normals(1.0 / SD, CLAIM.epsilon),
        inputs: [&[0.0], &[1.0]],
        release: |x, dice, out| dice.add_gaussian(x, SD, out),
    }
}

/// The same, rounded to whole numbers.
///
/// Truth: at most that of the noise, by post-processing.
fn rounded() -> Mutant {
    Mutant {
        name: "gaussian-rounded",
        what: "Gaussian noise, rounded to whole numbers",
        release: |x, dice, out| out.push((x[0] + dice.gaussian(SD)).round()),
        ..gaussian()
    }
}

/// The formula of textbooks, `sqrt(2 ln(1.25 / delta)) / epsilon`, at an epsilon of 6, where its proof does not reach.
///
/// Truth: a shift of 1 over that noise.
fn textbook() -> Mutant {
    let (epsilon, delta) = (6.0, 0.3);
    Mutant {
        name: "gaussian-textbook-beyond-1",
        what: "the textbook formula beyond epsilon 1",
        claim: Guarantee { epsilon, delta },
        truth: Truth::of_normals(1.0 / Calibration::Textbook.sigma(epsilon, delta), epsilon),
        release: |x, dice, out| dice.add_gaussian(x, Calibration::Textbook.sigma(6.0, 0.3), out),
        ..gaussian()
    }
}

/// A share rho = 0.2 of zero-concentrated privacy is passed where the standard deviation is expected, `1 / sqrt(2 rho)`.
///
/// Truth: the shift is `1 / rho`. The claim is what rho gives (Canonne, Kamath and Steinke 2020, Proposition 12).
fn rho_as_sd() -> Mutant {
    let (rho, delta) = (0.2, 0.01);
    let epsilon = zcdp_epsilon(rho, delta);
    Mutant {
        name: "gaussian-rho-as-noise",
        what: "a share of zCDP passed as standard deviation",
        claim: Guarantee { epsilon, delta },
        truth: Truth::of_normals(1.0 / rho, epsilon),
        release: |x, dice, out| dice.add_gaussian(x, 0.2, out),
        ..gaussian()
    }
}

/// A variance is expected and the standard deviation is passed.
///
/// Truth: the standard deviation is the root of what it should be.
fn variance_as_sd() -> Mutant {
    Mutant {
        name: "gaussian-sd-as-variance",
        what: "the standard deviation passed as variance",
        truth: Truth::of_normals(1.0 / SD.sqrt(), CLAIM.epsilon),
        release: |x, dice, out| dice.add_gaussian(x, SD.sqrt(), out),
        ..gaussian()
    }
}

/// The sensitivity is taken for the largest change of an answer, and four answers change.
///
/// Truth: the Euclidean norm of the change is 2.
fn largest_change() -> Mutant {
    Mutant {
        name: "gaussian-largest-change",
        what: "noise by the largest change; four answers change",
        truth: Truth::of_normals(2.0 / SD, CLAIM.epsilon),
        inputs: [&[0.0; 4], &[1.0; 4]],
        ..gaussian()
    }
}

/// A mean of four rows between 0 and 1, whose noise for one row is divided by the number of rows twice.
///
/// Truth: a row moves the mean by 1/4, four times as far as the noise is made for.
fn divided_twice() -> Mutant {
    Mutant {
        name: "gaussian-divided-twice",
        what: "the noise of a mean divided by n twice",
        truth: Truth::of_normals(4.0 / SD, CLAIM.epsilon),
        inputs: [&[0.0; 4], &[1.0, 0.0, 0.0, 0.0]],
        release: |rows, dice, out| out.push(rows.iter().sum::<f64>() / 4.0 + dice.gaussian(SD) / 16.0),
        ..gaussian()
    }
}

/// Gaussian noise that claims a delta of zero.
///
/// Truth: the exact delta at that epsilon.
fn pure() -> Mutant {
    Mutant {
        name: "gaussian-as-pure",
        what: "Gaussian noise that claims delta = 0",
        claim: Guarantee::pure(1.0),
        truth: Truth::of_normals(1.0, 1.0),
        release: |x, dice, out| dice.add_gaussian(x, 1.0, out),
        ..gaussian()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_noise_is_the_least() {
        let least = Calibration::Analytic.sigma(CLAIM.epsilon, CLAIM.delta);
        assert!(SD >= least && SD < least * (1.0 + 1e-6), "{least}");
    }
}
