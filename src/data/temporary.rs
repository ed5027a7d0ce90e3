//! Temporary files, and what processes that were killed left of them.

use std::fs::{self, DirEntry, File};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tempfile::{Builder, NamedTempFile};

const BEGINNING: &str = ".dpgp-";
const ENDING: &str = ".tmp";

/// How long a file is left alone: its process may have made it and not locked it yet.
const YOUNG: Duration = Duration::from_secs(60);

/// The temporary files that this process has made, also those that have another name by now.
static MADE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A file in a folder that is deleted unless it gets another name, with this mode on Unix, less the umask. What processes that were
/// killed left in the folder is deleted: a file of a process that lives is locked.
///
/// # Errors
/// The I/O error.
pub fn temporary_file(folder: &Path, mode: u32) -> std::io::Result<NamedTempFile> {
    delete_left(folder);
    let mut builder = Builder::new();
    builder.prefix(BEGINNING).suffix(ENDING);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    let file = builder.tempfile_in(folder)?;
    // Where the file system knows no locks nobody gets one, and what is left stays.
    let _ = file.as_file().try_lock();
    MADE.lock().unwrap_or_else(PoisonError::into_inner).push(file.path().to_owned());
    Ok(file)
}

/// Deletes the temporary files of this process that are still there, before a signal ends it.
pub fn delete_temporary_files() {
    // No other process has a file of these names: they are drawn at random, and none is written over.
    for path in MADE.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        let _ = fs::remove_file(path);
    }
}

/// A file that cannot be deleted does no harm.
fn delete_left(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(is_left) {
        let _ = fs::remove_file(entry.path());
    }
}

fn is_left(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let name = name.to_string_lossy();
    let ours = name.starts_with(BEGINNING) && name.ends_with(ENDING);
    ours && is_old_file(entry) && !is_locked(&entry.path())
}

/// Links are not followed.
fn is_old_file(entry: &DirEntry) -> bool {
    let Ok(found) = entry.metadata() else { return false };
    let age = found.modified().ok().and_then(|time| time.elapsed().ok());
    found.is_file() && age.is_some_and(|age| age > YOUNG)
}

/// Also where that cannot be told.
fn is_locked(path: &Path) -> bool {
    let file = File::options().append(true).open(path);
    !file.is_ok_and(|file| file.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn files_of_dead_processes_are_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let old = SystemTime::now() - 2 * YOUNG;
        let living = temporary_file(folder.path(), 0o600).unwrap();
        living.as_file().set_modified(old).unwrap();
        for (name, stays) in [(".dpgp-a.tmp", false), (".dpgp-a", true), ("a.tmp", true), (".tmpab12", true)]
        {
            let path = folder.path().join(name);
            File::create(&path).unwrap().set_modified(old).unwrap();
            let young = folder.path().join(".dpgp-b.tmp");
            File::create(&young).unwrap();
            temporary_file(folder.path(), 0o600).unwrap();
            assert_eq!(path.exists(), stays, "{name}");
            assert!(living.path().exists() && young.exists());
        }
    }
}
