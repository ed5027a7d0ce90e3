//! Where the files of a dataset are: in the project's data folder, in the cache, or in a mirror.

use std::fs;
use std::path::{Path, PathBuf};

use super::digest::{Digest, Stamp, stamp};
use super::error::{Action, DataError, Doing, Place, Stamps};
use super::expected::Expected;
use super::fetch::{FetchOptions, fetch};
use super::lock::Lock;
use super::manifest::{DataFile, Dataset};
use super::outside::tell_outside;
use super::progress::Progress;
use super::shipped::{place_shipped, shipped_data};
use dpgp_fs::refuse_links;

/// The places that files are looked for in, and how missing ones are fetched.
#[derive(Debug, Clone)]
pub struct Cache {
    directory: PathBuf,
    bundled: PathBuf,
    /// The folder that the user vouches for: no link below it is written through.
    vouched: PathBuf,
    mirror: Option<PathBuf>,
    offline: bool,
    options: FetchOptions,
}

/// Whether the files of a dataset are here, by their names and sizes alone. The worst file counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// All in the cache or the data folder.
    Present,
    /// All here, some only in the mirror.
    InMirror,
    /// Some have to be downloaded.
    Missing,
    /// Some are missing and no address serves them.
    Unobtainable,
    /// Some are here with a size that cannot be right.
    Damaged,
}

/// What [`Cache::verify`] found of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCheck {
    /// The path of the file in the cache.
    pub file: String,
    /// Where it was found.
    pub path: Option<PathBuf>,
    /// Whether it is the right one.
    pub outcome: Outcome,
}

/// Whether a file is the right one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Its size and digest are right.
    Right,
    /// It is not here.
    Missing,
    /// It is another file.
    Mismatch {
        /// What it should be.
        expected: Expected,
        /// What it is.
        found: Stamp,
    },
    /// No digest is published or recorded to compare it with.
    Unlocked {
        /// What it is.
        found: Stamp,
    },
}

impl Cache {
    /// A cache in `directory`, and the project's data folder `bundled`. No mirror; downloads are on.
    #[must_use]
    pub fn new(directory: impl Into<PathBuf>, bundled: impl Into<PathBuf>) -> Self {
        let (directory, bundled) = (directory.into(), bundled.into());
        let vouched = directory.clone();
        Self { directory, bundled, vouched, mirror: None, offline: false, options: FetchOptions::default() }
    }

    /// Vouches for a folder above the cache only, so that the cache itself may be no link either.
    #[must_use]
    pub fn within(mut self, folder: impl Into<PathBuf>) -> Self {
        self.vouched = folder.into();
        self
    }

    /// Lets addresses lead to this machine and its networks, and not to the internet alone.
    #[must_use]
    pub fn with_local_urls(mut self, local_urls: bool) -> Self {
        self.options.local_urls = local_urls;
        self
    }

    /// Looks in a mirror too: a folder laid out like the cache, whose files are used in place.
    #[must_use]
    pub fn with_mirror(mut self, mirror: Option<PathBuf>) -> Self {
        self.mirror = mirror;
        self
    }

    /// Turns downloads off or on.
    #[must_use]
    pub fn with_offline(mut self, offline: bool) -> Self {
        self.offline = offline;
        self
    }

    /// Sets how patient downloads are.
    #[must_use]
    pub fn with_options(mut self, options: FetchOptions) -> Self {
        self.options = options;
        self
    }

    /// The folder of the downloads.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where a file is now, if it is here; its contents are not looked at.
    #[must_use]
    pub fn path(&self, file: &DataFile) -> Option<PathBuf> {
        self.find(file).map(|(_, path)| path)
    }

    /// The digest that a file must have, as published or as recorded when it first came; none before that.
    ///
    /// # Errors
    /// [`DataError::LockSyntax`] or [`DataError::Io`] of the lock file.
    pub fn digest(&self, file: &DataFile) -> Result<Option<Digest>, DataError> {
        Ok(match self.expected(file)? {
            Expected::Known(stamp) => Some(stamp.digest),
            Expected::Unknown { .. } => None,
        })
    }

    /// Whether the files of a dataset are here, by their names and sizes alone.
    #[must_use]
    pub fn status(&self, dataset: &Dataset) -> Status {
        let statuses = dataset.files.iter().map(|file| self.file_status(file));
        statuses.max().unwrap_or(Status::Present)
    }

    /// Makes sure that every file of a dataset is here and right; gives their paths, in the order of the manifest.
    ///
    /// A file is looked for in the cache, then in the mirror, and then downloaded into the cache. Each is checked
    /// against its digest; one without a published digest is recorded in the lock file, or checked against it. A file of the data
    /// folder that is not there is put into the cache, if it comes with the program.
    ///
    /// # Errors
    /// [`DataError::Io`] for a link on the way to what would be written; [`DataError::Mismatch`] for a wrong file, which stays as it is; [`DataError::MissingOffline`],
    /// [`DataError::NoAddress`], [`DataError::NoMirror`] or [`DataError::Download`] for a missing one;
    /// [`DataError::Io`].
    pub fn ensure(&self, dataset: &Dataset, progress: &dyn Progress) -> Result<Vec<PathBuf>, DataError> {
        dataset.files.iter().map(|file| self.ensure_file(dataset, file, progress)).collect()
    }

    /// Compares every file of a dataset that is here with its digest. Writes nothing.
    ///
    /// # Errors
    /// [`DataError::Io`] when a file cannot be read, [`DataError::LockSyntax`] when the lock file cannot.
    pub fn verify(&self, dataset: &Dataset) -> Result<Vec<FileCheck>, DataError> {
        dataset.files.iter().map(|file| self.verify_file(file)).collect()
    }

