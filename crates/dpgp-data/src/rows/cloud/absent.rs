//! Replaces cloud access in builds without it: each address is an error.

use std::io::Read;
use std::path::Path;

use super::super::files::refused;
use super::super::{FileState, RowFile};
use crate::DataError;
use crate::parquet_source::ParquetSource;

/// Whether an address can be read: none.
pub(crate) fn check(name: &Path) -> Result<(), DataError> {
    Err(refused(name))
}

/// The bytes of a file, and how many there are.
pub(crate) fn open(path: &Path) -> Result<(Box<dyn Read + Send>, u64), DataError> {
    Err(refused(path))
}

/// Detects writes to a file while it is read.
pub(crate) fn state(path: &Path) -> Result<FileState, DataError> {
    Err(refused(path))
}

/// The columns of a Parquet file.
pub(crate) fn parquet(path: &Path) -> Result<Box<dyn ParquetSource>, DataError> {
    Err(refused(path))
}

/// The files that an address means.
pub(crate) fn found(name: &Path) -> Result<Vec<RowFile>, DataError> {
    Err(refused(name))
}
