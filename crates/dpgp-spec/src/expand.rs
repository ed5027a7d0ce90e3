//! Multiplies the axes: turns the base table into checked cells.

use std::collections::BTreeMap;
use std::sync::Arc;

use toml::Table;

use super::cell::{Cell, CellBlock, ExperimentAxis, INNER, SectionTexts};
use super::section::{
    Section, SectionBuilder, SectionError, SectionText, SourceText, check_section_name, path_segments,
    simplify_serde_message,
};
use super::{SpecError, SpecProblem, TaskSection};
use crate::setting::{
    CellSections, CheckResult, DataSetting, ModelSetting, NormaliseSetting, PrivacySetting, SettingError,
    SpecCellSetting,
};
use dpgp_data::DatasetManifest;

/// The largest grid that is expanded.
const MOST_CELLS: usize = 1_000_000;

/// Expands the grid and checks every cell.
pub(super) fn expand<T: TaskSection>(
    base: &Table,
    axes: &[ExperimentAxis],
    source: &SourceText,
    manifest: &DatasetManifest,
) -> Result<Vec<Cell<T>>, SpecError> {
    let mut base = base.clone();
    T::fill_in_omitted_sections(&mut base);
    let base = &base;
    let total = axes.iter().try_fold(1usize, |n, axis| n.checked_mul(axis.labels.len()));
    let total = total.unwrap_or(usize::MAX);
    if total > MOST_CELLS {
        let problem = SpecProblem::TooManyCells { cells: total, most: MOST_CELLS };
        return Err(source.error(&["grid"], problem));
    }
    for axis in axes {
        for assignment in axis.values.iter().flatten() {
            check_section_name(&assignment.path).map_err(|problem| {
                let place: Vec<&str> = axis.place.iter().map(String::as_str).collect();
                source.error(&place, problem)
            })?;
        }
    }
    check_base::<T>(base, source, manifest)?;
    let mut builders = CellBuilder::<T>::new(base, axes);
    (0..total)
        .map(|number| {
            let at = axis_positions_of_cell(axes, number);
            builders.cell(&ErrorLocator { axes, at: &at, source }, manifest).map_err(|error| {
                // An error at an axis already names a label at fault.
                let labels = if error.is_at_grid_or_axis() {
                    String::new()
                } else {
                    builders.labels_with_error(axes, &at, source, manifest)
                };
                if labels.is_empty() {
                    return error;
                }
                SpecError { problem: Box::new(SpecProblem::OnlySomeCells { problem: error.problem, labels }), ..error }
            })
        })
        .collect()
}

/// A base that is complete without the grid is checked as it stands: a mistake in a value that the grid
/// replaces is still a mistake. Where a key is missing that the grid may add, only the cells are checked.
fn check_base<T: TaskSection>(base: &Table, source: &SourceText, manifest: &DatasetManifest) -> Result<(), SpecError> {
    let blame = ErrorLocator { axes: &[], at: &[], source };
    match CellBuilder::<T>::new(base, &[]).setting(&blame) {
        // A base that the grid completes has no form yet, but a number in it must have its range.
        Err(error) if error.problem.is_out_of_range() => Err(error),
        Err(_) => Ok(()),
        Ok((setting, _)) => match check_cell_setting(&setting, manifest) {
            // Every label may add it.
            Err(fault) if matches!(fault.problem, SpecProblem::MissingKey { .. }) => Ok(()),
            checked => checked.map_err(|fault| blame.setting_error(fault)),
        },
    }
}

/// Checks a whole cell: first what the sections say by themselves, then what the task needs of them.
fn check_cell_setting<T: TaskSection>(setting: &SpecCellSetting<T>, manifest: &DatasetManifest) -> CheckResult {
    setting.check(manifest)?;
    T::check(setting)
}

/// The position of a cell on each axis; the last axis varies fastest.
fn axis_positions_of_cell(axes: &[ExperimentAxis], mut number: usize) -> Vec<usize> {
    let mut at = vec![0; axes.len()];
    for (i, axis) in axes.iter().enumerate().rev() {
        at[i] = number % axis.labels.len();
        number /= axis.labels.len();
    }
    at
}

/// The sections of all cells.
struct CellBuilder<T: TaskSection> {
    data: SectionBuilder<DataSetting>,
    model: SectionBuilder<ModelSetting>,
    normalise: SectionBuilder<NormaliseSetting>,
    privacy: SectionBuilder<PrivacySetting<T::Mechanism>>,
    task: SectionBuilder<T>,
}

