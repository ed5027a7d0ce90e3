//! The manifest of all datasets with their files, digests and origins, its rules, and the JSON Schemas of
//! TOML files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::digest::{Digest, DigestParseError, FileChecksum};
use super::error::{DataError, ExpectedContents, is_hidden_char};
use super::format::DatasetFormat;
use super::http::is_safe_url;
use super::suggest::closest_name;

/// The manifest that the project ships.
const SHIPPED: &str = include_str!("../../../data/datasets.toml");

/// The most bytes that a file may have or be allowed: far beyond any table that memory holds, and a disk has room for it.
const MOST_BYTES: u64 = 16 << 30;

/// Every dataset, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetManifest {
    datasets: BTreeMap<String, Dataset>,
}

/// A dataset: a few files from one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dataset {
    /// The dataset's name in specs and on the command line.
    pub name: String,
    /// A one-line description of the dataset.
    pub title: String,
    /// The terms under which the dataset may be used.
    pub licence: String,
    /// The work to cite.
    pub citation: String,
    /// Where the data come from: a page, or an archive that holds them.
    pub source: String,
    /// What users should know about the dataset.
    pub notes: Vec<String>,
    /// The dataset's files, at least one.
    pub files: Vec<DataFile>,
}

/// One file of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFile {
    /// The file's path in the cache, in mirrors and in the data folder: relative, with `/` between names.
    pub path: String,
    /// What it must be.
    pub expected: ExpectedContents,
    /// URLs of the file, in order of preference.
    pub urls: Vec<String>,
    /// Whether the file is in the project's own data folder.
    pub bundled: bool,
    /// Its layout.
    pub format: DatasetFormat,
}

impl DatasetManifest {
    /// The manifest that the project ships.
    ///
    /// # Errors
    /// As [`DatasetManifest::parse`]; a test proves that the shipped text is valid.
    pub fn load_shipped() -> Result<Self, DataError> {
        Self::parse(SHIPPED, Path::new("data/datasets.toml"))
    }

