//! A checked experiment that is ready to run, its reduced form by `[quick]`, and the check that each computed
//! erratum is described once and quotes its paper.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use toml::{Table, Value};

use super::cell::{ExperimentAxis, list_axis_names, parse_axes};
use super::claim::{Claim, ReferenceValue};
use super::document::{BrokenGuarantee, ErratumWords, Meta, ProtocolDeviation, RawBrokenGuarantee, RawSpec};
use super::expand::{expand, group_into_blocks, locate_setting_error};
use super::figure::{FigureNamesAndNumbers, FigureSetting, LinesFigure};
use super::section::{SourceText, path_segments, simplify_serde_message};
use super::value_table::TableLayout;
use super::{Cell, CellBlock, CellSelector, SpecError, SpecProblem, TaskSection};
use crate::setting::SettingError;
use dpgp_data::DatasetManifest;
use dpgp_data::suggest::closest_name;
use dpgp_number::OutOfRangeError;

/// A spec whose every value has been checked.
#[derive(Debug, Clone)]
pub struct Experiment<T: TaskSection> {
    /// Its name, for example `smith2021/table1`.
    pub name: String,
    /// Whether the settings are the reduced ones of its `[quick]` table.
    pub quick: bool,
    /// The changes for this run, in words; none if the experiment is as in its spec.
    pub changes: Vec<String>,
    /// The text of its spec, for errors that appear only when data are read.
    pub source: SourceText,
    /// Its title and other facts.
    pub meta: Meta,
    /// The axes of its grid.
    pub axes: Vec<ExperimentAxis>,
    /// Its cells, in grid order.
    pub cells: Vec<Cell<T>>,
    /// Its cells grouped by what is computed together.
    pub blocks: Vec<CellBlock>,
    /// The numbers that its own are compared with.
    pub counterparts: Vec<ReferenceValue>,
    /// The claims.
    pub claims: Vec<Claim>,
    /// The deviations.
    pub deviations: Vec<ProtocolDeviation>,
    /// The words of its errata.
    pub errata: Vec<ErratumWords>,
    /// The broken guarantees that it declares.
    pub broken: Vec<BrokenGuarantee>,
    /// Numbers and claims that a reduced or changed grid has no cells for.
    pub left_out: usize,
    /// How its table is laid out for readers, if it is not a plain list.
    pub layout: Option<TableLayout>,
    /// The figure, if it has one.
    pub figure: Option<FigureSetting>,
    /// The cells that the figure shows.
    pub figure_cells: CellSelector,
    /// The figure's names for axes of the grid, their labels and metrics.
    pub figure_names: BTreeMap<String, String>,
}

impl<T: TaskSection> Experiment<T> {
    /// The labels of a cell for messages: a number with its axis, such as `epsilon = 0.5`, and a word alone.
    pub fn describe_cell(&self, cell: &Cell<T>) -> String {
        if self.axes.is_empty() {
            return cell.joined_labels();
        }
        let named = self.axes.iter().zip(cell.labels()).map(|(axis, label)| match label.parse::<f64>() {
            Ok(_) => format!("{} = {label}", axis.name),
            Err(_) => label.clone(),
        });
        named.collect::<Vec<_>>().join(", ")
    }

    /// Reads a spec from a text.
    ///
    /// # Errors
    /// [`SpecError`] with the place of the first mistake.
    pub fn parse(name: &str, file: &Path, text: String, manifest: &DatasetManifest) -> Result<Self, SpecError> {
        let source = SourceText::new(file, text);
        let document = RawSpec::parse(&source)?;
        Self::from_raw_spec(name, source, document, manifest, false)
    }

    /// The experiment with the reduced settings of its `[quick]` table; itself if it has none. Published values
    /// and claims about cells that the reduced grid lacks are left out.
    ///
    /// # Errors
    /// [`SpecError`] if `[quick]` is not valid.
    pub fn with_quick_settings(self, manifest: &DatasetManifest) -> Result<Self, SpecError> {
        let source = self.source.with_quick_table_first();
        match quick_document(&source)? {
            None => Ok(self),
            Some(document) => {
                Self::from_raw_spec(&self.name, source.clone(), document.check_and_fill_in(&source)?, manifest, true)
            }
        }
    }

