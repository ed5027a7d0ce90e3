//! How the noise of a release was made, for those who check its certificate.

use serde::{Deserialize, Serialize};

/// The noise of a release in whole numbers: independent `round(N(0, sd^2))` on each, exactly rounded
/// ([`RoundedGaussian`](crate::RoundedGaussian)).
///
/// Obligation: between neighbours, the whole numbers move by at most `sensitivity` in the Euclidean norm, so that the release is
/// a function of that of a Gaussian mechanism with `mu = sensitivity / sd`.
///
/// ```
/// use dpgp_noise::RoundedNoise;
/// assert_eq!(RoundedNoise { sensitivity: 3.0, sd: 12.0 }.mu(), 0.25);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RoundedNoise {
    /// An upper bound, in the units that `sd` is in.
    pub sensitivity: f64,
    /// The standard deviation before rounding, at least that of the mechanism.
    pub sd: f64,
}

impl RoundedNoise {
    /// What the certificate of a release says of how its noise was made.
    pub const MADE: &str = "round(N(0, sd^2)) on each of the whole numbers that are released, rounded exactly, from the \
        randomness of the operating system; no floating-point number meets private data before it has its noise";

    /// The sensitivity over the standard deviation, by which releases compose.
    pub fn mu(self) -> f64 {
        self.sensitivity / self.sd
    }

    /// Whether it is noise that a release can have.
    pub fn is_sound(self) -> bool {
        // A quotient that is positive has a sensitivity of the sign of its standard deviation.
        self.sd > 0.0 && self.mu().is_finite() && self.mu() > 0.0
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
            assert_eq!(RoundedNoise { sensitivity, sd }.is_sound(), sound, "{sensitivity} {sd}");
        }
    }
}
