//! Why nothing was released.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::ledger::{LedgerError, Receipt};
use super::{GridError, SignatureError};
use dpgp_data::DataError;
use dpgp_mechanisms::MechanismError;
use dpgp_run::RunError;
use dpgp_task::TaskError;

/// What keeps a release from being made or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReleaseError {
    /// The spec or its data are wrong.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Rows are missing or wrong.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A number could not be computed.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// The release was not charged.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// A grid that does not fit the spec.
    #[error("--grid: {0}")]
    Grid(#[from] GridError),
    /// A grid without points.
    #[error("{} holds no rows below its header; write a row for each point to predict at", .0.display())]
    NoPoints(PathBuf),
    /// Weights of points that weigh nothing.
    #[error("{}: weights of points must not be negative, at least one must be above zero, and their sum finite", .0.display())]
    BadWeights(PathBuf),
    /// Data without rows.
    #[error("{}: the data hold no rows, or none that the filters let pass", .0.display())]
    NoRows(PathBuf),
    /// Points of which the model knows nothing.
    #[error(
        "none of the points to predict at lies in the public box privacy.mechanism.moments.domain: check the order and the units of their \
         inputs"
    )]
    OutsideBox,
    /// A spec that describes no release.
    #[error("this spec describes no release of predictions: {0}")]
    NotReleasable(&'static str),
    /// A file that holds no released moments.
    #[error("{} does not hold moments that `dpgp stats --release` wrote: {cause}", path.display())]
    NotMoments {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// A file that holds no predictions.
    #[error("{} does not hold predictions that `dpgp predict` wrote as CSV: {cause}", path.display())]
    NotPredictions {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// A cell that is not there.
    #[error("no cell has {choice}; {axes}")]
    NoCell {
        /// What was asked for.
        choice: String,
        /// The axes and their labels.
        axes: String,
    },
    /// A spec with several cells.
    #[error("this means {cells} cells; choose one with --cell AXIS=VALUE; {axes}")]
    SeveralCells {
        /// How many.
        cells: usize,
        /// The axes and their labels.
        axes: String,
    },
    /// A guarantee with exceptions.
    #[error(
        "nothing was released, because the guarantee of this spec has exceptions: {0}. Bound targets by public \
         normalise.bounds, calibrate by privacy.calibration = \"analytic\" and filter by public columns; or say \
         --allow-caveats"
    )]
    Caveats(String),
    /// A delta that protects nobody in particular.
    #[error(
        "nothing was released, because delta = {0:?} is not below one over the number of rows: a mechanism that publishes one row as \
         it is keeps such a delta. Choose one far below, or say --allow-caveats"
    )]
    LargeDelta(f64),
    /// A setting that the arithmetic does not hold.
    #[error(
        "{key} = {value:?} is too large or too small for a release: its numbers could overflow. Choose units in which it lies between \
         1e-50 and 1e50"
    )]
    Magnitude {
        /// The key of the spec.
        key: String,
        /// The number.
        value: f64,
    },
    /// A failure after the charge.
    #[error("{cause}\n{}", spent_in(ledger))]
    AfterCharge {
        /// What failed.
        cause: Box<Self>,
        /// The ledger.
        ledger: PathBuf,
    },
    /// The operating system gives no randomness.
    #[error("the operating system gave no randomness: {0}; nothing was released")]
    Randomness(String),
    /// A spec that says nothing about sums.
    #[error(
        "{0} has no task.surface, no task.dirichlet and no task.density with mechanism.histogram: one of them says what \
         `dpgp stats` sums; predictions of a task.regression are released by `dpgp predict`"
    )]
    NoSums(String),
    /// A spec whose sums are not made in one pass.
    #[error(
        "{0} releases weighted sums, which `dpgp stats` does not make; write a spec with task.dirichlet.release = \
         \"class-sums\""
    )]
    WeightedSums(String),
    /// Cells of one spec that sum different things.
    #[error(
        "the cells of {0} sum different things (columns, bounds, kernel, inducing inputs, classes or bins); write a spec \
         for one of them"
    )]
    SeveralSums(String),
    /// A file that holds no sums of this model.
    #[error("{} does not hold sums that fit this spec: {cause}", path.display())]
    NotSums {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: String,
    },
    /// Sums that do not belong together.
    #[error("{} and {} differ in their {what}; nothing was added", first.display(), second.display())]
    SumsDiffer {
        /// In what they differ.
        what: &'static str,
        /// One file.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    /// A file that is given twice, or one with more rows of another than chance explains.
    #[error(
        "{first} and {second} hold the same rows, or more of them than chance explains, which would be counted twice; name one of them"
    )]
    SameRows {
        /// One file.
        first: String,
        /// The other.
        second: String,
    },
    /// Rows of a program that were added before.
    #[error(
        "{0}: the same rows are there already and would count twice, which no noise is made for; nothing was added"
    )]
    RowsAgain(String),
    /// A file that was written to.
    #[error("{} was written to while its rows were read; nothing was summed", .0.display())]
    FileChanged(PathBuf),
    /// Rows that would be counted twice.
    #[error("rows from number {0} on are in two of the files; nothing was added")]
    SumsOverlap(u64),
    /// Rows that are missing.
    #[error("the sums of {missing} of {all} blocks are missing; add the files of the other shards")]
    SumsIncomplete {
        /// Blocks that are missing.
        missing: u64,
        /// Blocks there should be.
        all: u64,
    },
    /// A release that would hide nothing.
    #[error("epsilon is infinite: name the one to release for with --epsilon")]
    NoGuarantee,
    /// An epsilon that no release has.
    #[error("epsilon = {0:?} is not above zero: name another one with --epsilon")]
    BadEpsilon(f64),
    /// A release for one of several epsilons, which is not named.
    #[error("the spec has several epsilons, {0}: name the one to release for with --epsilon")]
    SeveralEpsilons(String),
    /// A file that holds no certificate of a release.
    #[error("{} is no certificate that can be verified: {cause}", path.display())]
    NoCertificate {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: String,
    },
    /// A key that does not sign, found before anything was drawn.
    #[error("nothing was released and nothing charged: {0}")]
    CannotSign(SignatureError),
    /// A key that signed before the release was drawn, and did not after it was charged.
    #[error(
        "the release was drawn, and then could not be signed: {0}. Nothing was written, and the release is lost"
    )]
    Unsigned(SignatureError),
    /// A signature that could not be checked.
    #[error("the signature was not checked: {0}")]
    CannotVerify(SignatureError),
    /// A file that would be overwritten.
    #[error("{0} already exists; choose another name")]
    Exists(PathBuf),
    /// A name that says no form of predictions.
    #[error("{} ends in none of .csv, .parquet and .json, the forms of predictions{hint}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// What writes files of this ending.
        hint: &'static str,
    },
    /// Predictions that could not be put into CSV.
    #[error("the predictions: {0}")]
    Csv(#[from] csv::Error),
    /// Predictions that could not be put into Parquet.
    #[error("the predictions: {0}")]
    Parquet(std::io::Error),
    /// A file could not be read or written.
    #[error("{path}: {cause}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
}

impl From<MechanismError> for ReleaseError {
    fn from(error: MechanismError) -> Self {
        Self::Task(error.into())
    }
}

/// What is said of a failure after the charge.
pub fn spent_in(ledger: &Path) -> String {
    format!("The release had been charged to the ledger {}: what it cost is spent", ledger.display())
}

impl ReleaseError {
    /// The same after a release was charged, if it was.
    #[must_use]
    pub(super) fn charged(self, receipt: Option<&Receipt>) -> Self {
        match receipt {
            Some(Receipt { ledger, .. }) => {
                Self::AfterCharge { cause: Box::new(self), ledger: ledger.clone() }
            }
            None => self,
        }
    }

    /// Two files with the same rows.
    pub(super) fn same_rows(first: impl ToString, second: impl ToString) -> Self {
        Self::SameRows { first: first.to_string(), second: second.to_string() }
    }

    /// An I/O error of a path.
    pub(super) fn io(path: &Path) -> impl Fn(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |cause| Self::Io { path: path.clone(), cause }
    }
}
