//! System calls that charge and write releases. In the program they are those of `std`. In tests, a plan
//! kills the process before any call or during a write, or lets two processes take turns, so that all
//! failures are tested.

#[cfg(any(test, feature = "faults"))]
pub mod faults;

use std::fs::{DirBuilder, File};
use std::io::{ErrorKind, Result, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::{parent_or_current_folder, temporary_file};

/// As [`temporary_file`].
///
/// # Errors
/// The I/O error, as of all that follow.
pub fn create_temporary_file(folder: &Path, mode: u32) -> Result<NamedTempFile> {
    DiskStep::Create.check_fault_plan()?;
    temporary_file(folder, mode)
}

/// Writes to a file that has no name yet.
pub fn write(file: &mut NamedTempFile, bytes: &[u8]) -> Result<()> {
    DiskStep::Write(file.path()).check_fault_plan()?;
    file.write_all(bytes)
}

/// Waits until what was written to a file is on the disk.
pub fn sync(file: &NamedTempFile) -> Result<()> {
    DiskStep::Sync(file.path()).check_fault_plan()?;
    sync_to_disk(file.as_file())
}

/// Renames a temporary file to `path`, and replaces a file there.
pub fn persist_replacing(file: NamedTempFile, path: &Path) -> Result<()> {
    DiskStep::Name { from: file.path(), to: path }.check_fault_plan()?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Renames a temporary file to `path`, and fails if that exists.
pub fn persist_new(file: NamedTempFile, path: &Path) -> Result<()> {
    DiskStep::Name { from: file.path(), to: path }.check_fault_plan()?;
    file.persist_noclobber(path).map(drop).map_err(|error| error.error)
}

/// Waits until the names in a folder are on the disk.
pub fn sync_folder(folder: &Path) -> Result<()> {
    DiskStep::SyncFolder(folder).check_fault_plan()?;
    sync_to_disk(&File::open(folder)?)
}

fn sync_to_disk(file: &File) -> Result<()> {
    // A disk of a test loses what its plan says, and is not waited for thousands of times.
    #[cfg(any(test, feature = "faults"))]
    if faults::is_thread_simulated() {
        return Ok(());
    }
    file.sync_all()
}

/// Makes a folder that its owner alone may enter, and those that it is in; all are on the disk when this returns. One that is there is
/// left as it is.
pub fn make_private_folder(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let parent = parent_or_current_folder(folder);
    make_private_folder(parent)?;
    DiskStep::MakeFolder(folder).check_fault_plan()?;
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        // Another process was faster.
        Err(cause) if cause.kind() != ErrorKind::AlreadyExists => return Err(cause),
        _ => {}
    }
    sync_folder(parent)
}

/// A call that changes a file or a folder, or waits for a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskStep<'p> {
    /// A file without a name is made.
    Create,
    /// Something is written to it.
    Write(&'p Path),
    /// What was written is on the disk.
    Sync(&'p Path),
    /// A file gets a name.
    Name {
        /// Its temporary name.
        from: &'p Path,
        /// The new one.
        to: &'p Path,
    },
    /// A folder is made.
    MakeFolder(&'p Path),
    /// The names in a folder are on the disk.
    SyncFolder(&'p Path),
    /// A lock is tried, once more if `again`.
    Lock {
        /// Whether another process had it when it was tried before.
        again: bool,
    },
}

impl DiskStep<'_> {
    /// Goes on to the call; in tests the process may die before it.
    ///
    /// # Errors
    /// None in the program.
    #[cfg(not(any(test, feature = "faults")))]
    pub fn check_fault_plan(self) -> Result<()> {
        Ok(())
    }

    /// The same by the plan of a test.
    ///
    /// # Errors
    /// The process is dead.
    #[cfg(any(test, feature = "faults"))]
    pub fn check_fault_plan(self) -> Result<()> {
        faults::take_simulated_step(self)
    }
}