impl<T: TaskSection> CellBuilder<T> {
    fn new(base: &Table, axes: &[ExperimentAxis]) -> Self {
        Self {
            data: SectionBuilder::new("data", base, axes, &[]),
            model: SectionBuilder::new("model", base, axes, &[]),
            normalise: SectionBuilder::new("normalise", base, axes, &[]),
            privacy: SectionBuilder::new("privacy", base, axes, &INNER),
            task: SectionBuilder::new("task", base, axes, &[]),
        }
    }

    fn cell(&mut self, blame: &ErrorLocator<'_>, manifest: &DatasetManifest) -> Result<Cell<T>, SpecError> {
        let (setting, texts) = self.setting(blame)?;
        check_cell_setting(&setting, manifest).map_err(|fault| blame.setting_error(fault))?;
        let labels = blame.axes.iter().zip(blame.at).map(|(axis, &i)| axis.labels[i].clone()).collect();
        Ok(Cell::new(labels, setting, texts))
    }

    /// The labels of a wrong cell without which it would be right: on their axes, another label makes a right cell. Empty if
    /// there are none.
    fn labels_with_error(
        &mut self,
        axes: &[ExperimentAxis],
        at: &[usize],
        source: &SourceText,
        manifest: &DatasetManifest,
    ) -> String {
        let mut labels = Vec::new();
        for (i, axis) in axes.iter().enumerate() {
            let mut other = at.to_vec();
            let is_right = (0..axis.labels.len()).filter(|&label| label != at[i]).any(|label| {
                other[i] = label;
                self.cell(&ErrorLocator { axes, at: &other, source }, manifest).is_ok()
            });
            if is_right {
                labels.push(format!("{} = {}", axis.name, axis.labels[at[i]]));
            }
        }
        labels.join(" and ")
    }

    fn setting(&mut self, blame: &ErrorLocator<'_>) -> Result<(SpecCellSetting<T>, SectionTexts), SpecError> {
        let ErrorLocator { axes, at, .. } = *blame;
        let data = self.data.section_at(axes, at).map_err(|fault| blame.section_error("data", fault))?;
        let normalise = self.normalise.section_at(axes, at).map_err(|fault| blame.section_error("normalise", fault))?;
        let model = self.model.section_at(axes, at).map_err(|fault| blame.section_error("model", fault))?;
        let task = self.task.section_at(axes, at).map_err(|fault| blame.section_error("task", fault))?;
        let privacy = self.privacy.section_at(axes, at).map_err(|fault| blame.section_error("privacy", fault))?;
        let data = data.ok_or_else(|| blame.missing_section_error("data"))?;
        let task = task.ok_or_else(|| blame.missing_section_error("task"))?;
        let privacy = privacy.ok_or_else(|| blame.missing_section_error("privacy"))?;
        let texts = [
            Some(data.text),
            model.as_ref().map(text),
            normalise.as_ref().filter(|section| *section.value != NormaliseSetting::None).map(text),
            Some(privacy.text),
            Some(task.text),
        ];
        let sections = CellSections {
            data: data.value,
            normalise: normalise.map(|section| section.value).unwrap_or_default(),
            model: model.map(|section| section.value),
            privacy: privacy.value,
        };
        Ok((SpecCellSetting { task: task.value, sections }, texts))
    }
}

fn text<T>(section: &Section<T>) -> Arc<SectionText> {
    Arc::clone(&section.text)
}

/// An error of value at a key path of the cell with this number.
pub(super) fn locate_setting_error(
    number: usize,
    axes: &[ExperimentAxis],
    source: &SourceText,
    fault: SettingError,
) -> SpecError {
    ErrorLocator { axes, at: &axis_positions_of_cell(axes, number), source }.setting_error(fault)
}

/// Finds out where an error of a cell stands in the spec: at an axis, or at a key of the base.
struct ErrorLocator<'a> {
    axes: &'a [ExperimentAxis],
    at: &'a [usize],
    source: &'a SourceText,
}

