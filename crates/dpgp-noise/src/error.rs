//! Why a private release was refused.

use thiserror::Error;

use dpgp_linalg::LinalgError;
use dpgp_number::OutOfRange;

/// A release that cannot be made, or not safely.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum PrivacyError {
    /// A factorisation failed.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
    /// A number that the proof of a sensitivity needs lies outside its range.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// The noise covariance came out as zero: the exact values would be released.
    #[error(
        "the {solver} solver ended with a noise covariance of zero, which would release the exact \
         predictions; nothing was released (try solver = \"interior-point\")"
    )]
    NoNoise {
        /// The solver that produced it.
        solver: &'static str,
    },
    /// The noise does not cover every column, by the last check of the very matrices that would be sampled with.
    #[error(
        "the noise does not cover the change of one target (largest leverage {sensitivity}, which must be greater \
         than 0 and at most 1); nothing was released"
    )]
    NotCovered {
        /// `max_i |L^-1 b_i|`.
        sensitivity: f64,
    },
    /// All predictions are constant, whatever the private targets.
    #[error(
        "no prediction depends on any target (the map C is zero), so that there is nothing to protect: all points are far from all inputs"
    )]
    NothingToProtect,
}
