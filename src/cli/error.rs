//! Errors of the command, and their exit codes.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::interrupt::INTERRUPTED;
use dpgp_accounting::AccountingError;
use dpgp_claim_audit::SampledFilesError;
use dpgp_data::DataError;
use dpgp_number::text::count_with_noun;
use dpgp_release::draft::DraftError;
use dpgp_release::ledger::{ChargeReceipt, LedgerError};
use dpgp_release::{AfterChargeError, ReleaseError, charge_remains_message};
use dpgp_report::{GradeError, MapError, PaperTableError, PublishError, format_exact};
use dpgp_run::store::StoreError;
use dpgp_run::{RunError, StateError};

/// An error that ends the command.
#[derive(Debug, Error)]
pub enum CliError {
    /// A failure after a release was charged.
    #[error("{cause}\n{}", charge_remains_message(ledger))]
    AfterCharge { cause: Box<Self>, ledger: PathBuf },
    /// Data are missing or wrong.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A release was refused or failed.
    #[error(transparent)]
    Release(#[from] ReleaseError),
    /// An accountant refuses its event.
    #[error(transparent)]
    Accounting(#[from] AccountingError),
    /// Results could not be written.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// Files that are missing or do not verify.
    #[error("{bad} of {all} files failed verification")]
    NotVerified { bad: usize, all: usize },
    /// None of the files exists, so none could be hashed.
    #[error(
        "no file was verified: none of the {0} files is present; use `dpgp data fetch` to download them, or --mirror or --data to \
         say where they are"
    )]
    NothingVerified(usize),
    /// Some of several tasks failed.
    #[error("{} of {all} failed:\n{}", failures.len(), format_named_failures(failures))]
    Several { failures: Vec<(String, CliError)>, all: usize },
    /// A template is broken.
    #[error("the job description could not be written: {0}")]
    Template(#[from] minijinja::Error),
    /// A folder or commit without tables.
    #[error("{0:?} has no results: use a folder with a table.csv in or below it, or a commit whose results/ has one")]
    NoTables(String),
    /// Tables without a row that can be ranked.
    #[error(
        "nothing to rank: no selected spec has `[table] best = ...` and rows for this --epsilon and --hides; use \
         `dpgp new mine --from beyond/leaderboard/houses` to copy a spec that compares methods"
    )]
    NothingRanked,
    /// A table of methods for several experiments.
    #[error("--with needs the name of one experiment")]
    OneLeaderboard,
    /// A table of methods whose labels are those of no column that is shown.
    #[error("{}: no row belongs to a shown ranking{}", path.display(), epsilon.map(|epsilon| format!(", at epsilon = {}", format_exact(epsilon))).unwrap_or_default())]
    NothingAdded { path: PathBuf, epsilon: Option<f64> },
    /// An experiment without folds.
    #[error("{0} has no folds: use an experiment with task.leaderboard or task.regression")]
    NoFolds(String),
    /// Several names for `dpgp show`.
    #[error("give one experiment, or use `--best` or `--cite` for several")]
    OneExperiment,
    /// An epsilon that none of the tables has.
    #[error("no selected table has epsilon = {epsilon}; use one of {}", listed_numbers(known))]
    NoSuchEpsilon { epsilon: f64, known: Vec<f64> },
    /// A metric or an axis that a table does not have.
    #[error("the table has no {what} {name:?}; it has {known}")]
    NotInTable { what: &'static str, name: String, known: String },
    /// A manual page for an unknown verb.
    #[error("there is no command {0:?}; `dpgp --help` lists all commands")]
    NoVerb(String),
    /// A path that is not a folder.
    #[error("{0} is not a folder")]
    NotAFolder(PathBuf),
    /// A file that would be overwritten.
    #[error("{0} already exists; choose another name")]
    Exists(PathBuf),
    /// No spec can be drafted from a file.
    #[error(transparent)]
    Draft(#[from] DraftError),
    /// A printed table makes no spec.
    #[error("{}: {cause}", path.display())]
    PrintedTable { path: PathBuf, cause: PaperTableError },
    /// One path named for two outputs.
    #[error("{0} is given for two output files; use different names")]
    NamedTwice(PathBuf),
    /// A name that cannot be a file name.
    #[error("{0:?} is not a valid name for a spec")]
    NoName(String),
    /// Input that ended before the last question.
    #[error("{0}: input ended early; nothing was written")]
    Unanswered(String),
    /// Questions that the user quit.
    #[error("{0}: stopped by `quit`; nothing was written")]
    Left(String),
    /// An invalid answer.
    #[error("{key}: {needed}; the answer was {said:?}, and nothing was written")]
    WrongAnswer { key: String, said: String, needed: String },
    /// More answers than questions.
    #[error(
        "too many answers: {0:?} follows the answer to the last question, so an earlier answer may be on the wrong line; nothing was written"
    )]
    MoreAnswers(String),
    /// Results are missing.
    #[error("{0} is incomplete, so no table was written for it")]
    Incomplete(String),
    /// A spec whose rows no known ledger covers.
    #[error("no known ledger covers rows of {0}; the first release creates one, unless it uses --no-ledger")]
    NoLedger(String),
    /// Ledgers that cannot be trusted.
    #[error("{broken} of {all} ledgers cannot be trusted")]
    BrokenLedgers { broken: usize, all: usize },
    /// Releases that are in no ledger.
    #[error("{missing} of {all} releases are not in any of these ledgers")]
    NotEntered { missing: usize, all: usize },
    /// A table that cannot be graded.
    #[error("{} {cause}", path.display())]
    Grade { path: PathBuf, cause: GradeError },
    /// A graded table that differs from the paper's numbers, or refutes a claim.
    #[error("{}", grade_failure_text(*differs, *fails))]
    GradeFailed { differs: usize, fails: usize },
    /// A check found a difference.
    #[error("{failed} of {all} checks failed")]
    CheckFailed { failed: usize, all: usize },
    /// A change of the rows of a release.
    #[error(
        "--set cannot change data.source: a release uses the rows of its spec; write another spec to release other rows"
    )]
    OtherRows,
    /// An epsilon that changes no price.
    #[error("--set cannot change privacy.epsilon here; list the epsilons with --epsilon")]
    EpsilonOfTradeoff,
    /// Several answers without a place.
    #[error("--together needs --out FOLDER for the answers, or --preview")]
    NoFolder,
    /// A map of several answers.
    #[error("--together draws no maps; draw one for each answer afterwards: dpgp map FOLDER/NAME.csv --out NAME.html")]
    MapOfSeveral,
    /// Several specs of one release.
    #[error("several specs need --together, which makes one charge for all answers; otherwise, name one spec")]
    SeveralSpecs,
    /// A model for a release that has its own.
    #[error(
        "--kernel and --noise-variance are for released moments and published numbers; this release has its own model"
    )]
    ModelOfCounts,
    /// Areas without a release.
    #[error(
        "--areas needs released counts: write them with `dpgp sum SPEC FILE --release counts.json`, then use --from counts.json"
    )]
    AreasOfRows,
    /// Areas of moments.
    #[error("--areas is for released counts; other numbers do not add up over an area")]
    AreasOfMoments,
    /// A certificate that guarantees nothing.
    #[error("{} contains no guarantee that could be registered: {why}", path.display())]
    NothingToRegister {
        /// The file.
        path: PathBuf,
        /// What it says.
        why: String,
    },
    /// A table of numbers, and no word of their noise.
    #[error(
        "{} is not a release made by dpgp; for numbers that others published with noise, add --inputs, --target and --noise",
        .0.display()
    )]
    NumbersWithoutNoise(PathBuf),
    /// Predictions in place of the release that they follow from.
    #[error(
        "{} holds predictions at fixed points; it cannot give predictions at other points. Predict from the release itself: for private \
         inputs and counts, write the release first with `dpgp sum SPEC FILE --release r.json`; for public inputs, \
         `dpgp predict SPEC --at GRID --out p.csv --release r.json` writes it together with the predictions", .0.display()
    )]
    FromPredictions(PathBuf),
    /// A file of rows with an unknown ending.
    #[error("{} has an unknown ending; use .csv or .parquet", .0.display())]
    Ending(PathBuf),
    /// A map with an unknown ending.
    #[error("{} has an unknown ending; use .svg, .html or .geojson", .0.display())]
    MapEnding(PathBuf),
    /// Nothing was drawn.
    #[error(transparent)]
    Map(#[from] MapError),
    /// Partial sums on Kubernetes, whose tasks share no folder.
    #[error("tasks of a Kubernetes job have no shared folder for partial sums; use slurm or make")]
    NoSharedFolder,
    /// More shards than Kubernetes accepts in one job.
    #[error("a Kubernetes job can have at most 100000 shards; use fewer")]
    TooManyShards,
    /// A break that the spec does not declare, or a declared break that was not found.
    #[error("{failed} of {all} guarantees contradict their spec: an undeclared break, or a declared break not found")]
    AuditFailed { failed: usize, all: usize },
    /// Samples that refute the claim of a mechanism.
    #[error("the mechanism is not ({epsilon:?}, {delta:?})-differentially private")]
    Refuted { epsilon: f64, delta: f64 },
    /// Files that are not samples of a mechanism.
    #[error(transparent)]
    Sampled(#[from] SampledFilesError),
    /// A file could not be read or written.
    #[error("{path}: {cause}")]
    Io { path: PathBuf, cause: std::io::Error },
}

fn listed_numbers(numbers: &[f64]) -> String {
    numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(", ")
}

fn format_named_failures(failures: &[(String, CliError)]) -> String {
    failures.iter().map(|(name, error)| format!("{name}: {error}")).collect::<Vec<_>>().join("\n")
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        Self::Run(error.into())
    }
}

