//! Why an accountant gives no number.

use thiserror::Error;

use super::{Relation, Sampling};

/// A question that an accountant does not answer.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum AccountingError {
    /// The accountant's proof does not cover the event.
    #[error(
        "the {accountant} accountant does not cover {sampling} for {relation}: {why}; it accepts {accepted}"
    )]
    Refused {
        /// The accountant that refuses.
        accountant: &'static str,
        /// How the event samples.
        sampling: Sampling,
        /// The neighbours asked for.
        relation: Relation,
        /// The missing proof.
        why: &'static str,
        /// The events that it accepts.
        accepted: &'static str,
    },
    /// A number describes no mechanism or guarantee.
    #[error("{what} must be {condition}, not {value:?}")]
    OutOfRange {
        /// The number.
        what: &'static str,
        /// The range that it must lie in.
        condition: &'static str,
        /// Its value.
        value: f64,
    },
    /// No noise multiplier between the ends of the search gives the guarantee.
    #[error("no noise multiplier from {low:e} to {high:e} is the least for ({epsilon:?}, {delta:?})")]
    NoMultiplier {
        /// The least tried.
        low: f64,
        /// The greatest tried.
        high: f64,
        /// The target.
        epsilon: f64,
        /// The target.
        delta: f64,
    },
}

impl AccountingError {
    /// The refusal of a number.
    pub(super) fn out_of_range(what: &'static str, condition: &'static str, value: f64) -> Self {
        Self::OutOfRange { what, condition, value }
    }
}
