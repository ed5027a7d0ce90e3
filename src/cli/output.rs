//! Printing to standard output, where the reader may go away at any time.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::CliError;
use crate::publish::write_atomically;

/// Prints a text as it is.
///
/// # Errors
/// The I/O error of standard output; see [`CliError::is_broken_pipe`].
pub fn print(text: &str) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|cause| CliError::Io { path: PathBuf::from("standard output"), cause })
}

/// Writes a file that the user named: a regular one appears whole or not at all, behind a link if there is one;
/// anything else, such as a pipe, is written to.
///
/// # Errors
/// [`CliError::Io`].
pub fn write_file(path: &Path, text: &str) -> Result<(), CliError> {
    let written = match std::fs::canonicalize(path) {
        Ok(target) if target.is_file() => write_atomically(&target, text),
        Ok(target) => std::fs::OpenOptions::new()
            .write(true)
            .open(target)
            .and_then(|mut file| file.write_all(text.as_bytes())),
        Err(_) => write_atomically(path, text),
    };
    written.map_err(|cause| CliError::Io { path: path.to_path_buf(), cause })
}

/// Whether [`write_file`] could make a file at a path; makes none.
///
/// # Errors
/// [`CliError::Io`].
pub fn ensure_writable(path: &Path) -> Result<(), CliError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match tempfile::NamedTempFile::new_in(folder) {
        Ok(_) => Ok(()),
        Err(cause) => Err(CliError::Io { path: path.to_path_buf(), cause }),
    }
}

/// Prints a value as JSON.
///
/// # Errors
/// As [`print`].
pub fn print_json(value: &serde_json::Value) -> Result<(), CliError> {
    print(&format!("{value:#}\n"))
}
