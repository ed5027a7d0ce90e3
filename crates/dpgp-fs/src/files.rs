//! Atomic file writes: a file appears whole or not at all.

use std::fs::File;
use std::io::{Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};

use crate::temporary_file;

/// The folder that a path names a file in.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The same, if it exists. Otherwise the error of a temporary file in it would show a name that the user did not
/// choose.
///
/// # Errors
/// [`ErrorKind::NotFound`] with the folder that is missing.
pub fn existing_folder_of(path: &Path) -> Result<&Path> {
    let folder = folder_of(path);
    if folder.is_dir() {
        return Ok(folder);
    }
    Err(Error::new(ErrorKind::NotFound, format!("the folder {} does not exist", folder.display())))
}

/// A name with something after it.
pub fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Who may read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadAccess {
    /// Everybody.
    All,
    /// Its owner alone: it holds exact numbers of private rows.
    Holder,
}

impl ReadAccess {
    /// The mode of a new file on Unix, from which the umask takes.
    pub(super) fn mode(self) -> u32 {
        match self {
            Self::All => 0o666,
            Self::Holder => 0o600,
        }
    }
}

/// Writes to a temporary file in the same folder and renames it.
///
/// # Errors
/// The I/O error; the file that was there is untouched.
pub fn write_atomically(path: &Path, contents: &str) -> Result<()> {
    write_atomically_for(ReadAccess::All, path, contents)
}

/// The same for some readers.
///
/// # Errors
/// The I/O error; the file that was there is untouched.
pub fn write_atomically_for(readers: ReadAccess, path: &Path, contents: &str) -> Result<()> {
    write_and_rename(readers, path, |mut file| file.write_all(contents.as_bytes()))
}

/// The same for a file that is written in pieces.
///
/// # Errors
/// The I/O error; the file that was there is untouched.
pub fn write_file_atomically(path: &Path, write: impl FnOnce(&File) -> Result<()>) -> Result<()> {
    write_and_rename(ReadAccess::All, path, write)
}

fn write_and_rename(readers: ReadAccess, path: &Path, write: impl FnOnce(&File) -> Result<()>) -> Result<()> {
    let file = temporary_file(existing_folder_of(path)?, ReadAccess::Holder.mode())?;
    write(file.as_file())?;
    if readers == ReadAccess::All {
        make_readable_by_all(file.as_file())?;
    }
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Temporary files are private to their owner; results are not.
#[cfg(unix)]
fn make_readable_by_all(file: &File) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn make_readable_by_all(_: &File) -> Result<()> {
    Ok(())
}
