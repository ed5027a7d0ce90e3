//! Finds the files of a dataset in the project's data folder, in the cache or in a mirror. Also holds the
//! lock file with digests of first downloads, the progress display, and the time stamps of trips.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::{fs, io};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Deserialize;

use super::digest::{Digest, FileChecksum, compute_file_checksum};
use super::error::{
    ChecksumMismatch, DataError, ExpectedContents, FileAction, FileLocation, IoErrorContext, escape_hidden_line,
    escape_hidden_text, report_outside_file,
};
use super::fetch::{FetchOptions, fetch};
use super::manifest::{DataFile, Dataset};
use super::shipped::{shipped_data_file_text, write_shipped_data_file};
use dpgp_fs::{no_follow_options, refuse_links, temporary_file};

/// The places that files are looked for in, and how missing ones are fetched.
#[derive(Debug, Clone)]
pub struct DatasetCache {
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
pub enum DatasetStatus {
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

/// Finding of [`DatasetCache::verify`] about one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCheck {
    /// The path of the file in the cache.
    pub file: String,
    /// Where it was found.
    pub path: Option<PathBuf>,
    /// Whether it is the right one.
    pub outcome: FileCheckOutcome,
}

/// Whether a file is the right one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileCheckOutcome {
    /// Its size and digest are right.
    Right,
    /// It is not here.
    Missing,
    /// It is another file.
    Mismatch {
        /// Expected contents.
        expected: ExpectedContents,
        /// Contents found.
        found: FileChecksum,
    },
    /// No digest is published or recorded to compare it with.
    Unlocked {
        /// Contents found.
        found: FileChecksum,
    },
}

impl DatasetCache {
    /// A cache in `directory`, and the project's data folder `bundled`. No mirror; downloads are on.
    #[must_use]
    pub fn new(directory: impl Into<PathBuf>, bundled: impl Into<PathBuf>) -> Self {
        let (directory, bundled) = (directory.into(), bundled.into());
        let vouched = directory.clone();
        Self { directory, bundled, vouched, mirror: None, offline: false, options: FetchOptions::default() }
    }

    /// Vouches for a folder above the cache only, so that the cache itself may be no link either.
    #[must_use]
    pub fn with_links_refused_below(mut self, folder: impl Into<PathBuf>) -> Self {
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
        self.locate_file(file).map(|(_, path)| path)
    }

    /// The digest that a file must have, as published or as recorded when it first came; none before that.
    ///
    /// # Errors
    /// [`DataError::LockSyntax`] or [`DataError::Io`] of the lock file.
    pub fn expected_digest(&self, file: &DataFile) -> Result<Option<Digest>, DataError> {
        Ok(match self.expected_contents(file)? {
            ExpectedContents::Known(stamp) => Some(stamp.digest),
            ExpectedContents::Unknown { .. } => None,
        })
    }

