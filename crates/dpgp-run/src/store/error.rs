//! Why the store could not be used.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// A failure of the store.
#[derive(Debug, Error)]
pub enum StoreError {
    /// A file or folder could not be read or written.
    #[error("{path}: {cause}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// The same cell, replicate, data and numerics gave two results.
    #[error(
        "{place} of {experiment} was computed twice and does not agree: {} and {}; one of the two is wrong, or a \
         result depends on more than its spec, data and seed", first.display(), second.display()
    )]
    Disagree {
        /// The experiment.
        experiment: String,
        /// The labels of the cell and the replicate.
        place: String,
        /// The segment that was read first.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    /// Runs of one experiment that do not belong together.
    #[error(
        "the stores {} and {} hold runs of {experiment} that differ in their {what}; nothing was merged",
        first.display(), second.display()
    )]
    RunsDiffer {
        /// The experiment.
        experiment: String,
        /// In what they differ.
        what: &'static str,
        /// One store.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    /// A record was changed or removed while it was read.
    #[error("{path}: a record that was there has gone; is another program changing the store?")]
    Gone {
        /// The segment.
        path: PathBuf,
    },
}

impl StoreError {
    /// An I/O error of a path.
    pub(super) fn io(path: &Path) -> impl Fn(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |cause| Self::Io { path: path.clone(), cause }
    }
}
