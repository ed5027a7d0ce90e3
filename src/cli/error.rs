//! Errors of the command, by exit code.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::interrupt::INTERRUPTED;
use super::new_data::{ColumnError, below};
use super::options::counted;
use dpgp_data::DataError;
use dpgp_evidence::SampledProblem;
use dpgp_release::ledger::{LedgerError, Receipt};
use dpgp_release::{AfterCharge, ReleaseError, spent_in};
use dpgp_report::{GradeError, MapError, PublishError};
use dpgp_run::store::StoreError;
use dpgp_run::{RunError, StateError};

/// What ends the command with an error.
#[derive(Debug, Error)]
pub enum CliError {
    /// A failure after a release was charged.
    #[error("{cause}\n{}", spent_in(ledger))]
    AfterCharge { cause: Box<Self>, ledger: PathBuf },
    /// Data are missing or wrong.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Nothing was released.
    #[error(transparent)]
    Release(#[from] ReleaseError),
    /// Results could not be written.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// Files that are missing or do not verify.
    #[error("{bad} of {all} files did not verify")]
    NotVerified { bad: usize, all: usize },
    /// No file was there to be hashed.
    #[error(
        "no file was verified: none of {0} is here; `dpgp data fetch` downloads them, --mirror and --data name where they are"
    )]
    NothingVerified(usize),
    /// Some failed; the rest are done.
    #[error("{} of {all} failed:\n{}", failures.len(), listing(failures))]
    Several { failures: Vec<(String, CliError)>, all: usize },
    /// A template is broken.
    #[error("this job description could not be filled in: {0}")]
    Template(#[from] minijinja::Error),
    /// A side of a comparison that has no tables.
    #[error("{0:?} is neither a folder with a table.csv in it or below, nor a commit whose results/ has one")]
    NoTables(String),
    /// Tables without a row that can be ranked.
    #[error(
        "nothing to rank: no experiment that is meant has a [table] with `best` and rows of this epsilon and kind; \
         `dpgp new mine --from beyond/leaderboard/houses` copies a spec that compares methods"
    )]
    NothingRanked,
    /// An epsilon of none of the tables.
    #[error("no table that is meant has the epsilon {epsilon}; there are {}", listed_numbers(known))]
    NoSuchEpsilon { epsilon: f64, known: Vec<f64> },
    /// A metric or an axis that a table has not.
    #[error("the table has no {what} {name:?}; it has {known}")]
    NotInTable { what: &'static str, name: String, known: String },
    /// A page of the manual that there is not.
    #[error("there is no verb {0:?}; `dpgp --help` lists them")]
    NoVerb(String),
    /// A folder that is none.
    #[error("{0} is not a folder")]
    NotAFolder(PathBuf),
    /// A file that would be overwritten.
    #[error("{0} already exists; choose another name")]
    Exists(PathBuf),
    /// Files that a command would write, which are one.
    #[error("{0} is named for two of the files that are written; choose another name")]
    NamedTwice(PathBuf),
    /// A name that makes no file name.
    #[error("{0:?} is no name for a spec")]
    NoName(String),
    /// Questions without an answer.
    #[error("{0}: nobody answered; nothing was written")]
    Unanswered(String),
    /// Questions that the user leaves.
    #[error("{0}: left, as you said; nothing was written")]
    Left(String),
    /// An answer that is none.
    #[error("{key}: {needed}; the answer was {said:?}, and nothing was written")]
    WrongAnswer { key: String, said: String, needed: String },
    /// More answers than questions.
    #[error(
        "all questions are answered, and {0:?} is left: an answer before it stands on a line too many; nothing was written"
    )]
    MoreAnswers(String),
    /// Results are missing.
    #[error("{0} is not complete; no table was written for it")]
    Incomplete(String),
    /// Data without a row, whose columns hold nothing to go by.
    #[error("{} holds no rows below its header", .0.display())]
    NoRows(PathBuf),
    /// Data with too few columns of numbers.
    #[error(
        "{} needs at least two columns of numbers, an input and a target; it has {}{}",
        path.display(),
        if numbers.is_empty() { "none".to_owned() } else { numbers.join(", ") },
        below(why)
    )]
    FewNumbers { path: PathBuf, numbers: Vec<String>, why: Vec<String> },
    /// Columns that are not there, or hold no numbers.
    #[error("{}: {cause}", path.display())]
    Columns { path: PathBuf, cause: ColumnError },
    /// A file whose first line is a row: its cells are private, and are not told.
    #[error(
        "{} has numbers where the names of its columns should be, and a row of it would become a part of the spec, which is \
         public: if it has no header, name its columns with --columns a,b,c or number them with --no-header", .0.display()
    )]
    NumbersForNames(PathBuf),
    /// Names for the columns of a file that names them itself.
    #[error("{} is Parquet, which names its columns itself; leave --columns, --no-header and --separator out", .0.display())]
    NamedColumns(PathBuf),
    /// A spec whose data no ledger knows.
    #[error("no ledger that is known here counts rows of the data of {0}")]
    NoLedger(String),
    /// Ledgers that cannot be trusted.
    #[error("{broken} of {all} ledgers cannot be trusted")]
    BrokenLedgers { broken: usize, all: usize },
    /// Releases that no ledger knows.
    #[error("{missing} of {all} releases stand in none of these ledgers")]
    NotEntered { missing: usize, all: usize },
    /// Somebody else's table cannot be judged.
    #[error("{} {cause}", path.display())]
    Grade { path: PathBuf, cause: GradeError },
    /// Somebody else's table does not have the numbers of the paper, or refutes a claim.
    #[error("{}", failing(*differs, *fails))]
    GradeFailed { differs: usize, fails: usize },
    /// A check found a difference.
    #[error("{failed} of {all} checks failed")]
    CheckFailed { failed: usize, all: usize },
    /// A file of another form.
    #[error("{} ends neither in .csv nor in .parquet", .0.display())]
    Ending(PathBuf),
    /// A file that is no map.
    #[error("{} ends neither in .svg nor in .html nor in .geojson", .0.display())]
    MapEnding(PathBuf),
    /// Nothing was drawn.
    #[error(transparent)]
    Map(#[from] MapError),
    /// Parts of sums without a folder that all tasks write to.
    #[error("the tasks of a Kubernetes job share no folder for parts of sums; use slurm or make")]
    NoSharedFolder,
    /// More shards than the API of Kubernetes takes in one job.
    #[error("a Kubernetes job takes at most 100000 shards")]
    TooManyShards,
    /// An audit found a break that no spec announces, or none where one is announced.
    #[error(
        "{failed} of {all} guarantees are broken and their spec does not say so, or are announced as broken and are not"
    )]
    AuditFailed { failed: usize, all: usize },
    /// Samples refute what is claimed of a mechanism.
    #[error("the mechanism is not ({epsilon:?}, {delta:?})-differentially private")]
    Refuted { epsilon: f64, delta: f64 },
    /// Files that are no samples of a mechanism.
    #[error(transparent)]
    Sampled(#[from] SampledProblem),
    /// A file could not be read or written.
    #[error("{path}: {cause}")]
    Io { path: PathBuf, cause: std::io::Error },
}

