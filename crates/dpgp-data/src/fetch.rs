//! Downloads that end with the correct file or with none, and the failures of addresses.

use std::error::Error;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;
use std::{fs, io};

use tempfile::TempPath;

use super::cache::{Progress, acquire_file_lock, create_folder};
use super::digest::{FileChecksum, compute_file_checksum};
use super::error::{DataError, ExpectedContents, FileAction, IoErrorContext};
use super::http::{HttpClient, HttpResponse, ensure_url_allowed};
use super::manifest::DataFile;
use dpgp_fs::no_follow_options;

/// How many bytes are taken from the network at a time.
const BLOCK: usize = 1 << 16;

/// How patient downloads are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchOptions {
    /// How often each address is tried, at least once.
    pub tries: u32,
    /// The wait before the second try; it doubles with each further one.
    pub base_delay: Duration,
    /// How long a connection may take.
    pub connect_timeout: Duration,
    /// How long the server may be silent.
    pub read_timeout: Duration,
    /// Whether this machine and its networks may be asked, too, and not the internet alone.
    pub local_urls: bool,
}

impl Default for FetchOptions {
    fn default() -> Self {
        Self {
            tries: 3,
            base_delay: Duration::from_millis(500),
            connect_timeout: Duration::from_secs(10),
            read_timeout: Duration::from_secs(30),
            local_urls: false,
        }
    }
}

/// Reason why a transfer ended: a remote failure, which another try may mend, or a local one.
enum TransferError {
    Remote(FetchError),
    Local(DataError),
}

impl From<FetchError> for TransferError {
    fn from(failure: FetchError) -> Self {
        Self::Remote(failure)
    }
}

impl From<DataError> for TransferError {
    fn from(error: DataError) -> Self {
        Self::Local(error)
    }
}

/// Downloads `file` to `target` from the first of its addresses that serves it whole and right.
///
/// The bytes gather in a part file beside `target`, which takes the final name only when its SHA-256 is right; until
/// then, whatever stands at `target` stays as it is. An interrupted download is continued. When another process brings
/// the file meanwhile, that one is used.
///
/// # Errors
/// [`DataError::Download`] with the failure of each address, or [`DataError::Io`].
pub fn fetch(
    file: &DataFile,
    target: &Path,
    options: &FetchOptions,
    progress: &dyn Progress,
) -> Result<FileChecksum, DataError> {
    // Where no address may be asked, nothing is written.
    let mut failures = Vec::new();
    for url in &file.urls {
        let refused = ensure_url_allowed(url, options).err();
        failures.extend(refused.map(|failure| UrlFailure { url: url.clone(), failure }));
    }
    if failures.len() == file.urls.len() {
        return Err(DataError::Download { file: file.path.clone(), failures });
    }
    let mut part = PartialDownload::open(target, &file.expected)?;
    if let Some(found) = find_complete_file(file, target)? {
        part.discard()?;
        return Ok(found);
    }
    match (Download { file, options, progress }).try_all_urls(&mut part)? {
        Ok(found) => {
            part.rename_to_target(target)?;
            Ok(found)
        }
        Err(failures) => {
            part.close_after_failure()?;
            Err(DataError::Download { file: file.path.clone(), failures })
        }
    }
}

/// The file at `target`, if it is there and right.
fn find_complete_file(file: &DataFile, target: &Path) -> Result<Option<FileChecksum>, DataError> {
    if !target.is_file() {
        return Ok(None);
    }
    Ok(Some(compute_file_checksum(target)?).filter(|found| file.expected.admits(found)))
}

struct Download<'a> {
    file: &'a DataFile,
    options: &'a FetchOptions,
    progress: &'a dyn Progress,
}

