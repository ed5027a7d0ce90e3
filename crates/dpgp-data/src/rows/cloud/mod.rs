//! Files of rows in a cloud. A build without the feature `cloud` refuses their addresses.

#[cfg(feature = "cloud")]
mod chunks;
#[cfg(feature = "cloud")]
mod location;
#[cfg(feature = "cloud")]
mod object;
#[cfg(feature = "cloud")]
mod store;

#[cfg(not(feature = "cloud"))]
pub(crate) use absent::{check_address, find_files, open_bytes, open_parquet, read_file_version};
#[cfg(feature = "cloud")]
pub(crate) use {
    chunks::open_parquet,
    location::{check_address, find_files},
    object::{open_bytes, read_file_version},
};

/// Replaces cloud access in builds without it: each address is an error.
#[cfg(not(feature = "cloud"))]
mod absent {
    use std::io::Read;
    use std::path::Path;

    use super::super::files::unsupported_address_error;
    use super::super::{FileState, RowFile};
    use crate::DataError;
    use crate::parquet::ParquetSource;

    /// Refuses every address.
    pub(crate) fn check_address(name: &Path) -> Result<(), DataError> {
        Err(unsupported_address_error(name))
    }

    /// The bytes of a file, and how many there are.
    pub(crate) fn open_bytes(path: &Path) -> Result<(Box<dyn Read + Send>, u64), DataError> {
        Err(unsupported_address_error(path))
    }

    /// Reads what would reveal a write to a file. Always fails: this build reads no files in a cloud.
    pub(crate) fn read_file_version(path: &Path) -> Result<FileState, DataError> {
        Err(unsupported_address_error(path))
    }

    /// The columns of a Parquet file.
    pub(crate) fn open_parquet(path: &Path) -> Result<Box<dyn ParquetSource>, DataError> {
        Err(unsupported_address_error(path))
    }

    /// The files that an address means.
    pub(crate) fn find_files(name: &Path) -> Result<Vec<RowFile>, DataError> {
        Err(unsupported_address_error(name))
    }
}
