//! Grid axes, checked cells and the task sections that they measure, which the language itself does not know. Also blocks
//! of cells that share their work, and selectors of cells.

use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::SpecError;
use super::document::RawSpec;
use super::section::{SECTIONS, SectionText, SourceText, TextDigest};
use crate::setting::{CheckResult, MechanismSection, SpecCellSetting, SpecProblem, fail};
use dpgp_number::text::format_exact;

/// Keys of the privacy section that only rescale the noise: cells that differ in nothing else form one block.
pub(super) const INNER: [&str; 3] = ["calibration", "delta", "epsilon"];

/// One checked point of the grid.
#[derive(Debug, Clone)]
pub struct Cell<T: TaskSection> {
    labels: Vec<String>,
    setting: SpecCellSetting<T>,
    texts: SectionTexts,
    /// Digests, computed where they are asked for: a listing of experiments needs none.
    id: OnceLock<TextDigest>,
    block: OnceLock<TextDigest>,
}

/// The canonical text of each section, in the order of [`SECTIONS`]; none if a cell has no such section.
pub(super) type SectionTexts = [Option<Arc<SectionText>>; SECTIONS.len()];

impl<T: TaskSection> Cell<T> {
    /// Makes a cell. Only the checks of this crate call it.
    pub(super) fn new(labels: Vec<String>, setting: SpecCellSetting<T>, texts: SectionTexts) -> Self {
        Self { labels, setting, texts, id: OnceLock::new(), block: OnceLock::new() }
    }

    /// Its label on each axis.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Its labels on one line, for messages.
    pub fn joined_labels(&self) -> String {
        if self.labels.is_empty() { "#1".to_owned() } else { self.labels.join(", ") }
    }

    /// Its checked setting.
    pub fn setting(&self) -> &SpecCellSetting<T> {
        &self.setting
    }

    /// Checks what depends on the number of rows that the data hold.
    ///
    /// # Errors
    /// [`crate::setting::SettingError`] if there are no rows, or too few.
    pub fn check_row_count(&self, rows: usize) -> CheckResult {
        match self.setting.data.drawn_row_count(rows) {
            0 => fail("data", SpecProblem::NoRows),
            drawn => self.setting.task.check_row_count(drawn),
        }
    }

    /// Its identity: SHA-256 of its canonical form.
    pub fn id(&self) -> TextDigest {
        *self.id.get_or_init(|| TextDigest::of_text(&join_sections(&self.texts, |text| &text.canonical)))
    }

    /// The identity of its block: like [`Cell::id`], but without the keys that only rescale the noise.
    pub fn block_id(&self) -> TextDigest {
        *self.block.get_or_init(|| TextDigest::of_text(&join_sections(&self.texts, SectionText::text_shared_by_block)))
    }

    /// Texts that two cells share if and only if they are of one block.
    pub(super) fn texts_shared_by_block(&self) -> [Option<&str>; SECTIONS.len()] {
        self.texts.each_ref().map(|text| text.as_deref().map(SectionText::text_shared_by_block))
    }

    /// The identity of its data alone, which seeds the random streams for data and splits.
    pub fn data_id(&self) -> TextDigest {
        self.texts[0].as_ref().map_or_else(|| TextDigest::of_text(""), |text| text.id())
    }

    /// The identity of its model, if it has one.
    pub fn model_id(&self) -> Option<TextDigest> {
        self.texts[1].as_ref().map(|text| text.id())
    }

    /// Its sections by name.
    pub fn sections(&self) -> impl Iterator<Item = (&'static str, &Arc<SectionText>)> {
        SECTIONS.into_iter().zip(&self.texts).filter_map(|(name, text)| Some((name, text.as_ref()?)))
    }
}

/// The canonical text of the whole setting: a table of its sections.
fn join_sections(texts: &SectionTexts, part: fn(&SectionText) -> &str) -> String {
    let sections = SECTIONS.iter().zip(texts).filter_map(|(name, text)| Some((name, text.as_ref()?)));
    let entries: Vec<String> = sections.map(|(name, text)| format!("{name:?}:{}", part(text))).collect();
    format!("{{{}}}", entries.join(","))
}

/// Cells that differ only in what rescales the noise, computed together.
#[derive(Debug, Clone)]
pub struct CellBlock {
    /// Indices of its cells in the experiment.
    pub cells: Vec<usize>,
}

/// Axis positions and the labels that they must have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CellSelector {
    wanted: Vec<(usize, String)>,
}

impl CellSelector {
    /// Resolves a `where` table against the axes.
    ///
    /// # Errors
    /// [`SpecError`] at `place` if an axis or a label does not exist.
    pub(super) fn new(
        table: &Table,
        axes: &[ExperimentAxis],
        source: &SourceText,
        place: &[&str],
    ) -> Result<Self, SpecError> {
        let mut wanted = Vec::new();
        for (name, value) in table {
            let error = |problem| source.error(&[place, &[name.as_str()]].concat(), problem);
            let Some(axis) = axes.iter().position(|axis| axis.name == *name) else {
                let known = list_axis_names(axes.iter().map(|axis| axis.name.as_str()));
                return Err(error(SpecProblem::UnknownAxis { axis: name.clone(), known }));
            };
            let label = axis_value_label(value);
            if !axes[axis].labels.contains(&label) {
                let known = axes[axis].labels.join(", ");
                return Err(error(SpecProblem::SelectsNothing { axis: name.clone(), label, known }));
            }
            wanted.push((axis, label));
        }
        Ok(Self { wanted })
    }