    /// Reads and checks a manifest; `origin` is what messages call it.
    ///
    /// # Errors
    /// [`DataError::ManifestSyntax`] with the line and column, or [`DataError::ManifestEntry`].
    pub fn parse(text: &str, origin: &Path) -> Result<Self, DataError> {
        let raw: RawManifest = toml::from_str(text)
            .map_err(|source| DataError::ManifestSyntax { origin: origin.to_owned(), source: Box::new(source) })?;
        let mut paths = BTreeSet::new();
        let mut datasets = BTreeMap::new();
        for (name, entry) in raw.dataset {
            let dataset = entry.into_dataset(&name, &mut paths).map_err(|problem| DataError::ManifestEntry {
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
    /// [`DataError::UnknownDataset`], which lists the known names.
    pub fn get(&self, name: &str) -> Result<&Dataset, DataError> {
        self.datasets.get(name).ok_or_else(|| DataError::UnknownDataset {
            name: name.to_owned(),
            known: self.names().map(str::to_owned).collect(),
            suggestion: closest_name(name, self.names()).map(str::to_owned),
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

/// Every dataset that experiments read: where its files come from, and the digests that they must have.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RawManifest {
    dataset: BTreeMap<String, RawDataset>,
}

/// A few files from one source.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RawDataset {
    /// A one-line description of the dataset.
    title: String,
    /// The terms under which the dataset may be used.
    licence: String,
    /// The work to cite.
    citation: String,
    /// Where the data come from: a page, or an archive that holds them.
    source: String,
    /// What users should know about the dataset.
    #[serde(default)]
    notes: Vec<String>,
    /// The layout of all files that do not give their own.
    format: Option<DatasetFormat>,
    #[serde(default)]
    file: Vec<RawFile>,
}

/// One file. It has `bytes` if its `sha256` is known, or `max_bytes` if its `sha256` is "unknown", but not both.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RawFile {
    /// The file's path in the cache and in mirrors: relative, with `/` between names.
    path: String,
    /// The file's SHA-256 digest in hexadecimal, or "unknown".
    sha256: String,
    /// The file's size in bytes, if its digest is known.
    bytes: Option<u64>,
    /// The largest size to accept, in bytes, if the digest is unknown.
    max_bytes: Option<u64>,
    /// URLs of the file, tried in this order.
    urls: Vec<String>,
    /// Whether the file is in the project's own data folder.
    #[serde(default)]
    bundled: bool,
    /// The file's layout, if it differs from that of the dataset.
    format: Option<DatasetFormat>,
}

/// The JSON Schema of a manifest.
pub fn manifest_schema() -> serde_json::Value {
    toml_schema::<RawManifest>()
}

impl RawDataset {
    fn into_dataset(self, name: &str, paths: &mut BTreeSet<String>) -> Result<Dataset, ManifestError> {
        if self.file.is_empty() {
            return Err(ManifestError::NoFile);
        }
        let files = self.file.into_iter().map(|file| file.into_data_file(self.format.as_ref(), paths));
        let files = files.collect::<Result<_, _>>()?;
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
    fn into_data_file(
        self,
        format: Option<&DatasetFormat>,
        paths: &mut BTreeSet<String>,
    ) -> Result<DataFile, ManifestError> {
        let path = self.path.clone();
        if !is_plain_path(&path) {
            return Err(ManifestError::Path(path));
        }
        if !paths.insert(path.clone()) {
            return Err(ManifestError::RepeatedPath(path));
        }
        if let Some(url) = self.urls.iter().find(|url| !is_safe_url(url)) {
            let url = url.clone();
            return Err(ManifestError::Url { path, url });
        }
        let expected = self.expected_contents()?;
        if expected.max_bytes() > MOST_BYTES {
            return Err(ManifestError::TooLarge { path, most: MOST_BYTES >> 30 });
        }
        let Some(format) = self.format.or_else(|| format.cloned()) else {
            return Err(ManifestError::NoFormat(path));
        };
        check_csv_columns(&format, &path)?;
        let (urls, bundled) = (self.urls, self.bundled);
        Ok(DataFile { path, expected, urls, bundled, format })
    }

    fn expected_contents(&self) -> Result<ExpectedContents, ManifestError> {
        let path = self.path.clone();
        if self.sha256 == "unknown" {
            return match (self.bytes, self.max_bytes) {
                (None, Some(max_bytes)) => Ok(ExpectedContents::Unknown { max_bytes }),
                _ => Err(ManifestError::Size(path)),
            };
        }
        let digest: Digest = self
            .sha256
            .parse()
            .map_err(|_: DigestParseError| ManifestError::Digest { path: path.clone(), text: self.sha256.clone() })?;
        match (self.bytes, self.max_bytes) {
            (Some(bytes), None) => Ok(ExpectedContents::Known(FileChecksum { digest, bytes })),
            _ => Err(ManifestError::Size(path)),
        }
    }
}

fn check_csv_columns(format: &DatasetFormat, path: &str) -> Result<(), ManifestError> {
    let DatasetFormat::Csv(csv) = format else {
        return Ok(());
    };
    let path = path.to_owned();
    if !csv.header && csv.columns.is_empty() {
        return Err(ManifestError::NoColumns(path));
    }
    if let Some(column) = csv.repeated_column().map(str::to_owned) {
        return Err(ManifestError::RepeatedColumn { path, column });
    }
    match csv.unlisted_column_with_measurement_unit().map(str::to_owned) {
        Some(column) => Err(ManifestError::StrayUnit { path, column }),
        None => Ok(()),
    }
}

/// Relative, with plain names only, on every system: none that is hidden, looks like an option, or is that of a file which downloads use.
fn is_plain_path(path: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty()
            && !part.starts_with(['.', '-'])
            && !part.contains(|c: char| "\\:".contains(c) || is_hidden_char(c))
    };
    let ours = [".lock", ".guard", ".part", "datasets.lock.toml"];
    path.split('/').all(plain) && !ours.iter().any(|ending| path.ends_with(ending))
}

/// A rule of the manifest that an entry breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// No file is listed.
    #[error("it has no files; add a [[dataset.NAME.file]]")]
    NoFile,
    /// The path leaves the data folder, or is not in plain form.
    #[error(
        "path {0:?} must be relative, with \"/\" between plain names: no \"..\", no name that begins with \".\" or \"-\", and no name that is reserved for downloads"
    )]
    Path(String),
    /// Two files have the same path.
    #[error("path {0:?} is listed twice")]
    RepeatedPath(String),
    /// The digest is neither a digest nor "unknown".
    #[error("sha256 of {path:?} must be 64 hexadecimal digits or \"unknown\", not {text:?}")]
    Digest {
        /// The file.
        path: String,
        /// The text found.
        text: String,
    },
    /// `bytes` and `max_bytes` do not suit the digest.
    #[error("{0:?} needs `bytes` if its sha256 is known, or `max_bytes` if it is \"unknown\", but not both")]
    Size(String),
    /// More bytes than any dataset has.
    #[error("the size of {path:?} (`bytes` or `max_bytes`) is above {most} GiB, the limit for a dataset file")]
    TooLarge {
        /// The file.
        path: String,
        /// The most, in GiB.
        most: u64,
    },
    /// The address is no https address.
    #[error(
        "url {url:?} of {path:?} must begin with https:// (or be http:// on this machine) and contain no user name"
    )]
    Url {
        /// The file.
        path: String,
        /// The address.
        url: String,
    },
    /// The layout is given neither for the dataset nor for the file.
    #[error("{0:?} has no format; add one to the dataset or the file")]
    NoFormat(String),
    /// The layout has no header and names no columns.
    #[error("{0:?} has no header; list its columns")]
    NoColumns(String),
    /// A column is listed twice.
    #[error("column {column:?} of {path:?} is listed twice")]
    RepeatedColumn {
        /// The file.
        path: String,
        /// The column.
        column: String,
    },
    /// A unit is given for a column that is not listed.
    #[error("column {column:?} of {path:?} has a unit but is not listed")]
    StrayUnit {
        /// The file.
        path: String,
        /// The column.
        column: String,
    },
}

/// The JSON Schema of a type as it is written in TOML, which has no null.
pub fn toml_schema<T: JsonSchema>() -> Value {
    let mut schema = schemars::schema_for!(T).to_value();
    drop_null(&mut schema);
    schema
}

fn drop_null(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::Array(types)) = fields.get_mut("type") {
                types.retain(|one| one != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    fields.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(choices)) = fields.get_mut("anyOf") {
                choices.retain(|one| one.get("type").is_none_or(|kind| kind != "null"));
                if let [Value::Object(only)] = choices.as_slice() {
                    let only = only.clone();
                    fields.remove("anyOf");
                    fields.extend(only);
                }
            }
            if fields.get("default").is_some_and(Value::is_null) {
                fields.remove("default");
            }
            fields.values_mut().for_each(drop_null);
        }
        Value::Array(list) => list.iter_mut().for_each(drop_null),
        _ => {}
    }
}
