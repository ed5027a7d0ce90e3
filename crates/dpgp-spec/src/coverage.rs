//! Coverage of a paper: `coverage.toml` next to its experiments.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use thiserror::Error;

use super::NamedSpec;

/// Every figure, table, printed number and statement about results of a paper, and what checks it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperCoverage {
    /// The paper's key, as `experiment.paper` has it.
    pub paper: String,
    /// Authors, title and year.
    pub reference: String,
    /// The title, to cite it by.
    #[serde(default)]
    pub title: Option<String>,
    /// The authors, each as `VariationalFamily, Given`.
    #[serde(default)]
    pub authors: Vec<String>,
    /// The year.
    #[serde(default)]
    pub year: Option<u16>,
    /// What kind of work it is, if it is no article.
    #[serde(default)]
    pub note: Option<String>,
    /// Where it was published.
    #[serde(default)]
    pub published: PublishedIn,
    /// Its parts.
    #[serde(rename = "item")]
    pub items: Vec<PaperPart>,
}

/// Where a paper was published, field by field as bibliographies have it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedIn {
    /// The journal.
    pub journal: Option<String>,
    /// Its volume.
    pub volume: Option<u16>,
    /// The number in the volume.
    pub number: Option<u16>,
    /// The pages, as `1--41`.
    pub pages: Option<String>,
    /// The digital object identifier.
    pub doi: Option<String>,
    /// The identifier at arXiv.
    pub arxiv: Option<String>,
    /// The address.
    pub url: Option<String>,
}

/// A part of a paper.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperPart {
    /// Where it stands, as `source` of numbers and `place` of claims begin: `Table 1`, `Section 6.2`.
    pub place: String,
    /// What stands there.
    pub what: String,
    /// How many numbers are printed there about results, spreads included.
    #[serde(default)]
    pub numbers: usize,
    /// How many statements about results are made there.
    #[serde(default)]
    pub statements: usize,
    /// The experiments that check it.
    #[serde(default)]
    pub checked: Vec<String>,
    /// Why it is not checked, or not all of it.
    #[serde(default)]
    pub why_not: Option<String>,
}

/// A file on a paper that cannot be used.
#[derive(Debug, Error)]
#[error("{path}: {cause}")]
pub struct CoverageError {
    /// The file.
    pub path: PathBuf,
    /// The problem.
    pub cause: String,
}

impl PaperCoverage {
    /// Reads a file.
    ///
    /// # Errors
    /// [`CoverageError`] if it cannot be read, or says something else.
    pub fn read(file: &NamedSpec) -> Result<Self, CoverageError> {
        let text = file.text().map_err(|cause| CoverageError::new(&file.path, &cause))?;
        toml::from_str(&text).map_err(|cause| CoverageError::new(&file.path, &cause))
    }
}

impl CoverageError {
    pub(super) fn new(path: &Path, cause: &impl ToString) -> Self {
        Self { path: path.to_path_buf(), cause: cause.to_string().trim_end().to_owned() }
    }
}

impl PaperPart {
    /// Whether a source or a place is this part or inside it.
    pub fn contains_place(&self, place: &str) -> bool {
        let inside = place.strip_prefix(self.place.as_str());
        inside.is_some_and(|rest| rest.is_empty() || rest.starts_with([',', ':', ';', ' ']))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_whole_words() {
        let text = "paper = 'p'\nreference = 'A 2020'\n[[item]]\nplace = 'Section 6.2'\nwhat = 'x'\nstatements = 2\n";
        let coverage: PaperCoverage = toml::from_str(text).unwrap();
        let item = &coverage.items[0];
        for (place, inside) in [
            ("Section 6.2", true),
            ("Section 6.2, second paragraph", true),
            ("Section 6.21", false),
            ("Table 1", false),
        ] {
            assert_eq!(item.contains_place(place), inside, "{place}");
        }
    }
}
