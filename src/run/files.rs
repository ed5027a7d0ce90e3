//! Files appear whole or not at all.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use tempfile::NamedTempFile;

/// The folder that a path names a file in.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Who may read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Everybody.
    All,
    /// Its owner alone: it holds exact numbers of private rows.
    Holder,
}

/// Writes to a temporary file in the same folder and renames it.
///
/// # Errors
/// The I/O error; the file that was there is untouched.
pub fn write_atomically(path: &Path, contents: &str) -> std::io::Result<()> {
    write_atomically_for(Readers::All, path, contents)
}

/// The same for some readers.
///
/// # Errors
/// The I/O error; the file that was there is untouched.
pub fn write_atomically_for(readers: Readers, path: &Path, contents: &str) -> std::io::Result<()> {
    write_pieces(readers, path, |mut file| file.write_all(contents.as_bytes()))
}

/// The same for a file that is written in pieces.
///
/// # Errors
/// The I/O error; the file that was there is untouched.
pub fn write_file_atomically(
    path: &Path,
    write: impl FnOnce(&File) -> std::io::Result<()>,
) -> std::io::Result<()> {
    write_pieces(Readers::All, path, write)
}

fn write_pieces(
    readers: Readers,
    path: &Path,
    write: impl FnOnce(&File) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let file = NamedTempFile::new_in(folder_of(path))?;
    write(file.as_file())?;
    if readers == Readers::All {
        readable_by_all(file.as_file())?;
    }
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Writes a file that the user named: a regular one appears whole or not at all, behind a link if there is one;
/// anything else, such as a pipe, is written to.
///
/// # Errors
/// The I/O error.
pub fn write_named(path: &Path, text: &str) -> std::io::Result<()> {
    write_named_for(Readers::All, path, text)
}

/// The same for some readers.
///
/// # Errors
/// The I/O error.
pub fn write_named_for(readers: Readers, path: &Path, text: &str) -> std::io::Result<()> {
    match std::fs::canonicalize(path) {
        Ok(target) if target.is_file() => write_atomically_for(readers, &target, text),
        Ok(target) => OpenOptions::new().write(true).open(target)?.write_all(text.as_bytes()),
        Err(_) => write_atomically_for(readers, path, text),
    }
}

/// Temporary files are private to their owner; results are not.
#[cfg(unix)]
fn readable_by_all(file: &File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable_by_all(_: &File) -> std::io::Result<()> {
    Ok(())
}
