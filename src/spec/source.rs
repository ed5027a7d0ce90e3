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
    /// Whether the `[quick]` table is laid over the text.
    quick: bool,
}

impl SourceText {
    /// Parses the text as TOML.
    ///
    /// # Errors
    /// [`SpecError`] with line and column if the text is not TOML.
    pub fn new(file: &Path, text: String) -> Result<Self, SpecError> {
        let mut source = Self { file: file.to_path_buf(), text, places: Vec::new(), quick: false };
        let mut places = Vec::new();
        match DeTable::parse(&source.text) {
            Ok(table) => walk_table(table.get_ref(), &mut Vec::new(), &mut places),
            Err(error) => return Err(source.toml_error(&error)),
        }
        source.places = places;
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

    fn error_at(&self, offset: Option<usize>, path: String, problem: Problem) -> SpecError {
        let before = &self.text[..offset.unwrap_or(0).min(self.text.len())];
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        SpecError {
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

fn walk_table(table: &DeTable<'_>, path: &mut Vec<String>, places: &mut Vec<(Vec<String>, usize)>) {
    for (key, value) in table {
        path.push(key.get_ref().to_string());
        places.push((path.clone(), key.span().start));
        walk_value(value, path, places);
        path.pop();
    }
}

fn walk_value(value: &Spanned<DeValue<'_>>, path: &mut Vec<String>, places: &mut Vec<(Vec<String>, usize)>) {
    match value.get_ref() {
        DeValue::Table(table) => walk_table(table, path, places),
        DeValue::Array(array) => {
            for (i, element) in array.iter().enumerate() {
                path.push(i.to_string());
                places.push((path.clone(), element.span().start));
                walk_value(element, path, places);
                path.pop();
            }
        }
        _ => {}
    }
}