impl ErrorLocator<'_> {
    fn missing_section_error(&self, section: &'static str) -> SpecError {
        self.source.error(&[], SpecProblem::MissingSection { section })
    }

    fn section_error(&self, section: &str, fault: SectionError) -> SpecError {
        match fault {
            SectionError::Assign(axis, reason) => {
                self.error_at_place(&self.axes[axis].place, SpecProblem::UnknownPath { reason })
            }
            SectionError::Form(error) => self.deserialisation_error(section, &error),
            SectionError::Text(reason) => self.source.error(&[section], SpecProblem::Shape(reason)),
        }
    }

    /// An error of form. If serde blames a key that an axis brought in, the axis is at fault.
    fn deserialisation_error(&self, section: &str, error: &serde_path_to_error::Error<toml::de::Error>) -> SpecError {
        let reason = simplify_serde_message(error.inner().message());
        let inside = path_segments(error.path());
        if let Some(problem) = SpecProblem::from_serde_message(&reason) {
            let mut path: Vec<String> = std::iter::once(section.to_owned()).chain(inside).collect();
            // A list is blamed as a whole, as by the checks of values.
            while path.pop_if(|last| last.parse::<usize>().is_ok()).is_some() {}
            return self.setting_error(SettingError { path: path.join("."), problem });
        }
        let mut path: Vec<String> = std::iter::once(section.to_owned()).chain(inside).collect();
        let unknown = reason.strip_prefix("unknown field `").or(reason.strip_prefix("unknown variant `"));
        if let Some(key) = unknown.and_then(|rest| rest.split('`').next())
            && path.last().map(String::as_str) != Some(key)
        {
            path.push(key.to_owned());
            let whole: Vec<&str> = path.iter().map(String::as_str).collect();
            if self.find_axis_place(&path).is_none() && self.source.key_offset(&whole).is_none() {
                path.pop();
            }
        }
        let written = || self.source.key_offset(&path.iter().map(String::as_str).collect::<Vec<_>>()).is_some();
        match self.find_axis_place(&path) {
            // An axis that adds a key to a table of the text is not to blame for another that is missing there.
            Some((_, length)) if length > path.len() && reason.starts_with("missing field") && written() => {
                self.error_in_base(&path, SpecProblem::Shape(reason))
            }
            Some((place, length)) if unknown.is_some() && length >= path.len() => {
                self.error_at_place(&place, SpecProblem::UnknownPath { reason })
            }
            Some((place, _)) => self.error_at_place(&place, SpecProblem::BadAxisValue { reason }),
            None => self.error_in_base(&path, SpecProblem::Shape(reason)),
        }
    }

    /// An error of value.
    fn setting_error(&self, fault: SettingError) -> SpecError {
        let path: Vec<String> = fault.path.split('.').map(str::to_owned).collect();
        // An axis that sets one key of a table is not to blame for another that is missing there.
        let names: Vec<&str> = path.iter().map(String::as_str).collect();
        let is_missing =
            matches!(fault.problem, SpecProblem::MissingKey { .. }) && self.source.key_offset(&names).is_some();
        match self.find_axis_place(&path).filter(|(_, length)| !is_missing || *length <= path.len()) {
            Some((place, _)) => self.error_at_place(&place, fault.problem),
            None => self.error_in_base(&path, fault.problem),
        }
    }

    /// The place of the axis value that set `path` (or a table around or below it), and the length of its own path.
    fn find_axis_place(&self, path: &[String]) -> Option<(Vec<String>, usize)> {
        for (axis, &i) in self.axes.iter().zip(self.at) {
            for assignment in &axis.values[i] {
                if path.starts_with(&assignment.path) || assignment.path.starts_with(path) {
                    let mut place = axis.place.clone();
                    match axis.place[0].as_str() {
                        "grid" => place.push(i.to_string()),
                        _ => place.extend([axis.labels[i].clone(), assignment.path.join(".")]),
                    }
                    return Some((place, assignment.path.len()));
                }
            }
        }
        None
    }

    fn error_at_place(&self, place: &[String], problem: SpecProblem) -> SpecError {
        let place: Vec<&str> = place.iter().map(String::as_str).collect();
        self.source.error(&place, problem)
    }

    fn error_in_base(&self, path: &[String], problem: SpecProblem) -> SpecError {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        self.source.error(&path, problem)
    }
}

/// Groups cells that differ only in what rescales the noise, in order of first appearance.
pub(super) fn group_into_blocks<T: TaskSection>(cells: &[Cell<T>]) -> Vec<CellBlock> {
    let mut places = BTreeMap::new();
    let mut blocks: Vec<CellBlock> = Vec::new();
    for (i, cell) in cells.iter().enumerate() {
        let place = *places.entry(cell.texts_shared_by_block()).or_insert(blocks.len());
        if place == blocks.len() {
            blocks.push(CellBlock { cells: Vec::new() });
        }
        blocks[place].cells.push(i);
    }
    blocks
}