    /// Whether the files of a dataset are here, by their names and sizes alone.
    #[must_use]
    pub fn status(&self, dataset: &Dataset) -> DatasetStatus {
        let statuses = dataset.files.iter().map(|file| self.file_status(file));
        statuses.max().unwrap_or(DatasetStatus::Present)
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
    pub fn ensure_dataset_files(&self, dataset: &Dataset, progress: &dyn Progress) -> Result<Vec<PathBuf>, DataError> {
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
    pub fn ensure_mirror_is_folder(&self) -> Result<(), DataError> {
        match self.mirror.as_ref().filter(|mirror| !mirror.is_dir()) {
            Some(mirror) => Err(DataError::NoMirror(mirror.clone())),
            None => Ok(()),
        }
    }

    fn ensure_file(&self, dataset: &Dataset, file: &DataFile, progress: &dyn Progress) -> Result<PathBuf, DataError> {
        let expected = self.expected_contents(file)?;
        let (place, path, found) = match self.locate_file(file) {
            Some((place, path)) => {
                self.report_outside_file(place, &path);
                let found = compute_file_checksum(&path)?;
                (place, path, found)
            }
            None => {
                let path = self.directory.join(&file.path);
                let found = self.download(dataset, file, expected, &path, progress)?;
                (FileLocation::Cache, path, found)
            }
        };
        let expected = match expected {
            // Another process may have recorded another copy meanwhile; the first one counts.
            ExpectedContents::Unknown { .. } if expected.admits(&found) => {
                ExpectedContents::Known(DatasetLockFile::record_first_checksum(&self.directory, &file.path, found)?)
            }
            expected => expected,
        };
        if expected.admits(&found) {
            return Ok(path);
        }
        let lock = (expected != file.expected).then(|| DatasetLockFile::path(&self.directory));
        let stamps = Box::new(ChecksumMismatch { expected, found, lock });
        Err(DataError::Mismatch { dataset: dataset.name.clone(), path, place, stamps })
    }

    /// Names a file that a link in the project leads to from elsewhere, before it is read. The mirror is the user's own.
    fn report_outside_file(&self, place: FileLocation, path: &Path) {
        match place {
            FileLocation::Bundled => report_outside_file(path, &self.bundled, "project"),
            FileLocation::Cache => report_outside_file(path, &self.vouched, "project"),
            FileLocation::Mirror => {}
        }
    }

    fn download(
        &self,
        dataset: &Dataset,
        file: &DataFile,
        expected: ExpectedContents,
        target: &Path,
        progress: &dyn Progress,
    ) -> Result<FileChecksum, DataError> {
        self.ensure_mirror_is_folder()?;
        refuse_links(&self.vouched, target).with_io_context(FileAction::Write, target)?;
        if let Some(stamp) = write_shipped_data_file(file, target)? {
            return Ok(stamp);
        }
        if file.urls.is_empty() {
            return Err(self.no_address_error(dataset, file));
        }
        if self.offline {
            return Err(self.missing_offline_error(dataset, file));
        }
        let file = DataFile { expected, ..file.clone() };
        fetch(&file, target, &self.options, progress)
    }

    fn verify_file(&self, file: &DataFile) -> Result<FileCheck, DataError> {
        let path = self.path(file);
        let outcome = match &path {
            None => FileCheckOutcome::Missing,
            Some(path) => compare_with_expected(self.expected_contents(file)?, compute_file_checksum(path)?),
        };
        Ok(FileCheck { file: file.path.clone(), path, outcome })
    }

    /// Expected contents of a file, from the manifest or from the lock file.
    fn expected_contents(&self, file: &DataFile) -> Result<ExpectedContents, DataError> {
        if let ExpectedContents::Known(_) = file.expected {
            return Ok(file.expected);
        }
        let lock = DatasetLockFile::path(&self.directory);
        refuse_links(&self.vouched, &lock).with_io_context(FileAction::Read, &lock)?;
        let first = DatasetLockFile::read(&self.directory)?.get(&file.path);
        Ok(first.map_or(file.expected, ExpectedContents::Known))
    }

    fn locate_file(&self, file: &DataFile) -> Option<(FileLocation, PathBuf)> {
        let bundled = file.bundled.then_some((FileLocation::Bundled, &self.bundled));
        let cache = Some((FileLocation::Cache, &self.directory));
        let mirror = self.mirror.as_ref().map(|mirror| (FileLocation::Mirror, mirror));
        let places = [bundled, cache, mirror].into_iter().flatten();
        places.map(|(place, folder)| (place, folder.join(&file.path))).find(|(_, path)| path.is_file())
    }

    fn file_status(&self, file: &DataFile) -> DatasetStatus {
        let Some((place, path)) = self.locate_file(file) else {
            let nowhere = file.urls.is_empty() && shipped_data_file_text(file).is_none();
            return if nowhere { DatasetStatus::Unobtainable } else { DatasetStatus::Missing };
        };
        let size_right = fs::metadata(&path).is_ok_and(|data| file.expected.admits_size(data.len()));
        match place {
            _ if !size_right => DatasetStatus::Damaged,
            FileLocation::Bundled | FileLocation::Cache => DatasetStatus::Present,
            FileLocation::Mirror => DatasetStatus::InMirror,
        }
    }

    fn missing_offline_error(&self, dataset: &Dataset, file: &DataFile) -> DataError {
        DataError::MissingOffline {
            dataset: dataset.name.clone(),
            file: file.path.clone(),
            cache: self.directory.clone(),
            mirror: self.mirror.clone(),
        }
    }

    fn no_address_error(&self, dataset: &Dataset, file: &DataFile) -> DataError {
        let folder = if file.bundled { &self.bundled } else { &self.directory };
        DataError::NoAddress {
            dataset: dataset.name.clone(),
            file: file.path.clone(),
            origin: dataset.source.clone(),
            place: folder.join(&file.path),
        }
    }
}

fn compare_with_expected(expected: ExpectedContents, found: FileChecksum) -> FileCheckOutcome {
    match expected {
        _ if !expected.admits(&found) => FileCheckOutcome::Mismatch { expected, found },
        ExpectedContents::Known(_) => FileCheckOutcome::Right,
        ExpectedContents::Unknown { .. } => FileCheckOutcome::Unlocked { found },
    }
}

/// The name of the lock file in the cache folder.
const NAME: &str = "datasets.lock.toml";

const HEAD: &str = "# Digests of first downloads, for files without a published digest.\n\
                    # Later copies must agree. Delete an entry to trust the next copy.\n\n";

/// The stamps of first copies, by path in the cache.
#[derive(Debug, Clone)]
pub struct DatasetLockFile {
    path: PathBuf,
    stamps: BTreeMap<String, FileChecksum>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLockFile {
    #[serde(default)]
    file: BTreeMap<String, FileChecksum>,
}

impl DatasetLockFile {
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
            text => text.with_io_context(FileAction::Read, &path)?,
        };
        let raw: RawLockFile = toml::from_str(&text)
            .map_err(|source| DataError::LockSyntax { path: path.clone(), source: Box::new(source) })?;
        Ok(Self { path, stamps: raw.file })
    }

    /// Stamp of the first copy of this file.
    #[must_use]
    pub fn get(&self, file: &str) -> Option<FileChecksum> {
        self.stamps.get(file).copied()
    }

    /// Records the first copy of a file, unless one is recorded already; gives back what stands in the lock file then.
    /// Processes that record at once wait for each other.
    ///
    /// # Errors
    /// [`DataError::Io`] or [`DataError::LockSyntax`].
    pub fn record_first_checksum(cache: &Path, file: &str, stamp: FileChecksum) -> Result<FileChecksum, DataError> {
        create_folder(cache)?;
        let _guard = acquire_file_lock(&cache.join(format!("{NAME}.guard")))?;
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
            file.write_all(self.to_toml().as_bytes())?;
            // A reader finds the old file or the new one, never half of one.
            file.persist(&self.path)?;
            Ok(())
        };
        written().with_io_context(FileAction::Write, &self.path)
    }

