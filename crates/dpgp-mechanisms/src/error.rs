//! What can go wrong in a mechanism.

use thiserror::Error;

use dpgp_linalg::LinalgError;
use dpgp_noise::PrivacyError;
use dpgp_number::OutOfRange;

/// A mechanism that gave no release.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum MechanismError {
    /// A release cannot be made, or not safely.
    #[error(transparent)]
    Privacy(#[from] PrivacyError),
    /// A factorisation failed.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
    /// A number lies beyond the arithmetic.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// Something is missing that the checks of a spec ask for.
    #[error("this mechanism needs {0}")]
    Missing(&'static str),
}