impl From<LedgerError> for CliError {
    fn from(error: LedgerError) -> Self {
        Self::Release(error.into())
    }
}

impl From<csv::Error> for CliError {
    fn from(error: csv::Error) -> Self {
        Self::Release(error.into())
    }
}

/// Lists the failures of a graded table, which has at least one.
fn grade_failure_text(differs: usize, fails: usize) -> String {
    let all = [
        (differs, count_with_noun(differs, "printed number differs", "printed numbers differ")),
        (fails, count_with_noun(fails, "claim fails", "claims fail")),
    ];
    let some = all.into_iter().filter(|(number, _)| *number > 0).map(|(_, text)| text);
    some.collect::<Vec<String>>().join(", ")
}

impl AfterChargeError for CliError {
    fn with_charge_receipt(self, receipt: Option<&ChargeReceipt>) -> Self {
        match receipt {
            Some(ChargeReceipt { ledger, .. }) => Self::AfterCharge { cause: Box::new(self), ledger: ledger.clone() },
            None => self,
        }
    }
}

impl CliError {
    /// Makes an I/O error for a path.
    pub fn io_error_at(path: &Path) -> impl Fn(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |cause| Self::Io { path: path.clone(), cause }
    }

    /// Combines all failures into one error, or returns `Ok` if there are none.
    pub fn combine_failures(failures: Vec<(String, Self)>, all: usize) -> Result<(), Self> {
        if failures.is_empty() { Ok(()) } else { Err(Self::Several { failures, all }) }
    }

