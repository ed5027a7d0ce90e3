//! Turns errors of the library into exceptions of `dpgp`, with the text that the command prints.

use dpgp::audit::SampledFilesError;
use dpgp::data::DataError;
use dpgp::publish::PublishError;
use dpgp::release::ledger::{ChargeReceipt, LedgerError};
use dpgp::release::{AfterChargeError, ReleaseError};
use dpgp::run::{RunError, StateError};
use pyo3::prelude::*;

/// An error, with its class in `dpgp.errors`.
#[derive(Debug)]
pub struct Failure {
    class: &'static str,
    text: String,
}

/// A mistake in the arguments.
const INPUT: &str = "InputError";
/// A budget that is too small.
const BUDGET: &str = "BudgetError";
/// A ledger that cannot be used.
const LEDGER: &str = "LedgerError";
/// Anything else.
const OTHER: &str = "DPGPError";

/// Options of the command and their Python names. Longer options come before their prefixes.
const OPTIONS: [(&str, &str); 11] = [
    ("--budget-epsilon and --budget-delta", "budget=(epsilon, delta)"),
    ("--budget-epsilon", "budget"),
    ("--budget-delta", "budget"),
    ("--allow-caveats", "allow_caveats=True"),
    ("--other-people", "other_people=True"),
    ("--no-ledger", "ledger=False"),
    ("--ledger", "ledger"),
    ("--epsilon", "epsilon"),
    ("--offline", "offline=True"),
    ("--mirror DIR (or DPGP_MIRROR)", "DPGP_MIRROR"),
    ("--mirror or DPGP_MIRROR", "DPGP_MIRROR"),
];

/// Arguments of Python by their keys in the spec, the longest key first.
#[derive(Debug, Clone, Default)]
pub struct ArgumentNames(Vec<(String, String)>);

impl ArgumentNames {
    /// Makes the names from pairs of a key and an argument.
    pub fn new(mut pairs: Vec<(String, String)>) -> Self {
        pairs.sort_by_key(|(key, _)| std::cmp::Reverse(key.len()));
        Self(pairs)
    }

    /// Returns the argument behind a key, or behind a line that cannot be parsed.
    fn of_key(&self, path: &str, line: &str) -> Option<&str> {
        let of_line = |key: &str| {
            let last = key.rsplit('.').next();
            path.is_empty() && last.is_some_and(|last| line.trim_start().starts_with(last))
        };
        let mut pairs = self.0.iter();
        pairs.find(|(key, _)| path.starts_with(key.as_str()) || of_line(key)).map(|(_, name)| name.as_str())
    }
}

impl Failure {
    /// Makes the error for a mistake in the arguments.
    pub fn input(text: impl Into<String>) -> Self {
        Self { class: INPUT, text: text.into() }
    }

    /// Makes the error for a wrong spec. It names the Python argument behind the key, or the line.
    pub fn of_text(error: RunError, arguments: &ArgumentNames) -> Self {
        let RunError::Spec(wrong) = &error else { return Self::from(error).naming(arguments) };
        if let Some(argument) = arguments.of_key(&wrong.path, &wrong.snippet) {
            return Self::input(format!("{argument}: {}", wrong.problem)).naming(arguments);
        }
        let place = format!("{}:{}:{}: ", wrong.file.display(), wrong.line, wrong.column);
        let (text, line, column) = (wrong.to_string(), wrong.line, wrong.column);
        let told = text.strip_prefix(&place).unwrap_or(&text);
        Self::input(format!("the spec, line {line}, column {column}: {told}"))
    }

    /// Replaces keys of a generated spec by the arguments of Python.
    #[must_use]
    pub fn naming(self, arguments: &ArgumentNames) -> Self {
        let named = |text: String, (key, argument): &(String, String)| text.replace(key, argument);
        Self { text: arguments.0.iter().fold(self.text, named), ..self }
    }

    /// Makes an error from a message of the library, with the Python names of options.
    fn told(class: &'static str, text: &str) -> Self {
        let renamed = |text: String, (option, name): &(&str, &str)| text.replace(option, name);
        Self { class, text: OPTIONS.iter().fold(text.to_owned(), renamed) }
    }

    /// Makes an error that the caller did not cause.
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

/// A draw is kept until it is returned, so that nothing fails between the charge and its text.
impl AfterChargeError for Failure {
    fn with_charge_receipt(self, _: Option<&ChargeReceipt>) -> Self {
        self
    }
}

impl From<ReleaseError> for Failure {
    fn from(error: ReleaseError) -> Self {
        let class = match &error {
            ReleaseError::Ledger(LedgerError::Spent { .. }) => BUDGET,
            ReleaseError::Ledger(_) => LEDGER,
            ReleaseError::Task(_) | ReleaseError::Io { .. } | ReleaseError::Randomness(_) => OTHER,
            ReleaseError::Run(error) => of_run(error),
            // The cost is spent, so this must not be an error that is raised only before a charge.
            ReleaseError::AfterCharge { .. } => OTHER,
            ReleaseError::RowsAgain(_) => {
                let way = "Pass other_people=True if they belong to other people and only look alike";
                return Self::input(format!("{error}. {way}"));
            }
            _ => INPUT,
        };
        Self::told(class, &error.to_string())
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self::told(of_run(&error), &error.to_string())
    }
}

impl From<StateError> for Failure {
    fn from(error: StateError) -> Self {
        Self::told(LEDGER, &error.to_string())
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        Self::told(INPUT, &error.to_string())
    }
}

impl From<SampledFilesError> for Failure {
    fn from(error: SampledFilesError) -> Self {
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
