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
    /// A number overflowed on the way to a metric.
    #[error("{metric} is not a finite number: a setting is too large or too small for the arithmetic")]
    NotFinite {
        /// The metric.
        metric: String,
    },
    /// A release was refused.
    #[error(transparent)]
    Privacy(#[from] PrivacyError),
}
