//! Sections that cells share, the position of each key in the text of a spec, and the canonical text of a
//! setting with its digest.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_path_to_error::Segment;
use sha2::{Digest, Sha256};
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

use super::{SpecError, SpecProblem};

/// The sections of a cell, in the order of their canonical text.
pub(super) const SECTIONS: [&str; 5] = ["data", "model", "normalise", "privacy", "task"];

/// Why a section could not be built.
pub(super) enum SectionError {
    /// An axis value that cannot be set: the index of the axis, and the reason.
    Assign(usize, String),
    /// The error from serde, with a path that omits the name of the section.
    Form(serde_path_to_error::Error<toml::de::Error>),
    /// The setting could not be written back.
    Text(String),
}

/// A section in its checked form, and as canonical text.
#[derive(Debug)]
pub(super) struct Section<T> {
    pub value: Arc<T>,
    pub text: Arc<SectionText>,
}

impl<T> Clone for Section<T> {
    fn clone(&self) -> Self {
        Self { value: Arc::clone(&self.value), text: Arc::clone(&self.text) }
    }
}

/// The canonical text of a section.
#[derive(Debug, PartialEq, Eq)]
pub struct SectionText {
    /// The text.
    pub canonical: String,
    /// The text without the keys that only rescale the noise, where there may be such keys.
    outer: Option<String>,
    /// SHA-256 of the canonical text, once it is asked for.
    id: OnceLock<TextDigest>,
}

/// Builds the sections of one name; each combination of the axis values that set it is built once.
pub(super) struct SectionBuilder<T> {
    base: Option<Value>,
    /// The axes that set a path of this section.
    touching: Vec<usize>,
    inner: &'static [&'static str],
    built: BTreeMap<Vec<usize>, Option<Section<T>>>,
    name: &'static str,
}

impl<T: DeserializeOwned + Serialize> SectionBuilder<T> {
    pub fn new(
        name: &'static str,
        base: &Table,
        axes: &[super::ExperimentAxis],
        inner: &'static [&'static str],
    ) -> Self {
        let touches =
            |axis: &super::ExperimentAxis| axis.values.iter().flatten().any(|assignment| assignment.path[0] == name);
        Self {
            base: base.get(name).cloned(),
            touching: (0..axes.len()).filter(|&i| touches(&axes[i])).collect(),
            inner,
            built: BTreeMap::new(),
            name,
        }
    }

    /// The section of the cell at these positions on the axes; none if neither the base nor an axis sets it.
    pub fn section_at(
        &mut self,
        axes: &[super::ExperimentAxis],
        at: &[usize],
    ) -> Result<Option<Section<T>>, SectionError> {
        let key: Vec<usize> = self.touching.iter().map(|&axis| at[axis]).collect();
        if let Some(section) = self.built.get(&key) {
            return Ok(section.clone());
        }
        let section = self.build(axes, at)?;
        self.built.insert(key, section.clone());
        Ok(section)
    }

    fn build(&self, axes: &[super::ExperimentAxis], at: &[usize]) -> Result<Option<Section<T>>, SectionError> {
        let mut table = Table::new();
        if let Some(base) = &self.base {
            table.insert(self.name.to_owned(), base.clone());
        }
        for &axis in &self.touching {
            let own = axes[axis].values[at[axis]].iter().filter(|a| a.path[0] == self.name);
            for assignment in own {
                assign(&mut table, &assignment.path, &assignment.value)
                    .map_err(|why| SectionError::Assign(axis, why))?;
            }
        }
        let Some(value) = table.remove(self.name) else { return Ok(None) };
        let value: T = serde_path_to_error::deserialize(value).map_err(SectionError::Form)?;
        let written = Value::try_from(&value).map_err(|error| SectionError::Text(error.to_string()))?;
        let text = Arc::new(SectionText::new(&written, self.inner));
        Ok(Some(Section { value: Arc::new(value), text }))
    }
}

impl SectionText {
    fn new(value: &Value, inner: &[&str]) -> Self {
        let outer = (!inner.is_empty()).then(|| canonical_text(value, inner));
        Self { outer, id: OnceLock::new(), canonical: canonical_text(value, &[]) }
    }

    /// SHA-256 of the canonical text.
    pub fn id(&self) -> TextDigest {
        *self.id.get_or_init(|| TextDigest::of_text(&self.canonical))
    }

    /// The text without the keys that only rescale the noise.
    pub(super) fn text_shared_by_block(&self) -> &str {
        self.outer.as_deref().unwrap_or(&self.canonical)
    }
}

/// Sets a dotted path, making tables on the way.
fn assign(table: &mut Table, path: &[String], value: &Value) -> Result<(), String> {
    let Some((last, parents)) = path.split_last() else {
        return Ok(());
    };
    let mut table = table;
    for parent in parents {
        let entry = table.entry(parent.clone()).or_insert_with(|| Value::Table(Table::new()));
        table = entry.as_table_mut().ok_or_else(|| format!("{parent} is not a table"))?;
    }
    table.insert(last.clone(), value.clone());
    Ok(())
}

