//! The shipped experiments and the names that users give them.

use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

use dpgp_data::{read_limited_text, shipped_paths_below, shipped_text};

/// A spec file and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedSpec {
    /// The name, for example `smith2021/table1`.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// Whether it comes with the program, and `path` is only what messages call it.
    pub shipped: bool,
}

impl NamedSpec {
    /// A file with a name.
    pub fn file(name: String, path: PathBuf) -> Self {
        Self { name, path, shipped: false }
    }

    /// The text of the spec.
    ///
    /// # Errors
    /// The I/O error of a file that cannot be read.
    pub fn text(&self) -> Result<String> {
        if !self.shipped {
            return read_limited_text(&self.path);
        }
        let text = self.path.to_str().and_then(shipped_text);
        text.map(str::to_owned).ok_or_else(|| Error::from(ErrorKind::NotFound))
    }
}

/// The specs below a folder, sorted by name.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    specs: Vec<NamedSpec>,
    coverage: Vec<NamedSpec>,
    pages: Vec<NamedSpec>,
}

/// The name of files that say what of a paper is checked.
const COVERAGE: &str = "coverage.toml";

/// The name of files with the words about a paper.
const PAGE: &str = "page.toml";

/// The folder of the specs that come with the program.
const SHIPPED: &str = "experiments";

impl Catalogue {
    /// All `*.toml` below `folder`; the name of each is its path without the ending. Files of coverage and pages are no specs.
    ///
    /// # Errors
    /// The I/O error of a folder that cannot be read.
    pub fn read(folder: &Path) -> Result<Self> {
        let mut found = Self::default();
        found.collect(folder, "")?;
        Ok(found.sorted())
    }

    /// The specs that come with the program, for a user who has no folder of specs.
    pub fn shipped() -> Self {
        let mut found = Self::default();
        for path in shipped_paths_below(SHIPPED) {
            let name = path.trim_start_matches(SHIPPED).trim_start_matches('/').trim_end_matches(".toml");
            found.add(NamedSpec { name: name.to_owned(), path: path.into(), shipped: true });
        }
        found.sorted()
    }

    fn sorted(mut self) -> Self {
        self.specs.sort_by(|a, b| a.name.cmp(&b.name));
        self.coverage.sort_by(|a, b| a.path.cmp(&b.path));
        self.pages.sort_by(|a, b| a.path.cmp(&b.path));
        self
    }

    fn add(&mut self, file: NamedSpec) {
        let of_its_kind = match file.path.file_name() {
            Some(name) if name == COVERAGE => &mut self.coverage,
            Some(name) if name == PAGE => &mut self.pages,
            _ => &mut self.specs,
        };
        of_its_kind.push(file);
    }

    /// The files that say what of each paper is checked, sorted.
    pub fn coverage_files(&self) -> &[NamedSpec] {
        &self.coverage
    }

    /// The files with the words about each paper, sorted.
    pub fn page_files(&self) -> &[NamedSpec] {
        &self.pages
    }

    /// All specs, sorted by name.
    pub fn specs(&self) -> &[NamedSpec] {
        &self.specs
    }

    /// The specs that `pattern` means: one of that exact name, else all whose name starts with the whole
    /// segment (`smith2021` means `smith2021/...`).
    pub fn find(&self, pattern: &str) -> Vec<&NamedSpec> {
        let exact: Vec<&NamedSpec> = self.specs.iter().filter(|s| s.name == pattern).collect();
        if !exact.is_empty() {
            return exact;
        }
        let prefix = format!("{}/", pattern.trim_end_matches('/'));
        self.specs.iter().filter(|s| s.name.starts_with(&prefix)).collect()
    }

    fn collect(&mut self, folder: &Path, prefix: &str) -> Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.to_str().is_none() {
                continue;
            }
            let name = format!("{prefix}{}", spec_name(&path));
            if path.is_dir() {
                self.collect(&path, &format!("{name}/"))?;
            } else if path.extension().is_some_and(|e| e == "toml") {
                self.add(NamedSpec::file(name, path));
            }
        }
        Ok(())
    }
}

/// The name of a spec: that of its file without its ending. What is left of `...toml` would mean the folder above, where results of
/// this name would be written; such a file is named with its ending.
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
