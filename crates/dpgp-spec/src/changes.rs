//! Changes to settings for one run (NAME=VALUES), and errors in specs with file, line, column and key path.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use toml::{Table, Value};

use super::cell::{Axis, label};
use super::document::Document;
use super::section::{SECTIONS, SourceText, path_segments, simplify_serde_message};
use super::{Claim, Experiment, SpecProblem, TaskSection, TextDigest};
use dpgp_data::DatasetManifest;
use dpgp_data::suggest::closest;

/// The folder of changed experiments below that of the experiment.
const FOLDER: &str = "/changed/";

/// Digits of the name of a changed experiment.
const ID: usize = 8;

/// Whether an experiment of this name was made by changes, which stand in no spec.
pub fn is_changed_experiment(name: &str) -> bool {
    let id = name.rsplit_once(FOLDER).map(|(_, id)| id);
    id.is_some_and(|id| id.len() == ID && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// `PATH=VALUE,...`: other values on an axis, the labels of an axis that are kept, another value of a setting, or, of
/// several values, an axis more.
///
/// ```
/// use dpgp_spec::SpecChange;
/// let change: SpecChange = "privacy.epsilon=0.5,inf".parse()?;
/// assert_eq!(change.to_string(), "privacy.epsilon = 0.5, inf");
/// assert!("privacy.epsilon".parse::<SpecChange>().is_err());
/// # Ok::<(), dpgp_spec::ChangeParseError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SpecChange {
    path: String,
    values: Vec<Value>,
}

/// A text that changes no setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a valid change: use NAME=VALUES with a setting or an axis, for example privacy.epsilon=0.5,2")]
pub struct ChangeParseError(String);

impl SpecChange {
    /// Whether it changes the setting at a path, or the axis named after its last segment.
    pub fn changes_setting(&self, path: &str) -> bool {
        self.path == path || Some(self.path.as_str()) == path.rsplit('.').next()
    }
}

impl FromStr for SpecChange {
    type Err = ChangeParseError;

    fn from_str(text: &str) -> Result<Self, ChangeParseError> {
        let wrong = || ChangeParseError(text.to_owned());
        let (path, values) = text.split_once('=').ok_or_else(wrong)?;
        let (path, values) = (path.trim(), values.trim());
        let is_broken = path.split('.').any(str::is_empty) || text.contains(char::is_control);
        if is_broken || values.is_empty() {
            return Err(wrong());
        }
        Ok(Self { path: path.to_owned(), values: parse_values(values) })
    }
}

/// Values as TOML writes them, else words between commas.
fn parse_values(text: &str) -> Vec<Value> {
    match toml::from_str::<Table>(&format!("values = [{text}]")).ok().and_then(|mut t| t.remove("values")) {
        Some(Value::Array(values)) if !values.is_empty() => values,
        _ => text.split(',').map(|word| Value::from(word.trim())).collect(),
    }
}

impl fmt::Display for SpecChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values: Vec<String> = self.values.iter().map(label).collect();
        write!(f, "{} = {}", self.path, values.join(", "))
    }
}

impl SpecChange {
    /// Changes a spec with these axes.
    fn apply(&self, table: &mut Table, axes: &[Axis], source: &SourceText) -> Result<(), SpecError> {
        let Some(axis) = axes.iter().find(|axis| axis.path == self.path || axis.name == self.path) else {
            return self.set_value(table, axes, source);
        };
        if axis.is_bundle() {
            return self.retain_labels(table, axis, source);
        }
        section(table, "grid").insert(axis.path.clone(), Value::Array(self.values.clone()));
        Ok(())
    }

    /// Keeps the named labels of a bundle axis.
    fn retain_labels(&self, table: &mut Table, axis: &Axis, source: &SourceText) -> Result<(), SpecError> {
        let kept: Vec<String> = self.values.iter().map(label).collect();
        if let Some(unknown) = kept.iter().find(|kept| !axis.labels.contains(kept)) {
            let (name, label, known) = (axis.name.clone(), unknown.clone(), axis.labels.join(", "));
            let problem = SpecProblem::SelectsNothing { axis: name, label, known };
            return Err(source.error(&["axis", &axis.path], problem));
        }
        if let Some(Value::Table(bundles)) = section(table, "axis").get_mut(&axis.path) {
            bundles.retain(|label, _| kept.iter().any(|kept| kept == label));
        }
        Ok(())
    }