/// Refuses an axis path whose first segment is no section.
pub(super) fn check_section_name(path: &[String]) -> Result<(), SpecProblem> {
    if SECTIONS.contains(&path[0].as_str()) {
        return Ok(());
    }
    let known = SECTIONS.map(|name| format!("`{name}`")).join(", ");
    Err(SpecProblem::UnknownPath { reason: format!("unknown field `{}`, expected one of {known}", path[0]) })
}

/// A spec's text with its file name and the place of every key.
#[derive(Debug, Clone)]
pub struct SourceText {
    file: PathBuf,
    text: String,
    /// Where keys stand, once an error needs this.
    keys: OnceLock<KeyPositions>,
    /// Whether the `[quick]` table is laid over the text.
    quick: bool,
}

impl SourceText {
    /// The text of a file. It is parsed when a setting is read from it, and again if an error needs the places of keys.
    pub fn new(file: &Path, text: String) -> Self {
        Self { file: file.to_path_buf(), text, keys: OnceLock::new(), quick: false }
    }

    /// The places of keys; none where the text is not TOML.
    fn key_positions(&self) -> &KeyPositions {
        self.keys.get_or_init(|| {
            let mut walk = KeyPositions::default();
            if let Ok(table) = DeTable::parse(&self.text) {
                walk.collect_table(table.get_ref());
            }
            walk
        })
    }

    /// The same text with its `[quick]` table laid over it: errors point there first.
    pub(super) fn with_quick_table_first(&self) -> Self {
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
        self.error_at(offset, path, SpecProblem::Shape(simplify_serde_message(error.message())))
    }

    /// An error at a key path; if the path is not in the text, at its nearest ancestor that is.
    pub fn error(&self, path: &[&str], problem: SpecProblem) -> SpecError {
        let quick = [&["quick"], path].concat();
        for length in (1..=path.len()).rev() {
            if let Some(offset) = self.key_offset(&quick[..=length]).filter(|_| self.quick) {
                return self.error_at(Some(offset), quick.join("."), problem);
            }
            if let Some(offset) = self.key_offset(&path[..length]) {
                return self.error_at(Some(offset), path.join("."), problem);
            }
        }
        self.error_at(None, path.join("."), problem)
    }

    /// All key paths in the text.
    pub(super) fn key_paths(&self) -> impl Iterator<Item = &[String]> + Clone {
        self.key_positions().places.iter().map(|(path, _)| path.as_slice())
    }

    /// Where a key path stands, as a byte offset.
    pub(super) fn key_offset(&self, path: &[&str]) -> Option<usize> {
        self.key_positions().places.iter().find(|(known, _)| known == path).map(|(_, at)| *at)
    }

    /// The key at an offset, or the last one before it. The offset of a table is that of its brackets.
    fn path_at(&self, offset: usize) -> Option<String> {
        let (before, after) = self.text.split_at_checked(offset)?;
        let brackets = after.len() - after.trim_start_matches('[').len();
        let offset = if before.is_empty() || before.ends_with('\n') { offset + brackets } else { offset };
        let before = self.key_positions().places.iter().filter(|(_, at)| *at <= offset);
        before.max_by_key(|(_, at)| *at).map(|(path, _)| path.join("."))
    }

    /// Other numbers to be filled in, except those on the same line: line and key path.
    fn other_unfilled_numbers(&self, line: usize) -> Vec<(usize, String)> {
        let lines = self.key_positions().unfilled.iter().map(|(path, at)| (self.line_of(*at), path.join(".")));
        lines.filter(|(other, _)| *other != line).collect()
    }

    /// The line of an offset, from 1.
    fn line_of(&self, offset: usize) -> usize {
        self.text[..offset.min(self.text.len())].matches('\n').count() + 1
    }

