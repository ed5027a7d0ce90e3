//! Files that appear whole or not at all: atomic writes, new files that must not exist yet, and the temporary files behind
//! both, with the cleanup of those that killed processes left.

use std::fs::{self, DirEntry, File, OpenOptions, TryLockError};
use std::io::{Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use tempfile::{Builder, NamedTempFile};

use super::disk;
use super::way::no_follow_options;

/// The folder of a file; `.` for a bare name.
pub fn parent_or_current_folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The same, if it exists. Otherwise the error of a temporary file in it would show a name that the user did not
/// choose.
///
/// # Errors
/// [`ErrorKind::NotFound`] with the folder that is missing.
pub fn existing_parent_folder(path: &Path) -> Result<&Path> {
    let folder = parent_or_current_folder(path);
    if folder.is_dir() {
        return Ok(folder);
    }
    Err(Error::new(ErrorKind::NotFound, format!("the folder {} does not exist", folder.display())))
}

/// Appends `ending` to a path, after any extension that it has.
pub fn append_suffix(path: &Path, ending: &str) -> PathBuf {
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
    fn mode(self) -> u32 {
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
    write_atomically_with_access(ReadAccess::All, path, contents)
}

/// The same for some readers.
///
/// # Errors
/// The I/O error; the file that was there is untouched.
pub fn write_atomically_with_access(readers: ReadAccess, path: &Path, contents: &str) -> Result<()> {
    write_and_rename(readers, path, |mut file| file.write_all(contents.as_bytes()))
}

/// The same for a file that is written in pieces.
///
/// # Errors
/// The I/O error; the file that was there is untouched.
pub fn write_atomically_with(path: &Path, write: impl FnOnce(&File) -> Result<()>) -> Result<()> {
    write_and_rename(ReadAccess::All, path, write)
}

fn write_and_rename(readers: ReadAccess, path: &Path, write: impl FnOnce(&File) -> Result<()>) -> Result<()> {
    let file = temporary_file(existing_parent_folder(path)?, ReadAccess::Holder.mode())?;
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

/// What stands for standard output, also where that is a regular file.
const STANDARD_OUTPUT: &str = "/dev/stdout";

/// A new file that gets its name only when it is complete, and never replaces an existing file. A pipe or a device may exist,
/// and is written to at the end.
///
/// ```
/// use dpgp_fs::{AtomicNewFile, ReadAccess};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("new.txt");
/// let mut file = AtomicNewFile::open(&path, ReadAccess::Holder)?;
/// file.append_bytes(b"all of it")?;
/// assert!(!path.exists());
/// file.finish()?;
/// assert_eq!(std::fs::read_to_string(&path)?, "all of it");
/// assert!(AtomicNewFile::open(&path, ReadAccess::Holder).is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct AtomicNewFile {
    path: PathBuf,
    contents: PendingContents,
}

/// What is in it so far.
#[derive(Debug)]
enum PendingContents {
    File(NamedTempFile),
    /// A pipe or a device takes nothing back.
    Stream(Vec<u8>),
}

impl AtomicNewFile {
    /// Checks that it can be written and does not exist yet.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`], also for a link that leads nowhere; [`ErrorKind::NotFound`] with the folder that is missing;
    /// or another I/O error.
    pub fn open(path: &Path, readers: ReadAccess) -> Result<Self> {
        let path = path.to_path_buf();
        if is_stream(&path) {
            return Ok(Self { path, contents: PendingContents::Stream(Vec::new()) });
        }
        if path.symlink_metadata().is_ok() {
            return Err(ErrorKind::AlreadyExists.into());
        }
        let file = disk::create_temporary_file(existing_parent_folder(&path)?, readers.mode())?;
        Ok(Self { path, contents: PendingContents::File(file) })
    }

    /// Whether it is a pipe or a device.
    pub fn is_stream(&self) -> bool {
        matches!(self.contents, PendingContents::Stream(_))
    }

    /// Appends to its contents. For a file, they are on the disk when this returns.
    ///
    /// # Errors
    /// The I/O error.
    pub fn append_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.contents {
            PendingContents::File(file) => {
                disk::write(file, bytes)?;
                disk::sync(file)
            }
            PendingContents::Stream(held) => {
                held.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// Gives it its name.
    ///
    /// # Errors
    /// The I/O error; then there is no file of this name, or the one that somebody else made.
    pub fn finish(self) -> Result<()> {
        match self.contents {
            PendingContents::File(file) => disk::persist_new(file, &self.path),
            PendingContents::Stream(bytes) => write_stream(&self.path, &bytes),
        }
    }
}

/// A folder is none, and is refused as a file is.
fn is_stream(path: &Path) -> bool {
    let there = std::fs::metadata(path);
    path == Path::new(STANDARD_OUTPUT) || there.is_ok_and(|there| !there.is_file() && !there.is_dir())
}

fn write_stream(path: &Path, bytes: &[u8]) -> Result<()> {
    if path == Path::new(STANDARD_OUTPUT) {
        let mut out = std::io::stdout().lock();
        return out.write_all(bytes).and_then(|()| out.flush());
    }
    OpenOptions::new().write(true).open(path)?.write_all(bytes)
}

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
