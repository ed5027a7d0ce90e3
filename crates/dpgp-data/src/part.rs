//! The file that a download grows in, until it is whole.

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use super::digest::{Stamp, stamp};
use super::error::{Action, DataError, Doing};
use super::expected::Expected;
use super::lock::{create_folder, guard};
use dpgp_fs::unlinked;

/// A partial download beside its final place.
///
/// Its name holds the first digits of the wanted digest, so that a later run may go on with it. One process at a time
/// owns it; the others wait. Where the file system knows no locks, each process has a part of its own.
pub(super) struct Part {
    path: PathBuf,
    file: File,
    bytes: u64,
    resumable: bool,
    /// Held while the part is in use.
    guard: Option<(File, PathBuf)>,
    /// Deletes a part that has a name of its own.
    own: Option<TempPath>,
}

impl Part {
    /// The part for `target`; what an earlier run left of it is kept if the digest is known.
    pub(super) fn open(target: &Path, expected: &Expected) -> Result<Self, DataError> {
        let folder = target.parent().unwrap_or(Path::new("."));
        create_folder(folder)?;
        let (tag, resumable) = match expected {
            Expected::Known(stamp) => (stamp.digest.short(), true),
            Expected::Unknown { .. } => ("unknown".to_owned(), false),
        };
        let lock = beside(target, &format!("{tag}.lock"));
        match guard(&lock)? {
            Some(guard) => Self::shared(beside(target, &format!("{tag}.part")), resumable, (guard, lock)),
            None => Self::own(folder),
        }
    }

    fn shared(path: PathBuf, resumable: bool, guard: (File, PathBuf)) -> Result<Self, DataError> {
        let file = opened(&path).doing(Action::Write, &path)?;
        let bytes = file.metadata().doing(Action::Write, &path)?.len();
        let mut part = Self { path, file, bytes, resumable, guard: Some(guard), own: None };
        if !resumable {
            part.clear()?;
        }
        Ok(part)
    }

    fn own(folder: &Path) -> Result<Self, DataError> {
        let named = tempfile::Builder::new().suffix(".part").tempfile_in(folder);
        let named = named.doing(Action::Write, folder)?;
        let (file, own) = named.into_parts();
        let (path, own) = (own.to_path_buf(), Some(own));
        Ok(Self { path, file, bytes: 0, resumable: true, guard: None, own })
    }

    /// How many bytes a download may go on from.
    pub(super) fn resume_from(&self) -> u64 {
        if self.resumable { self.bytes } else { 0 }
    }

    /// How many bytes are there.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Starts again from nothing.
    pub(super) fn clear(&mut self) -> Result<(), DataError> {
        self.file.set_len(0).doing(Action::Write, &self.path)?;
        self.file.rewind().doing(Action::Write, &self.path)?;
        self.bytes = 0;
        Ok(())
    }

    /// Adds bytes at the end.
    pub(super) fn append(&mut self, block: &[u8]) -> Result<(), DataError> {
        self.file.write_all(block).doing(Action::Write, &self.path)?;
        self.bytes += block.len() as u64;
        Ok(())
    }

    /// The digest and size of what is there.
    pub(super) fn stamp(&self) -> Result<Stamp, DataError> {
        stamp(&self.path)
    }

    /// Gives the part its final name.
    pub(super) fn finish(mut self, target: &Path) -> Result<(), DataError> {
        self.file.sync_all().doing(Action::Write, &self.path)?;
        let renamed = match self.own.take() {
            Some(own) => own.persist(target).map_err(|error| error.error),
            None => fs::rename(&self.path, target),
        };
        renamed.doing(Action::Rename, target)?;
        self.release();
        Ok(())
    }

    /// Deletes the part, because the target is there already.
    pub(super) fn discard(self) -> Result<(), DataError> {
        self.delete()?;
        self.release();
        Ok(())
    }

    /// Closes the part at the end of a failed download: what a later run can use stays. So does the empty lock file,
    /// since others may be waiting for it.
    pub(super) fn close(self) -> Result<(), DataError> {
        if self.resume_from() == 0 { self.delete() } else { Ok(()) }
    }

    fn delete(&self) -> Result<(), DataError> {
        if self.own.is_some() {
            return Ok(());
        }
        fs::remove_file(&self.path).doing(Action::Delete, &self.path)
    }

    /// Deletes the lock file, now that the target is there: a process that waits for it finds the target and needs no part.
    /// A failure to delete does no harm.
    fn release(self) {
        if let Some((_held, path)) = &self.guard {
            let _ = fs::remove_file(path);
        }
    }
}

/// Opens a part to add to it. Its name can be guessed, so that a link there may be somebody's trap: what it leads to is not written
/// to, whether it was there before or came meanwhile.
fn opened(path: &Path) -> io::Result<File> {
    let trap = io::Error::other("it is a link, which a download does not write to");
    if path.is_symlink() {
        return Err(trap);
    }
    let file = unlinked().create(true).append(true).open(path)?;
    if path.is_symlink() || has_other_names(&file)? { Err(trap) } else { Ok(file) }
}

#[cfg(unix)]
fn has_other_names(file: &File) -> io::Result<bool> {
    Ok(std::os::unix::fs::MetadataExt::nlink(&file.metadata()?) > 1)
}

#[cfg(not(unix))]
fn has_other_names(_: &File) -> io::Result<bool> {
    Ok(false)
}

fn beside(target: &Path, ending: &str) -> PathBuf {
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(ending);
    target.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Neither a file that a link leads to nor one that has another name gets a byte, or loses one.
    #[cfg(unix)]
    #[test]
    fn a_part_that_is_a_link_is_a_trap() {
        let folder = tempfile::tempdir().unwrap();
        let (target, other) = (folder.path().join("rows.csv"), folder.path().join("other"));
        let expected = Expected::Unknown { max_bytes: 9 };
        let part = beside(&target, "unknown.part");
        for link in [std::os::unix::fs::symlink::<&Path, &Path>, fs::hard_link::<&Path, &Path>] {
            fs::write(&other, "mine").unwrap();
            link(&other, &part).unwrap();
            let Err(error) = Part::open(&target, &expected) else { panic!("the trap is sprung") };
            assert!(error.to_string().contains("it is a link"), "{error}");
            assert_eq!(fs::read_to_string(&other).unwrap(), "mine");
            fs::remove_file(&part).unwrap();
        }
        std::os::unix::fs::symlink("nowhere", &part).unwrap();
        assert!(Part::open(&target, &expected).is_err() && !folder.path().join("nowhere").exists());
    }
}