impl Download<'_> {
    /// Fills the part from the first address that can, or returns why none could.
    fn try_all_urls(&self, part: &mut PartialDownload) -> Result<Result<FileChecksum, Vec<UrlFailure>>, DataError> {
        if let Some(found) = self.find_completed_part(part)? {
            return Ok(Ok(found));
        }
        let mut failures = Vec::new();
        for url in &self.file.urls {
            match self.try_url(url, part) {
                Ok(found) => return Ok(Ok(found)),
                Err(TransferError::Local(error)) => return Err(error),
                Err(TransferError::Remote(failure)) => failures.push(UrlFailure { url: url.clone(), failure }),
            }
        }
        Ok(Err(failures))
    }

    /// The part that an earlier run completed but did not rename. One too long to go on with is cleared.
    fn find_completed_part(&self, part: &mut PartialDownload) -> Result<Option<FileChecksum>, DataError> {
        if part.resume_from() < self.file.expected.max_bytes() {
            return Ok(None);
        }
        let found = part.compute_checksum()?;
        if self.file.expected.admits(&found) {
            return Ok(Some(found));
        }
        part.clear()?;
        Ok(None)
    }

    fn try_url(&self, url: &str, part: &mut PartialDownload) -> Result<FileChecksum, TransferError> {
        let client = HttpClient::new(url, self.options)?;
        let mut tried = 1;
        loop {
            match self.try_transfer(&client, part) {
                Err(TransferError::Remote(failure)) if failure.is_transient() && tried < self.options.tries => {
                    self.wait(&failure, tried);
                    tried += 1;
                }
                end => return end,
            }
        }
    }

    /// Waits before the next try: the base delay, doubled with each try.
    fn wait(&self, failure: &FetchError, tried: u32) {
        let delay = self.options.base_delay * 2_u32.saturating_pow(tried - 1);
        let file = &self.file.path;
        let next = tried + 1;
        let tries = self.options.tries;
        self.progress.note(&format!("{file}: {failure}; attempt {next} of {tries} in {:.1} s", delay.as_secs_f64()));
        sleep(delay);
    }

    /// One try. Where going on with an earlier part leads nowhere, the part is dropped and the file asked for whole.
    fn try_transfer(&self, client: &HttpClient, part: &mut PartialDownload) -> Result<FileChecksum, TransferError> {
        let resumed = part.resume_from() > 0;
        match self.transfer(client, part) {
            Err(TransferError::Remote(failure)) if resumed && failure.may_be_stale_part() => {
                part.clear()?;
                self.transfer(client, part)
            }
            end => end,
        }
    }

    fn transfer(&self, client: &HttpClient, part: &mut PartialDownload) -> Result<FileChecksum, TransferError> {
        let start = part.resume_from();
        let answer = client.request_from_byte(start)?;
        match answer.status {
            200 => part.clear()?,
            206 if start > 0 && answer.range_start == Some(start) => {}
            206 | 416 => return Err(FetchError::RangeRefused.into()),
            status => return Err(FetchError::Status(status).into()),
        }
        let announced = answer.length.map(|length| part.bytes().saturating_add(length));
        let received = self.receive(answer, announced, part);
        self.progress.finish();
        received?;
        self.verify_part(announced, part)
    }

    /// Takes the body, as long as it stays within the bound.
    fn receive(
        &self,
        mut answer: HttpResponse,
        announced: Option<u64>,
        part: &mut PartialDownload,
    ) -> Result<(), TransferError> {
        let bound = self.file.expected.max_bytes();
        if announced.is_some_and(|bytes| bytes > bound) {
            return reject_too_large(bound, part);
        }
        self.progress.start(&self.file.path, announced);
        self.progress.advance(part.bytes());
        let mut block = vec![0; BLOCK];
        loop {
            let read = answer.read(&mut block)?;
            if read == 0 {
                return Ok(());
            }
            if part.bytes().saturating_add(read as u64) > bound {
                return reject_too_large(bound, part);
            }
            part.append(&block[..read])?;
            self.progress.advance(read as u64);
        }
    }

    /// Returns the stamp of a part that is complete and correct. Clears a part with wrong contents, and keeps one that is too short.
    fn verify_part(&self, announced: Option<u64>, part: &mut PartialDownload) -> Result<FileChecksum, TransferError> {
        let received = part.bytes();
        if let Some(expected) = announced.or_else(|| self.expected_bytes()).filter(|&bytes| received < bytes) {
            return Err(FetchError::Truncated { received, expected }.into());
        }
        let found = part.compute_checksum()?;
        let expected = self.file.expected;
        if expected.admits(&found) {
            return Ok(found);
        }
        part.clear()?;
        Err(FetchError::Mismatch { expected, found }.into())
    }

    fn expected_bytes(&self) -> Option<u64> {
        match self.file.expected {
            ExpectedContents::Known(stamp) => Some(stamp.bytes),
            ExpectedContents::Unknown { .. } => None,
        }
    }
}

fn reject_too_large(bound: u64, part: &mut PartialDownload) -> Result<(), TransferError> {
    part.clear()?;
    Err(FetchError::TooLarge(bound).into())
}

/// A partial download beside its final place.
///
/// Its name holds the first digits of the wanted digest, so that a later run may go on with it. One process at a time
/// owns it; the others wait. Where the file system knows no locks, each process has a part of its own.
struct PartialDownload {
    path: PathBuf,
    file: File,
    bytes: u64,
    resumable: bool,
    /// Held while the part is in use.
    guard: Option<(File, PathBuf)>,
    /// Deletes a part that has a name of its own.
    own: Option<TempPath>,
}

