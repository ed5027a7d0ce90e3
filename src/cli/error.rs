//! Errors of the command, by exit code.

use std::path::PathBuf;

use thiserror::Error;

use super::interrupt::INTERRUPTED;
use crate::audit::AuditError;
use crate::data::DataError;
use crate::publish::PublishError;
use crate::run::RunError;
use crate::run::ledger::LedgerError;
use crate::run::store::StoreError;
use crate::spec::SpecError;
use crate::task::TaskError;

/// What ends the command with an error.
#[derive(Debug, Error)]
pub enum CliError {
    /// A spec is wrong.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// Data are missing or wrong.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A surface could not be computed.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// Results could not be written.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// A name that means nothing.
    #[error("there is no experiment {name:?}; `dpgp list` shows the {count} there are{hint}")]
    UnknownExperiment {
        /// The name.
        name: String,
        /// Number of experiments.
        count: usize,
        /// The nearest name, as a question.
        hint: String,
    },
    /// No project folder.
    #[error(
        "no project here or above (a folder with `experiments` and `data/datasets.toml`); run dpgp in a clone of the \
         project, or name the path of a spec"
    )]
    NoProject,
    /// Files that are missing or do not verify.
    #[error("{bad} of {all} files did not verify")]
    NotVerified {
        /// Files that failed.
        bad: usize,
        /// Files looked at.
        all: usize,
    },
    /// Two specs that would write to one place.
    #[error(
        "two specs are named {name}; their results would be written to one place, so run them with different --results"
    )]
    SameName {
        /// The name.
        name: String,
    },
    /// Some failed; the rest are done.
    #[error("{} of {all} failed:\n{}", failures.len(), listing(failures))]
    Several {
        /// Each with its error.
        failures: Vec<(String, CliError)>,
        /// Experiments asked for.
        all: usize,
    },
    /// A template is broken.
    #[error("this job description could not be filled in: {0}")]
    Template(minijinja::Error),
    /// A name that should mean one experiment.
    #[error("{name:?} means {count} experiments; name one")]
    NotOne {
        /// The name.
        name: String,
        /// Experiments that it means.
        count: usize,
    },
    /// A side of a comparison that has no tables.
    #[error(
        "{side:?} is neither a folder with a table.csv in it or below, nor a commit whose results/ has one"
    )]
    NoTables {
        /// The side.
        side: String,
    },
    /// A folder that is none.
    #[error("{path} is not a folder")]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// A file that would be overwritten.
    #[error("{path} is there already; choose another name")]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A name that makes no file name.
    #[error("{name:?} is no name for a spec")]
    NoName {
        /// The name.
        name: String,
    },
    /// Results are missing.
    #[error("{name} is not complete; no table was written for it")]
    Incomplete {
        /// The experiment.
        name: String,
    },
    /// Stores that do not belong together.
    #[error(
        "the stores {} and {} hold runs of {experiment} that differ in their {what}; nothing was merged",
        first.display(), second.display()
    )]
    StoresDiffer {
        /// The experiment.
        experiment: String,
        /// In what they differ.
        what: &'static str,
        /// One store.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    /// A run whose spec is not here any more.
    #[error(
        "the stores are merged, but {spec}, the spec of {experiment}, is not here or has other cells than when the shards \
         ran; `dpgp explain` says what changed"
    )]
    SpecChanged {
        /// The experiment.
        experiment: String,
        /// The path of its spec.
        spec: String,
    },
    /// Data with too few columns of numbers.
    #[error(
        "{} needs at least two columns of numbers, an input and a target; it has {}", path.display(),
        if numbers.is_empty() { "none".to_owned() } else { numbers.join(", ") }
    )]
    FewNumbers {
        /// The file.
        path: PathBuf,
        /// The columns of numbers.
        numbers: Vec<String>,
    },
    /// A grid without points.
    #[error("{} holds no rows below its header; write a row for each point to predict at", path.display())]
    NoPoints {
        /// The grid.
        path: PathBuf,
    },
    /// Data without rows.
    #[error("{}: no row of the data is left to fit a model to", spec.display())]
    NoRows {
        /// The spec.
        spec: PathBuf,
    },
    /// A spec that describes no release.
    #[error("this spec describes no release of predictions: {reason}")]
    NotReleasable {
        /// Why.
        reason: &'static str,
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
        "nothing was released, because the guarantee of this spec has exceptions: {list}. Bound targets by public \
         normalise.bounds, calibrate by privacy.calibration = \"analytic\" and filter by public columns; or say \
         --allow-caveats"
    )]
    Caveats {
        /// The exceptions.
        list: String,
    },
    /// The operating system gives no randomness.
    #[error("the operating system gave no randomness: {cause}; nothing was released")]
    Randomness {
        /// What it said.
        cause: String,
    },
    /// A release was not charged.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// A check was asked to stop.
    #[error("interrupted after {done} of {all} blocks; a check keeps nothing and begins again")]
    CheckInterrupted {
        /// Blocks that were computed.
        done: usize,
        /// Blocks that were to be computed.
        all: usize,
    },
    /// A check found a difference.
    #[error("{failed} of {all} checks failed")]
    CheckFailed {
        /// Experiments that failed.
        failed: usize,
        /// Experiments checked.
        all: usize,
    },
    /// A file of another form.
    #[error("{} ends neither in .csv nor in .parquet", path.display())]
    Ending {
        /// The file.
        path: PathBuf,
    },
    /// A spec that says nothing about sums.
    #[error(
        "{name} has no task.surface, no task.dirichlet and no task.density with mechanism.histogram: one of them says what \
         `dpgp stats` sums; see beyond/citibike-scale"
    )]
    NoSums {
        /// The experiment.
        name: String,
    },
    /// A spec whose sums are not made in one pass.
    #[error(
        "{name} releases weighted sums, which `dpgp stats` does not make; write a spec with task.dirichlet.release = \
         \"class-sums\""
    )]
    WeightedSums {
        /// The experiment.
        name: String,
    },
    /// Cells of one spec that sum different things.
    #[error("the cells of {name} sum different things ({what}); write a spec for one of them")]
    SeveralSums {
        /// The experiment.
        name: String,
        /// What differs.
        what: &'static str,
    },
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
    /// Rows that would be counted twice.
    #[error("rows from number {row} on are in two of the files; nothing was added")]
    SumsOverlap {
        /// The first of them, counted from 1.
        row: u64,
    },
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
    /// Parts of sums without a folder that all tasks write to.
    #[error("the tasks of a Kubernetes job share no folder for parts of sums; use slurm or make")]
    NoSharedFolder,
    /// A release for one of several epsilons, without a word which.
    #[error("the spec has several epsilons, {epsilons}: name the one to release for with --epsilon")]
    SeveralEpsilons {
        /// All of them.
        epsilons: String,
    },
    /// An audit found a break that no spec announces, or none where one is announced.
    #[error(
        "{failed} of {all} guarantees are broken without a word of their spec, or announced as broken and are not"
    )]
    AuditFailed {
        /// Cells that failed.
        failed: usize,
        /// Cells audited.
        all: usize,
    },
    /// A block that could not be audited.
    #[error("{experiment}: cell {cell}: {cause}")]
    NotAudited {
        /// The experiment.
        experiment: String,
        /// The labels of the first cell of the block.
        cell: String,
        /// What failed.
        cause: Box<AuditError>,
    },
    /// A file could not be read or written.
    #[error("{path}: {cause}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
}

