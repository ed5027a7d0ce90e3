//! Files of a release. They get their names only when they are complete.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::ReleaseError;
use dpgp_fs::{AtomicNewFile, ReadAccess, SigningKey, append_suffix};

/// A new file, with its signature beside it if there is a key. It is opened before the charge, so that nothing is spent
/// on a file that cannot be written.
pub(super) struct OptionallySignedFile<'k> {
    path: PathBuf,
    file: AtomicNewFile,
    signature: Option<NewSignatureFile<'k>>,
}

struct NewSignatureFile<'k> {
    path: PathBuf,
    file: AtomicNewFile,
    key: &'k SigningKey,
}

/// Checks that a file can be written and does not exist yet. Pipes and devices may exist.
///
/// # Errors
/// [`ReleaseError::Exists`] or [`ReleaseError::Io`].
pub(super) fn new_file(path: &Path, readers: ReadAccess) -> Result<AtomicNewFile, ReleaseError> {
    AtomicNewFile::open(path, readers).map_err(|cause| match cause.kind() {
        ErrorKind::AlreadyExists => ReleaseError::Exists(path.to_path_buf()),
        _ => ReleaseError::Io { path: path.to_path_buf(), cause },
    })
}

/// Writes a file and gives it its name.
///
/// # Errors
/// [`ReleaseError::Io`]: then no file has this name, or another process made it.
pub(super) fn write_new_file(mut file: AtomicNewFile, path: &Path, bytes: &[u8]) -> Result<(), ReleaseError> {
    let io = ReleaseError::io(path);
    file.append_bytes(bytes).map_err(&io)?;
    file.finish().map_err(&io)
}

impl<'k> OptionallySignedFile<'k> {
    /// Checks that both files can be written and do not exist yet. Only a file can be signed: a pipe has no place for a
    /// signature.
    ///
    /// # Errors
    /// [`ReleaseError::Exists`] or [`ReleaseError::Io`].
    pub fn open(path: &Path, key: Option<&'k SigningKey>) -> Result<Self, ReleaseError> {
        let file = new_file(path, ReadAccess::All)?;
        let path = path.to_path_buf();
        let Some(key) = key else { return Ok(Self { path, file, signature: None }) };
        if file.is_stream() {
            return Err(ReleaseError::Exists(path));
        }
        let beside = signature_path(&path);
        let signature = NewSignatureFile { file: new_file(&beside, ReadAccess::All)?, path: beside, key };
        Ok(Self { path, file, signature: Some(signature) })
    }

    /// Writes the signature, then the file, so that the file never exists without its signature.
    ///
    /// # Errors
    /// [`ReleaseError::Unsigned`] or [`ReleaseError::Io`].
    pub fn write_signed_text(self, text: &str) -> Result<(), ReleaseError> {
        self.write_unnamed_signed_text(text)?.finish()
    }

    /// Writes the bytes of the signature and of the file, in this order. Neither has its name yet.
    ///
    /// # Errors
    /// As [`OptionallySignedFile::write_signed_text`].
    pub fn write_unnamed_signed_text(self, text: &str) -> Result<UnnamedFiles, ReleaseError> {
        let mut filled = UnnamedFiles::default();
        if let Some(NewSignatureFile { path, file, key }) = self.signature {
            filled.write_file(file, path, key.sign(text).map_err(ReleaseError::Unsigned)?.as_bytes())?;
        }
        filled.write_file(self.file, self.path, text.as_bytes())?;
        Ok(filled)
    }
}

/// Complete files without their names, so that no file of a release is there if another cannot be written.
#[derive(Default)]
pub struct UnnamedFiles(Vec<(AtomicNewFile, PathBuf)>);

impl UnnamedFiles {
    /// Writes the bytes of one more file.
    ///
    /// # Errors
    /// [`ReleaseError::Io`].
    pub(super) fn write_file(
        &mut self,
        mut file: AtomicNewFile,
        path: PathBuf,
        bytes: &[u8],
    ) -> Result<(), ReleaseError> {
        file.append_bytes(bytes).map_err(ReleaseError::io(&path))?;
        self.0.push((file, path));
        Ok(())
    }

    /// Adds other files after these.
    pub fn append(&mut self, mut others: Self) {
        self.0.append(&mut others.0);
    }

    /// Gives the files their names, in their order.
    ///
    /// # Errors
    /// [`ReleaseError::Io`]: then the rest have no names, or another process made one.
    pub fn finish(self) -> Result<(), ReleaseError> {
        self.0.into_iter().try_for_each(|(file, path)| file.finish().map_err(ReleaseError::io(&path)))
    }
}

/// The path of the signature of a file, as for `ssh-keygen`.
pub(super) fn signature_path(path: &Path) -> PathBuf {
    append_suffix(path, ".sig")
}