    fn to_toml(&self) -> String {
        let mut entries = Vec::new();
        for (file, FileChecksum { digest, bytes }) in &self.stamps {
            entries.push(format!("[file.{file:?}]\nsha256 = \"{digest}\"\nbytes = {bytes}\n"));
        }
        format!("{HEAD}{}", entries.join("\n"))
    }
}

/// Creates a folder and those above it.
pub(super) fn create_folder(folder: &Path) -> Result<(), DataError> {
    fs::create_dir_all(folder).with_io_context(FileAction::CreateFolder, folder)
}

/// Waits until no other process holds the file at `path`, and holds it until the result is dropped.
/// `None` where the file system knows no locks.
pub(super) fn acquire_file_lock(path: &Path) -> Result<Option<File>, DataError> {
    let file = no_follow_options().create(true).append(true).open(path).with_io_context(FileAction::Lock, path)?;
    match file.lock() {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(None),
        locked => locked.with_io_context(FileAction::Lock, path).map(|()| Some(file)),
    }
}

/// Receives the progress of downloads, one file at a time, and notes for the user.
pub trait Progress: Send + Sync {
    /// A transfer of `file` begins; `total` bytes will come, if that is known. A retry begins again.
    fn start(&self, file: &str, total: Option<u64>);
    /// So many more bytes are there.
    fn advance(&self, bytes: u64);
    /// Something the user should know, such as why a download is tried again.
    fn note(&self, message: &str);
    /// The transfer is over, for better or worse.
    fn finish(&self);
}

/// Says nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct SilentProgress;

impl Progress for SilentProgress {
    fn start(&self, _file: &str, _total: Option<u64>) {}
    fn advance(&self, _bytes: u64) {}
    fn note(&self, _message: &str) {}
    fn finish(&self) {}
}

/// A progress bar on standard error, drawn only if that is a terminal. Notes are printed in either case.
#[derive(Debug, Default)]
pub struct ProgressBars {
    bar: Mutex<Option<ProgressBar>>,
}

