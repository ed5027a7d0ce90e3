//! The guarantee for a change of a target that is larger than the one that noise was set for.

use std::fmt;

use serde_json::{Value, json};

use dpgp_accounting::epsilon_of;

/// What a release guarantees for a change by the whole width of the bounds.
///
/// Obligation: the release before its noise is linear in the clipped targets, so that a change of one of them by `width` moves it
/// at most `width / change` times as far as one by `change`, and `mu` grows by the same factor. The exact delta of that `mu` at
/// `epsilon` is at most `delta` (Balle and Wang 2018, Theorem 8).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WiderChange {
    /// The change, in units of the target.
    pub change: f64,
    /// The sensitivity to it over the standard deviation of the noise.
    pub mu: f64,
    /// The epsilon that is kept.
    pub epsilon: f64,
    /// At this delta, that of the release.
    pub delta: f64,
}

impl WiderChange {
    /// Of a release with this `mu` for a change by `change`.
    pub(super) fn new(width: f64, change: f64, mu: f64, delta: f64) -> Self {
        let mu = mu * (width / change);
        Self { change: width, mu, epsilon: epsilon_of(mu, delta), delta }
    }

    pub(super) fn json(self) -> Value {
        json!({ "change": self.change, "mu": self.mu, "epsilon": self.epsilon, "delta": self.delta })
    }
}

impl fmt::Display for WiderChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { change, epsilon, delta, .. } = self;
        write!(f, "for a change by {change:?}, the whole width of the bounds: ({epsilon:.4}, {delta:?})-DP")
    }
}
