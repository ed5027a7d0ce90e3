//! Reasons to refuse a private release, and the record of the noise of a release for those who check its certificate.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use dpgp_linalg::LinalgError;
use dpgp_number::OutOfRangeError;

/// Reasons why a release cannot be made safely.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum PrivacyError {
    /// A factorisation failed.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
    /// A number lies outside the range that the proof of a sensitivity needs.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRangeError),
    /// The noise covariance came out as zero: the exact values would be released.
    #[error(
        "the {solver} solver returned a noise covariance of zero, which would release the exact predictions; \
         nothing was released (try solver = \"interior-point\")"
    )]
    NoNoise {
        /// The solver that produced it.
        solver: &'static str,
    },
    /// The noise does not cover every column. This is the last check, of the matrices that noise would be sampled with.
    #[error(
        "the noise does not cover the change of one target (largest leverage {sensitivity}, which must be greater \
         than 0 and at most 1); nothing was released"
    )]
    NotCovered {
        /// `max_i |L^-1 b_i|`.
        sensitivity: f64,
    },
    /// All predictions are constant: they do not depend on the private targets.
    #[error(
        "no prediction depends on any target (the map C is zero), so there is nothing to protect: all points \
         are far from all inputs"
    )]
    NothingToProtect,
}

/// The noise of a release in whole numbers: independent `round(N(0, sd^2))` on each, exactly rounded
/// ([`RoundedGaussian`](crate::RoundedGaussian)).
///
/// Obligation: between neighbours, the whole numbers move by at most `sensitivity` in the Euclidean norm. So the
/// release is a function of that of a Gaussian mechanism with `mu = sensitivity / sd`.
///
/// ```
/// use dpgp_noise::RoundedNoiseParameters;
/// assert_eq!(RoundedNoiseParameters { sensitivity: 3.0, sd: 12.0 }.gdp_mu(), 0.25);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RoundedNoiseParameters {
    /// An upper bound, in the units that `sd` is in.
    pub sensitivity: f64,
    /// The standard deviation before rounding, at least that of the mechanism.
    pub sd: f64,
}

impl RoundedNoiseParameters {
    /// The statement of a certificate about how the noise was made.
    pub const NOISE_STATEMENT: &str = "round(N(0, sd^2)) on each released whole number, rounded exactly, with \
                            randomness from the operating system; no floating-point number meets private \
                            data before the noise is added";

    /// The sensitivity divided by the standard deviation. Squares of `mu` add up over releases.
    pub fn gdp_mu(self) -> f64 {
        self.sensitivity / self.sd
    }

    /// Whether sensitivity and standard deviation are positive and their ratio is finite, as a release requires.
    pub fn is_valid_for_release(self) -> bool {
        // With `sd > 0`, a positive quotient means a positive sensitivity.
        self.sd > 0.0 && self.gdp_mu().is_finite() && self.gdp_mu() > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_release_has_noise_without_end_or_measure() {
        for (sensitivity, sd, sound) in [
            (1.0, 2.0, true),
            (0.0, 2.0, false),
            (1.0, 0.0, false),
            (-1.0, -2.0, false),
            (f64::NAN, 1.0, false),
            (1.0, f64::INFINITY, false),
            (1e300, 1e-300, false),
        ] {
            assert_eq!(RoundedNoiseParameters { sensitivity, sd }.is_valid_for_release(), sound, "{sensitivity} {sd}");
        }
    }
}