    fn error_at(&self, offset: Option<usize>, path: String, problem: SpecProblem) -> SpecError {
        let before = &self.text[..offset.unwrap_or(0).min(self.text.len())];
        let line = self.line_of(before.len());
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let unfilled = if problem.is_unfilled_number() { self.other_unfilled_numbers(line) } else { Vec::new() };
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
pub(super) fn simplify_serde_message(message: &str) -> String {
    let words = [
        ("expected usize", "expected a non-negative integer"),
        ("expected u32", "expected a non-negative integer"),
        ("expected f64", "expected a number"),
    ];
    let text = words.iter().fold(message.to_owned(), |text, (rust, words)| text.replace(rust, words));
    match text.split_once("expected struct ") {
        Some((before, _)) => format!("{before}expected a table"),
        None => text,
    }
}

/// The keys and indices on the way to an error of serde.
pub(super) fn path_segments(path: &serde_path_to_error::Path) -> impl Iterator<Item = String> {
    path.iter().filter_map(|segment| match segment {
        Segment::Unknown => None,
        Segment::Seq { index } => Some(index.to_string()),
        other => Some(other.to_string()),
    })
}

/// Collects where keys and elements stand.
#[derive(Debug, Clone, Default)]
struct KeyPositions {
    path: Vec<String>,
    places: Vec<(Vec<String>, usize)>,
    /// The places whose value is NaN.
    unfilled: Vec<(Vec<String>, usize)>,
}

impl KeyPositions {
    fn collect_table(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            self.collect_value(key.get_ref().to_string(), key.span().start, value);
        }
    }

    fn collect_value(&mut self, key: String, at: usize, value: &Spanned<DeValue<'_>>) {
        self.path.push(key);
        self.places.push((self.path.clone(), at));
        match value.get_ref() {
            DeValue::Table(table) => self.collect_table(table),
            DeValue::Array(array) => {
                for (i, element) in array.iter().enumerate() {
                    self.collect_value(i.to_string(), element.span().start, element);
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

/// SHA-256 of a canonical text: what a cell, a block or a section is known by. Shown in hex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TextDigest([u8; 32]);

impl TextDigest {
    /// The digest of a text.
    pub fn of_text(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first 16 hex digits, which tables show.
    pub fn short(&self) -> String {
        hex::encode(&self.0[..8])
    }
}

impl fmt::Display for TextDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl From<[u8; 32]> for TextDigest {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl FromStr for TextDigest {
    type Err = hex::FromHexError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes)?;
        Ok(Self(bytes))
    }
}

impl TryFrom<String> for TextDigest {
    type Error = hex::FromHexError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<TextDigest> for String {
    fn from(identity: TextDigest) -> Self {
        identity.to_string()
    }
}

/// Keys sorted, numbers in their shortest form with floats always marked as such, no white space.
/// Two settings with the same meaning have the same text, however they were written. Some keys of the table are left out.
fn canonical_text(value: &Value, left_out: &[&str]) -> String {
    let mut text = String::new();
    write_canonical(value, left_out, &mut text);
    text
}

fn write_canonical(value: &Value, left_out: &[&str], text: &mut String) {
    match value {
        Value::Table(table) => {
            let kept = table.iter().filter(|(key, _)| !left_out.contains(&key.as_str()));
            let mut entries: Vec<(&String, &Value)> = kept.collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            text.push('{');
            for (place, (key, value)) in entries.into_iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                write_quoted(key, text);
                text.push(':');
                write_canonical(value, &[], text);
            }
            text.push('}');
        }
        Value::Array(list) => {
            text.push('[');
            for (place, value) in list.iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                write_canonical(value, &[], text);
            }
            text.push(']');
        }
        Value::String(s) => write_quoted(s, text),
        Value::Float(x) => write_into(text, format_args!("{:?}", x + 0.0)),
        other => write_into(text, format_args!("{other}")),
    }
}

/// Writes a string in its `Debug` form. Printable ASCII characters need no escape, except quotes and backslashes.
fn write_quoted(quoted: &str, text: &mut String) {
    if quoted.bytes().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\')) {
        text.extend(["\"", quoted, "\""]);
    } else {
        write_into(text, format_args!("{quoted:?}"));
    }
}

/// Writing to a string cannot fail.
fn write_into(text: &mut String, written: fmt::Arguments<'_>) {
    let _ = fmt::Write::write_fmt(text, written);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_spelling_do_not_matter() {
        let a: Value = toml::from_str("x = 1.0\n[t]\nb = [0.0, inf]\na = 'q'").unwrap();
        let b: Value = toml::from_str("t = { a = \"q\", b = [-0.0, inf] }\nx = 1e0").unwrap();
        assert_eq!(canonical_text(&a, &[]), canonical_text(&b, &[]));
        assert_eq!(canonical_text(&a, &[]), r#"{"t":{"a":"q","b":[0.0,inf]},"x":1.0}"#);
        assert_eq!(canonical_text(&a, &["x", "b"]), r#"{"t":{"a":"q","b":[0.0,inf]}}"#);
    }

    #[test]
    fn strings_are_quoted_as_debug_quotes_them() {
        for text in ["", "a b~", "it's", "a\"b", "a\\b", "a\tb", "\u{7f}", "é", "\u{200b}"] {
            let mut quoted = String::new();
            write_quoted(text, &mut quoted);
            assert_eq!(quoted, format!("{text:?}"));
        }
    }

    #[test]
    fn the_digest_is_sha_256() {
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(TextDigest::of_text("abc").to_string(), text);
        assert_eq!(text.parse(), Ok(TextDigest::of_text("abc")));
    }
}