impl PartialDownload {
    /// The part for `target`; what an earlier run left of it is kept if the digest is known.
    fn open(target: &Path, expected: &ExpectedContents) -> Result<Self, DataError> {
        let folder = target.parent().unwrap_or(Path::new("."));
        create_folder(folder)?;
        let (tag, resumable) = match expected {
            ExpectedContents::Known(stamp) => (stamp.digest.short(), true),
            ExpectedContents::Unknown { .. } => ("unknown".to_owned(), false),
        };
        let lock = sibling_path(target, &format!("{tag}.lock"));
        match acquire_file_lock(&lock)? {
            Some(guard) => Self::open_shared(sibling_path(target, &format!("{tag}.part")), resumable, (guard, lock)),
            None => Self::open_private(folder),
        }
    }

    fn open_shared(path: PathBuf, resumable: bool, guard: (File, PathBuf)) -> Result<Self, DataError> {
        let file = open_part_file(&path).with_io_context(FileAction::Write, &path)?;
        let bytes = file.metadata().with_io_context(FileAction::Write, &path)?.len();
        let mut part = Self { path, file, bytes, resumable, guard: Some(guard), own: None };
        if !resumable {
            part.clear()?;
        }
        Ok(part)
    }

    fn open_private(folder: &Path) -> Result<Self, DataError> {
        let named = tempfile::Builder::new().suffix(".part").tempfile_in(folder);
        let named = named.with_io_context(FileAction::Write, folder)?;
        let (file, own) = named.into_parts();
        let (path, own) = (own.to_path_buf(), Some(own));
        Ok(Self { path, file, bytes: 0, resumable: true, guard: None, own })
    }

    /// How many bytes a download may go on from.
    fn resume_from(&self) -> u64 {
        if self.resumable { self.bytes } else { 0 }
    }

    /// How many bytes are there.
    fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Starts again from nothing.
    fn clear(&mut self) -> Result<(), DataError> {
        self.file.set_len(0).with_io_context(FileAction::Write, &self.path)?;
        self.file.rewind().with_io_context(FileAction::Write, &self.path)?;
        self.bytes = 0;
        Ok(())
    }

    /// Adds bytes at the end.
    fn append(&mut self, block: &[u8]) -> Result<(), DataError> {
        self.file.write_all(block).with_io_context(FileAction::Write, &self.path)?;
        self.bytes += block.len() as u64;
        Ok(())
    }

    /// The digest and size of what is there.
    fn compute_checksum(&self) -> Result<FileChecksum, DataError> {
        compute_file_checksum(&self.path)
    }

    /// Gives the part its final name.
    fn rename_to_target(mut self, target: &Path) -> Result<(), DataError> {
        self.file.sync_all().with_io_context(FileAction::Write, &self.path)?;
        let renamed = match self.own.take() {
            Some(own) => own.persist(target).map_err(|error| error.error),
            None => fs::rename(&self.path, target),
        };
        renamed.with_io_context(FileAction::Rename, target)?;
        self.delete_lock_file();
        Ok(())
    }

    /// Deletes the part, because the target is there already.
    fn discard(self) -> Result<(), DataError> {
        self.delete()?;
        self.delete_lock_file();
        Ok(())
    }

    /// Closes the part at the end of a failed download: what a later run can use stays. So does the empty lock file,
    /// since others may be waiting for it.
    fn close_after_failure(self) -> Result<(), DataError> {
        if self.resume_from() == 0 { self.delete() } else { Ok(()) }
    }

    fn delete(&self) -> Result<(), DataError> {
        if self.own.is_some() {
            return Ok(());
        }
        fs::remove_file(&self.path).with_io_context(FileAction::Delete, &self.path)
    }

    /// Deletes the lock file, now that the target is there: a process that waits for it finds the target and needs no part.
    /// A failure to delete does no harm.
    fn delete_lock_file(self) {
        if let Some((_held, path)) = &self.guard {
            let _ = fs::remove_file(path);
        }
    }
}

/// Opens a part to add to it. Its name can be guessed, so that a link there may be somebody's trap: what it leads to is not written
/// to, whether it was there before or came meanwhile.
fn open_part_file(path: &Path) -> io::Result<File> {
    let trap = io::Error::other("the target is a link, and dpgp does not write through links");
    if path.is_symlink() {
        return Err(trap);
    }
    let file = no_follow_options().create(true).append(true).open(path)?;
    if path.is_symlink() || has_hard_links(&file)? { Err(trap) } else { Ok(file) }
}

