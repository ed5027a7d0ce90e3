//! The manifest: every dataset there is, with its files, their digests and their origin.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use serde::Deserialize;

use super::digest::{Digest, NotADigest, Stamp};
use super::error::DataError;
use super::format::Format;
use super::suggest::closest;

/// The manifest that the project ships.
const SHIPPED: &str = include_str!("../../data/datasets.toml");

/// Every dataset, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    datasets: BTreeMap<String, Dataset>,
}

/// A dataset: a few files of one origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dataset {
    /// Its name, as specs and the command line use it.
    pub name: String,
    /// What it is, in a line.
    pub title: String,
    /// Under what terms it may be used.
    pub licence: String,
    /// Whom to cite.
    pub citation: String,
    /// Where the data come from: a page, or an archive that holds them.
    pub source: String,
    /// What a user should know of it.
    pub notes: Vec<String>,
    /// Its files; at least one.
    pub files: Vec<DataFile>,
}

/// One file of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFile {
    /// Its place in the cache, in a mirror, or in the data folder: relative, with `/`.
    pub path: String,
    /// What it must be.
    pub expected: Expected,
    /// Where it can be had, in order of preference.
    pub urls: Vec<String>,
    /// Whether it stands in the project's own data folder.
    pub bundled: bool,
    /// Its layout.
    pub format: Format,
}

/// What is known of a file before it is here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Its digest and its size.
    Known(Stamp),
    /// Nobody has published a digest; the file may have at most so many bytes.
    Unknown {
        /// The bound on the size.
        max_bytes: u64,
    },
}

impl Expected {
    /// The most bytes that the file may have.
    #[must_use]
    pub fn bound(&self) -> u64 {
        match self {
            Self::Known(stamp) => stamp.bytes,
            Self::Unknown { max_bytes } => *max_bytes,
        }
    }

    /// Whether a file with this stamp may be the one.
    #[must_use]
    pub fn admits(&self, found: &Stamp) -> bool {
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

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(stamp) => stamp.fmt(f),
            Self::Unknown { max_bytes } => write!(f, "any SHA-256 (at most {max_bytes} bytes)"),
        }
    }
}

/// A rule of the manifest that an entry breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestProblem {
    /// No file is listed.
    #[error("it has no file: add a [[dataset.NAME.file]]")]
    NoFile,
    /// The path leaves the data folder, or is not in plain form.
    #[error("path {path:?} must be relative, with \"/\" between plain names and no \"..\"")]
    Path {
        /// The path.
        path: String,
    },
    /// Two files have the same path.
    #[error("path {path:?} is listed twice")]
    RepeatedPath {
        /// The path.
        path: String,
    },
    /// The digest is neither a digest nor "unknown".
    #[error("sha256 of {path:?} must be 64 hexadecimal digits or \"unknown\", not {text:?}")]
    Digest {
        /// The file.
        path: String,
        /// What stands there.
        text: String,
    },
    /// `bytes` and `max_bytes` do not suit the digest.
    #[error("{path:?} needs `bytes` when its sha256 is known, `max_bytes` when it is \"unknown\", and not both")]
    Size {
        /// The file.
        path: String,
    },
    /// The address is no https address.
    #[error("url {url:?} of {path:?} must begin with https:// (or be http:// on this machine)")]
    Url {
        /// The file.
        path: String,
        /// The address.
        url: String,
    },
    /// The layout is given neither for the dataset nor for the file.
    #[error("{path:?} has no format: give one to the dataset or to the file")]
    NoFormat {
        /// The file.
        path: String,
    },
    /// The layout has no header and names no columns.
    #[error("{path:?} has no header, so its columns must be listed")]
    NoColumns {
        /// The file.
        path: String,
    },
    /// A column is listed twice.
    #[error("column {column:?} of {path:?} is listed twice")]
    RepeatedColumn {
        /// The file.
        path: String,
        /// The column.
        column: String,
    },
    /// A unit is given for a column that is not listed.
    #[error("a unit is given for the column {column:?} of {path:?}, which is not listed")]
    StrayUnit {
        /// The file.
        path: String,
        /// The column.
        column: String,
    },
}

impl Manifest {
    /// The manifest that the project ships.
    ///
    /// # Errors
    /// As [`Manifest::parse`]; a test proves that the shipped text is valid.
    pub fn shipped() -> Result<Self, DataError> {
        Self::parse(SHIPPED, Path::new("data/datasets.toml"))
    }

    /// Reads and checks a manifest; `origin` is what messages call it.
    ///
    /// # Errors
    /// [`DataError::ManifestSyntax`] with line and column, or [`DataError::ManifestEntry`].
    pub fn parse(text: &str, origin: &Path) -> Result<Self, DataError> {
        let raw: RawManifest = toml::from_str(text).map_err(|source| DataError::ManifestSyntax {
            origin: origin.to_owned(),
            source: Box::new(source),
        })?;
        let mut paths = BTreeSet::new();
        let mut datasets = BTreeMap::new();
        for (name, entry) in raw.dataset {
            let dataset = entry.check(&name, &mut paths).map_err(|problem| DataError::ManifestEntry {
                origin: origin.to_owned(),
                dataset: name.clone(),
                problem,
            })?;
            datasets.insert(name, dataset);
        }
        Ok(Self { datasets })
    }

