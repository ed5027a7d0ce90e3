//! Why rows could not be summed.

use super::Misfit;
use crate::data::DataError;

/// What ends a sum over rows.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// Rows cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A target has no place in the sums; of several, that of the first row.
    #[error("row {}: {}", .0.row + 1, .0.problem)]
    Misfit(Misfit),
}
