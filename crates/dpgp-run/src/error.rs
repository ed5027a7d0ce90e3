//! Failures of an experiment run.

use std::fmt;
use std::path::PathBuf;

use thiserror::Error;

use super::StateError;
use super::program::ProgramError;
use super::store::{RunHeader, StoreError};
use dpgp_claim_audit::AuditError;
use dpgp_data::DataError;
use dpgp_spec::{PaperFileError, SpecError};
use dpgp_task::{GivenNumbersError, TaskError};

/// A failure of a run, by cause.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The spec is wrong.
    #[error(transparent)]
    Spec(#[from] Box<SpecError>),
    /// The coverage of a paper cannot be read.
    #[error(transparent)]
    Coverage(#[from] PaperFileError),
    /// The data are missing, wrong or not readable.
    #[error(transparent)]
    Data(#[from] Box<DataError>),
    /// A name that matches no experiment.
    #[error("there is no experiment {name:?}; `dpgp list` shows all {count}{hint}")]
    UnknownExperiment {
        /// The name.
        name: String,
        /// Number of experiments.
        count: usize,
        /// The nearest name, as a question.
        hint: String,
    },
    /// A path that leads to no spec.
    #[error("there is no spec {path}{hint}")]
    NoSpec {
        /// The path.
        path: PathBuf,
        /// The nearest one in its folder, as a question.
        hint: String,
    },
    /// A project without specs.
    #[error(
        "the `experiments` folder of this project has no specs; give the path of a spec, or run dpgp outside the \
         project to use the built-in experiments"
    )]
    NoProject,
    /// A project of somebody else.
    #[error(
        "refusing the project in {}: {} belongs to {owner}, who could control what dpgp reads and writes; if you \
         trust this user, set DPGP_SAFE_PROJECTS={} (separate folders as in PATH; \"*\" trusts all \
         folders)", folder.display(), path.display(),
        folder.display()
    )]
    OtherOwner {
        /// Its folder.
        folder: PathBuf,
        /// The path that belongs to somebody else.
        path: PathBuf,
        /// Its owner.
        owner: String,
    },
    /// A file that is reached by a link and is not a spec.
    #[error(
        "{}:{line}:{column}: not a valid spec (details are hidden: the file is reached by a link from another folder)",
        file.display()
    )]
    LinkedSpec {
        /// The spec, as it was named.
        file: PathBuf,
        /// The line.
        line: usize,
        /// The column.
        column: usize,
    },
    /// Two specs that would write to the same folder.
    #[error("two specs are named {0}, so their results would collide; run them with different --results folders")]
    SameName(String),
    /// A name that should mean one experiment.
    #[error("{name:?} matches {} experiments ({}); choose one", means.len(), join_first_names(means, ", "))]
    NotOne {
        /// The name.
        name: String,
        /// The names of the experiments that it means.
        means: Vec<String>,
    },
    /// A run whose spec is not here any more.
    #[error(
        "the stores are merged, but {spec}, the spec of {experiment}, is missing or its cells have changed since \
         the shards ran; run `dpgp run {experiment} --dry-run --why` to see what changed"
    )]
    SpecChanged {
        /// The experiment.
        experiment: String,
        /// The path of its spec.
        spec: String,
    },
    /// Cells failed numerically; the others are stored.
    #[error("{experiment}: {} of {all} blocks failed; {done} are stored\n{}", failures.len(), format_cell_failures(failures))]
    Cells {
        /// The experiment.
        experiment: String,
        /// Each failure.
        failures: Vec<CellFailure>,
        /// Blocks that were computed.
        done: usize,
        /// Blocks that were to be computed.
        all: usize,
    },
    /// A block that could not be audited.
    #[error("{experiment}: cell {cell}: {cause}")]
    NotAudited {
        /// The experiment.
        experiment: String,
        /// The labels of the first cell of the block.
        cell: String,
        /// The failure.
        cause: Box<AuditError>,
    },
    /// The run was asked to stop.
    #[error("interrupted: {done} of {all} blocks are stored; run the same command to resume")]
    Interrupted {
        /// Blocks that were computed.
        done: usize,
        /// Blocks that were to be computed.
        all: usize,
    },
    /// Work that stores nothing was asked to stop.
    #[error("interrupted after {done} of {all} blocks; a check stores nothing, so the next check starts over")]
    Discarded {
        /// Blocks that were computed.
        done: usize,
        /// Blocks that were to be computed.
        all: usize,
    },
    /// The store could not be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The threads could not be started.
    #[error("could not start {jobs} threads: {cause}")]
    Threads {
        /// Threads asked for.
        jobs: usize,
        /// Error of the thread pool.
        cause: rayon::ThreadPoolBuildError,
    },
    /// There is no key for the user's own data.
    #[error(transparent)]
    State(#[from] StateError),
    /// A file or folder of the project could not be read.
    #[error("{path}: {cause}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Error of the operating system.
        cause: std::io::Error,
    },
}

