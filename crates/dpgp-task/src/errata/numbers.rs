//! The numbers of an erratum.

use dpgp_accounting::gaussian_delta;

/// The numbers of an erratum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Numbers {
    /// What the paper says.
    pub claimed: f64,
    /// What is true of that statement.
    pub found: f64,
    /// Whether it holds.
    pub holds: bool,
    /// What the right statement has.
    pub corrected: f64,
}

impl Numbers {
    /// A statement that something is at most `claimed`.
    pub(super) fn at_most(claimed: f64, found: f64, corrected: f64) -> Self {
        Self { claimed, found, holds: found <= claimed, corrected }
    }

    /// A statement that something is at least `claimed`.
    pub(super) fn at_least(claimed: f64, found: f64, corrected: f64) -> Self {
        Self { claimed, found, holds: found >= claimed, corrected }
    }

    /// A statement that two numbers are the same.
    pub(super) fn equal(claimed: f64, found: f64, corrected: f64) -> Self {
        Self { claimed, found, holds: (found - claimed).abs() <= 1e-9 * claimed.abs(), corrected }
    }

    /// How many times the claimed number is of the found one: by how much a bound that holds is loose.
    pub fn factor(&self) -> f64 {
        self.claimed / self.found
    }

    /// A statement that Gaussian noise is (epsilon, delta)-private: the exact deltas of the published standard deviation and of
    /// the right one, both per unit of sensitivity.
    pub(super) fn noise(epsilon: f64, delta: f64, [published, right]: [f64; 2]) -> Self {
        Self::at_most(delta, gaussian_delta(published, epsilon), gaussian_delta(right, epsilon))
    }
}
