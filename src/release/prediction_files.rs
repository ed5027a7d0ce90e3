//! The file of predictions and the certificate beside it.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::NamedTempFile;

use super::{Charged, PrivatePredictions, ReleaseError};
use crate::run::folder_of;

/// Files that get their names only when everything is in them. They are opened before a release is charged, so that nothing is
/// spent on files that cannot be written.
pub struct PredictionFiles {
    predictions: Unnamed,
    certificate: Unnamed,
}

/// A file without its name.
struct Unnamed {
    path: PathBuf,
    file: NamedTempFile,
}

impl PredictionFiles {
    /// Makes sure that both files can be written, and are not there yet.
    ///
    /// # Errors
    /// [`ReleaseError::Exists`] or [`ReleaseError::Io`].
    pub fn open(path: &Path) -> Result<Self, ReleaseError> {
        let mut beside = path.as_os_str().to_owned();
        beside.push(".certificate.json");
        let predictions = Unnamed::open(path.to_path_buf())?;
        Ok(Self { predictions, certificate: Unnamed::open(PathBuf::from(beside))? })
    }

    /// Writes the certificate, then the predictions; returns the certificate.
    ///
    /// # Errors
    /// [`ReleaseError::Io`].
    pub fn write(self, charged: &Charged<PrivatePredictions<'_>>) -> Result<Value, ReleaseError> {
        let csv = charged.csv()?;
        let certificate = charged.certificate_json(&csv);
        self.certificate.put(&format!("{certificate:#}\n"))?;
        self.predictions.put(&csv)?;
        Ok(certificate)
    }
}

impl Unnamed {
    fn open(path: PathBuf) -> Result<Self, ReleaseError> {
        if path.symlink_metadata().is_ok() {
            return Err(ReleaseError::Exists(path));
        }
        let mut builder = tempfile::Builder::new();
        // The permissions that a new file gets; temporary files are private to their owner otherwise.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        match builder.tempfile_in(folder_of(&path)) {
            Ok(file) => Ok(Self { path, file }),
            Err(cause) => Err(ReleaseError::Io { path, cause }),
        }
    }

    fn put(mut self, text: &str) -> Result<(), ReleaseError> {
        let io = ReleaseError::io(&self.path);
        self.file.write_all(text.as_bytes()).map_err(&io)?;
        self.file.as_file().sync_all().map_err(&io)?;
        self.file.persist_noclobber(&self.path).map_err(|error| io(error.error))?;
        Ok(())
    }
}
