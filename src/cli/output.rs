//! Printing to standard output, where the reader may go away at any time.

use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;

use super::CliError;
use dpgp_data::{is_hidden, shown_text};
use dpgp_fs::{NewFile, Readers};

/// Prints a text for people.
pub fn print(text: &str) -> Result<(), CliError> {
    print_bytes(&shown_text(text))
}

/// Prints a text for another program as it is; on a terminal, for people.
pub fn print_data(text: &str) -> Result<(), CliError> {
    if std::io::stdout().is_terminal() { print(text) } else { print_bytes(text) }
}

/// Says something on standard error. Where nobody listens any more, that is no error.
pub fn complain(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", shown_text(text));
}

fn print_bytes(text: &str) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    let printed = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    printed.map_err(CliError::io(Path::new("standard output")))
}

/// Writes a file that the user named, or into a pipe; never over a file that is there.
pub fn write_new(path: &Path, text: &str) -> Result<(), CliError> {
    let mut file = open_new(path)?;
    let written = file.fill(text.as_bytes()).and_then(|()| file.finish());
    written.map_err(|cause| refused(path, cause))
}

/// A file that the user named, or a pipe, before anything is written; never over a file that is there.
pub fn open_new(path: &Path) -> Result<NewFile, CliError> {
    NewFile::open(path, Readers::All).map_err(|cause| refused(path, cause))
}

/// Why a file that must not be there yet was not written.
pub fn refused(path: &Path, cause: std::io::Error) -> CliError {
    match cause.kind() {
        ErrorKind::AlreadyExists => CliError::Exists(path.to_path_buf()),
        _ => CliError::Io { path: path.to_path_buf(), cause },
    }
}

/// Prints a value as JSON.
pub fn print_json(value: &serde_json::Value) -> Result<(), CliError> {
    let mut text = String::new();
    for c in format!("{value:#}\n").chars() {
        // The lower controls are escaped by JSON itself, and what is left of them is its own layout.
        if !c.is_ascii_control() && is_hidden(c) || c == '\u{7f}' {
            text.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            text.push(c);
        }
    }
    print_bytes(&text)
}

/// What a verb says of one thing as one JSON value, and of several as one list of them.
pub struct JsonValues {
    several: bool,
    values: Vec<serde_json::Value>,
}

impl JsonValues {
    /// Of so many things.
    pub fn of(things: usize) -> Self {
        Self { several: things != 1, values: Vec::new() }
    }

    /// Prints the value of the only thing, or keeps one of several.
    pub fn push(&mut self, value: serde_json::Value) -> Result<(), CliError> {
        if !self.several {
            return print_json(&value);
        }
        self.values.push(value);
        Ok(())
    }

    /// Prints the list, where one was kept.
    pub fn finish(self) -> Result<(), CliError> {
        if self.values.is_empty() { Ok(()) } else { print_json(&self.values.into()) }
    }
}
