//! The ledger on disk: read whole, replaced whole, and on the disk before the release is shown.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::book::Ledger;
use super::chain::SealKey;
use super::error::LedgerError;
use super::known::KnownLedgers;
use super::old::{is_old, read_old};
use dpgp_fs::disk;
use dpgp_fs::folder_of;

/// A ledger and where it stands.
#[derive(Debug, Clone)]
pub(super) struct PlacedLedger {
    /// The file behind links, so that every name of a ledger has one lock.
    pub path: PathBuf,
    pub ledger: Ledger,
    /// The text of the ledger of version 1 that it was made of.
    pub old: Option<String>,
}

/// The path of a file that may not be there yet, without links.
///
/// # Errors
/// [`LedgerError::Linked`] for a link that leads nowhere: a ledger in its place would not be the one that it led to.
pub(super) fn real_path(path: &Path) -> Result<PathBuf, LedgerError> {
    if let Ok(real) = fs::canonicalize(path) {
        return Ok(real);
    }
    if path.is_symlink() {
        return Err(LedgerError::Linked { path: path.to_path_buf(), how: "is a link that leads nowhere" });
    }
    let folder = fs::canonicalize(folder_of(path)).map_err(LedgerError::io(path))?;
    Ok(folder.join(path.file_name().unwrap_or_default()))
}

/// The text of a ledger; none if it is not there.
pub(super) fn text_of(path: &Path) -> Result<Option<String>, LedgerError> {
    match fs::read(path) {
        Ok(bytes) => {
            let text = String::from_utf8(bytes);
            text.map(Some).map_err(|_| LedgerError::malformed(path, "it is not UTF-8 text"))
        }
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(LedgerError::io(path)(cause)),
    }
}

/// Reads a ledger that is as it was written last; none if it is not there.
///
/// # Errors
/// [`LedgerError::OtherKey`], [`LedgerError::Malformed`], [`LedgerError::Gone`] where one should be, [`LedgerError::Linked`] for one
/// with several names.
pub(super) fn present(
    path: &Path,
    known: &KnownLedgers,
    key: &SealKey,
) -> Result<Option<PlacedLedger>, LedgerError> {
    let Some(text) = text_of(path)? else {
        return match known.at(path) {
            Some(known) => Err(LedgerError::Gone { path: path.to_path_buf(), releases: known.releases }),
            None => Ok(None),
        };
    };
    if has_other_names(path) {
        return Err(LedgerError::Linked { path: path.to_path_buf(), how: "has several names (hard links)" });
    }
    placed(path, text, known, key).map(Some)
}

/// The ledger of a text, if that is as it was written last.
pub(super) fn placed(
    path: &Path,
    text: String,
    known: &KnownLedgers,
    key: &SealKey,
) -> Result<PlacedLedger, LedgerError> {
    if is_old(&text) {
        let ledger = read_old(path, &text, key)?;
        return Ok(PlacedLedger { path: path.to_path_buf(), ledger, old: Some(text) });
    }
    let ledger = Ledger::parse(path, &text)?;
    if ledger.key != key.name() {
        return Err(LedgerError::OtherKey(path.to_path_buf()));
    }
    let fault = key.fault(&ledger);
    let fault = fault.or_else(|| known.same_beginning(&ledger).and_then(|known| known.fault(&ledger)));
    match fault {
        Some(reason) => Err(LedgerError::malformed(path, reason)),
        None => Ok(PlacedLedger { path: path.to_path_buf(), ledger, old: None }),
    }
}

/// Whether a file has other names that are no links to this one: they would keep what stands in it now when it is replaced.
#[cfg(unix)]
fn has_other_names(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| std::os::unix::fs::MetadataExt::nlink(&found) > 1)
}

#[cfg(not(unix))]
fn has_other_names(_: &Path) -> bool {
    false
}

/// Replaces a file, which only its owner can read, and waits for the disk.
pub(super) fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = folder_of(path);
    if fs::metadata(path).is_ok_and(|found| found.permissions().readonly()) {
        return Err(ErrorKind::PermissionDenied.into());
    }
    let mut file = disk::create(folder, 0o600)?;
    disk::write(&mut file, text.as_bytes())?;
    disk::sync(&file)?;
    disk::replace(file, path)?;
    disk::sync_folder(folder)
}

impl PlacedLedger {
    /// Writes the ledger; the one of version 1 that it was made of is kept beside it.
    pub fn write(&self) -> Result<(), LedgerError> {
        if let Some(old) = &self.old {
            let mut name = self.path.clone().into_os_string();
            name.push(".version-1");
            let kept = PathBuf::from(name);
            replace(&kept, old).map_err(LedgerError::io(&kept))?;
        }
        let text = self.ledger.text(&self.path)?;
        replace(&self.path, &text).map_err(LedgerError::io(&self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ledger that is not there is no error; one that cannot be read is.
    #[test]
    fn only_what_is_not_there_is_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(text_of(&folder.path().join("none.toml")).unwrap(), None);
        assert!(matches!(text_of(folder.path()), Err(LedgerError::Io { .. })));
        let path = folder.path().join("l.toml");
        fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(text_of(&path).unwrap_err().to_string().contains("UTF-8"));
    }
}