    pub(super) fn from_raw_spec(
        name: &str,
        source: SourceText,
        document: RawSpec,
        manifest: &DatasetManifest,
        quick: bool,
    ) -> Result<Self, SpecError> {
        let axes = parse_axes(&document, &source)?;
        let cells = expand::<T>(&document.base_sections(), &axes, &source, manifest)?;
        let replicates = document.experiment.replicates;
        let metrics = cells.first().map(|cell| cell.setting().task.metric_names(replicates)).unwrap_or_default();
        let context = SpecReferenceResolver { axes: &axes, cells: &cells, source: &source, metrics, quick };
        let counterparts = context.resolve_reference_values(&document)?;
        let claims = context.resolve_all(&document.claim, SpecReferenceResolver::resolve_claim)?;
        let broken = context.resolve_all(&document.broken, SpecReferenceResolver::resolve_broken_guarantee)?;
        context.check_errata(&document.erratum)?;
        context.check_layout(document.table.as_ref())?;
        context.check_figure(document.figure.as_ref())?;
        context.check_figure_names(&document.figure_names)?;
        let figure_cells = match CellSelector::new(&document.figure_cells, &axes, &source, &["figure_cells"]) {
            Err(_) if quick => CellSelector::default(),
            resolved => resolved?,
        };
        let left_out = counterparts.left_out + document.claim.len() - claims.len();
        Ok(Self {
            left_out,
            name: name.to_owned(),
            quick,
            changes: Vec::new(),
            blocks: group_into_blocks(&cells),
            deviations: document.deviations(),
            meta: document.experiment,
            errata: document.erratum,
            layout: document.table,
            figure: document.figure,
            figure_cells,
            figure_names: document.figure_names,
            counterparts: counterparts.found,
            claims,
            broken,
            axes,
            cells,
            source,
        })
    }

    /// Its folder below a results folder: the results of reduced settings stand beside the full ones.
    pub fn relative_results_folder(&self) -> String {
        if self.quick { format!("{}/quick", self.name) } else { self.name.clone() }
    }

    /// An error at a key path of a cell, for errors that appear only when its data are read. If the grid sets the
    /// path, it is not in the text, and the nearest section is shown.
    pub fn error_at_key_path(&self, path: &str, problem: SpecProblem) -> SpecError {
        let segments: Vec<&str> = path.split('.').collect();
        self.source.error(&segments, problem)
    }

    /// The metrics that no check compares.
    pub fn uncompared_metrics(&self) -> &[String] {
        self.cells.first().map_or(&[], |cell| cell.setting().task.uncompared_metrics())
    }

    /// A path that the spec names, resolved relative to the folder of the spec.
    pub fn resolve_path(&self, path: &str) -> std::path::PathBuf {
        self.source.file().parent().unwrap_or(Path::new("")).join(path)
    }

    /// The names of the datasets that its cells use, without repetition.
    pub fn datasets(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for cell in &self.cells {
            if let Some(name) = cell.setting().data.source.dataset()
                && !names.contains(&name)
            {
                names.push(name);
            }
        }
        names
    }
}

/// From this number of replicates on, rows show the 2.5 % and 97.5 % quantiles of their values.
pub const FEWEST_FOR_QUANTILES: u32 = 100;

/// Context in which numbers, claims and figures are resolved.
pub(super) struct SpecReferenceResolver<'a, T: TaskSection> {
    pub(super) axes: &'a [ExperimentAxis],
    pub(super) cells: &'a [Cell<T>],
    pub(super) source: &'a SourceText,
    /// Metrics of a cell.
    metrics: Vec<String>,
    pub(super) quick: bool,
}

