//! The shipped experiments and the names that users give them. Next to the experiments of a paper stand `coverage.toml`, its
//! coverage, and `page.toml`, the texts about each of its tables, figures and statements.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use thiserror::Error;
use toml::Table;

use super::cell::{ExperimentAxis, axis_value_label};
use dpgp_data::{read_limited_text, shipped_paths_below, shipped_text};

/// A spec file and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogueFile {
    /// The name, for example `smith2021/table1`.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// Whether the spec comes with the program. Then `path` is only a name for messages.
    pub shipped: bool,
}

impl CatalogueFile {
    /// Makes the entry of a file with a name.
    pub fn from_path(name: String, path: PathBuf) -> Self {
        Self { name, path, shipped: false }
    }

    /// The text of the spec.
    ///
    /// # Errors
    /// The I/O error, if the file cannot be read.
    pub fn text(&self) -> io::Result<String> {
        if !self.shipped {
            return read_limited_text(&self.path);
        }
        let text = self.path.to_str().and_then(shipped_text);
        text.map(str::to_owned).ok_or_else(|| io::Error::from(ErrorKind::NotFound))
    }
}

/// The specs below a folder, sorted by name.
#[derive(Debug, Clone, Default)]
pub struct SpecCatalogue {
    specs: Vec<CatalogueFile>,
    coverage: Vec<CatalogueFile>,
    pages: Vec<CatalogueFile>,
}

/// The name of the files that say which parts of a paper are checked.
const COVERAGE: &str = "coverage.toml";

/// The name of the files with the texts of the page about a paper.
const PAGE: &str = "page.toml";

/// The folder of the specs that come with the program.
const SHIPPED: &str = "experiments";

impl SpecCatalogue {
    /// All `*.toml` below `folder`; the name of each is its path without the ending. Coverage and page files are not specs.
    ///
    /// # Errors
    /// The I/O error, if a folder cannot be read.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let mut found = Self::default();
        found.add_files_below(folder, "")?;
        Ok(found.sorted())
    }

    /// The specs that come with the program, for a user who has no folder of specs.
    pub fn shipped() -> Self {
        let mut found = Self::default();
        for path in shipped_paths_below(SHIPPED) {
            let name = path.trim_start_matches(SHIPPED).trim_start_matches('/').trim_end_matches(".toml");
            found.add(CatalogueFile { name: name.to_owned(), path: path.into(), shipped: true });
        }
        found.sorted()
    }

    fn sorted(mut self) -> Self {
        self.specs.sort_by(|a, b| a.name.cmp(&b.name));
        self.coverage.sort_by(|a, b| a.path.cmp(&b.path));
        self.pages.sort_by(|a, b| a.path.cmp(&b.path));
        self
    }

    fn add(&mut self, file: CatalogueFile) {
        let of_its_kind = match file.path.file_name() {
            Some(name) if name == COVERAGE => &mut self.coverage,
            Some(name) if name == PAGE => &mut self.pages,
            _ => &mut self.specs,
        };
        of_its_kind.push(file);
    }

    /// The coverage files, sorted: each says which parts of a paper are checked.
    pub fn paper_coverage_files(&self) -> &[CatalogueFile] {
        &self.coverage
    }

    /// The page files, sorted: each has the texts of the page about a paper.
    pub fn paper_page_files(&self) -> &[CatalogueFile] {
        &self.pages
    }

    /// All specs, sorted by name.
    pub fn specs(&self) -> &[CatalogueFile] {
        &self.specs
    }

    /// The specs that `pattern` means: the one with exactly that name, or else all whose names start with
    /// `pattern` as a whole segment (`smith2021` means `smith2021/...`).
    pub fn find_by_name_or_folder(&self, pattern: &str) -> Vec<&CatalogueFile> {
        let exact: Vec<&CatalogueFile> = self.specs.iter().filter(|s| s.name == pattern).collect();
        if !exact.is_empty() {
            return exact;
        }
        let prefix = format!("{}/", pattern.trim_end_matches('/'));
        self.specs.iter().filter(|s| s.name.starts_with(&prefix)).collect()
    }

    fn add_files_below(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.to_str().is_none() {
                continue;
            }
            let name = format!("{prefix}{}", spec_name(&path));
            if path.is_dir() {
                self.add_files_below(&path, &format!("{name}/"))?;
            } else if path.extension().is_some_and(|e| e == "toml") {
                self.add(CatalogueFile::from_path(name, path));
            }
        }
        Ok(())
    }
}

/// The name of a spec: the name of its file without the ending. Without its ending, `...toml` would be `..`, and results would be
/// written to the folder above. The name of such a spec keeps the ending.
///
/// ```
/// use dpgp_spec::spec_name;
///
/// assert_eq!(spec_name("studies/mine.toml".as_ref()), "mine");
/// assert_eq!(spec_name("...toml".as_ref()), "...toml");
/// ```
pub fn spec_name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    let whole = stem.is_empty() || stem == "." || stem == "..";
    let name = if whole { path.file_name().unwrap_or_default() } else { stem };
    name.to_string_lossy().into_owned()
}

/// Every figure, table, printed number and statement about results of a paper, and what checks it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperCoverage {
    /// The paper's key, as `experiment.paper` has it.
    pub paper: String,
    /// Authors, title and year.
    pub reference: String,
    /// The title, for citations.
    #[serde(default)]
    pub title: Option<String>,
    /// The authors, each as `Family, Given`.
    #[serde(default)]
    pub authors: Vec<String>,
    /// The year.
    #[serde(default)]
    pub year: Option<u16>,
    /// The kind of work, if it is not an article.
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
    /// The issue number within the volume.
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
    /// Where the part stands, for example `Table 1` or `Section 6.2`: `source` of its numbers and `place` of its claims begin with this.
    pub place: String,
    /// What stands there.
    pub what: String,
    /// How many numbers about results are printed there, spreads included.
    #[serde(default)]
    pub numbers: usize,
    /// How many statements about results the paper makes there.
    #[serde(default)]
    pub statements: usize,
    /// The experiments that check the part.
    #[serde(default)]
    pub checked: Vec<String>,
    /// Why the part is not checked, or not completely.
    #[serde(default)]
    pub why_not: Option<String>,
}

