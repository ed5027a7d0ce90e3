//! Errors of the library as exceptions of `dpgp`, with the text that the command prints.

use dpgp::audit::SampledProblem;
use dpgp::data::DataError;
use dpgp::publish::PublishError;
use dpgp::release::ReleaseError;
use dpgp::release::ledger::LedgerError;
use dpgp::run::{RunError, StateError};
use pyo3::prelude::*;

/// What went wrong, with its class in `dpgp.errors`.
#[derive(Debug)]
pub struct Failure {
    class: &'static str,
    text: String,
}

/// A mistake in what was passed.
const INPUT: &str = "InputError";
/// A budget that is spent.
const BUDGET: &str = "BudgetError";
/// A ledger that cannot be used.
const LEDGER: &str = "LedgerError";
/// Anything else.
const OTHER: &str = "DPGPError";

impl Failure {
    /// A mistake in what was passed.
    pub fn input(text: impl Into<String>) -> Self {
        Self { class: INPUT, text: text.into() }
    }

    /// Something that is no mistake of the caller.
    pub fn other(text: impl Into<String>) -> Self {
        Self { class: OTHER, text: text.into() }
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        Python::attach(|py| {
            let made = py.import("dpgp.errors").and_then(|errors| errors.getattr(failure.class));
            match made.and_then(|class| class.call1((failure.text,))) {
                Ok(exception) => Self::from_value(exception),
                Err(error) => error,
            }
        })
    }
}

impl From<ReleaseError> for Failure {
    fn from(error: ReleaseError) -> Self {
        let class = match &error {
            ReleaseError::Ledger(LedgerError::Spent { .. }) => BUDGET,
            ReleaseError::Ledger(_) => LEDGER,
            ReleaseError::Task(_) | ReleaseError::Io { .. } | ReleaseError::Randomness(_) => OTHER,
            ReleaseError::Run(error) => of_run(error),
            _ => INPUT,
        };
        Self { class, text: error.to_string() }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self { class: of_run(&error), text: error.to_string() }
    }
}

impl From<StateError> for Failure {
    fn from(error: StateError) -> Self {
        Self { class: LEDGER, text: error.to_string() }
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        Self::input(error.to_string())
    }
}

impl From<SampledProblem> for Failure {
    fn from(error: SampledProblem) -> Self {
        Self::input(error.to_string())
    }
}

impl From<PublishError> for Failure {
    fn from(error: PublishError) -> Self {
        Self::other(error.to_string())
    }
}

fn of_run(error: &RunError) -> &'static str {
    match error {
        RunError::State(_) => LEDGER,
        RunError::Spec(_) | RunError::UnknownExperiment { .. } | RunError::NotOne { .. } => INPUT,
        _ => OTHER,
    }
}