fn listed_numbers(numbers: &[f64]) -> String {
    numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(", ")
}

fn listing(failures: &[(String, CliError)]) -> String {
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

/// What fails in somebody else's table; some do.
fn failing(differs: usize, fails: usize) -> String {
    let all = [
        (differs, counted(differs, "printed number differs", "printed numbers differ")),
        (fails, counted(fails, "claim fails", "claims fail")),
    ];
    let some = all.into_iter().filter(|(number, _)| *number > 0).map(|(_, text)| text);
    some.collect::<Vec<String>>().join(", ")
}

impl AfterCharge for CliError {
    fn after_charge(self, receipt: Option<&Receipt>) -> Self {
        match receipt {
            Some(Receipt { ledger, .. }) => {
                Self::AfterCharge { cause: Box::new(self), ledger: ledger.clone() }
            }
            None => self,
        }
    }
}

impl CliError {
    /// An I/O error of a path.
    pub fn io(path: &Path) -> impl Fn(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |cause| Self::Io { path: path.clone(), cause }
    }

    /// All failures together, if there are any.
    pub fn all(failures: Vec<(String, Self)>, all: usize) -> Result<(), Self> {
        if failures.is_empty() { Ok(()) } else { Err(Self::Several { failures, all }) }
    }

    /// The exit code, as documented in the help text.
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
            | Self::NamedTwice(_)
            | Self::NoName(_)
            | Self::Unanswered(_)
            | Self::Left(_)
            | Self::WrongAnswer { .. }
            | Self::MoreAnswers(_)
            | Self::NoTables(_)
            | Self::NothingRanked
            | Self::NoSuchEpsilon { .. }
            | Self::NotInTable { .. }
            | Self::Grade { .. }
            | Self::NoRows(_)
            | Self::FewNumbers { .. }
            | Self::Columns { .. }
            | Self::NumbersForNames(_)
            | Self::NamedColumns(_)
            | Self::NoLedger(_)
            | Self::Ending(_)
            | Self::MapEnding(_)
            | Self::Map(_)
            | Self::NoSharedFolder
            | Self::TooManyShards => USAGE,
            Self::NotVerified { .. } | Self::NothingVerified(_) => DATA,
            Self::BrokenLedgers { .. } | Self::NotEntered { .. } => IO,
            Self::AfterCharge { cause, .. } => cause.exit_code(),
            Self::Data(error) | Self::Sampled(SampledProblem::Data(error)) => error.exit_code(),
            Self::Sampled(_) => USAGE,
            Self::Run(error) => of_run(error),
            Self::Release(error) => of_release(error),
            Self::Publish(PublishError::Io { .. } | PublishError::NotATable { .. }) | Self::Io { .. } => IO,
            Self::Publish(_) | Self::Template(_) => BUG,
            Self::Several { failures, .. } => failures.first().map_or(BUG, |(_, error)| error.exit_code()),
        }
    }

    /// Whether the reader of our output went away, which is no error.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Io { cause, .. } if cause.kind() == std::io::ErrorKind::BrokenPipe)
    }
}

