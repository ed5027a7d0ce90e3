//! Why a cell could not be measured.

use thiserror::Error;

use crate::linalg::LinalgError;
use crate::privacy::PrivacyError;

/// A failure while a cell is measured.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TaskError {
    /// A factorisation failed.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
    /// A release was refused.
    #[error(transparent)]
    Privacy(#[from] PrivacyError),
}
