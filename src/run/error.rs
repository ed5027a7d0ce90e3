//! Why an experiment could not be run.

use std::fmt;

use thiserror::Error;

use super::store::StoreError;
use crate::data::DataError;
use crate::spec::SpecError;
use crate::task::TaskError;

/// A failure of a run, by whose fault it is.
#[derive(Debug, Error)]
pub enum RunError {
    /// The spec is wrong.
    #[error(transparent)]
    Spec(#[from] Box<SpecError>),
    /// The data are missing, wrong or not readable.
    #[error(transparent)]
    Data(#[from] Box<DataError>),
    /// Cells failed numerically; the others are stored.
    #[error("{experiment}: {} of {all} blocks failed, {done} are stored\n{}", failures.len(), listing(failures))]
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
    /// The run was asked to stop.
    #[error("interrupted: {done} of {all} blocks are done and stored; the same command goes on from here")]
    Interrupted {
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
        /// What the pool said.
        cause: rayon::ThreadPoolBuildError,
    },
}

/// A cell that failed.
#[derive(Debug)]
pub struct CellFailure {
    /// The labels of the first cell of its block.
    pub cell: String,
    /// The replicate, from 0.
    pub replicate: u32,
    /// What failed.
    pub cause: TaskError,
}

impl fmt::Display for CellFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cell {}, replicate {}: {}", self.cell, self.replicate, self.cause)
    }
}

fn listing(failures: &[CellFailure]) -> String {
    failures.iter().map(|failure| format!("  {failure}")).collect::<Vec<_>>().join("\n")
}
