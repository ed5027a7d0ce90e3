//! The interface of mechanisms, and their errors.

use std::any::Any;

use thiserror::Error;

use crate::LinearMechanism;
use dpgp_linalg::LinalgError;
use dpgp_noise::PrivacyError;
use dpgp_number::OutOfRangeError;
use dpgp_spec::setting::RowChoiceBasis;

/// The settings of a mechanism, and what follows from them alone.
///
/// A mechanism adds noise to something that rows change: predictions, sums, counts. Most questions have an answer that is right where a
/// mechanism says nothing else.
pub trait Mechanism: Any {
    /// What of a record the guarantee hides: its target, where inputs are public, or all of it. The rows of a person may be chosen by
    /// what it does not hide.
    fn row_choice_basis(&self) -> RowChoiceBasis;

    /// Itself, where it covers predictions that are linear in the targets.
    fn as_linear(&self) -> Option<&dyn LinearMechanism> {
        None
    }

    /// Whether a Gaussian process with matrices of all training rows is behind its predictions.
    fn needs_row_matrices(&self) -> bool {
        self.as_linear().is_some()
    }

    /// Whether predictions are the best ones given what is released, where the settings say it.
    fn denoise_setting(&self) -> Option<bool> {
        None
    }

    /// The bound that targets are clipped to, on either side of zero, where it is a setting of the mechanism.
    fn target_bound(&self) -> Option<f64> {
        None
    }

    /// The public box that inputs are clipped to; none if inputs are not.
    fn domain(&self) -> Option<&[[f64; 2]]> {
        None
    }

    /// About how many rows there are, where the settings say it from public knowledge.
    fn stated_row_count(&self) -> Option<u64> {
        None
    }

    /// Whether a neighbour may have a row more or less.
    fn hides_number_of_rows(&self) -> bool {
        false
    }

    /// Whether the number of rows that are used must be public.
    fn needs_public_row_count(&self) -> bool {
        false
    }
}

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
    OutOfRange(#[from] OutOfRangeError),
    /// Something is missing that the checks of a spec ask for.
    #[error("this mechanism needs {0}")]
    Missing(&'static str),
}