    /// Returns the exit code, as documented in `dpgp --help`.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Map(MapError::Figure(_) | MapError::Template(_)) => BUG,
            Self::CheckFailed { .. }
            | Self::GradeFailed { .. }
            | Self::Incomplete(_)
            | Self::AuditFailed { .. }
            | Self::Refuted { .. } => FAILED,
            Self::NotAFolder(_)
            | Self::NoVerb(_)
            | Self::Exists(_)
            | Self::PrintedTable { .. }
            | Self::NamedTwice(_)
            | Self::NoName(_)
            | Self::Unanswered(_)
            | Self::Left(_)
            | Self::WrongAnswer { .. }
            | Self::MoreAnswers(_)
            | Self::NoTables(_)
            | Self::NothingRanked
            | Self::OneLeaderboard
            | Self::Accounting(_)
            | Self::EpsilonOfTradeoff
            | Self::NothingAdded { .. }
            | Self::OneExperiment
            | Self::NoSuchEpsilon { .. }
            | Self::NotInTable { .. }
            | Self::Grade { .. }
            | Self::NoLedger(_)
            | Self::OtherRows
            | Self::NoFolder
            | Self::MapOfSeveral
            | Self::SeveralSpecs
            | Self::ModelOfCounts
            | Self::AreasOfMoments
            | Self::AreasOfRows
            | Self::NumbersWithoutNoise(_)
            | Self::NoFolds(_)
            | Self::FromPredictions(_)
            | Self::NothingToRegister { .. }
            | Self::Ending(_)
            | Self::MapEnding(_)
            | Self::Map(_)
            | Self::NoSharedFolder
            | Self::TooManyShards => USAGE,
            Self::NotVerified { .. } | Self::NothingVerified(_) => DATA,
            Self::BrokenLedgers { .. } | Self::NotEntered { .. } => IO,
            Self::AfterCharge { cause, .. } => cause.exit_code(),
            Self::Data(error) | Self::Sampled(SampledFilesError::Data(error)) => error.exit_code(),
            Self::Sampled(_) => USAGE,
            Self::Draft(DraftError::Data(error)) => error.exit_code(),
            Self::Draft(DraftError::Release(error)) => release_exit_code(error),
            Self::Draft(_) => USAGE,
            Self::Run(error) => run_exit_code(error),
            Self::Release(error) => release_exit_code(error),
            Self::Publish(PublishError::Io { .. } | PublishError::NotATable { .. }) | Self::Io { .. } => IO,
            Self::Publish(_) | Self::Template(_) => BUG,
            Self::Several { failures, .. } => failures.first().map_or(BUG, |(_, error)| error.exit_code()),
        }
    }

    /// Returns whether the reader of standard output has gone, which is not an error.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Io { cause, .. } if cause.kind() == std::io::ErrorKind::BrokenPipe)
    }
}

