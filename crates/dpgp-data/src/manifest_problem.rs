//! The rules of the manifest.

/// A rule of the manifest that an entry breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestProblem {
    /// No file is listed.
    #[error("it has no file: add a [[dataset.NAME.file]]")]
    NoFile,
    /// The path leaves the data folder, or is not in plain form.
    #[error(
        "path {0:?} must be relative, with \"/\" between plain names: no \"..\", none that begins with \".\" or \"-\", and none of the files that downloads use"
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
        /// What stands there.
        text: String,
    },
    /// `bytes` and `max_bytes` do not suit the digest.
    #[error("{0:?} needs `bytes` when its sha256 is known, `max_bytes` when it is \"unknown\", and not both")]
    Size(String),
    /// More bytes than any dataset has.
    #[error(
        "the size of {path:?} (`bytes` or `max_bytes`) is above {most} GiB, the most that a file of a dataset may have"
    )]
    TooLarge {
        /// The file.
        path: String,
        /// The most, in GiB.
        most: u64,
    },
    /// The address is no https address.
    #[error(
        "url {url:?} of {path:?} must begin with https:// (or be http:// on this machine) and name no user"
    )]
    Url {
        /// The file.
        path: String,
        /// The address.
        url: String,
    },
    /// The layout is given neither for the dataset nor for the file.
    #[error("{0:?} has no format: give one to the dataset or to the file")]
    NoFormat(String),
    /// The layout has no header and names no columns.
    #[error("{0:?} has no header, so its columns must be listed")]
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
    #[error("a unit is given for the column {column:?} of {path:?}, which is not listed")]
    StrayUnit {
        /// The file.
        path: String,
        /// The column.
        column: String,
    },
}
