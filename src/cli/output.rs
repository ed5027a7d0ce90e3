//! Printing to standard output, where the reader may go away at any time.

use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;

use super::CliError;
use crate::data::{is_hidden, shown_text};
use crate::run::{NewFile, Readers};

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
    match written(path, text) {
        Err(cause) if cause.kind() == ErrorKind::AlreadyExists => Err(CliError::Exists(path.to_path_buf())),
        written => written.map_err(CliError::io(path)),
    }
}

fn written(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = NewFile::open(path, Readers::All)?;
    file.fill(text.as_bytes())?;
    file.finish()
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
