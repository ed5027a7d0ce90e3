//! Changes to settings for one run (NAME=VALUES), and specs that reproduce a paper as ones for the user's own changes.
//! Also errors in specs with file, line, column and key path.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::str::FromStr;

use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

use super::cell::{ExperimentAxis, axis_value_label};
use super::document::RawSpec;
use super::section::{SECTIONS, SourceText, path_segments, simplify_serde_message};
use super::{Claim, Experiment, SpecProblem, TaskSection, TextDigest};
use dpgp_data::DatasetManifest;
use dpgp_data::suggest::closest_name;

/// The folder of changed experiments below that of the experiment.
const FOLDER: &str = "/changed/";

/// Digits of the name of a changed experiment.
const ID: usize = 8;

/// Whether an experiment of this name was made by changes, which no spec contains.
pub fn is_changed_experiment_name(name: &str) -> bool {
    let id = name.rsplit_once(FOLDER).map(|(_, id)| id);
    id.is_some_and(|id| id.len() == ID && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// `PATH=VALUE,...`: new values for an axis, the labels of an axis to keep, a new value for a setting or, with several
/// values, a new axis.
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
        // Tables call an infinite epsilon `none`.
        let is_epsilon = path.rsplit('.').next() == Some("epsilon");
        let words = values.split(',').map(|word| if is_epsilon && word.trim() == "none" { "inf" } else { word });
        Ok(Self { path: path.to_owned(), values: parse_values(&words.collect::<Vec<_>>().join(",")) })
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
        let values: Vec<String> = self.values.iter().map(axis_value_label).collect();
        write!(f, "{} = {}", self.path, values.join(", "))
    }
}

impl SpecChange {
    /// Changes a spec with these axes.
    fn apply(&self, table: &mut Table, axes: &[ExperimentAxis], source: &SourceText) -> Result<(), SpecError> {
        let Some(axis) = axes.iter().find(|axis| axis.path == self.path || axis.name == self.path) else {
            return self.set_value_or_add_axis(table, axes, source);
        };
        if axis.is_bundle() {
            return self.retain_labels(table, axis, source);
        }
        get_or_insert_section(table, "grid").insert(axis.path.clone(), Value::Array(self.values.clone()));
        Ok(())
    }

    /// Keeps the named labels of a bundle axis.
    fn retain_labels(&self, table: &mut Table, axis: &ExperimentAxis, source: &SourceText) -> Result<(), SpecError> {
        let kept: Vec<String> = self.values.iter().map(axis_value_label).collect();
        if let Some(unknown) = kept.iter().find(|kept| !axis.labels.contains(kept)) {
            let (name, label, known) = (axis.name.clone(), unknown.clone(), axis.labels.join(", "));
            let problem = SpecProblem::SelectsNothing { axis: name, label, known };
            return Err(source.error(&["axis", &axis.path], problem));
        }
        if let Some(Value::Table(bundles)) = get_or_insert_section(table, "axis").get_mut(&axis.path) {
            bundles.retain(|label, _| kept.iter().any(|kept| kept == label));
        }
        Ok(())
    }