impl<T: TaskSection> SpecReferenceResolver<'_, T> {
    /// Checks each entry. With reduced settings, an entry that fails is left out: the full spec has been checked.
    fn resolve_all<R, C>(
        &self,
        raw: &[R],
        one: fn(&Self, usize, &R) -> Result<C, SpecError>,
    ) -> Result<Vec<C>, SpecError> {
        let checked = raw.iter().enumerate().map(|(i, r)| one(self, i, r));
        if self.quick { Ok(checked.flatten().collect()) } else { checked.collect() }
    }

    /// With reduced settings, more errata are described than are computed.
    fn check_errata(&self, errata: &[ErratumWords]) -> Result<(), SpecError> {
        check_errata_quoted(errata, self.source)?;
        if !self.quick {
            check_errata_computed_and_unique(errata, self.cells, self.source)?;
        }
        check_cell_errata_described(errata, self.cells, self.axes, self.source)
    }

    fn resolve_broken_guarantee(&self, i: usize, raw: &RawBrokenGuarantee) -> Result<BrokenGuarantee, SpecError> {
        let place = ["broken", &i.to_string(), "cells"];
        let cells = CellSelector::new(&raw.cells, self.axes, self.source, &place)?;
        Ok(BrokenGuarantee { cells, note: raw.note.clone() })
    }

    fn check_layout(&self, layout: Option<&TableLayout>) -> Result<(), SpecError> {
        let Some(TableLayout { metric, rows, columns, .. }) = layout else { return Ok(()) };
        self.check_metric(&["table", "metric"], metric)?;
        rows.iter().try_for_each(|name| self.check_axis_name(&["table", "rows"], Some(name)))?;
        columns.iter().try_for_each(|name| self.check_axis_name(&["table", "columns"], Some(name)))
    }

    fn check_figure(&self, figure: Option<&FigureSetting>) -> Result<(), SpecError> {
        match figure {
            None => Ok(()),
            Some(FigureSetting::Intervals(intervals)) => {
                let place = ["figure", "intervals", "metrics"];
                if intervals.metrics.is_empty() {
                    return Err(self.source.error(&place, SpecProblem::Empty));
                }
                intervals.metrics.iter().try_for_each(|metric| self.check_metric(&place, metric))?;
                self.check_axis_name(&["figure", "intervals", "groups"], intervals.groups.as_ref())
            }
            Some(FigureSetting::Lines(lines)) => {
                self.check_metric(&["figure", "lines", "metric"], &lines.metric)?;
                let named = self.axes.iter().find(|axis| axis.name == lines.x);
                if named.is_some_and(|axis| axis.labels.iter().any(|label| label.parse::<f64>().is_err())) {
                    let why = "the labels of this axis are not numbers".to_owned();
                    return Err(self.source.error(&["figure", "lines", "x"], SpecProblem::Shape(why)));
                }
                self.check_line_labels(lines)?;
                self.check_figure_keys(&lines.names_and_numbers_to_check())
            }
            Some(figure) => self.check_figure_keys(&figure.names_and_numbers_to_check()),
        }
    }

    /// Checks that each name in the figure is that of a label, an axis or a metric, or of a family of metrics. A reduced grid may
    /// lack some.
    fn check_figure_names(&self, names: &BTreeMap<String, String>) -> Result<(), SpecError> {
        let families = self.metrics.iter().filter_map(|metric| Some(metric.split_once(['/', '@'])?.0));
        let of_axes = self.axes.iter().flat_map(|axis| axis.labels.iter().chain([&axis.name]));
        let known: BTreeSet<&str> = of_axes.chain(&self.metrics).map(String::as_str).chain(families).collect();
        let unknown = names.keys().find(|name| !self.quick && !known.contains(name.as_str()));
        let Some(name) = unknown else { return Ok(()) };
        let why =
            format!("there is no label, axis or metric of this name{}", closest_name_hint(name, known.iter().copied()));
        Err(self.source.error(&["figure_names", name], SpecProblem::Shape(why)))
    }

    /// Checks that the axis of lines has the label by which a figure divides, and that each other label is in some group. A
    /// reduced grid may lack labels.
    fn check_line_labels(&self, lines: &LinesFigure) -> Result<(), SpecError> {
        let Some(axis) = self.axes.iter().find(|axis| axis.name == lines.lines && !self.quick) else {
            return Ok(());
        };
        if let Some(label) = lines.relative.as_ref().filter(|label| !axis.labels.contains(label)) {
            let (axis, label, known) = (axis.name.clone(), label.clone(), axis.labels.join(", "));
            let problem = SpecProblem::SelectsNothing { axis, label, known };
            return Err(self.source.error(&["figure", "lines", "relative"], problem));
        }
        let is_drawn = |label: &&String| lines.relative.as_ref() != Some(*label);
        let lost = axis.labels.iter().filter(is_drawn).find(|label| lines.group(label).is_none());
        let Some(label) = lost.filter(|_| !lines.groups.is_empty()) else { return Ok(()) };
        let why = format!("no group has a prefix that {label:?} begins with");
        Err(self.source.error(&["figure", "lines", "groups"], SpecProblem::Shape(why)))
    }

    /// Checks the names in the other kinds of figure: axes and bounded numbers.
    fn check_figure_keys(&self, named: &FigureNamesAndNumbers<'_>) -> Result<(), SpecError> {
        named.axes.iter().try_for_each(|(key, axis)| self.check_axis_name(&["figure", named.kind, key], *axis))?;
        let mut metrics = named.metrics.iter();
        metrics.try_for_each(|(key, metric)| match metric {
            Some(metric) => self.check_metric(&["figure", named.kind, key], metric),
            None => Ok(()),
        })?;
        named
            .families
            .iter()
            .try_for_each(|(key, family)| self.check_metric_family(&["figure", named.kind, key], family))?;
        let number = |key: &str, found: Option<f64>, bad: fn(f64) -> bool, range: &'static str| {
            let Some(found) = found.filter(|found| !found.is_finite() || bad(*found)) else { return Ok(()) };
            Err(self.source.error(&["figure", named.kind, key], OutOfRangeError::new(range, found).into()))
        };
        named.finite.iter().try_for_each(|(key, found)| number(key, *found, |_| false, "finite"))?;
        let above = "greater than 0 and finite";
        named.positive.iter().try_for_each(|(key, found)| number(key, *found, |found| found <= 0.0, above))
    }

    fn check_axis_name(&self, place: &[&str], name: Option<&String>) -> Result<(), SpecError> {
        let unknown = name.filter(|name| self.axes.iter().all(|axis| axis.name != **name));
        let Some(axis) = unknown.cloned() else { return Ok(()) };
        let known = self.axes.iter().map(|axis| axis.name.as_str()).collect::<Vec<_>>().join(", ");
        Err(self.source.error(place, SpecProblem::UnknownAxis { axis, known }))
    }

    /// Fails unless some metric is named after the family.
    pub(super) fn check_metric_family(&self, place: &[&str], family: &str) -> Result<(), SpecError> {
        self.check_any_metric_matches(place, family, |known| {
            known.strip_prefix(family).is_some_and(|rest| rest.starts_with(['/', '@']))
        })
    }

    pub(super) fn check_metric(&self, place: &[&str], metric: &str) -> Result<(), SpecError> {
        self.check_any_metric_matches(place, metric, |known| known == metric)
    }

    fn check_any_metric_matches(
        &self,
        place: &[&str],
        metric: &str,
        is: impl Fn(&str) -> bool,
    ) -> Result<(), SpecError> {
        let known = &self.metrics;
        if known.iter().any(|known| is(known)) {
            return Ok(());
        }
        let problem = SpecProblem::UnknownMetric { metric: metric.to_owned(), known: known.join(", ") };
        Err(self.source.error(place, problem))
    }
}

