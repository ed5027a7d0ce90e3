//! Printing to standard output, where the reader may go away at any time.

use std::io::Write;
use std::path::PathBuf;

use super::CliError;

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

/// Prints a value as JSON.
///
/// # Errors
/// As [`print`].
pub fn print_json(value: &serde_json::Value) -> Result<(), CliError> {
    print(&format!("{value:#}\n"))
}
