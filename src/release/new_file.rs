//! Files that get their names only when everything is in them.

use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::{ReleaseError, SigningKey};
use crate::run::folder_of;

/// A file without its name. It is opened before a release is charged, so that nothing is spent on a file that cannot be written.
pub(super) struct NewFile {
    path: PathBuf,
    file: NamedTempFile,
}

/// A new file, and its signature beside it where there is a key.
pub(super) struct SignedFile<'k> {
    file: NewFile,
    signature: Option<NewSignature<'k>>,
}

struct NewSignature<'k> {
    file: NewFile,
    key: &'k SigningKey,
}

impl NewFile {
    /// Makes sure that it can be written, and is not there yet.
    ///
    /// # Errors
    /// [`ReleaseError::Exists`] or [`ReleaseError::Io`].
    pub fn open(path: PathBuf) -> Result<Self, ReleaseError> {
        if path.symlink_metadata().is_ok() {
            return Err(ReleaseError::Exists(path));
        }
        let mut builder = tempfile::Builder::new();
        // The permissions that a new file gets; temporary files are private to their owner otherwise.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        match builder.tempfile_in(folder_of(&path)) {
            Ok(file) => Ok(Self { path, file }),
            Err(cause) => Err(ReleaseError::Io { path, cause }),
        }
    }

    /// Writes it and gives it its name.
    ///
    /// # Errors
    /// [`ReleaseError::Io`]; then there is no file of this name, or the one that somebody else made.
    pub fn put(mut self, text: &str) -> Result<(), ReleaseError> {
        let io = ReleaseError::io(&self.path);
        self.file.write_all(text.as_bytes()).map_err(&io)?;
        self.file.as_file().sync_all().map_err(&io)?;
        self.file.persist_noclobber(&self.path).map_err(|error| io(error.error))?;
        Ok(())
    }
}

impl<'k> SignedFile<'k> {
    /// Makes sure that both can be written, and are not there yet.
    ///
    /// # Errors
    /// [`ReleaseError::Exists`] or [`ReleaseError::Io`].
    pub fn open(path: &Path, key: Option<&'k SigningKey>) -> Result<Self, ReleaseError> {
        let file = NewFile::open(path.to_path_buf())?;
        let Some(key) = key else { return Ok(Self { file, signature: None }) };
        let signature = NewFile::open(signature_of(path))?;
        Ok(Self { file, signature: Some(NewSignature { file: signature, key }) })
    }

    /// Writes the signature, then the file: one that should be signed is never there without its signature.
    ///
    /// # Errors
    /// [`ReleaseError::Unsigned`] or [`ReleaseError::Io`].
    pub fn put(self, text: &str) -> Result<(), ReleaseError> {
        if let Some(NewSignature { file, key }) = self.signature {
            file.put(&key.sign(text).map_err(ReleaseError::Unsigned)?)?;
        }
        self.file.put(text)
    }
}

/// Where `ssh-keygen` looks for the signature of a file, too.
pub(super) fn signature_of(path: &Path) -> PathBuf {
    with_ending(path, ".sig")
}

/// A name with something after it.
pub(super) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
