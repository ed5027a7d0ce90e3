//! Why an experiment could not be run.

use std::path::PathBuf;

use thiserror::Error;

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
    /// A cell failed numerically.
    #[error("{experiment}, cell {cell}, replicate {replicate}: {cause}")]
    Cell {
        /// The experiment.
        experiment: String,
        /// The labels of the cell.
        cell: String,
        /// The replicate, from 0.
        replicate: u32,
        /// What failed.
        cause: TaskError,
    },
    /// A file could not be read or written.
    #[error("{path}: {cause}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// The threads could not be started.
    #[error("could not start {jobs} threads: {cause}")]
    Threads {
        /// Threads asked for.
        jobs: usize,
        /// What the pool said.
        cause: rayon::ThreadPoolBuildError,
    },
}