/// A file on a paper that cannot be used.
#[derive(Debug, Error)]
#[error("{path}: {cause}")]
pub struct PaperFileError {
    /// The file.
    pub path: PathBuf,
    /// The problem.
    pub cause: String,
}

impl PaperCoverage {
    /// Reads a file.
    ///
    /// # Errors
    /// [`PaperFileError`] if the file cannot be read or is not valid.
    pub fn read(file: &CatalogueFile) -> Result<Self, PaperFileError> {
        read_toml(file)
    }
}

fn read_toml<T: DeserializeOwned>(file: &CatalogueFile) -> Result<T, PaperFileError> {
    let text = file.text().map_err(|cause| PaperFileError::new(&file.path, &cause))?;
    toml::from_str(&text).map_err(|cause| PaperFileError::new(&file.path, &cause))
}

impl PaperFileError {
    fn new(path: &Path, cause: &impl ToString) -> Self {
        Self { path: path.to_path_buf(), cause: cause.to_string().trim_end().to_owned() }
    }
}

impl PaperPart {
    /// Whether a source or a place is this part or lies inside it.
    pub fn contains_place(&self, place: &str) -> bool {
        let inside = place.strip_prefix(self.place.as_str());
        inside.is_some_and(|rest| rest.is_empty() || rest.starts_with([',', ':', ';', ' ']))
    }
}

/// What the page of a paper tells its readers, in the order and words of the paper. Counts and our own numbers come from results.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperReportPage {
    /// The paper's key, as `experiment.paper` has it.
    pub paper: String,
    /// What was found, in one sentence.
    pub sentence: String,
    /// Its tables, figures and statements.
    #[serde(rename = "row")]
    pub rows: Vec<PaperReportRow>,
    /// Errors that a reader of the paper meets, in one paragraph each.
    #[serde(default)]
    pub errors: Vec<String>,
    /// What is unavailable, in one sentence for each item.
    #[serde(default)]
    pub unavailable: Vec<String>,
}

/// A table, a figure or a statement of a paper.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PaperReportRow {
    /// Where it stands.
    pub place: String,
    /// What the paper says there, in its words and numbers.
    pub says: String,
    /// The experiment that the row links to, and whose results it is about.
    pub experiment: Option<String>,
    /// The printed numbers that decide the verdict.
    pub numbers: Vec<PrintedNumberSelector>,
    /// The tests of statements that decide the verdict.
    pub claims: Vec<ClaimSelector>,
    /// Our result, with `{name}` for each of `values`. Without this key, it is made from `numbers` and `claims`.
    pub ours: Option<String>,
    /// Our numbers that `ours` names.
    pub values: BTreeMap<String, OurNumberSelector>,
    /// A text about the data, if there is more to say than whether they are the paper's.
    pub data: Option<String>,
    /// The settings that we chose.
    pub chosen: Option<String>,
    /// What a reader must know about our result if it is the same.
    pub note: Option<String>,
    /// Why our result is different.
    pub because: Option<String>,
    /// What was tried, if nobody knows why our result is different.
    pub tried: Option<String>,
    /// Why no verdict is possible.
    pub untold: Option<String>,
}

/// Some printed numbers.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PrintedNumberSelector {
    /// The experiment, if it is not the row's.
    pub experiment: Option<String>,
    /// The metric, or `FAMILY/*`. Without this key, any metric.
    pub metric: Option<String>,
    /// Labels of axes.
    pub cells: Table,
    /// Whether to take the spreads instead of the numbers.
    pub spreads: bool,
}

/// Some tests of statements of the paper.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClaimSelector {
    /// A part of the sentence that is quoted from the paper.
    pub quote: String,
    /// A part of the statement that is tested, in our words.
    pub text: String,
}

/// A number of ours.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OurNumberSelector {
    /// The experiment, if it is not the row's.
    pub experiment: Option<String>,
    /// The metric.
    pub metric: String,
    /// Labels of axes.
    pub cells: Table,
    /// The column of the table; by default `value`.
    pub column: Option<String>,
    /// The number of decimals. Without this key, the number has four significant digits.
    pub decimals: Option<usize>,
}

impl PaperReportPage {
    /// Reads a file.
    ///
    /// # Errors
    /// [`PaperFileError`] if the file cannot be read or is not valid.
    pub fn read(file: &CatalogueFile) -> Result<Self, PaperFileError> {
        read_toml(file)
    }
}

impl PrintedNumberSelector {
    /// Whether the selector includes a metric.
    pub fn matches_metric(&self, metric: &str) -> bool {
        match self.metric.as_deref().map(|wanted| (wanted, wanted.strip_suffix('*'))) {
            None => true,
            Some((_, Some(family))) => metric.starts_with(family),
            Some((wanted, None)) => metric == wanted,
        }
    }
}

/// Whether a cell has all labels in a table. A name that is not an axis matches no cell.
pub fn cell_has_labels<'a>(
    cells: &Table,
    axes: &'a [ExperimentAxis],
    of: impl Fn(&'a ExperimentAxis) -> &'a str,
) -> bool {
    cells.iter().all(|(name, value)| {
        axes.iter().find(|axis| axis.name == *name).is_some_and(|axis| of(axis) == axis_value_label(value))
    })
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
