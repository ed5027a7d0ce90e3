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

/// Prints a value as JSON.
///
/// # Errors
/// As [`print`].
pub fn print_json(value: &serde_json::Value) -> Result<(), CliError> {
    print(&format!("{value:#}\n"))
}