impl ProgressBars {
    /// Bars on standard error. Where the user asked for quiet, take [`SilentProgress`] instead.
    #[must_use]
    pub fn stderr() -> Self {
        Self::default()
    }

    /// Runs `act` on the bar. A panic elsewhere does not spoil the bar, so a poisoned lock is taken as it is.
    fn with_bar(&self, act: impl FnOnce(&mut Option<ProgressBar>)) {
        act(&mut self.bar.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    }
}

impl Progress for ProgressBars {
    fn start(&self, file: &str, total: Option<u64>) {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr())
            .with_style(bar_style(total.is_some()))
            .with_message(escape_hidden_line(file).into_owned());
        self.with_bar(|slot| *slot = Some(bar));
    }

    fn advance(&self, bytes: u64) {
        self.with_bar(|slot| {
            if let Some(bar) = slot {
                bar.inc(bytes);
            }
        });
    }

    fn note(&self, message: &str) {
        self.with_bar(|slot| {
            if let Some(bar) = slot.take() {
                bar.finish_and_clear();
            }
        });
        eprintln!("{}", escape_hidden_text(message));
    }

    fn finish(&self) {
        self.with_bar(|slot| {
            if let Some(bar) = slot.take() {
                bar.finish_and_clear();
            }
        });
    }
}

fn bar_style(total_known: bool) -> ProgressStyle {
    let template = if total_known {
        "{msg} {bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}"
    } else {
        "{msg} {spinner} {bytes} {bytes_per_sec}"
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// The hours since Monday 0:00 of a local time: `2016-06-01 00:00:37`, `6/1/2016 00:00:37` (month first) or without
/// seconds. None if the text is no such time.
///
/// ```
/// use dpgp_data::hour_of_week;
/// assert_eq!(hour_of_week("2017-07-17 06:30:00"), Some(6.5), "a Monday");
/// assert_eq!(hour_of_week("8/2/2015 23:00"), Some(24.0 * 6.0 + 23.0), "a Sunday");
/// assert_eq!(hour_of_week("2017-02-30 00:00:00"), None);
/// ```
pub fn hour_of_week(text: &str) -> Option<f64> {
    let (date, time) = text.split_once(' ')?;
    let day = weekday(date)?;
    let mut parts = time.split(':').map(|part| part.parse::<u32>().ok());
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = parts.next().unwrap_or(Some(0))?;
    if hour > 23 || minute > 59 || second > 60 || parts.next().is_some() {
        return None;
    }
    let seconds = 60 * (60 * (24 * day + hour) + minute) + second;
    Some(f64::from(seconds) / 3600.0)
}

/// The day of the week, Monday 0.
fn weekday(date: &str) -> Option<u32> {
    let parts: Option<Vec<i64>> = date.split(['-', '/']).map(|part| part.parse().ok()).collect();
    let (year, month, day) = match (&parts?[..], date.contains('-'), date.contains('/')) {
        (&[year, month, day], true, false) => (year, month, day),
        (&[month, day, year], false, true) => (year, month, day),
        _ => return None,
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let lengths = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let length = usize::try_from(month - 1).ok().and_then(|m| lengths.get(m))?;
    if !(1..=*length).contains(&day) || !(1..=9999).contains(&year) {
        return None;
    }
    // Days since 1 January of the year 1, a Monday.
    let before = year - 1;
    let passed: i64 = lengths[..(month - 1) as usize].iter().sum();
    let days = 365 * before + before / 4 - before / 100 + before / 400 + passed + day - 1;
    u32::try_from(days % 7).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn week_days_of_the_calendar() {
        for (date, day) in [("2000-01-01", 5), ("2015-08-01", 5), ("6/1/2016", 2), ("2016-02-29", 0), ("1970-01-01", 3)]
        {
            assert_eq!(weekday(date), Some(day), "{date}");
        }
        for broken in ["2016-13-01", "2015-02-29", "1/0/2016", "yesterday", "2016-01"] {
            assert_eq!(weekday(broken), None, "{broken}");
        }
        for broken in ["2016-01-01", "2016-01-01 24:00:00", "2016-01-01 1", "2016-01-01 1:2:3:4"] {
            assert_eq!(hour_of_week(broken), None, "{broken}");
        }
    }
}