impl RunError {
    /// The error of a run whose store is thrown away.
    #[must_use]
    pub fn into_discarded(self) -> Self {
        match self {
            Self::Interrupted { done, all } => Self::Discarded { done, all },
            other => other,
        }
    }

    /// The blocks that were computed, if all others were tried and failed.
    pub(super) fn blocks_computed_despite_failures(&self) -> Option<usize> {
        match self {
            Self::Cells { failures, done, all, .. } if done + failures.len() == *all => Some(*done),
            _ => None,
        }
    }

    /// The failures of cells.
    pub(super) fn failures(&self) -> &[CellFailure] {
        match self {
            Self::Cells { failures, .. } => failures,
            _ => &[],
        }
    }

    pub(super) fn spec_changed(header: &RunHeader) -> Self {
        Self::SpecChanged { experiment: header.experiment.clone(), spec: header.spec.clone() }
    }
}

/// A cell that failed.
#[derive(Debug)]
pub struct CellFailure {
    /// The labels of the first cell of its block.
    pub cell: String,
    /// The cells of an experiment that have no results for it, by their places; none if a single prediction failed.
    pub cells: Vec<usize>,
    /// The replicate, from 0.
    pub replicate: u32,
    /// The failure.
    pub cause: CellError,
}

/// Why a cell failed.
#[derive(Debug, Error)]
pub enum CellError {
    /// Its numbers cannot be computed.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// Its program gave no numbers.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The table of somebody else's numbers lacks them.
    #[error(transparent)]
    Given(#[from] GivenNumbersError),
}

impl fmt::Display for CellFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cell {}, replicate {}: {}", self.cell, self.replicate, self.cause)
    }
}

/// The most names that an error lists.
const MOST_NAMES: usize = 6;

/// The first names of a list.
fn join_first_names(names: &[String], separator: &str) -> String {
    let first = names.iter().take(MOST_NAMES).cloned().collect::<Vec<_>>().join(separator);
    if names.len() <= MOST_NAMES { first } else { format!("{first} and {} more", names.len() - MOST_NAMES) }
}

fn format_cell_failures(failures: &[CellFailure]) -> String {
    // Blocks that fail for one reason are listed together.
    let mut causes: Vec<(String, &CellFailure, Vec<String>)> = Vec::new();
    for failure in failures {
        let cause = failure.cause.to_string();
        match causes.iter_mut().find(|(known, ..)| *known == cause) {
            Some((_, _, alike)) => alike.push(format!("cell {}, replicate {}", failure.cell, failure.replicate)),
            None => causes.push((cause, failure, Vec::new())),
        }
    }
    let mut lines = Vec::with_capacity(2 * causes.len());
    for (_, failure, alike) in causes {
        lines.push(format!("  {failure}"));
        // Labels have commas.
        lines.extend((!alike.is_empty()).then(|| format!("  for the same reason: {}", join_first_names(&alike, "; "))));
    }
    lines.join("\n")
}
