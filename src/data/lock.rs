//! The lock file: what the files without a published digest were when they first arrived.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::digest::{Digest, Stamp};
use super::error::{Action, DataError};

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
    file: BTreeMap<String, RawStamp>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStamp {
    #[serde(deserialize_with = "digest")]
    sha256: Digest,
    bytes: u64,
}

fn digest<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Digest, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
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
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(DataError::io(Action::Read, &path, error)),
        };
        let raw: RawLock = toml::from_str(&text)
            .map_err(|source| DataError::LockSyntax { path: path.clone(), source: Box::new(source) })?;
        let entry = |(file, raw): (String, RawStamp)| (file, Stamp { digest: raw.sha256, bytes: raw.bytes });
        let stamps = raw.file.into_iter().map(entry).collect();
        Ok(Self { path, stamps })
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
        let fail = |source| DataError::io(Action::Write, &self.path, source);
        let mut file = tempfile::NamedTempFile::new_in(cache).map_err(fail)?;
        file.write_all(self.text().as_bytes()).map_err(fail)?;
        file.persist(&self.path).map_err(|error| fail(error.error))?;
        Ok(())
    }

    fn text(&self) -> String {
        let entry = |(file, stamp): (&String, &Stamp)| {
            format!("[file.{file:?}]\nsha256 = \"{}\"\nbytes = {}\n", stamp.digest, stamp.bytes)
        };
        let entries: Vec<String> = self.stamps.iter().map(entry).collect();
        format!("{HEAD}{}", entries.join("\n"))
    }
}

/// Creates a folder and those above it.
pub(super) fn create_folder(folder: &Path) -> Result<(), DataError> {
    fs::create_dir_all(folder).map_err(|source| DataError::io(Action::CreateFolder, folder, source))
}

/// Waits until no other process holds the file at `path`, and holds it until the result is dropped.
/// `None` where the file system knows no locks.
pub(super) fn guard(path: &Path) -> Result<Option<File>, DataError> {
    let fail = |source| DataError::io(Action::Lock, path, source);
    let file = File::options().create(true).append(true).open(path).map_err(fail)?;
    match file.lock() {
        Ok(()) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(None),
        Err(error) => Err(fail(error)),
    }
}
