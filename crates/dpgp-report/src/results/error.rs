//! Why results could not be published.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::figure::FigureError;

/// Why results could not be published.
#[derive(Debug, Error)]
pub enum PublishError {
    /// A file could not be written.
    #[error("{path}: {cause}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// A table that stands there is none.
    #[error("{path} is not a table of results: {cause}")]
    NotATable {
        /// The file, or what was compared.
        path: PathBuf,
        /// What the reader said.
        cause: csv::Error,
    },
    /// The table could not be put into CSV.
    #[error("table.csv: {0}")]
    Csv(#[from] csv::Error),
    /// The page could not be put together.
    #[error("report: {0}")]
    Template(#[from] minijinja::Error),
    /// The rows of the page could not be compressed.
    #[error("report: {0}")]
    Packing(std::io::Error),
    /// The figure could not be drawn.
    #[error("figure.svg: {0}")]
    Figure(#[from] FigureError),
}

impl PublishError {
    pub(super) fn io(path: &Path, cause: std::io::Error) -> Self {
        Self::Io { path: path.to_path_buf(), cause }
    }
}
