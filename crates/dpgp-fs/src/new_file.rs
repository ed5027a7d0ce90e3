//! New files at paths that the user names, which must not exist yet.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Result, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::disk;
use super::files::{ReadAccess, existing_folder_of};

/// What stands for standard output, also where that is a regular file.
const STANDARD_OUTPUT: &str = "/dev/stdout";

/// A new file that gets its name only when it is complete, and never replaces an existing file. A pipe or a device may exist,
/// and is written to at the end.
///
/// ```
/// use dpgp_fs::{NewFile, ReadAccess};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("new.txt");
/// let mut file = NewFile::open(&path, ReadAccess::Holder)?;
/// file.append_bytes(b"all of it")?;
/// assert!(!path.exists());
/// file.finish()?;
/// assert_eq!(std::fs::read_to_string(&path)?, "all of it");
/// assert!(NewFile::open(&path, ReadAccess::Holder).is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    contents: NewContents,
}

/// What is in it so far.
#[derive(Debug)]
enum NewContents {
    File(NamedTempFile),
    /// A pipe or a device takes nothing back.
    Stream(Vec<u8>),
}

impl NewFile {
    /// Checks that it can be written and does not exist yet.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`], also for a link that leads nowhere; [`ErrorKind::NotFound`] with the folder that is missing;
    /// or another I/O error.
    pub fn open(path: &Path, readers: ReadAccess) -> Result<Self> {
        let path = path.to_path_buf();
        if is_stream(&path) {
            return Ok(Self { path, contents: NewContents::Stream(Vec::new()) });
        }
        if path.symlink_metadata().is_ok() {
            return Err(ErrorKind::AlreadyExists.into());
        }
        let file = disk::create(existing_folder_of(&path)?, readers.mode())?;
        Ok(Self { path, contents: NewContents::File(file) })
    }

    /// Whether it is a pipe or a device.
    pub fn is_stream(&self) -> bool {
        matches!(self.contents, NewContents::Stream(_))
    }

    /// Appends to its contents. For a file, they are on the disk when this returns.
    ///
    /// # Errors
    /// The I/O error.
    pub fn append_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.contents {
            NewContents::File(file) => {
                disk::write(file, bytes)?;
                disk::sync(file)
            }
            NewContents::Stream(held) => {
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
            NewContents::File(file) => disk::persist_new(file, &self.path),
            NewContents::Stream(bytes) => write_stream(&self.path, &bytes),
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