/// A check or an audit failed, results disagree or are missing, or a budget refuses.
const FAILED: u8 = 1;

/// Wrong usage or spec.
const USAGE: u8 = 2;

/// Data are missing or have a wrong checksum.
const DATA: u8 = 3;

/// A numerical failure.
const NUMERICAL: u8 = 4;

/// Input or output.
const IO: u8 = 5;

/// A bug.
pub(super) const BUG: u8 = 70;

fn of_run(error: &RunError) -> u8 {
    match error {
        RunError::Store(StoreError::Disagree { .. } | StoreError::RunsDiffer { .. }) => FAILED,
        RunError::Data(error) => error.exit_code(),
        RunError::Cells { .. } | RunError::NotAudited { .. } => NUMERICAL,
        RunError::State(error) => of_state(error),
        RunError::Store(_) | RunError::Io { .. } | RunError::NoSpec { .. } => IO,
        RunError::Threads { .. } => BUG,
        RunError::Interrupted { .. } | RunError::Discarded { .. } => INTERRUPTED,
        // What is left is wrong in the command or the spec.
        _ => USAGE,
    }
}

fn of_state(error: &StateError) -> u8 {
    if matches!(error, StateError::NoFolder) { USAGE } else { IO }
}

fn of_release(error: &ReleaseError) -> u8 {
    match error {
        ReleaseError::SumsDiffer { .. }
        | ReleaseError::SumsOverlap(_)
        | ReleaseError::SumsIncomplete { .. }
        | ReleaseError::Ledger(LedgerError::Spent { .. }) => FAILED,
        ReleaseError::AfterCharge { cause, .. } => of_release(cause),
        ReleaseError::Run(error) => of_run(error),
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
