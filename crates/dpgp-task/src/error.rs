//! Failures while a cell is measured.

use thiserror::Error;

use dpgp_accounting::AccountingError;
use dpgp_linalg::LinalgError;
use dpgp_mechanisms::MechanismError;
use dpgp_noise::PrivacyError;
use dpgp_number::OutOfRangeError;

/// A failure while a cell is measured.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TaskError {
    /// A factorisation failed.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
    /// A program was to run without a study.
    #[error("a program runs only in a study, in the folder of its spec")]
    NeedsFolder,
    /// A number overflowed on the way to a metric.
    #[error("{metric} is not a finite number: a setting is too large or too small for the arithmetic")]
    NotFinite {
        /// The metric.
        metric: String,
    },
    /// A metric that is measured and not named: a mistake of the task.
    #[error("this task measures {metric:?} but does not list it among its metrics")]
    UnknownMetric {
        /// The metric.
        metric: String,
    },
    /// A target that names no class.
    #[error("the target {target} is not one of the classes 0 to {last}")]
    UnknownClass {
        /// The target.
        target: f64,
        /// The last class.
        last: usize,
    },
    /// Fewer rows of a kind than a quota asks for.
    #[error("a quota needs {wanted} rows with target {target} and inputs {inputs:?}, but the data have {found}")]
    TooFewRows {
        /// The target of the rows.
        target: f64,
        /// The inputs of the rows.
        inputs: Vec<f64>,
        /// Rows asked for.
        wanted: usize,
        /// Rows there are.
        found: usize,
    },
    /// The task needs something that its setting does not have, which the checks of a spec refuse.
    #[error("this task needs {needed}")]
    Missing {
        /// The requirement.
        needed: &'static str,
    },
    /// A claim that an audit cannot judge.
    #[error("this task claims privacy but does not expose its noise samples")]
    NothingToAudit,
    /// A setting that describes no release of predictions.
    #[error("cannot release predictions: {reason}")]
    NotReleasable {
        /// Why.
        reason: &'static str,
    },
    /// The search for the mode did not end.
    #[error("could not find the posterior mode: the gradient stays above {tolerance:e}")]
    NoMode {
        /// The largest element that was wanted.
        tolerance: f64,
    },
    /// An accountant gave no number.
    #[error(transparent)]
    Accounting(#[from] AccountingError),
    /// A number is none of a guarantee, which the checks of a spec refuse.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRangeError),
    /// A release was refused.
    #[error(transparent)]
    Privacy(#[from] PrivacyError),
}

impl From<MechanismError> for TaskError {
    fn from(error: MechanismError) -> Self {
        match error {
            MechanismError::Privacy(error) => Self::Privacy(error),
            MechanismError::Linalg(error) => Self::Linalg(error),
            MechanismError::OutOfRange(error) => Self::OutOfRange(error),
            MechanismError::Missing(needed) => Self::Missing { needed },
        }
    }
}
