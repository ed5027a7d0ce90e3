//! The file of exact sums.

use std::path::{Path, PathBuf};

use super::new_file::new_file;
use super::{ReleaseError, StreamedTotal, SumsModel};
use dpgp_fs::{NewFile, Readers};

/// Where exact sums are written, for the holder of the rows alone to read. It has no name before [`ExactSumsFile::finish`], so that
/// nothing is left of sums whose release failed.
pub struct ExactSumsFile {
    path: PathBuf,
    file: NewFile,
}

impl ExactSumsFile {
    /// Makes sure that the file can be made, and is not there yet; a pipe or a device may be.
    ///
    /// # Errors
    /// [`ReleaseError::Exists`] or [`ReleaseError::Io`].
    pub fn open(path: &Path) -> Result<Self, ReleaseError> {
        Ok(Self { path: path.to_path_buf(), file: new_file(path, Readers::Holder)? })
    }

    /// Puts sums into it.
    ///
    /// # Errors
    /// [`ReleaseError::Io`].
    pub fn fill<M: SumsModel>(&mut self, total: &StreamedTotal<M>) -> Result<(), ReleaseError> {
        let filled =
            total.text().map_err(std::io::Error::other).and_then(|text| self.file.fill(text.as_bytes()));
        filled.map_err(ReleaseError::io(&self.path))
    }

    /// Gives it its name.
    ///
    /// # Errors
    /// [`ReleaseError::Io`].
    pub fn finish(self) -> Result<(), ReleaseError> {
        self.file.finish().map_err(ReleaseError::io(&self.path))
    }
}
