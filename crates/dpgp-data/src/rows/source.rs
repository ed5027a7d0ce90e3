//! The bytes of a file of rows, wherever it is.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::address::is_address;
use super::cloud;
use crate::DataError;
use crate::error::{Action, Doing};
use crate::identity::DataKey;
use crate::table_error::TableError;

/// The bytes of a file, from its first on, and how many of them were read.
pub(crate) struct RowBytes {
    from: Box<dyn Read + Send>,
    all: u64,
    read: Arc<AtomicU64>,
}

/// How much of a file was read.
pub(crate) struct ReadShare {
    all: u64,
    read: Arc<AtomicU64>,
}

impl RowBytes {
    /// Opens a file on this machine or in a cloud.
    ///
    /// # Errors
    /// [`DataError::Io`]; [`TableError::NoFile`] for a pipe or a device.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        if is_address(path) {
            let (from, all) = cloud::open(path)?;
            return Ok(Self::new(from, all));
        }
        let file = open_file(path)?;
        let all = file.metadata().doing(Action::Read, path)?.len();
        Ok(Self::new(Box::new(file), all))
    }

    fn new(from: Box<dyn Read + Send>, all: u64) -> Self {
        Self { from, all, read: Arc::default() }
    }

    /// Says how much was read while somebody else reads.
    pub fn share(&self) -> ReadShare {
        ReadShare { all: self.all, read: Arc::clone(&self.read) }
    }
}

impl Read for RowBytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl ReadShare {
    /// At most 1.
    pub fn get(&self) -> f64 {
        (self.read.load(Ordering::Relaxed) as f64 / self.all.max(1) as f64).min(1.0)
    }
}

/// The tag of the bytes of a file under a key.
///
/// # Errors
/// [`DataError::Io`]; [`TableError::NoFile`] for a pipe or a device.
pub fn keyed_tag(path: &Path, key: &DataKey) -> Result<[u8; 32], DataError> {
    key.tag_read(RowBytes::open(path)?).doing(Action::Read, path)
}

/// Opens a file on this machine. A pipe gives its rows once, but files are opened several times: for their columns, for their
/// rows, and to see that they did not change. A pipe without a writer would never open.
///
/// # Errors
/// [`DataError::Io`], [`TableError::NoFile`].
pub(crate) fn open_file(path: &Path) -> Result<File, DataError> {
    let found = fs::metadata(path).doing(Action::Read, path)?;
    if !found.is_file() && !found.is_dir() {
        return Err(DataError::table(path, TableError::NoFile));
    }
    File::open(path).doing(Action::Read, path)
}