impl<T: TaskSection> Experiment<T> {
    /// The words of the erratum that a cell computes; none if it has another task.
    pub fn erratum(&self, cell: &Cell<T>) -> Option<&ErratumWords> {
        let name = cell.setting().task.erratum_name()?;
        self.errata.iter().find(|words| words.name == name)
    }
}

/// Checks that each `[[erratum]]` describes what a cell computes, and no two the same.
fn check_errata_computed_and_unique<T: TaskSection>(
    errata: &[ErratumWords],
    cells: &[Cell<T>],
    source: &SourceText,
) -> Result<(), SpecError> {
    let known: BTreeSet<&str> = cells.iter().filter_map(|cell| cell.setting().task.erratum_name()).collect();
    let mut seen = BTreeSet::new();
    for (i, ErratumWords { name, .. }) in errata.iter().enumerate() {
        let problem = if !known.contains(name.as_str()) {
            SpecProblem::ErratumOfNoCell { name: name.clone(), hint: closest_name_hint(name, known.iter().copied()) }
        } else if !seen.insert(name) {
            SpecProblem::DuplicateValue { label: name.clone() }
        } else {
            continue;
        };
        return Err(source.error(&["erratum", &i.to_string(), "name"], problem));
    }
    Ok(())
}

/// Checks that whatever is said against a paper quotes it.
fn check_errata_quoted(errata: &[ErratumWords], source: &SourceText) -> Result<(), SpecError> {
    let Some((i, words)) = errata.iter().enumerate().find(|(_, words)| words.lacks_required_quote()) else {
        return Ok(());
    };
    let problem = SpecProblem::ErratumWithoutQuote { name: words.name.clone() };
    Err(source.error(&["erratum", &i.to_string(), "quote"], problem))
}

