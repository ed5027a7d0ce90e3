//! Errors of data, with a way out for the user. Escapes text for terminals, pages and spreadsheets, and hides
//! the contents of files outside the folder of their spec or project, which may belong to somebody else.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::digest::FileChecksum;
use super::fetch::{UrlFailure, failure_advice, list_failures};
use super::manifest::ManifestError;
use super::rows::{is_cloud_address, strip_access_keys};
use super::table_error::TableError;
use dpgp_fs::{is_outside_folder, resolve_links};

/// Any failure of this crate.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// No dataset has this name.
    #[error("there is no dataset called {name:?}{}; the datasets are: {}", did_you_mean(suggestion.as_deref()), known.join(", "))]
    UnknownDataset {
        /// The name that was asked for.
        name: String,
        /// Every name there is, sorted.
        known: Vec<String>,
        /// The one that was probably meant.
        suggestion: Option<String>,
    },
    /// The manifest is not TOML of the right form.
    #[error("{origin} is not a valid dataset manifest: {}", plain_toml_message(source))]
    ManifestSyntax {
        /// Where the text came from.
        origin: PathBuf,
        /// The place and the cause.
        source: Box<toml::de::Error>,
    },
    /// An entry of the manifest breaks a rule.
    #[error("{origin}: dataset {dataset:?}: {problem}")]
    ManifestEntry {
        /// Where the text came from.
        origin: PathBuf,
        /// The dataset concerned.
        dataset: String,
        /// The rule that is broken.
        problem: ManifestError,
    },
    /// The lock file is not TOML of the right form.
    #[error("cannot parse the lock file {path}: {}\nRestore it, or delete it to trust the current files", plain_toml_message(source), path = path.display())]
    LockSyntax {
        /// The lock file.
        path: PathBuf,
        /// The place and the cause.
        source: Box<toml::de::Error>,
    },
    /// A file is not here, and must not be downloaded.
    #[error("{file} (dataset {dataset}) is missing: it is not in the cache {cache}{}, and downloads are off (--offline). Run `dpgp data fetch {dataset}` while online, or use --mirror DIR (or DPGP_MIRROR) with a mirror that has it", describe_mirror(mirror.as_deref()), cache = cache.display())]
    MissingOffline {
        /// The dataset.
        dataset: String,
        /// Its file.
        file: String,
        /// The cache that was looked in.
        cache: PathBuf,
        /// The mirror that was looked in, if one was named.
        mirror: Option<PathBuf>,
    },
    /// A file is not here, and no address serves it.
    #[error("{file} (dataset {dataset}) is missing and has no download address; it comes from: {origin}. Put the file at {place}, or use --mirror DIR (or DPGP_MIRROR) with a mirror that has it", place = place.display())]
    NoAddress {
        /// The dataset.
        dataset: String,
        /// Its file.
        file: String,
        /// Where the data come from, by the manifest.
        origin: String,
        /// Where the file may be put.
        place: PathBuf,
    },
    /// The mirror that was named is not a folder.
    #[error("the mirror {} is not a folder; correct --mirror or DPGP_MIRROR, or unset it to download", .0.display())]
    NoMirror(PathBuf),
    /// A file is here, but it is not the right one.
    #[error("{} is not the right file for the dataset {dataset}\n  expected {}\n  found    {}\nThe file was not changed. {}", path.display(), stamps.expected, stamps.found, stamps.advice(*place))]
    Mismatch {
        /// The dataset.
        dataset: String,
        /// The file that was found.
        path: PathBuf,
        /// Where it was found.
        place: FileLocation,
        /// Its expected contents, and those found.
        stamps: Box<ChecksumMismatch>,
    },
    /// No address gave the right file.
    #[error(
        "could not download {file}:{}\n{}, or use --mirror DIR (or DPGP_MIRROR) with a mirror that has it",
        list_failures(failures),
        failure_advice(failures)
    )]
    Download {
        /// The file, by its path in the cache.
        file: String,
        /// Why each address failed, in the order they were tried.
        failures: Vec<UrlFailure>,
    },
    /// The operating system refused to read or write.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The action that failed.
        action: FileAction,
        /// To which file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A folder or a pattern leads to no file.
    #[error("no data files found at {}: a folder must contain .parquet, .csv, .tsv, .csv.gz or .tsv.gz files; a pattern must match files (quote it, so that the shell does not expand it)", name.display())]
    NoRowFiles {
        /// As it was named.
        name: PathBuf,
    },
    /// A pattern cannot be understood.
    #[error("{} is not a valid file pattern: {problem}; `*`, `?` and `[a-z]` match parts of a name, and `**` matches folders", name.display())]
    BadPattern {
        /// As it was named.
        name: PathBuf,
        /// The problem.
        problem: &'static str,
    },
    /// An address that cannot be read.
    #[error("cannot read {}: {problem}", name.display())]
    Address {
        /// The address, without what may give access to it.
        name: PathBuf,
        /// Why.
        problem: &'static str,
    },
    /// Two part files are the same, or have more rows in common than chance would explain.
    #[error(
        "{} and {} hold the same rows, or share more rows than chance would explain; remove one of them. A copy stays a \
         copy if its folder differs, or a column such as the date of export that the spec does not read. Different records \
         that look alike, such as dry days, belong in one file",
        first.display(), second.display()
    )]
    SameRows {
        /// One file.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    /// A table cannot be read, or does not hold what was asked of it.
    #[error("{}: {problem}", file.display())]
    Table {
        /// The file that holds the table.
        file: PathBuf,
        /// The problem.
        problem: Box<TableError>,
    },
}