    /// The name is that of no axis, and of no section.
    fn unknown_name_problem(&self, axes: &[Axis], source: &SourceText) -> SpecProblem {
        let names: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
        // A setting may be meant by the last part of its path.
        let settings = source.key_paths().filter(|path| SECTIONS.contains(&path[0].as_str()));
        let by_part = settings.clone().find(|path| path.last() == Some(&self.path)).map(|path| path.join("."));
        let meant = by_part.or_else(|| {
            let settings: Vec<String> = settings.map(|path| path.join(".")).collect();
            let known = names.iter().copied().chain(settings.iter().map(String::as_str));
            closest(&self.path, known).map(str::to_owned)
        });
        SpecProblem::UnknownSetting {
            name: self.path.clone(),
            hint: match self.path.as_str() {
                "replicates" => {
                    " (the number of replicates is in [experiment] of the spec, which cannot be changed here)"
                        .to_owned()
                }
                _ => meant.map(|meant| format!(" (did you mean {meant:?}?)")).unwrap_or_default(),
            },
            axes: if names.is_empty() {
                "there are no axes".to_owned()
            } else {
                format!("the axes are {}", names.join(", "))
            },
            sections: SECTIONS.join(", "),
        }
    }

    /// Whether values are whole numbers that begin with 0: perhaps a fraction with a comma.
    fn may_be_a_fraction(&self) -> bool {
        matches!(self.values.as_slice(), [Value::Integer(0), Value::Integer(_)])
    }

    /// Another value of a setting, or an axis of several.
    fn set_value(&self, table: &mut Table, axes: &[Axis], source: &SourceText) -> Result<(), SpecError> {
        let segments: Vec<String> = self.path.split('.').map(str::to_owned).collect();
        let place: Vec<&str> = segments.iter().map(String::as_str).collect();
        if !SECTIONS.contains(&place[0]) {
            return Err(source.error(&["grid"], self.unknown_name_problem(axes, source)));
        }
        let [value] = self.values.as_slice() else {
            section(table, "grid").insert(self.path.clone(), Value::Array(self.values.clone()));
            return Ok(());
        };
        let Some((last, around)) = place.split_last() else { return Ok(()) };
        let mut inner = table;
        for (depth, segment) in around.iter().enumerate() {
            inner = match inner.entry(*segment).or_insert_with(|| Value::Table(Table::new())) {
                Value::Table(inner) => inner,
                other => {
                    let list = match other {
                        Value::Array(_) => {
                            format!(": replace the whole list, as in {}=[1.0, 2.0]", place[..=depth].join("."))
                        }
                        _ => String::new(),
                    };
                    let problem = SpecProblem::Shape(format!("`{segment}` is a value, not a section{list}"));
                    return Err(source.error(&place, problem));
                }
            };
        }
        inner.insert((*last).to_owned(), value.clone());
        Ok(())
    }
}

/// A table of the spec, empty if it was not there.
fn section<'t>(table: &'t mut Table, name: &str) -> &'t mut Table {
    let section = table.entry(name).or_insert_with(|| Value::Table(Table::new()));
    if !section.is_table() {
        *section = Value::Table(Table::new());
    }
    match section {
        Value::Table(section) => section,
        _ => unreachable!("it has just been made a table"),
    }
}

/// Names the changes in an error: the line that it points to does not show them.
fn attach_changes(changes: &[SpecChange], error: SpecError) -> SpecError {
    let hint = if changes.iter().any(SpecChange::may_be_a_fraction) {
        "; use a decimal point, as in 0.5"
    } else if error.problem.to_string().contains("expected a sequence") {
        "; put lists in brackets, as in [1.0, 2.0]"
    } else {
        ""
    };
    let words: Vec<String> = changes.iter().map(SpecChange::to_string).collect();
    let problem = SpecProblem::Changed { changes: words.join(" and "), problem: error.problem, hint };
    SpecError { problem: Box::new(problem), ..error }
}