fn listing(failures: &[(String, CliError)]) -> String {
    failures.iter().map(|(name, error)| format!("{name}: {error}")).collect::<Vec<_>>().join("\n")
}

impl CliError {
    /// The exit code, as documented in the help text.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::CheckFailed { .. }
            | Self::Incomplete { .. }
            | Self::StoresDiffer { .. }
            | Self::SumsDiffer { .. }
            | Self::SumsOverlap { .. }
            | Self::SumsIncomplete { .. }
            | Self::AuditFailed { .. } => 1,
            Self::NotAudited { .. } => 4,
            Self::Spec(_)
            | Self::UnknownExperiment { .. }
            | Self::NoProject
            | Self::SameName { .. }
            | Self::NotAFolder { .. }
            | Self::Exists { .. }
            | Self::NoName { .. }
            | Self::NotOne { .. }
            | Self::NoTables { .. }
            | Self::FewNumbers { .. }
            | Self::NoPoints { .. }
            | Self::NoRows { .. }
            | Self::NotReleasable { .. }
            | Self::NoCell { .. }
            | Self::SeveralCells { .. }
            | Self::Caveats { .. }
            | Self::Ending { .. }
            | Self::NoSums { .. }
            | Self::WeightedSums { .. }
            | Self::SeveralSums { .. }
            | Self::NotSums { .. }
            | Self::NoGuarantee
            | Self::NoSharedFolder
            | Self::SeveralEpsilons { .. }
            | Self::SpecChanged { .. } => 2,
            Self::CheckInterrupted { .. } => INTERRUPTED,
            Self::NotVerified { .. } => 3,
            Self::Task(_) => 4,
            Self::Data(error) => error.exit_code(),
            Self::Ledger(error) => error.exit_code(),
            Self::Run(error) => run_code(error),
            Self::Publish(PublishError::Io { .. } | PublishError::NotATable { .. })
            | Self::Io { .. }
            | Self::Randomness { .. } => 5,
            Self::Publish(_) | Self::Template(_) => 70,
            Self::Several { failures, .. } => failures.first().map_or(70, |(_, error)| error.exit_code()),
        }
    }

    /// The error of a run as that of a check, which keeps nothing.
    pub fn of_check(self) -> Self {
        match self {
            Self::Run(RunError::Interrupted { done, all }) => Self::CheckInterrupted { done, all },
            other => other,
        }
    }

    /// Whether the reader of our output went away, which is no error.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Io { cause, .. } if cause.kind() == std::io::ErrorKind::BrokenPipe)
    }
}

fn run_code(error: &RunError) -> u8 {
    match error {
        RunError::Store(StoreError::Disagree { .. }) => 1,
        RunError::Spec(_) => 2,
        RunError::Data(error) => error.exit_code(),
        RunError::Cells { .. } => 4,
        RunError::Store(_) => 5,
        RunError::Threads { .. } => 70,
        RunError::Interrupted { .. } => INTERRUPTED,
    }
}