#[cfg(unix)]
fn has_hard_links(file: &File) -> io::Result<bool> {
    Ok(std::os::unix::fs::MetadataExt::nlink(&file.metadata()?) > 1)
}

#[cfg(not(unix))]
fn has_hard_links(_: &File) -> io::Result<bool> {
    Ok(false)
}

fn sibling_path(target: &Path, ending: &str) -> PathBuf {
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(ending);
    target.with_file_name(name)
}

/// Why one address did not give the file.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The server answered with another status than "here it is".
    #[error("the server responded with HTTP status {0}")]
    Status(u16),
    /// The server was silent for too long.
    #[error("the server did not answer in time")]
    TimedOut,
    /// The connection failed.
    #[error("the connection failed: {}", error_chain_text(&**.0))]
    Transport(Box<dyn Error + Send + Sync>),
    /// The answer ended too early.
    #[error("the response ended after {received} of {expected} bytes")]
    Truncated {
        /// Bytes that are there.
        received: u64,
        /// Bytes that should be.
        expected: u64,
    },
    /// The answer is larger than the file can be.
    #[error("the file is larger than the limit of {0} bytes")]
    TooLarge(u64),
    /// The server sends none of the file, or another part than the one asked for.
    #[error("the server did not send the requested part of the file")]
    RangeRefused,
    /// The file that came is not the right one.
    #[error("the server sent a different file\n      expected {expected}\n      found    {found}")]
    Mismatch {
        /// The file that was wanted.
        expected: ExpectedContents,
        /// The file that came.
        found: FileChecksum,
    },
    /// The address, or one that it redirects to, is not safe.
    #[error("this address, or its redirect, contains a user name or does not begin with https://")]
    Insecure,
    /// The address, or one that it redirects to, is not one of the internet.
    #[error(
        "this address, or its redirect, leads to this machine or a private network; if you trust the manifest, set DPGP_LOCAL_URLS=1"
    )]
    OwnNetwork,
}

/// The failure of one address.
#[derive(Debug)]
pub struct UrlFailure {
    /// The address.
    pub url: String,
    /// How the last try failed.
    pub failure: FetchError,
}

impl FetchError {
    /// Whether the same address may do better in a moment.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Self::Status(status) => *status >= 500 || matches!(status, 408 | 425 | 429),
            Self::TimedOut | Self::Transport(_) | Self::Truncated { .. } | Self::RangeRefused => true,
            Self::TooLarge(_) | Self::Mismatch { .. } | Self::Insecure | Self::OwnNetwork => false,
        }
    }

    /// Whether the bytes of an earlier download may be what is wrong.
    pub(super) fn may_be_stale_part(&self) -> bool {
        matches!(self, Self::RangeRefused | Self::TooLarge(_) | Self::Mismatch { .. })
    }
}

/// The failures, one to a line.
pub(super) fn list_failures(failures: &[UrlFailure]) -> String {
    let mut text = String::new();
    for UrlFailure { url, failure } in failures {
        let _ = write!(text, "\n  {url}\n    {failure}");
    }
    text
}

/// Advice for the user, other than naming a mirror.
pub(super) fn failure_advice(failures: &[UrlFailure]) -> &'static str {
    let other = |f: &UrlFailure| matches!(f.failure, FetchError::TooLarge(_) | FetchError::Mismatch { .. });
    if failures.iter().any(other) {
        "If the file has changed, update its entry in the manifest or in datasets.lock.toml"
    } else {
        "Check the network and try again"
    }
}

/// An error with its causes.
fn error_chain_text(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text
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
        let expected = ExpectedContents::Unknown { max_bytes: 9 };
        let part = sibling_path(&target, "unknown.part");
        for link in [std::os::unix::fs::symlink::<&Path, &Path>, fs::hard_link::<&Path, &Path>] {
            fs::write(&other, "mine").unwrap();
            link(&other, &part).unwrap();
            let Err(error) = PartialDownload::open(&target, &expected) else { panic!("the trap is sprung") };
            assert!(error.to_string().contains("the target is a link"), "{error}");
            assert_eq!(fs::read_to_string(&other).unwrap(), "mine");
            fs::remove_file(&part).unwrap();
        }
        std::os::unix::fs::symlink("nowhere", &part).unwrap();
        assert!(PartialDownload::open(&target, &expected).is_err() && !folder.path().join("nowhere").exists());
    }
}