    /// Whether it selects a cell with these labels.
    pub fn selects(&self, labels: &[String]) -> bool {
        self.wanted.iter().all(|(axis, label)| labels[*axis] == *label)
    }

    /// The one cell that it selects.
    pub(super) fn find_only_cell<T: TaskSection>(&self, cells: &[Cell<T>]) -> Result<usize, SpecProblem> {
        let selected: Vec<usize> = (0..cells.len()).filter(|&i| self.selects(cells[i].labels())).collect();
        match selected[..] {
            [cell] => Ok(cell),
            _ => Err(SpecProblem::SelectsMany { count: selected.len() }),
        }
    }
}

/// Names of axes, for messages.
pub(super) fn list_axis_names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// The columns that every result table has. The axes follow the second column. No bundle may have the name of one of these columns.
pub const FIXED_COLUMNS: [&str; 26] = [
    "experiment",
    "cell",
    "metric",
    "value",
    "spread",
    "spread_kind",
    "repeats",
    "published",
    "published_spread",
    "verdict",
    "guarantee",
    "epsilon",
    "delta",
    "delta_exact",
    "gap",
    "interval_low",
    "interval_high",
    "p_value",
    "spread_verdict",
    "authors",
    "authors_verdict",
    "reference",
    "reference_spread",
    "reference_verdict",
    "ratio_to_print",
    "z",
];

/// One axis of the grid.
#[derive(Debug, Clone)]
pub struct ExperimentAxis {
    /// The name, as result tables show it: the shortest end of the path that differs from those of all other axes.
    pub name: String,
    /// The whole dotted path, or the name of a bundle.
    pub path: String,
    /// The labels of its values.
    pub labels: Vec<String>,
    pub(super) values: Vec<Vec<AxisPathAssignment>>,
    /// Where the axis stands in the spec.
    pub(super) place: Vec<String>,
}

impl ExperimentAxis {
    /// Whether it is a named bundle of settings, and not a list of values.
    pub fn is_bundle(&self) -> bool {
        self.place.first().is_some_and(|section| section == "axis")
    }
}

/// One dotted path and the value that an axis gives it.
#[derive(Debug, Clone)]
pub(super) struct AxisPathAssignment {
    pub path: Vec<String>,
    pub value: Value,
}

/// The label of a value: numbers in their shortest form, lists joined by `+`, tables as
/// `key(inner)` and `key=value`.
pub fn axis_value_label(value: &Value) -> String {
    match value {
        Value::String(s) => s.clone(),
        Value::Float(x) => format_exact(*x),
        Value::Array(list) => list.iter().map(axis_value_label).collect::<Vec<_>>().join("+"),
        Value::Table(table) => {
            let entry = |(key, value): (&String, &Value)| match value {
                Value::Table(inner) if inner.is_empty() => key.clone(),
                Value::Table(_) => format!("{key}({})", axis_value_label(value)),
                other => format!("{key}={}", axis_value_label(other)),
            };
            table.iter().map(entry).collect::<Vec<_>>().join(",")
        }
        other => other.to_string(),
    }
}

/// All axes of a spec, in the order of the text: `[grid]` lists, then `[axis.NAME.LABEL]` bundles.
pub(super) fn parse_axes(document: &RawSpec, source: &SourceText) -> Result<Vec<ExperimentAxis>, SpecError> {
    let mut axes = Vec::new();
    for (path, values) in &document.grid {
        axes.push(parse_list_axis(path, values, source)?);
    }
    for (name, bundles) in &document.axis {
        axes.push(parse_bundle_axis(name, bundles, source)?);
    }
    shorten_axis_names(&mut axes);
    for axis in &axes {
        check_axis(axis, &axes, source)?;
    }
    Ok(axes)
}

fn parse_list_axis(path: &str, values: &Value, source: &SourceText) -> Result<ExperimentAxis, SpecError> {
    let Value::Array(values) = values else {
        let problem = SpecProblem::Shape("an axis must be a list of values".to_owned());
        return Err(source.error(&["grid", path], problem));
    };
    let segments: Vec<String> = path.split('.').map(str::to_owned).collect();
    let assign = |value: &Value| vec![AxisPathAssignment { path: segments.clone(), value: value.clone() }];
    Ok(ExperimentAxis {
        name: path.to_owned(),
        path: path.to_owned(),
        labels: values.iter().map(axis_value_label).collect(),
        values: values.iter().map(assign).collect(),
        place: vec!["grid".to_owned(), path.to_owned()],
    })
}

