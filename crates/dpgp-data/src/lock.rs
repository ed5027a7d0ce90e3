//! The lock file: what the files without a published digest were when they first arrived.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::digest::Stamp;
use super::error::{Action, DataError, Doing};
use dpgp_fs::temporary_file;
use dpgp_fs::unlinked;

/// The name of the lock file in the cache folder.
const NAME: &str = "datasets.lock.toml";

const HEAD: &str = "# What the files without a published digest were when they first arrived.\n\
                    # Later copies must agree. Delete an entry to trust the next copy.\n\n";

/// The stamps of first copies, by path in the cache.
#[derive(Debug, Clone)]
pub struct Lock {
    path: PathBuf,
    stamps: BTreeMap<String, Stamp>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLock {
    #[serde(default)]
    file: BTreeMap<String, Stamp>,
}

impl Lock {
    /// Where the lock file of a cache folder is.
    #[must_use]
    pub fn path(cache: &Path) -> PathBuf {
        cache.join(NAME)
    }

    /// The lock file of a cache folder; one that is not there is empty.
    ///
    /// # Errors
    /// [`DataError::Io`] or [`DataError::LockSyntax`].
    pub fn read(cache: &Path) -> Result<Self, DataError> {
        let path = Self::path(cache);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            text => text.doing(Action::Read, &path)?,
        };
        let raw: RawLock = toml::from_str(&text)
            .map_err(|source| DataError::LockSyntax { path: path.clone(), source: Box::new(source) })?;
        Ok(Self { path, stamps: raw.file })
    }

    /// What the first copy of this file was.
    #[must_use]
    pub fn get(&self, file: &str) -> Option<Stamp> {
        self.stamps.get(file).copied()
    }

    /// Records the first copy of a file, unless one is recorded already; gives back what stands in the lock file then.
    /// Processes that record at once wait for each other.
    ///
    /// # Errors
    /// [`DataError::Io`] or [`DataError::LockSyntax`].
    pub fn record(cache: &Path, file: &str, stamp: Stamp) -> Result<Stamp, DataError> {
        create_folder(cache)?;
        let _guard = guard(&cache.join(format!("{NAME}.guard")))?;
        let mut lock = Self::read(cache)?;
        if let Some(first) = lock.get(file) {
            return Ok(first);
        }
        lock.stamps.insert(file.to_owned(), stamp);
        lock.write(cache)?;
        Ok(stamp)
    }

    fn write(&self, cache: &Path) -> Result<(), DataError> {
        let written = || -> io::Result<()> {
            let mut file = temporary_file(cache, 0o600)?;
            file.write_all(self.text().as_bytes())?;
            // A reader finds the old file or the new one, never half of one.
            file.persist(&self.path)?;
            Ok(())
        };
        written().doing(Action::Write, &self.path)
    }

    fn text(&self) -> String {
        let mut entries = Vec::new();
        for (file, Stamp { digest, bytes }) in &self.stamps {
            entries.push(format!("[file.{file:?}]\nsha256 = \"{digest}\"\nbytes = {bytes}\n"));
        }
        format!("{HEAD}{}", entries.join("\n"))
    }
}

/// Creates a folder and those above it.
pub(super) fn create_folder(folder: &Path) -> Result<(), DataError> {
    fs::create_dir_all(folder).doing(Action::CreateFolder, folder)
}

/// Waits until no other process holds the file at `path`, and holds it until the result is dropped.
/// `None` where the file system knows no locks.
pub(super) fn guard(path: &Path) -> Result<Option<File>, DataError> {
    let file = unlinked().create(true).append(true).open(path).doing(Action::Lock, path)?;
    match file.lock() {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(None),
        locked => locked.doing(Action::Lock, path).map(|()| Some(file)),
    }
}