impl DataError {
    /// The exit code of the command: 2 usage, 3 data missing or not the right ones, 5 input and output.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::UnknownDataset { .. }
            | Self::ManifestSyntax { .. }
            | Self::ManifestEntry { .. }
            | Self::BadPattern { .. }
            | Self::Address { .. }
            | Self::SameRows { .. }
            | Self::Table { .. } => 2,
            Self::MissingOffline { .. }
            | Self::NoAddress { .. }
            | Self::NoMirror { .. }
            | Self::NoRowFiles { .. }
            | Self::Mismatch { .. }
            | Self::Download { .. } => 3,
            Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => 3,
            Self::LockSyntax { .. } | Self::Io { .. } => 5,
        }
    }

    /// Whether data are missing or not the right ones (exit code 3).
    #[must_use]
    pub fn is_missing_or_mismatch(&self) -> bool {
        self.exit_code() == 3
    }

    /// The error for an invalid manifest that is reached by a link from another folder. Its contents are not shown.
    pub fn linked_manifest_error(path: &Path) -> Self {
        let why =
            "not a valid dataset manifest (details are hidden: the file is reached by a link from another folder)";
        Self::Io {
            action: FileAction::Read,
            path: path.to_owned(),
            source: io::Error::new(io::ErrorKind::InvalidData, why),
        }
    }

    /// An error in a table.
    pub fn from_table_error(file: &Path, problem: TableError) -> Self {
        let problem = if has_withheld_contents(file) { problem.without_contents() } else { problem };
        let (file, problem) = (file.to_owned(), Box::new(problem));
        Self::Table { file, problem }
    }
}

/// Adds the action and the file to errors of the operating system.
pub(super) trait IoErrorContext<T> {
    /// [`DataError::Io`] if the system refused.
    fn with_io_context(self, action: FileAction, path: &Path) -> Result<T, DataError>;
}

impl<T> IoErrorContext<T> for io::Result<T> {
    fn with_io_context(self, action: FileAction, path: &Path) -> Result<T, DataError> {
        self.map_err(|source| DataError::Io { action, path: path.to_owned(), source })
    }
}

/// Expected contents of a file, and those found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChecksumMismatch {
    /// Contents required by the manifest or the lock file.
    pub expected: ExpectedContents,
    /// Contents found.
    pub found: FileChecksum,
    /// The lock file, if it is what asks.
    pub lock: Option<PathBuf>,
}

impl ChecksumMismatch {
    fn advice(&self, place: FileLocation) -> String {
        let Some(lock) = &self.lock else { return place.advice().to_owned() };
        let lock = lock.display();
        format!("{lock} holds the digest of the first copy. To trust this copy, delete the entry there.")
    }
}

/// Action on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileAction {
    /// Read it.
    Read,
    /// Write it.
    Write,
    /// Create the folder.
    CreateFolder,
    /// Give it its final name.
    Rename,
    /// Delete it.
    Delete,
    /// Wait for another process to finish with it.
    Lock,
}

impl fmt::Display for FileAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::CreateFolder => "create the folder",
            Self::Rename => "write the final file",
            Self::Delete => "delete",
            Self::Lock => "lock",
        })
    }
}

/// Where a file was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileLocation {
    /// In the project's own data folder.
    Bundled,
    /// In the cache of downloads.
    Cache,
    /// In the mirror.
    Mirror,
}

impl FileLocation {
    fn advice(self) -> &'static str {
        match self {
            Self::Bundled => "Restore it from the project's repository.",
            Self::Cache => "Move it away and run `dpgp data fetch` to download the right file.",
            Self::Mirror => "Correct the mirror, or unset it to download the file.",
        }
    }
}

/// ` (did you mean "x"?)`, or nothing.
pub(super) fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |name| format!(" (did you mean {name:?}?)"))
}