fn parse_bundle_axis(name: &str, bundles: &Value, source: &SourceText) -> Result<ExperimentAxis, SpecError> {
    let shape = || {
        let text = "for each label, an axis must hold one table with entries of the form \"dotted.path\" = value";
        source.error(&["axis", name], SpecProblem::Shape(text.to_owned()))
    };
    let bundles = bundles.as_table().ok_or_else(shape)?;
    let mut values = Vec::new();
    for bundle in bundles.values() {
        values.push(parse_path_assignments(bundle.as_table().ok_or_else(shape)?));
    }
    Ok(ExperimentAxis {
        name: name.to_owned(),
        path: name.to_owned(),
        labels: bundles.keys().cloned().collect(),
        values,
        place: vec!["axis".to_owned(), name.to_owned()],
    })
}

fn parse_path_assignments(bundle: &Table) -> Vec<AxisPathAssignment> {
    let split = |path: &String| path.split('.').map(str::to_owned).collect();
    bundle.iter().map(|(path, value)| AxisPathAssignment { path: split(path), value: value.clone() }).collect()
}

/// Shortens the dotted names to the last segments that keep them apart.
fn shorten_axis_names(axes: &mut [ExperimentAxis]) {
    let full: Vec<Vec<String>> = axes.iter().map(|a| a.name.split('.').map(str::to_owned).collect()).collect();
    for (i, axis) in axes.iter_mut().enumerate() {
        let tail = |path: &[String], n: usize| path[path.len().saturating_sub(n)..].join(".");
        let unique = |n: &usize| {
            let own = tail(&full[i], *n);
            full.iter().enumerate().all(|(j, other)| j == i || tail(other, *n) != own)
        };
        let segments = (1..full[i].len()).find(unique).unwrap_or(full[i].len());
        axis.name = tail(&full[i], segments);
    }
}

/// Another axis that sets a path of this one, or a path around or inside it.
fn find_overlapping_axis(axis: &ExperimentAxis, axes: &[ExperimentAxis]) -> Option<(String, String)> {
    let paths = |axis: &ExperimentAxis| axis.values.iter().flatten().map(|a| a.path.clone()).collect::<Vec<_>>();
    let own = paths(axis);
    for other in axes.iter().filter(|other| other.place != axis.place) {
        for theirs in paths(other) {
            if let Some(path) = own.iter().find(|p| p.starts_with(&theirs) || theirs.starts_with(p)) {
                return Some((other.path.clone(), path.join(".")));
            }
        }
    }
    None
}

fn check_axis(axis: &ExperimentAxis, axes: &[ExperimentAxis], source: &SourceText) -> Result<(), SpecError> {
    let place: Vec<&str> = axis.place.iter().map(String::as_str).collect();
    if axis.labels.is_empty() {
        return Err(source.error(&place, SpecProblem::Empty));
    }
    if FIXED_COLUMNS.contains(&axis.path.as_str()) {
        return Err(source.error(&place, SpecProblem::ReservedAxis { name: axis.path.clone() }));
    }
    if let Some((other, path)) = find_overlapping_axis(axis, axes) {
        return Err(source.error(&place, SpecProblem::OverlappingAxes { other, path }));
    }
    if axes.iter().filter(|other| other.name == axis.name).count() > 1 {
        return Err(source.error(&place, SpecProblem::DuplicateAxis { name: axis.name.clone() }));
    }
    for (i, label) in axis.labels.iter().enumerate() {
        if axis.labels[..i].contains(label) {
            return Err(source.error(&place, SpecProblem::DuplicateValue { label: label.clone() }));
        }
    }
    Ok(())
}

/// The `task` section of a spec: what a cell measures. Crates that depend on this one implement it.
pub trait TaskSection: Debug + Clone + PartialEq + Serialize + DeserializeOwned + JsonSchema {
    /// What adds noise.
    type Mechanism: MechanismSection;

    /// Checks the section of a setting, and what it needs from the other sections.
    ///
    /// # Errors
    /// [`crate::setting::SettingError`] of the first value that is wrong.
    fn check(setting: &SpecCellSetting<Self>) -> CheckResult;

    /// Fills in the sections that a spec with this task may omit.
    fn fill_in_omitted_sections(_spec: &mut toml::Table) {}

    /// The metrics that are measured with this number of replicates.
    fn metric_names(&self, replicates: u32) -> Vec<String>;

    /// Those metrics that are compared with no printed number and by no check.
    fn uncompared_metrics(&self) -> &[String] {
        &[]
    }

    /// The name of the erratum that is computed, for a task that computes one: an `[[erratum]]` describes it.
    fn erratum_name(&self) -> Option<&str>;

    /// Checks what depends on the number of rows that a replicate works on.
    ///
    /// # Errors
    /// [`crate::setting::SettingError`] if there are too few.
    fn check_row_count(&self, rows: usize) -> CheckResult;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_short_and_the_same_for_equal_numbers() {
        let value: Table =
            toml::from_str("a = [1, 1.0, 1e300, inf, 'x', ['age', 'weight'], {eq = {l = 1.0}}]").unwrap();
        let labels: Vec<String> = value["a"].as_array().unwrap().iter().map(axis_value_label).collect();
        assert_eq!(labels, ["1", "1", "1e300", "inf", "x", "age+weight", "eq(l=1)"]);
    }
}
