//! What shows that a file was written to.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use super::address::is_address;
use super::cloud;
use crate::DataError;
use crate::error::{Action, Doing};

/// By what a file shows that it was written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileState {
    /// How long it is.
    pub bytes: u64,
    /// When it was written.
    pub modified: SystemTime,
    /// What a store calls this version of it; none on this machine.
    pub version: Option<String>,
}

impl FileState {
    /// Of a file as it is now.
    ///
    /// # Errors
    /// [`DataError::Io`].
    pub fn of(path: &Path) -> Result<Self, DataError> {
        if is_address(path) {
            return cloud::state(path);
        }
        let file = fs::metadata(path).doing(Action::Read, path)?;
        let modified = file.modified().doing(Action::Read, path)?;
        Ok(Self { bytes: file.len(), modified, version: None })
    }
}