/// A message of the TOML parser without the names of Rust's types.
fn plain_toml_message(error: &toml::de::Error) -> String {
    error.to_string().trim_end().replace("expected u64", "expected a non-negative integer")
}

fn describe_mirror(mirror: Option<&Path>) -> String {
    match mirror {
        Some(mirror) => format!(" or the mirror {}", mirror.display()),
        None => ", no mirror is set".to_owned(),
    }
}

/// Facts about a file before it is fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedContents {
    /// Its digest and its size.
    Known(FileChecksum),
    /// Nobody has published a digest; the file may have at most so many bytes.
    Unknown {
        /// The bound on the size.
        max_bytes: u64,
    },
}

impl ExpectedContents {
    /// The most bytes that the file may have.
    #[must_use]
    pub fn max_bytes(&self) -> u64 {
        match self {
            Self::Known(stamp) => stamp.bytes,
            Self::Unknown { max_bytes } => *max_bytes,
        }
    }

    /// Whether a file with this stamp may be the one.
    #[must_use]
    pub fn admits(&self, found: &FileChecksum) -> bool {
        match self {
            Self::Known(stamp) => stamp == found,
            Self::Unknown { max_bytes } => found.bytes <= *max_bytes,
        }
    }

    /// Whether a file of this size may be the one.
    #[must_use]
    pub fn admits_size(&self, bytes: u64) -> bool {
        match self {
            Self::Known(stamp) => stamp.bytes == bytes,
            Self::Unknown { max_bytes } => bytes <= *max_bytes,
        }
    }
}

impl fmt::Display for ExpectedContents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(stamp) => stamp.fmt(f),
            Self::Unknown { max_bytes } => write!(f, "any SHA-256 (at most {max_bytes} bytes)"),
        }
    }
}

/// A message of several lines, with every invisible character escaped except line ends and tabs.
///
/// ```
/// use dpgp_data::{escape_hidden_line, escape_hidden_text};
///
/// assert_eq!(escape_hidden_text("a\u{1b}[2J\nb"), "a\\u{1b}[2J\nb");
/// assert_eq!(escape_hidden_line("a\nb"), "a\\nb");
/// ```
pub fn escape_hidden_text(text: &str) -> Cow<'_, str> {
    escape_chars(text, |c| is_hidden_char(c) && c != '\n' && c != '\t')
}

/// A name, which has one line.
pub fn escape_hidden_line(text: &str) -> Cow<'_, str> {
    escape_chars(text, is_hidden_char)
}

/// Text as a CSV cell. Text that a spreadsheet would read as a formula gets a leading apostrophe. Numbers stay as they are.
///
/// ```
/// use dpgp_data::escape_csv_formula;
///
/// assert_eq!(escape_csv_formula("=1+1"), "'=1+1");
/// assert_eq!(escape_csv_formula("\u{ff1d}1+1"), "'\u{ff1d}1+1");
/// assert_eq!(escape_csv_formula("-1.5"), "-1.5");
/// ```
pub fn escape_csv_formula(text: &str) -> Cow<'_, str> {
    // Spreadsheets in East Asian settings take the wide forms of these signs for the narrow ones.
    let signs = ['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];
    let is_formula = text.starts_with(signs) && text.parse::<f64>().is_err();
    if is_formula { format!("'{}", escape_hidden_line(text)).into() } else { escape_hidden_line(text) }
}

fn escape_chars(text: &str, is_spelled: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_spelled) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_spelled(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown.into()
}

/// Control characters, Unicode line ends and direction marks, and characters that XML does not allow.
pub fn is_hidden_char(c: char) -> bool {
    let turns = matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns || matches!(c, '\u{fffe}' | '\u{ffff}')
}

static WITHHELD: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Hides the contents of a file in all later errors of this process. Returns whether they were shown until now.
fn withhold_contents(file: &Path) -> bool {
    WITHHELD.lock().unwrap_or_else(PoisonError::into_inner).insert(file.to_path_buf())
}

/// Whether errors hide the contents of a file.
fn has_withheld_contents(file: &Path) -> bool {
    WITHHELD.lock().unwrap_or_else(PoisonError::into_inner).contains(file)
}

/// Says on standard error that a file is read which is outside of a folder, that of a spec or a project; once in a process. From here on
/// no error shows what stands in it, only what is wrong and where. Addresses are outside of every folder.
pub fn report_outside_file(file: &Path, folder: &Path, of: &str) {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    if !is_cloud_address(file) && !is_outside_folder(folder, file) || !withhold_contents(file) {
        return;
    }
    let place = if is_cloud_address(file) { strip_access_keys(file) } else { resolve_links(file) };
    let place = place.to_string_lossy();
    let place = escape_hidden_line(&place);
    let _ = writeln!(std::io::stderr().lock(), "reading {place} (outside the folder of the {of})");
}
