//! The file of predictions and the certificate beside it.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cli::CliError;

/// Files that get their names only when everything is in them.
pub(super) struct Output {
    file: (PathBuf, tempfile::NamedTempFile),
    certificate: (PathBuf, tempfile::NamedTempFile),
}

impl Output {
    /// Makes sure that both files can be written, and are not there yet.
    pub fn open(path: &Path) -> Result<Self, CliError> {
        let mut beside = path.as_os_str().to_owned();
        beside.push(".certificate.json");
        let open = |path: PathBuf| {
            if path.symlink_metadata().is_ok() {
                return Err(CliError::Exists { path });
            }
            let folder =
                path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            match temporary(folder) {
                Ok(file) => Ok((path, file)),
                Err(cause) => Err(CliError::Io { path, cause }),
            }
        };
        Ok(Self { file: open(path.to_path_buf())?, certificate: open(PathBuf::from(beside))? })
    }

    /// Writes the certificate, then the predictions.
    pub fn write(self, csv: &str, certificate: &Value) -> Result<(), CliError> {
        put(self.certificate, &format!("{certificate:#}\n"))?;
        put(self.file, csv)
    }
}

/// A file with the permissions that a new one gets; temporary files are private to their owner otherwise.
fn temporary(folder: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

fn put((path, mut file): (PathBuf, tempfile::NamedTempFile), text: &str) -> Result<(), CliError> {
    let written = file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all());
    let named = written.and_then(|()| file.persist_noclobber(&path).map_err(|error| error.error));
    named.map(|_| ()).map_err(|cause| CliError::Io { path, cause })
}
