//! Temporary files, and the cleanup of those that killed processes left.

use std::fs::{self, DirEntry, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use tempfile::{Builder, NamedTempFile};

use super::way::no_follow_options;

const BEGINNING: &str = ".dpgp-";
const ENDING: &str = ".tmp";

/// The part of the name that identifies this boot of this machine. Empty if the system does not tell. All processes of one machine
/// see each other's locks, which is not certain in a folder of several machines.
static MACHINE: LazyLock<String> = LazyLock::new(|| {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = boot.chars().take_while(char::is_ascii_hexdigit).collect();
    if digits.is_empty() { digits } else { format!("{digits}-") }
});

/// How long a file of another machine, or of an earlier version, is left alone: its process may have made it and not locked it yet.
const YOUNG: Duration = Duration::from_secs(60);

/// The temporary files that this process has made, also those that have another name by now.
static MADE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A file in a folder that is deleted unless it gets another name, with this mode on Unix, less the umask. Files that killed processes of
/// the same user left in the folder are deleted, too. The files of live processes are locked.
///
/// # Errors
/// The I/O error.
pub fn temporary_file(folder: &Path, mode: u32) -> std::io::Result<NamedTempFile> {
    let beginning = format!("{BEGINNING}{}", *MACHINE);
    let mut builder = Builder::new();
    builder.prefix(&beginning).suffix(ENDING);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    // A signal that comes before the name of the file is known waits until it is.
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut file = builder.tempfile_in(folder)?;
    // Another process may take it for one that was left before it is locked.
    while !try_lock_new_file(&file) {
        file = builder.tempfile_in(folder)?;
    }
    made.push(file.path().to_owned());
    drop(made);
    delete_leftover_files(folder, &file);
    Ok(file)
}

/// Deletes the temporary files of this process that are still there, before a signal ends it.
pub fn delete_temporary_files() {
    // No other process has a file of these names: they are drawn at random, and none is written over.
    for path in MADE.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        let _ = fs::remove_file(path);
    }
}

/// Locks a new file. Returns whether it still has its name; then nobody deletes it from here on. On a file system without locks nobody
/// gets one, and leftover files stay.
fn try_lock_new_file(file: &NamedTempFile) -> bool {
    match file.as_file().try_lock() {
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(_)) => true,
        Ok(()) => file.path().symlink_metadata().is_ok(),
    }
}

/// Deletes what is left in the folder of a new file. What cannot be deleted does no harm.
fn delete_leftover_files(folder: &Path, new: &NamedTempFile) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.path() != new.path() && is_possible_leftover(&entry, new.as_file()) {
            let Ok(file) = no_follow_options().append(true).open(entry.path()) else { continue };
            // The lock is held until the name is gone.
            if file.try_lock().is_ok() {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Whether a file has such a name and owner as a new one; links are not followed.
fn is_possible_leftover(entry: &DirEntry, new: &File) -> bool {
    let name = entry.file_name();
    let name = name.to_string_lossy();
    let Some(rest) = name.strip_prefix(BEGINNING).filter(|rest| rest.ends_with(ENDING)) else { return false };
    let (Ok(found), Ok(new)) = (entry.metadata(), new.metadata()) else { return false };
    let age = found.modified().ok().and_then(|time| time.elapsed().ok());
    let is_near = !MACHINE.is_empty() && rest.starts_with(&*MACHINE);
    found.is_file() && is_same_owner(&found, &new) && (is_near || age.is_some_and(|age| age > YOUNG))
}

#[cfg(unix)]
fn is_same_owner(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    one.uid() == other.uid()
}

#[cfg(not(unix))]
fn is_same_owner(_: &fs::Metadata, _: &fs::Metadata) -> bool {
    true
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
        for (name, stays) in [(".dpgp-a.tmp", false), (".dpgp-a", true), ("a.tmp", true), (".tmpab12", true)] {
            let path = folder.path().join(name);
            File::create(&path).unwrap().set_modified(old).unwrap();
            let young = folder.path().join(".dpgp-b.tmp");
            File::create(&young).unwrap();
            temporary_file(folder.path(), 0o600).unwrap();
            assert_eq!(path.exists(), stays, "{name}");
            assert!(living.path().exists() && young.exists());
        }
    }

    /// A file that a process of this machine left a moment ago is gone after the next; a link of its name, and what it leads to, stays.
    #[cfg(target_os = "linux")]
    #[test]
    fn files_of_this_machine_are_deleted_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let living = temporary_file(folder.path(), 0o600).unwrap();
        let name = |word: &str| folder.path().join(format!(".dpgp-{}{word}.tmp", *MACHINE));
        File::create(name("left")).unwrap();
        File::create(folder.path().join("mine")).unwrap();
        std::os::unix::fs::symlink("mine", name("link")).unwrap();
        temporary_file(folder.path(), 0o600).unwrap();
        assert!(!name("left").exists() && name("link").is_symlink());
        assert!(folder.path().join("mine").exists() && living.path().exists());
    }

    /// Many threads that make files and collect them at once: each file is there until it is dropped.
    #[test]
    fn no_file_of_a_living_process_is_deleted() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let file = temporary_file(folder.path(), 0o600).unwrap();
                        assert!(file.path().exists());
                    }
                });
            }
        });
    }
}