    /// Fails for a mirror that was named and is no folder.
    ///
    /// # Errors
    /// [`DataError::NoMirror`].
    pub fn ensure_mirror(&self) -> Result<(), DataError> {
        match self.mirror.as_ref().filter(|mirror| !mirror.is_dir()) {
            Some(mirror) => Err(DataError::NoMirror(mirror.clone())),
            None => Ok(()),
        }
    }

    fn ensure_file(
        &self,
        dataset: &Dataset,
        file: &DataFile,
        progress: &dyn Progress,
    ) -> Result<PathBuf, DataError> {
        let expected = self.expected(file)?;
        let (place, path, found) = match self.find(file) {
            Some((place, path)) => {
                self.tell_outside(place, &path);
                let found = stamp(&path)?;
                (place, path, found)
            }
            None => {
                let path = self.directory.join(&file.path);
                let found = self.download(dataset, file, expected, &path, progress)?;
                (Place::Cache, path, found)
            }
        };
        let expected = match expected {
            // Another process may have recorded another copy meanwhile; the first one counts.
            Expected::Unknown { .. } if expected.admits(&found) => {
                Expected::Known(Lock::record(&self.directory, &file.path, found)?)
            }
            expected => expected,
        };
        if expected.admits(&found) {
            return Ok(path);
        }
        let lock = (expected != file.expected).then(|| Lock::path(&self.directory));
        let stamps = Box::new(Stamps { expected, found, lock });
        Err(DataError::Mismatch { dataset: dataset.name.clone(), path, place, stamps })
    }

    /// Names a file that a link in the project leads to from elsewhere, before it is read. The mirror is the user's own.
    fn tell_outside(&self, place: Place, path: &Path) {
        match place {
            Place::Bundled => tell_outside(path, &self.bundled, "project"),
            Place::Cache => tell_outside(path, &self.vouched, "project"),
            Place::Mirror => {}
        }
    }

    fn download(
        &self,
        dataset: &Dataset,
        file: &DataFile,
        expected: Expected,
        target: &Path,
        progress: &dyn Progress,
    ) -> Result<Stamp, DataError> {
        self.ensure_mirror()?;
        refuse_links(&self.vouched, target).doing(Action::Write, target)?;
        if let Some(stamp) = place_shipped(file, target)? {
            return Ok(stamp);
        }
        if file.urls.is_empty() {
            return Err(self.no_address(dataset, file));
        }
        if self.offline {
            return Err(self.missing_offline(dataset, file));
        }
        let file = DataFile { expected, ..file.clone() };
        fetch(&file, target, &self.options, progress)
    }

    fn verify_file(&self, file: &DataFile) -> Result<FileCheck, DataError> {
        let path = self.path(file);
        let outcome = match &path {
            None => Outcome::Missing,
            Some(path) => outcome(self.expected(file)?, stamp(path)?),
        };
        Ok(FileCheck { file: file.path.clone(), path, outcome })
    }

    /// What a file must be: as the manifest says, or as the lock file recorded it.
    fn expected(&self, file: &DataFile) -> Result<Expected, DataError> {
        if let Expected::Known(_) = file.expected {
            return Ok(file.expected);
        }
        let lock = Lock::path(&self.directory);
        refuse_links(&self.vouched, &lock).doing(Action::Read, &lock)?;
        let first = Lock::read(&self.directory)?.get(&file.path);
        Ok(first.map_or(file.expected, Expected::Known))
    }

    fn find(&self, file: &DataFile) -> Option<(Place, PathBuf)> {
        let bundled = file.bundled.then_some((Place::Bundled, &self.bundled));
        let cache = Some((Place::Cache, &self.directory));
        let mirror = self.mirror.as_ref().map(|mirror| (Place::Mirror, mirror));
        let places = [bundled, cache, mirror].into_iter().flatten();
        places.map(|(place, folder)| (place, folder.join(&file.path))).find(|(_, path)| path.is_file())
    }

    fn file_status(&self, file: &DataFile) -> Status {
        let Some((place, path)) = self.find(file) else {
            let nowhere = file.urls.is_empty() && shipped_data(file).is_none();
            return if nowhere { Status::Unobtainable } else { Status::Missing };
        };
        let size_right = fs::metadata(&path).is_ok_and(|data| file.expected.admits_size(data.len()));
        match place {
            _ if !size_right => Status::Damaged,
            Place::Bundled | Place::Cache => Status::Present,
            Place::Mirror => Status::InMirror,
        }
    }

    fn missing_offline(&self, dataset: &Dataset, file: &DataFile) -> DataError {
        DataError::MissingOffline {
            dataset: dataset.name.clone(),
            file: file.path.clone(),
            cache: self.directory.clone(),
            mirror: self.mirror.clone(),
        }
    }

    fn no_address(&self, dataset: &Dataset, file: &DataFile) -> DataError {
        let folder = if file.bundled { &self.bundled } else { &self.directory };
        DataError::NoAddress {
            dataset: dataset.name.clone(),
            file: file.path.clone(),
            origin: dataset.source.clone(),
            place: folder.join(&file.path),
        }
    }
}

fn outcome(expected: Expected, found: Stamp) -> Outcome {
    match expected {
        _ if !expected.admits(&found) => Outcome::Mismatch { expected, found },
        Expected::Known(_) => Outcome::Right,
        Expected::Unknown { .. } => Outcome::Unlocked { found },
    }
}
