//! The text of a spec, and where in it each key stands.

use std::path::{Path, PathBuf};

use serde_path_to_error::Segment;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Problem, SpecError};

/// A spec's text with its file name and the place of every key.
#[derive(Debug, Clone)]
pub struct SourceText {
    file: PathBuf,
    text: String,
    places: Vec<(Vec<String>, usize)>,
    /// The places whose value is NaN.
    unfilled: Vec<(Vec<String>, usize)>,
    /// Whether the `[quick]` table is laid over the text.
    quick: bool,
}

impl SourceText {
    /// Parses the text as TOML.
    ///
    /// # Errors
    /// [`SpecError`] with line and column if the text is not TOML.
    pub fn new(file: &Path, text: String) -> Result<Self, SpecError> {
        let (file, places, unfilled) = (file.to_path_buf(), Vec::new(), Vec::new());
        let mut source = Self { file, text, places, unfilled, quick: false };
        let mut walk = Walk::default();
        match DeTable::parse(&source.text) {
            Ok(table) => walk.table(table.get_ref()),
            Err(error) => return Err(source.toml_error(&error)),
        }
        (source.places, source.unfilled) = (walk.places, walk.unfilled);
        Ok(source)
    }

    /// The same text with its `[quick]` table laid over it: errors point there first.
    pub(super) fn with_quick(&self) -> Self {
        Self { quick: true, ..self.clone() }
    }

    /// The file, as the user named it.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// An error of the TOML parser or of serde, at its own span.
    pub fn toml_error(&self, error: &toml::de::Error) -> SpecError {
        let offset = error.span().map(|span| span.start);
        let path = offset.and_then(|at| self.path_at(at)).unwrap_or_default();
        self.error_at(offset, path, Problem::Shape(plain(error.message())))
    }

    /// An error at a key path; if the path is not in the text, at its nearest ancestor that is.
    pub fn error(&self, path: &[&str], problem: Problem) -> SpecError {
        let quick = [&["quick"], path].concat();
        for length in (1..=path.len()).rev() {
            if let Some(offset) = self.place(&quick[..=length]).filter(|_| self.quick) {
                return self.error_at(Some(offset), quick.join("."), problem);
            }
            if let Some(offset) = self.place(&path[..length]) {
                return self.error_at(Some(offset), path.join("."), problem);
            }
        }
        self.error_at(None, path.join("."), problem)
    }

    /// The key paths that there are.
    pub(super) fn paths(&self) -> impl Iterator<Item = &[String]> + Clone {
        self.places.iter().map(|(path, _)| path.as_slice())
    }

    /// Where a key path stands, as a byte offset.
    pub(super) fn place(&self, path: &[&str]) -> Option<usize> {
        self.places.iter().find(|(known, _)| known == path).map(|(_, at)| *at)
    }

    /// The key at an offset, or the last one before it. The offset of a table is that of its brackets.
    fn path_at(&self, offset: usize) -> Option<String> {
        let (before, after) = self.text.split_at_checked(offset)?;
        let brackets = after.len() - after.trim_start_matches('[').len();
        let offset = if before.is_empty() || before.ends_with('\n') { offset + brackets } else { offset };
        let before = self.places.iter().filter(|(_, at)| *at <= offset);
        before.max_by_key(|(_, at)| *at).map(|(path, _)| path.join("."))
    }

    /// What else is to be filled in, but for what stands in a line: its line and its key path.
    fn other_unfilled(&self, line: usize) -> Vec<(usize, String)> {
        let lines = self.unfilled.iter().map(|(path, at)| (self.line_of(*at), path.join(".")));
        lines.filter(|(other, _)| *other != line).collect()
    }

    /// The line of an offset, from 1.
    fn line_of(&self, offset: usize) -> usize {
        self.text[..offset.min(self.text.len())].matches('\n').count() + 1
    }

    fn error_at(&self, offset: Option<usize>, path: String, problem: Problem) -> SpecError {
        let before = &self.text[..offset.unwrap_or(0).min(self.text.len())];
        let line = self.line_of(before.len());
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let unfilled = if problem.is_unfilled() { self.other_unfilled(line) } else { Vec::new() };
        SpecError {
            unfilled,
            file: self.file.clone(),
            line,
            column: before[start..].chars().count() + 1,
            path,
            snippet: self.text[start..].lines().next().unwrap_or_default().to_owned(),
            problem: Box::new(problem),
        }
    }
}

/// A message of serde without the names of Rust's types.
pub(super) fn plain(message: &str) -> String {
    let words = [
        ("expected usize", "expected a whole number of at least 0"),
        ("expected u32", "expected a whole number of at least 0"),
        ("expected f64", "expected a number"),
    ];
    let text = words.iter().fold(message.to_owned(), |text, (rust, words)| text.replace(rust, words));
    match text.split_once("expected struct ") {
        Some((before, _)) => format!("{before}expected a table"),
        None => text,
    }
}

/// The keys and indices on the way to an error of serde.
pub(super) fn keys(path: &serde_path_to_error::Path) -> impl Iterator<Item = String> {
    path.iter().filter_map(|segment| match segment {
        Segment::Unknown => None,
        Segment::Seq { index } => Some(index.to_string()),
        other => Some(other.to_string()),
    })
}

/// Collects where keys and elements stand.
#[derive(Default)]
struct Walk {
    path: Vec<String>,
    places: Vec<(Vec<String>, usize)>,
    unfilled: Vec<(Vec<String>, usize)>,
}

impl Walk {
    fn table(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            self.step(key.get_ref().to_string(), key.span().start, value);
        }
    }

    fn step(&mut self, key: String, at: usize, value: &Spanned<DeValue<'_>>) {
        self.path.push(key);
        self.places.push((self.path.clone(), at));
        match value.get_ref() {
            DeValue::Table(table) => self.table(table),
            DeValue::Array(array) => {
                for (i, element) in array.iter().enumerate() {
                    self.step(i.to_string(), element.span().start, element);
                }
            }
            DeValue::Float(float) if float.as_str().contains("nan") => {
                self.unfilled.push((self.path.clone(), value.span().start));
            }
            _ => {}
        }
        self.path.pop();
    }
}