/// A check or an audit failed, results disagree or are missing, or a budget is spent.
const FAILED: u8 = 1;

/// Wrong usage or spec.
const USAGE: u8 = 2;

/// Data that are missing or have a wrong checksum.
const DATA: u8 = 3;

/// A numerical failure.
const NUMERICAL: u8 = 4;

/// An input or output error.
const IO: u8 = 5;

/// A bug.
pub(super) const BUG: u8 = 70;

fn run_exit_code(error: &RunError) -> u8 {
    match error {
        RunError::Store(StoreError::Disagree { .. } | StoreError::RunsDiffer { .. }) => FAILED,
        RunError::Data(error) => error.exit_code(),
        RunError::Cells { .. } | RunError::NotAudited { .. } => NUMERICAL,
        RunError::State(error) => state_exit_code(error),
        RunError::Store(_) | RunError::Io { .. } | RunError::NoSpec { .. } => IO,
        RunError::Threads { .. } => BUG,
        RunError::Interrupted { .. } | RunError::Discarded { .. } => INTERRUPTED,
        // All others are mistakes in the command or the spec.
        _ => USAGE,
    }
}

fn state_exit_code(error: &StateError) -> u8 {
    if matches!(error, StateError::NoFolder | StateError::Relative(_)) { USAGE } else { IO }
}

fn release_exit_code(error: &ReleaseError) -> u8 {
    match error {
        ReleaseError::SumsDiffer { .. }
        | ReleaseError::SumsOverlap(_)
        | ReleaseError::SumsIncomplete { .. }
        | ReleaseError::Ledger(LedgerError::Spent { .. }) => FAILED,
        ReleaseError::AfterCharge { cause, .. } => release_exit_code(cause),
        ReleaseError::Run(error) => run_exit_code(error),
        ReleaseError::Data(error) => error.exit_code(),
        ReleaseError::Task(_) => NUMERICAL,
        ReleaseError::Io { .. }
        | ReleaseError::FileChanged(_)
        | ReleaseError::Unsigned(_)
        | ReleaseError::CannotVerify(_)
        | ReleaseError::Randomness(_)
        | ReleaseError::Ledger(
            LedgerError::Io { .. }
            | LedgerError::Malformed { .. }
            | LedgerError::Gone { .. }
            | LedgerError::Forgotten { .. }
            | LedgerError::Held { .. }
            | LedgerError::OtherKey(_),
        ) => IO,
        ReleaseError::Csv(_) | ReleaseError::Parquet(_) => BUG,
        _ => USAGE,
    }
}
