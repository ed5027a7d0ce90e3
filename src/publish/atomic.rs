//! Files appear whole or not at all.

use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Writes to a temporary file in the same folder and renames it.
///
/// # Errors
/// The I/O error; the file that was there is untouched.
pub fn write_atomically(path: &Path, contents: &str) -> std::io::Result<()> {
    write_file_atomically(path, |mut file| file.write_all(contents.as_bytes()))
}

/// The same for a file that is written in pieces.
///
/// # Errors
/// The I/O error; the file that was there is untouched.
pub fn write_file_atomically(
    path: &Path,
    write: impl FnOnce(&File) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = tempfile::NamedTempFile::new_in(folder)?;
    write(file.as_file())?;
    readable_by_all(file.as_file())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
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
