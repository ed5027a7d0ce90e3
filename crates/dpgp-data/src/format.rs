//! How the files of a dataset are laid out.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Deserialize;

/// The layout of a file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Format {
    /// Rows of cells as text.
    Csv(CsvFormat),
    /// One array in the IDX format of the MNIST files, compressed with gzip.
    IdxGz,
    /// A zip archive, kept as it is.
    Zip,
}

/// How to read rows of cells. The default is a comma-separated file with a header.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CsvFormat {
    /// What stands between two cells.
    #[schemars(with = "String")]
    pub separator: Separator,
    /// Whether the first line names the columns. Without a header, `columns` must.
    pub header: bool,
    /// The names of the columns. With a header they must agree with it; empty takes them from the header.
    pub columns: Vec<String>,
    /// Lines that start with this are not data.
    pub comment: Option<String>,
    /// Lines to drop before the header or the first row, comments and blank lines apart.
    pub skip: usize,
    /// What each column measures, for people to read.
    pub units: BTreeMap<String, String>,
}

impl Default for CsvFormat {
    fn default() -> Self {
        Self {
            separator: Separator::Byte(b','),
            header: true,
            columns: Vec::new(),
            comment: None,
            skip: 0,
            units: BTreeMap::new(),
        }
    }
}

/// What stands between two cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Separator {
    /// One character, such as `,`, `;` or a tab. A separator inside double quotes is part of its cell.
    Byte(u8),
    /// Any run of blanks and tabs; quotes have no meaning.
    Whitespace,
}

/// The text is no separator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "separator {0:?} is not allowed: use {one}, or \"whitespace\"", one = Separator::ONE
)]
pub struct BadSeparator(String);

impl Separator {
    /// What one character must be to stand between cells.
    pub const ONE: &str =
        "a comma, a semicolon, a tab, a blank, or another ASCII character that stands in no number or word";

    /// Whether a character may stand between cells: it must not cut what is one cell, a number or a word, in two.
    pub fn may_be(found: char) -> bool {
        let parts = found.is_ascii_punctuation() && !"\".+-_".contains(found);
        // Hive parts columns by the first of the control characters.
        parts || found == ' ' || (found.is_ascii_control() && !"\n\r".contains(found))
    }
}

impl TryFrom<String> for Separator {
    type Error = BadSeparator;

    fn try_from(text: String) -> Result<Self, BadSeparator> {
        match text.as_bytes() {
            b"whitespace" => Ok(Self::Whitespace),
            [byte] if Self::may_be(char::from(*byte)) => Ok(Self::Byte(*byte)),
            _ => Err(BadSeparator(text)),
        }
    }
}

impl CsvFormat {
    /// The first name that stands twice among the columns.
    #[must_use]
    pub fn repeated_column(&self) -> Option<&str> {
        repeated(&self.columns)
    }

    /// The first unit whose column is not listed.
    #[must_use]
    pub fn stray_unit(&self) -> Option<&str> {
        self.units.keys().find(|name| !self.columns.contains(name)).map(String::as_str)
    }
}

/// The first name that an earlier one equals.
pub(super) fn repeated(names: &[String]) -> Option<&str> {
    let mut seen = BTreeSet::new();
    names.iter().find(|name| !seen.insert(*name)).map(String::as_str)
}
