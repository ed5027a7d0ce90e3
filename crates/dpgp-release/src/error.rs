//! Errors of releases.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::GridError;
use super::ledger::{ChargeReceipt, LedgerError};
use dpgp_data::DataError;
use dpgp_fs::SignatureError;
use dpgp_mechanisms::MechanismError;
use dpgp_run::RunError;
use dpgp_task::TaskError;

/// Reasons why a release is not made or not written.
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
    #[error("{} has no rows below its header; add a row for each prediction point", .0.display())]
    NoPoints(PathBuf),
    /// Invalid weights of points.
    #[error("{}: point weights must be at least 0, with at least one above 0 and a finite sum", .0.display())]
    BadWeights(PathBuf),
    /// Data without rows.
    #[error("{}: the data have no rows, or none that pass the filters", .0.display())]
    NoRows(PathBuf),
    /// All points lie outside the public box.
    #[error(
        "no prediction point lies in the public box privacy.mechanism.moments.domain; check the order and \
         the units of the inputs"
    )]
    OutsideBox,
    /// A file that holds no areas.
    #[error("{} {problem}", path.display())]
    NotAreas {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// Areas of counts that have no plane.
    #[error("areas need counts by two numeric inputs, such as longitude and latitude")]
    NoPlane,
    /// Counts that give no bounds of a column.
    #[error("bounds need counts of one numeric column, as in a spec from `dpgp new --private-bounds`")]
    NotOneColumn,
    /// Counts of which none stands out.
    #[error(
        "no bounds: no bin stands out from the noise, whose standard deviation is {sd:.0} rows per count; the counts were \
         released and charged. Take the bounds from public knowledge, or spend more on another release"
    )]
    NoBounds {
        /// The standard deviation of the noise.
        sd: f64,
    },
    /// Points other than the bins of counts.
    #[error("counts are released only for the bins of their spec, not for other points: use --grid auto")]
    NotBins,
    /// A spec of counts, whose expected errors depend on the rows.
    #[error(
        "the expected error of counts depends on the rows; `dpgp predict SPEC --grid auto --preview` prints the noise of each count"
    )]
    NoExpectedError,
    /// A spec that describes no release.
    #[error("nothing can be released: {0}")]
    NotReleasable(&'static str),
    /// A public column that shows the private one.
    #[error(
        "the column {public:?} has the same cells as the private target {target:?}. This release treats the column as public, so it would \
         publish its cells; leave the column out"
    )]
    PublicTarget {
        /// The input.
        public: String,
        /// The target.
        target: String,
    },
    /// Answers that cannot share a budget.
    #[error("--together: {0}")]
    NotTogether(String),
    /// A file that holds no released sums of classes.
    #[error("{} is not a release of sums of classes from `dpgp sum --release`: {cause}", path.display())]
    NotClasses {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// A file that holds no released moments.
    #[error("{} is not a release of moments from `dpgp sum --release`: {cause}", path.display())]
    NotMoments {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// A file of counts that cannot be read.
    #[error("{} is not a release of counts from `dpgp sum --release`: {cause}", path.display())]
    NotCounts {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// Predictions elsewhere are asked for where they do not follow from the release.
    #[error(
        "--release needs public inputs and model.averaged = true: only then do predictions at other points follow from a release that \
         hides targets. With private inputs, use `dpgp sum SPEC FILE --release OUT.json`, then `dpgp predict --from OUT.json`"
    )]
    NoCombinations,
    /// Inputs that a release would list, of rows that are chosen by private targets.
    #[error(
        "--release would list the inputs of the rows, but the rows are chosen by their private targets (data.filter or \
         data.draw): the list would show which rows pass"
    )]
    InputsTell,
    /// A file of combinations that cannot be used.
    #[error("{} is not a release from `dpgp predict --release`: {cause}", path.display())]
    NotCombinations {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// Published numbers that cannot be used.
    #[error("{}: {cause}", path.display())]
    NotPublished {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// A file that holds no predictions.
    #[error("{} is not a CSV file of predictions from `dpgp predict`: {cause}", path.display())]
    NotPredictions {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// No cell has this label.
    #[error("no cell has {choice}; {axes}")]
    NoCell {
        /// The choice.
        choice: String,
        /// The axes and their labels.
        axes: String,
    },
    /// An axis replaces the epsilon of the spec.
    #[error(
        "[privacy] states epsilon = {stated}, but an axis of the grid replaces it with {released}; write the epsilon of the release in \
         both places, or choose the cell with --cell AXIS=VALUE"
    )]
    ReplacedEpsilon {
        /// That of `[privacy]`.
        stated: f64,
        /// Those that would be released.
        released: String,
    },
    /// A file of a release whose certificate fails.
    #[error("{}: {said} Use the file as it was released", path.display())]
    AlteredRelease {
        /// The file.
        path: PathBuf,
        /// What fails.
        said: String,
    },
    /// A spec with several cells.
    #[error("{cells} cells are selected; choose one with --cell AXIS=VALUE; {axes}")]
    SeveralCells {
        /// How many.
        cells: usize,
        /// The axes and their labels.
        axes: String,
    },
    /// A guarantee with exceptions.
    #[error(
        "nothing was released, because the guarantee of this spec has exceptions: {0}. Set public \
         normalise.bounds, set privacy.calibration = \"analytic\" and filter only by public columns, or pass \
         --allow-caveats"
    )]
    Caveats(String),
    /// A delta so large that one row could be published.
    #[error(
        "nothing was released, because delta = {0:?} is not below 1 / (number of rows): it would \
         allow a mechanism to publish one row unchanged. Choose a much smaller delta, or pass --allow-caveats"
    )]
    LargeDelta(f64),
    /// A setting beyond the range of the arithmetic.
    #[error(
        "{key} = {value:?} is too large or too small for a release: numbers could overflow. Use units in \
         which it lies between 1e-50 and 1e50"
    )]
    Magnitude {
        /// The key of the spec.
        key: String,
        /// The number.
        value: f64,
    },
    /// A failure after the charge.
    #[error("{cause}\n{}", charge_remains_message(ledger))]
    AfterCharge {
        /// The failure.
        cause: Box<Self>,
        /// The ledger.
        ledger: PathBuf,
    },
    /// The operating system gives no randomness.
    #[error("cannot get random numbers from the operating system: {0}; nothing was released")]
    Randomness(String),
    /// A spec that says nothing about sums.
    #[error(
        "`dpgp sum` has nothing to sum for {0}: the spec needs task.surface, task.dirichlet, or task.density \
         with mechanism.histogram. Use `dpgp predict` to release predictions of a task.regression"
    )]
    NoSums(String),
    /// A spec whose sums need more than one pass.
    #[error(
        "{0} releases weighted sums, which `dpgp sum` does not compute; set task.dirichlet.release = \
         \"class-sums\""
    )]
    WeightedSums(String),
    /// Cells of one spec that sum different things.
    #[error(
        "the cells of {0} need different sums (columns, bounds, kernel, inducing inputs, classes or bins \
         differ); write a spec for one cell"
    )]
    SeveralSums(String),
    /// A file that holds no sums of this model.
    #[error("{} is not a file of sums for this spec: {cause}", path.display())]
    NotSums {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: String,
    },
    /// Sums that do not belong together.
    #[error("{} and {} differ in their {what}; nothing was added", first.display(), second.display())]
    SumsDiffer {
        /// The difference.
        what: &'static str,
        /// One file.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    /// Points or weights from private columns.
    #[error("{} {why}", path.display())]
    PrivatePoints {
        /// The file of the points.
        path: PathBuf,
        /// What is private in it.
        why: &'static str,
    },
    /// A file that is named twice, or two files that share more rows than chance would explain.
    #[error(
        "{first} and {second} hold the same rows, or share more rows than chance would explain. Shared rows would \
         count twice, so name only one of the two. A copy stays a copy if its folder differs, or a column such as the \
         date of export that the spec does not read. Different records that look alike, such as dry days, belong in one \
         file"
    )]
    SameRows {
        /// One file.
        first: String,
        /// The other.
        second: String,
    },
    /// Rows of a program that were added before.
    #[error(
        "{0}: the same rows were added before and would count twice, which the noise does not cover; nothing \
         was added"
    )]
    RowsAgain(String),
    /// A file that was written to.
    #[error("{} changed while its rows were read; nothing was summed", .0.display())]
    FileChanged(PathBuf),
    /// Rows that would be counted twice.
    #[error("two of the files contain the block that starts at row {0}; nothing was added")]
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
    #[error("epsilon is infinite; choose a finite one with --epsilon")]
    NoGuarantee,
    /// An epsilon that no release has.
    #[error("epsilon = {0:?} is not above zero; choose another with --epsilon")]
    BadEpsilon(f64),
    /// A release for one of several epsilons, which is not named.
    #[error("the spec has several epsilons ({0}); choose one with --epsilon")]
    SeveralEpsilons(String),
    /// A file that holds no certificate of a release.
    #[error("cannot verify {}: {cause}", path.display())]
    NoCertificate {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: String,
    },
    /// A key that does not sign, found before anything was drawn.
    #[error("nothing was released or charged: {0}")]
    CannotSign(SignatureError),
    /// A key that signed before the release was drawn, and did not after it was charged.
    #[error("the release was drawn but could not be signed: {0}. Nothing was written, so the release is lost")]
    Unsigned(SignatureError),
    /// A signature that could not be checked.
    #[error("the signature was not checked: {0}")]
    CannotVerify(SignatureError),
    /// A file that would be overwritten.
    #[error("{0} already exists; choose another name")]
    Exists(PathBuf),
    /// A name that says no form of predictions.
    #[error("{} does not end in .csv, .parquet or .json, so its format is unknown{hint}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// The option for files of this ending.
        hint: &'static str,
    },
    /// Predictions that could not be put into CSV.
    #[error("cannot write the predictions: {0}")]
    Csv(#[from] csv::Error),
    /// Predictions that could not be put into Parquet.
    #[error("cannot write the predictions: {0}")]
    Parquet(std::io::Error),
    /// A file could not be read or written.
    #[error("{path}: {cause}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        cause: std::io::Error,
    },
}

impl From<MechanismError> for ReleaseError {
    fn from(error: MechanismError) -> Self {
        Self::Task(error.into())
    }
}

/// Explains a failure after the charge.
pub fn charge_remains_message(ledger: &Path) -> String {
    format!("The release was already charged to the ledger {}; the charge remains", ledger.display())
}

impl ReleaseError {
    /// Marks the error as one after a charge, if there was one.
    #[must_use]
    pub(super) fn mark_charged(self, receipt: Option<&ChargeReceipt>) -> Self {
        match receipt {
            Some(ChargeReceipt { ledger, .. }) => Self::AfterCharge { cause: Box::new(self), ledger: ledger.clone() },
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