    /// The dataset of this name.
    ///
    /// # Errors
    /// [`DataError::UnknownDataset`], which lists the names there are.
    pub fn get(&self, name: &str) -> Result<&Dataset, DataError> {
        self.datasets.get(name).ok_or_else(|| DataError::UnknownDataset {
            name: name.to_owned(),
            known: self.names().map(str::to_owned).collect(),
            suggestion: closest(name, self.names()).map(str::to_owned),
        })
    }

    /// Every name, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.datasets.keys().map(String::as_str)
    }

    /// Every dataset, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &Dataset> {
        self.datasets.values()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawManifest {
    dataset: BTreeMap<String, RawDataset>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDataset {
    title: String,
    licence: String,
    citation: String,
    source: String,
    #[serde(default)]
    notes: Vec<String>,
    format: Option<Format>,
    #[serde(default)]
    file: Vec<RawFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    path: String,
    sha256: String,
    bytes: Option<u64>,
    max_bytes: Option<u64>,
    urls: Vec<String>,
    #[serde(default)]
    bundled: bool,
    format: Option<Format>,
}

impl RawDataset {
    fn check(self, name: &str, paths: &mut BTreeSet<String>) -> Result<Dataset, ManifestProblem> {
        if self.file.is_empty() {
            return Err(ManifestProblem::NoFile);
        }
        let check = |file: RawFile| file.check(self.format.as_ref(), paths);
        let files = self.file.into_iter().map(check).collect::<Result<_, _>>()?;
        Ok(Dataset {
            name: name.to_owned(),
            title: self.title,
            licence: self.licence,
            citation: self.citation,
            source: self.source,
            notes: self.notes,
            files,
        })
    }
}

impl RawFile {
    fn check(self, format: Option<&Format>, paths: &mut BTreeSet<String>) -> Result<DataFile, ManifestProblem> {
        let path = self.path.clone();
        if !plain_path(&path) {
            return Err(ManifestProblem::Path { path });
        }
        if !paths.insert(path.clone()) {
            return Err(ManifestProblem::RepeatedPath { path });
        }
        if let Some(url) = self.urls.iter().find(|url| !safe_url(url)) {
            let url = url.clone();
            return Err(ManifestProblem::Url { path, url });
        }
        let expected = self.expected()?;
        let Some(format) = self.format.or_else(|| format.cloned()) else {
            return Err(ManifestProblem::NoFormat { path });
        };
        check_format(&format, &path)?;
        let (urls, bundled) = (self.urls, self.bundled);
        Ok(DataFile { path, expected, urls, bundled, format })
    }

    fn expected(&self) -> Result<Expected, ManifestProblem> {
        let path = self.path.clone();
        if self.sha256 == "unknown" {
            return match (self.bytes, self.max_bytes) {
                (None, Some(max_bytes)) => Ok(Expected::Unknown { max_bytes }),
                _ => Err(ManifestProblem::Size { path }),
            };
        }
        let digest: Digest = self.sha256.parse().map_err(|_: NotADigest| ManifestProblem::Digest {
            path: path.clone(),
            text: self.sha256.clone(),
        })?;
        match (self.bytes, self.max_bytes) {
            (Some(bytes), None) => Ok(Expected::Known(Stamp { digest, bytes })),
            _ => Err(ManifestProblem::Size { path }),
        }
    }
}

fn check_format(format: &Format, path: &str) -> Result<(), ManifestProblem> {
    let Format::Csv(csv) = format else {
        return Ok(());
    };
    let path = path.to_owned();
    if !csv.header && csv.columns.is_empty() {
        return Err(ManifestProblem::NoColumns { path });
    }
    if let Some(column) = csv.repeated_column().map(str::to_owned) {
        return Err(ManifestProblem::RepeatedColumn { path, column });
    }
    match csv.stray_unit().map(str::to_owned) {
        Some(column) => Err(ManifestProblem::StrayUnit { path, column }),
        None => Ok(()),
    }
}

/// Relative, with plain names only, on every system.
fn plain_path(path: &str) -> bool {
    let plain = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains(['\\', ':', '\0']);
    path.split('/').all(plain)
}

/// `https`, or `http` to this machine.
pub(super) fn safe_url(url: &str) -> bool {
    if url.starts_with("https://") {
        return true;
    }
    let Some(rest) = url.strip_prefix("http://") else {
        return false;
    };
    let host = rest.split('/').next().unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    matches!(name, "127.0.0.1" | "localhost" | "[::1]")
}
