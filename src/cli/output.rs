//! Printing to standard output, where the reader may go away at any time.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;

use super::CliError;
use crate::run::write_named;

/// Prints a text as it is.
pub fn print(text: &str) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    let printed = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    printed.map_err(CliError::io(Path::new("standard output")))
}

/// Writes a file that the user named.
pub fn write_file(path: &Path, text: &str) -> Result<(), CliError> {
    write_named(path, text).map_err(CliError::io(path))
}

/// Writes a file; never over one that is there.
pub fn write_new(path: &Path, text: &str) -> Result<(), CliError> {
    match File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes())) {
        Err(cause) if cause.kind() == ErrorKind::AlreadyExists => Err(CliError::Exists(path.to_path_buf())),
        written => written.map_err(CliError::io(path)),
    }
}

/// Prints a value as JSON.
pub fn print_json(value: &serde_json::Value) -> Result<(), CliError> {
    print(&format!("{value:#}\n"))
}
