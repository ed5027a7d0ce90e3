//! Why a private release was refused.

use thiserror::Error;

use crate::linalg::LinalgError;

/// A release that cannot be made, or not safely.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum PrivacyError {
    /// A factorisation failed.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
    /// The noise covariance came out as zero: the exact values would be released.
    #[error(
        "the {solver} solver ended with a noise covariance of zero, which would release the exact \
         predictions; nothing was released (try solver = \"interior-point\")"
    )]
    NoNoise {
        /// The solver that produced it.
        solver: &'static str,
    },
    /// All predictions are constant, whatever the private targets.
    #[error("no prediction depends on any target: the map C is zero, there is nothing to protect")]
    NothingToProtect,
}