/// Checks that an `[[erratum]]` describes what each cell computes.
fn check_cell_errata_described<T: TaskSection>(
    errata: &[ErratumWords],
    cells: &[Cell<T>],
    axes: &[ExperimentAxis],
    source: &SourceText,
) -> Result<(), SpecError> {
    let known: BTreeSet<&str> = errata.iter().map(|words| words.name.as_str()).collect();
    for (number, cell) in cells.iter().enumerate() {
        if let Some(name) = cell.setting().task.erratum_name().filter(|name| !known.contains(name)) {
            let problem = SpecProblem::ErratumWithoutWords { name: name.to_owned() };
            return Err(locate_setting_error(number, axes, source, SettingError::new("task.errata.erratum", problem)));
        }
    }
    Ok(())
}

fn closest_name_hint<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    closest_name(name, known).map(|near| format!(" (did you mean {near:?}?)")).unwrap_or_default()
}

/// Sections that `[quick]` may change: the work, not what is published or claimed about it.
const CHANGEABLE: [&str; 8] = ["axis", "data", "experiment", "grid", "model", "normalise", "privacy", "task"];

/// The document with its `[quick]` table laid over it: tables are merged, anything else is replaced, and
/// `[quick.axis]` lists the labels of an axis that are kept. None if the spec has no such table.
///
/// # Errors
/// [`SpecError`] if `[quick]` is not valid.
fn quick_document(source: &SourceText) -> Result<Option<RawSpec>, SpecError> {
    let mut table: Table = toml::from_str(source.text()).map_err(|e| source.toml_error(&e))?;
    let Some(Value::Table(mut quick)) = table.remove("quick") else { return Ok(None) };
    if let Some(key) = quick.keys().find(|key| !CHANGEABLE.contains(&key.as_str())) {
        let known = CHANGEABLE.map(|name| format!("`{name}`")).join(", ");
        let reason = format!("unknown field `{key}`, expected one of {known}");
        return Err(source.error(&["quick", key], SpecProblem::Shape(reason)));
    }
    match quick.remove("axis") {
        None => {}
        Some(Value::Table(kept)) => retain_axis_labels(&mut table, &kept, source)?,
        Some(_) => {
            let problem = SpecProblem::Shape("must be a table of axis names, each with the labels to keep".to_owned());
            return Err(source.error(&["quick", "axis"], problem));
        }
    }
    overlay_tables(&mut table, quick);
    let document = serde_path_to_error::deserialize(Value::Table(table)).map_err(|error| {
        let inside: Vec<String> = path_segments(error.path()).collect();
        let path: Vec<&str> = std::iter::once("quick").chain(inside.iter().map(String::as_str)).collect();
        source.error(&path, SpecProblem::Shape(simplify_serde_message(error.inner().message())))
    })?;
    Ok(Some(document))
}

fn overlay_tables(base: &mut Table, over: Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(value)) => overlay_tables(inner, value),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// Keeps the named labels of bundle axes.
fn retain_axis_labels(table: &mut Table, kept: &Table, source: &SourceText) -> Result<(), SpecError> {
    for (name, labels) in kept {
        let fail = |problem| Err(source.error(&["quick", "axis", name], problem));
        let axes = table.get_mut("axis").and_then(Value::as_table_mut);
        let known = list_axis_names(axes.iter().flat_map(|axes| axes.keys()).map(String::as_str));
        let Some(bundles) = axes.and_then(|axes| axes.get_mut(name)).and_then(Value::as_table_mut) else {
            return fail(SpecProblem::UnknownAxis { axis: name.clone(), known });
        };
        let labels: Option<Vec<&str>> = labels.as_array().and_then(|list| list.iter().map(Value::as_str).collect());
        let Some(labels) = labels else {
            return fail(SpecProblem::Shape("must list the labels to keep".to_owned()));
        };
        if let Some(label) = labels.iter().find(|label| !bundles.contains_key(**label)) {
            let known = bundles.keys().cloned().collect::<Vec<_>>().join(", ");
            let (axis, label) = (name.clone(), (*label).to_owned());
            return fail(SpecProblem::SelectsNothing { axis, label, known });
        }
        bundles.retain(|label, _| labels.contains(&label));
    }
    Ok(())
}
