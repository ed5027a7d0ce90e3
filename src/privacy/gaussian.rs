//! The Gaussian mechanism: exact delta, classic and exact calibration.

use serde::{Deserialize, Serialize};

use super::bisect::bisect;
use crate::linalg::normal_cdf;

/// The exact `delta` at `epsilon` of the Gaussian mechanism with L2 sensitivity 1 and standard
/// deviation `sigma` (the hockey-stick divergence of the worst pair of neighbours):
///
/// `delta = Phi(1/(2 sigma) - epsilon sigma) - e^epsilon Phi(-1/(2 sigma) - epsilon sigma)`.
///
/// Zero noise has `delta = 1`. Source: Balle and Wang 2018, Theorem 8.
///
/// ```
/// use dpgp::privacy::gaussian_delta;
/// assert!((gaussian_delta(1.0, 1.0) - 0.126936737506643).abs() < 1e-12);
/// ```
pub fn gaussian_delta(sigma: f64, epsilon: f64) -> f64 {
    if sigma <= 0.0 {
        return 1.0;
    }
    // Both terms are nearly equal for large epsilon; the clamp removes a negative rounding error of their difference.
    let half = 0.5 / sigma;
    let shift = epsilon * sigma;
    (normal_cdf(half - shift) - weighted_tail(half - shift, half + shift, epsilon)).clamp(0.0, 1.0)
}

/// `e^epsilon Phi(-s) = phi(d) Phi(-s) / phi(s)` with `s^2 - d^2 = 2 epsilon`. Where the tail is no normal number the
/// ratio is `(1 - 1/s^2 + 3/s^4 - 15/s^6 + 105/s^8) / s` to 1e-12.
fn weighted_tail(d: f64, s: f64, epsilon: f64) -> f64 {
    if s <= 37.0 {
        return (epsilon + normal_cdf(-s).ln()).exp();
    }
    let x = 1.0 / (s * s);
    let series = 1.0 - x * (1.0 - 3.0 * x * (1.0 - 5.0 * x * (1.0 - 7.0 * x)));
    (-0.5 * d * d).exp() / std::f64::consts::TAU.sqrt() * series / s
}

/// How the noise of the Gaussian mechanism is set from (epsilon, delta).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Calibration {
    /// `sigma = sqrt(2 ln(2/delta)) / epsilon` (Hall et al. 2013, Proposition 3). Its proof needs
    /// `epsilon <= 1`; beyond, the exact delta tells the truth.
    Classic,
    /// `sigma = sqrt(2 ln(1.25/delta)) / epsilon` (Dwork and Roth 2014, Theorem A.1). Its proof needs `epsilon < 1`,
    /// and covers 1 because the exact delta is continuous.
    Textbook,
    /// The smallest `sigma` whose exact delta is at most `delta` (Balle and Wang 2018, Algorithm 1).
    Analytic,
}

impl Calibration {
    /// The standard deviation per unit of L2 sensitivity; zero where `epsilon` is infinite.
    ///
    /// Obligation: `gaussian_delta(sigma, epsilon) <= delta`, for the classic ones where their proof covers `epsilon`.
    ///
    /// ```
    /// use dpgp::privacy::{Calibration, gaussian_delta};
    /// let classic = Calibration::Classic.sigma(1.0, 0.01);
    /// assert!((classic - (2.0 * 200f64.ln()).sqrt()).abs() < 1e-15);
    /// // The least noise is much less, and spends all of delta.
    /// let least = Calibration::Analytic.sigma(1.0, 0.01);
    /// assert!((least - 1.877_875_560_907).abs() < 1e-9);
    /// assert!((gaussian_delta(least, 1.0) / 0.01 - 1.0).abs() < 1e-9);
    /// ```
    pub fn sigma(self, epsilon: f64, delta: f64) -> f64 {
        if epsilon.is_infinite() {
            return 0.0;
        }
        match self {
            Self::Classic => (2.0 * (2.0 / delta).ln()).sqrt() / epsilon,
            Self::Textbook => (2.0 * (1.25 / delta).ln()).sqrt() / epsilon,
            Self::Analytic => analytic_sigma(epsilon, delta),
        }
    }

    /// Whether the calibration's proof covers `epsilon`.
    pub fn is_proven_for(self, epsilon: f64) -> bool {
        match self {
            Self::Analytic => true,
            Self::Classic | Self::Textbook => epsilon <= 1.0 || epsilon.is_infinite(),
        }
    }

    /// The calibration's name, as specs spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::Textbook => "textbook",
            Self::Analytic => "analytic",
        }
    }
}

/// Bisection on `ln sigma`, along which the exact delta falls; the upper end is returned, so that
/// the exact delta never exceeds `delta`.
fn analytic_sigma(epsilon: f64, delta: f64) -> f64 {
    let (mut low, mut high) = (-2.0f64, 2.0f64);
    // Delta falls from 1 to 0 along ln sigma, so both searches end.
    while gaussian_delta(low.exp(), epsilon) <= delta {
        low -= 2.0;
    }
    while gaussian_delta(high.exp(), epsilon) > delta {
        high += 2.0;
    }
    bisect(low, high, |log| gaussian_delta(log.exp(), epsilon) <= delta).high.exp()
}