    /// The name is that of no axis, and of no section.
    fn unknown_name_problem(&self, axes: &[ExperimentAxis], source: &SourceText) -> SpecProblem {
        let names: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
        // A setting may be meant by the last part of its path.
        let settings = source.key_paths().filter(|path| SECTIONS.contains(&path[0].as_str()));
        let by_part = settings.clone().find(|path| path.last() == Some(&self.path)).map(|path| path.join("."));
        let meant = by_part.or_else(|| {
            let settings: Vec<String> = settings.map(|path| path.join(".")).collect();
            let known = names.iter().copied().chain(settings.iter().map(String::as_str));
            closest_name(&self.path, known).map(str::to_owned)
        });
        SpecProblem::UnknownSetting {
            name: self.path.clone(),
            hint: match self.path.as_str() {
                "replicates" | "experiment.replicates" => {
                    " (to change the number of replicates, copy the spec and edit its [experiment])".to_owned()
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
    fn looks_like_decimal_comma(&self) -> bool {
        matches!(self.values.as_slice(), [Value::Integer(0), Value::Integer(_)])
    }

    /// Another value of a setting, or an axis of several.
    fn set_value_or_add_axis(
        &self,
        table: &mut Table,
        axes: &[ExperimentAxis],
        source: &SourceText,
    ) -> Result<(), SpecError> {
        let segments: Vec<String> = self.path.split('.').map(str::to_owned).collect();
        let place: Vec<&str> = segments.iter().map(String::as_str).collect();
        if !SECTIONS.contains(&place[0]) {
            return Err(source.error(&["grid"], self.unknown_name_problem(axes, source)));
        }
        let [value] = self.values.as_slice() else {
            get_or_insert_section(table, "grid").insert(self.path.clone(), Value::Array(self.values.clone()));
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
fn get_or_insert_section<'t>(table: &'t mut Table, name: &str) -> &'t mut Table {
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
    let hint = if changes.iter().any(SpecChange::looks_like_decimal_comma) {
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
    /// [`SpecError`] if the changed settings are not valid; the error points to the nearest key of the spec.
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
        changed.drop_stale_values_and_claims(&self);
        Ok(changed)
    }

    /// The experiment of a changed document.
    fn rebuild_from_table(&self, name: &str, table: Table, manifest: &DatasetManifest) -> Result<Self, SpecError> {
        let source = &self.source;
        let document: RawSpec = serde_path_to_error::deserialize(Value::Table(table)).map_err(|error| {
            let inside: Vec<String> = path_segments(error.path()).collect();
            let path: Vec<&str> = inside.iter().map(String::as_str).collect();
            source.error(&path, SpecProblem::Shape(simplify_serde_message(error.inner().message())))
        })?;
        // As with reduced settings, what has no cell is left out.
        Self::from_raw_spec(name, source.clone(), document.check_and_fill_in(source)?, manifest, true)
    }

    /// Drops numbers of cells that the other experiment has not, and claims that look at cells that are not in both.
    fn drop_stale_values_and_claims(&mut self, before: &Self) {
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
    /// If a number must be filled in: the lines and key paths of the other numbers that must be filled in.
    pub unfilled: Vec<(usize, String)>,
    /// The line's text.
    pub snippet: String,
    /// The problem.
    pub problem: Box<SpecProblem>,
}

impl SpecError {
    /// Whether it stands at the value of an axis.
    pub(super) fn is_at_grid_or_axis(&self) -> bool {
        let path = self.path.strip_prefix("quick.").unwrap_or(&self.path);
        path.starts_with("grid.") || path.starts_with("axis.")
    }
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

/// Tables that say what others found, or what is said of it: they are not of an experiment with other settings. What breaks privacy,
/// and what is wrong with a statement, is true of a copy too.
const OF_THE_PAPER: [&str; 5] = ["published", "authors", "reference", "claim", "deviation"];

/// Keys of `experiment` that name a paper.
const NAMES: [&str; 2] = ["paper", "artefact"];

/// The text of a spec without the numbers and claims of a paper, and without its name; settings and comments stay as they
/// are. None for a text that is no TOML.
///
/// ```
/// use dpgp_spec::strip_paper_content;
///
/// let spec = "[experiment]\ntitle = \"t\" # a line\npaper = \"p2020\"\n\n[[claim]]\ntext = \"x\"\n\n[data]\ninputs = [\n  \"[claim]\",\n]\n";
/// let own = "[experiment]\ntitle = \"t\" # a line\n\n[data]\ninputs = [\n  \"[claim]\",\n]\n";
/// assert_eq!(strip_paper_content(spec).as_deref(), Some(own));
/// assert_eq!(strip_paper_content("= 1"), None);
/// ```
pub fn strip_paper_content(text: &str) -> Option<String> {
    let mut values = Vec::new();
    collect_value_spans(DeTable::parse(text).ok()?.get_ref(), &mut values);
    let mut own = String::with_capacity(text.len());
    let (mut at, mut section, mut dropped) = (0, String::new(), false);
    // Comments that stand right above a table are about it.
    let mut above = String::new();
    for line in text.split_inclusive('\n') {
        let inside = values.iter().any(|value| value.start < at && at < value.end);
        at += line.len();
        if !inside && line.starts_with('[') {
            section = line.trim_start_matches('[').split(['.', ']']).next().unwrap_or_default().trim().to_owned();
            dropped = OF_THE_PAPER.contains(&section.as_str());
        }
        if !inside && line.starts_with('#') {
            above.push_str(line);
            continue;
        }
        let comment = std::mem::take(&mut above);
        if !dropped {
            own.push_str(&comment);
        }
        if !(dropped || !inside && names_a_paper(line, &section)) {
            own.push_str(line);
        }
    }
    own.push_str(&above);
    Some(own.trim_end().to_owned() + "\n")
}

/// Whether a line names the paper of an experiment: in its section, or before all sections by its whole path.
fn names_a_paper(line: &str, section: &str) -> bool {
    let Some((key, _)) = line.split_once('=') else { return false };
    let path = if section.is_empty() { key.trim().strip_prefix("experiment.") } else { Some(key.trim()) };
    let is_of_experiment = section.is_empty() || section == "experiment";
    is_of_experiment && path.is_some_and(|key| NAMES.contains(&key))
}

/// Where values stand that are no tables with a header: what looks like a header in one of them is none.
fn collect_value_spans(table: &DeTable<'_>, values: &mut Vec<Range<usize>>) {
    table.values().for_each(|value| collect_spans_below(value, values));
}

fn collect_spans_below(value: &Spanned<DeValue<'_>>, values: &mut Vec<Range<usize>>) {
    match value.get_ref() {
        DeValue::Table(table) => collect_value_spans(table, values),
        // An array of tables with headers has the span of a header, or of all of them; its elements are walked instead.
        DeValue::Array(array) if array.iter().all(|element| element.get_ref().is_table()) => {
            array.iter().for_each(|element| collect_spans_below(element, values));
        }
        _ => values.push(value.span()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_go_with_the_table_below_them() {
        let text = "# The spec.\n[experiment]\ntitle = \"t\"\n\n# What the paper says.\n[published.rmse]\na = 1\n\n# The rows.\n[data]\nx = 1\n# The end.\n";
        let own = "# The spec.\n[experiment]\ntitle = \"t\"\n\n# The rows.\n[data]\nx = 1\n# The end.\n";
        assert_eq!(strip_paper_content(text).unwrap(), own);
    }

    #[test]
    fn a_paper_is_named_by_a_whole_path_too() {
        let text = "experiment.title = \"t\"\nexperiment.paper = \"p\"\n\n[data]\npaper = 1\n";
        assert_eq!(strip_paper_content(text).unwrap(), "experiment.title = \"t\"\n\n[data]\npaper = 1\n");
    }
}