impl<T: TaskSection> Experiment<T> {
    /// The experiment with other settings, named after them. Numbers and claims stay where every cell that they are about is
    /// the same as before; the others are left out, since nobody printed or claimed them for these settings.
    ///
    /// # Errors
    /// [`SpecError`] if the settings that come out are wrong; it points to the nearest key of the spec.
    pub fn with_changes(self, changes: &[SpecChange], manifest: &DatasetManifest) -> Result<Self, SpecError> {
        if changes.is_empty() {
            return Ok(self);
        }
        let mut words: Vec<String> = changes.iter().map(SpecChange::to_string).collect();
        words.sort();
        let name = format!("{}{FOLDER}{}", self.name, &TextDigest::of_text(&words.join("\n")).short()[..ID]);
        let mut table: Table = toml::from_str(self.source.text()).map_err(|e| self.source.toml_error(&e))?;
        changes.iter().try_for_each(|change| change.apply(&mut table, &self.axes, &self.source))?;
        let mut changed =
            self.rebuild_from_table(&name, table, manifest).map_err(|error| attach_changes(changes, error))?;
        changed.quick = false;
        changed.changes = words;
        changed.drop_stale_claims(&self);
        Ok(changed)
    }

    /// The experiment of a changed document.
    fn rebuild_from_table(&self, name: &str, table: Table, manifest: &DatasetManifest) -> Result<Self, SpecError> {
        let source = &self.source;
        let document: Document = serde_path_to_error::deserialize(Value::Table(table)).map_err(|error| {
            let inside: Vec<String> = path_segments(error.path()).collect();
            let path: Vec<&str> = inside.iter().map(String::as_str).collect();
            source.error(&path, SpecProblem::Shape(simplify_serde_message(error.inner().message())))
        })?;
        // As with reduced settings, what has no cell is left out.
        Self::check(name, source.clone(), document.check(source)?, manifest, true)
    }

    /// Drops numbers of cells that the other experiment has not, and claims that look at cells that are not in both.
    fn drop_stale_claims(&mut self, before: &Self) {
        let [own, theirs] = [&*self, before]
            .map(|experiment| experiment.cells.iter().map(|cell| cell.id().to_string()).collect::<BTreeSet<String>>());
        let (cells, all) = (&self.cells, self.counterparts.len() + self.claims.len());
        self.counterparts.retain(|number| theirs.contains(&cells[number.cell].id().to_string()));
        let is_of_both = |claim: &Claim| {
            let looks = |cell: &&super::Cell<T>| claim.compares_cell(cell.labels());
            cells.iter().filter(looks).all(|cell| theirs.contains(&cell.id().to_string()))
                && before.cells.iter().filter(looks).all(|cell| own.contains(&cell.id().to_string()))
        };
        self.claims.retain(is_of_both);
        self.left_out += all - self.counterparts.len() - self.claims.len();
    }
}

/// Numbers to be filled in that an error names one by one.
const MOST_UNFILLED: usize = 8;

/// An error in a spec, where it stands and what would be right.
#[derive(Debug, Clone, PartialEq)]
pub struct SpecError {
    /// The spec's file.
    pub file: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// Dotted key path; empty for the file as a whole.
    pub path: String,
    /// Where a number is to be filled in: the lines and key paths of the others that are.
    pub unfilled: Vec<(usize, String)>,
    /// The line's text.
    pub snippet: String,
    /// The problem.
    pub problem: Box<SpecProblem>,
}

impl std::error::Error for SpecError {}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: ", self.file.display(), self.line, self.column)?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        let margin = self.line.to_string();
        writeln!(f, "{}", self.problem)?;
        writeln!(f, "  {margin} | {}", self.snippet)?;
        write!(f, "  {:width$} | {:>column$}", "", "^", width = margin.len(), column = self.column)?;
        if self.unfilled.is_empty() {
            return Ok(());
        }
        if let [(first, _), .., (last, _)] = &self.unfilled[..]
            && self.unfilled.len() > MOST_UNFILLED
        {
            let count = self.unfilled.len();
            return write!(f, "\n  fill in {count} more numbers, from line {first} to line {last}");
        }
        let others = self.unfilled.iter().map(|(line, path)| format!("{path} (line {line})"));
        write!(f, "\n  also fill in: {}", others.collect::<Vec<_>>().join(", "))
    }
}
