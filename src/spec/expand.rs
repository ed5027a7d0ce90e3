//! The product of the axes: from the base table to checked cells.

use toml::{Table, Value};

use super::axis::{Assignment, Axis};
use super::cell::{Block, Cell};
use super::setting::Setting;
use super::source::{SourceText, plain};
use super::{Problem, SpecError, check};
use crate::data::Manifest;

/// The largest grid that is expanded.
const MOST_CELLS: usize = 1_000_000;

/// Expands the grid and checks every cell.
pub(super) fn expand(
    base: &Table,
    axes: &[Axis],
    source: &SourceText,
    manifest: &Manifest,
) -> Result<Vec<Cell>, SpecError> {
    let total = axes.iter().try_fold(1usize, |n, axis| n.checked_mul(axis.labels.len()));
    let total = total.unwrap_or(usize::MAX);
    if total > MOST_CELLS {
        let problem = Problem::TooManyCells { cells: total, most: MOST_CELLS };
        return Err(source.error(&["grid"], problem));
    }
    check_base(base, source, manifest)?;
    (0..total)
        .map(|number| {
            let at = coordinates(axes, number);
            cell(base, &Blame { axes, at: &at, source }, manifest)
        })
        .collect()
}

/// A base that is complete without the grid is checked as it stands: a mistake in a value that the grid
/// replaces is still a mistake.
fn check_base(base: &Table, source: &SourceText, manifest: &Manifest) -> Result<(), SpecError> {
    let Ok(setting) = Value::Table(base.clone()).try_into::<Setting>() else {
        return Ok(());
    };
    let blame = Blame { axes: &[], at: &[], source };
    check::setting(&setting, manifest).map_err(|(path, problem)| blame.value(&path, problem))
}

/// The position of a cell on each axis; the last axis varies fastest.
fn coordinates(axes: &[Axis], mut number: usize) -> Vec<usize> {
    let mut at = vec![0; axes.len()];
    for (i, axis) in axes.iter().enumerate().rev() {
        at[i] = number % axis.labels.len();
        number /= axis.labels.len();
    }
    at
}

fn cell(base: &Table, blame: &Blame<'_>, manifest: &Manifest) -> Result<Cell, SpecError> {
    let Blame { axes, at, source } = *blame;
    let mut table = base.clone();
    for (axis, &i) in axes.iter().zip(at) {
        for assignment in &axis.values[i] {
            assign(&mut table, assignment).map_err(|reason| {
                let place: Vec<&str> = axis.place.iter().map(String::as_str).collect();
                source.error(&place, Problem::UnknownPath { reason })
            })?;
        }
    }
    let setting: Setting =
        serde_path_to_error::deserialize(Value::Table(table)).map_err(|e| blame.shape(&e))?;
    check::setting(&setting, manifest).map_err(|(path, problem)| blame.value(&path, problem))?;
    let canonical =
        Value::try_from(&setting).map_err(|e| source.error(&[], Problem::Shape(e.to_string())))?;
    let labels = axes.iter().zip(at).map(|(axis, &i)| axis.labels[i].clone()).collect();
    Ok(Cell::new(labels, setting, canonical))
}

/// Sets a dotted path, making tables on the way.
fn assign(table: &mut Table, assignment: &Assignment) -> Result<(), String> {
    let Some((last, parents)) = assignment.path.split_last() else {
        return Ok(());
    };
    let mut table = table;
    for parent in parents {
        let entry = table.entry(parent.clone()).or_insert_with(|| Value::Table(Table::new()));
        table = entry.as_table_mut().ok_or_else(|| format!("{parent} is not a table"))?;
    }
    table.insert(last.clone(), assignment.value.clone());
    Ok(())
}

/// Finds out where an error of a cell stands in the spec: at an axis, or at a key of the base.
struct Blame<'a> {
    axes: &'a [Axis],
    at: &'a [usize],
    source: &'a SourceText,
}

impl Blame<'_> {
    /// An error of form. If serde blames a key that an axis brought in, the axis is at fault.
    fn shape(&self, error: &serde_path_to_error::Error<toml::de::Error>) -> SpecError {
        let reason = plain(error.inner().message());
        let mut path: Vec<String> = error.path().iter().map(|s| s.to_string()).filter(|s| s != "?").collect();
        let unknown = reason.strip_prefix("unknown field `").or(reason.strip_prefix("unknown variant `"));
        if let Some(key) = unknown.and_then(|rest| rest.split('`').next())
            && path.last().map(String::as_str) != Some(key)
        {
            path.push(key.to_owned());
        }
        match self.axis_of(&path) {
            Some((place, true)) if unknown.is_some() => {
                self.at_place(&place, Problem::UnknownPath { reason })
            }
            Some((place, _)) => self.at_place(&place, Problem::BadAxisValue { reason }),
            None => self.base(&path, Problem::Shape(reason)),
        }
    }

    /// An error of value at a path.
    fn value(&self, path: &str, problem: Problem) -> SpecError {
        let path: Vec<String> = path.split('.').map(str::to_owned).collect();
        match self.axis_of(&path) {
            Some((place, _)) => self.at_place(&place, problem),
            None => self.base(&path, problem),
        }
    }

    /// The place of the axis value that set `path` (or a table around or below it), and whether the
    /// axis' own path is the one at fault.
    fn axis_of(&self, path: &[String]) -> Option<(Vec<String>, bool)> {
        for (axis, &i) in self.axes.iter().zip(self.at) {
            for assignment in &axis.values[i] {
                if path.starts_with(&assignment.path) || assignment.path.starts_with(path) {
                    let mut place = axis.place.clone();
                    match axis.place[0].as_str() {
                        "grid" => place.push(i.to_string()),
                        _ => place.extend([axis.labels[i].clone(), assignment.path.join(".")]),
                    }
                    return Some((place, assignment.path.starts_with(path)));
                }
            }
        }
        None
    }

    fn at_place(&self, place: &[String], problem: Problem) -> SpecError {
        let place: Vec<&str> = place.iter().map(String::as_str).collect();
        self.source.error(&place, problem)
    }

    fn base(&self, path: &[String], problem: Problem) -> SpecError {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        self.source.error(&path, problem)
    }
}

/// Groups cells that differ only in what rescales the noise, in order of first appearance.
pub(super) fn blocks(cells: &[Cell]) -> Vec<Block> {
    let mut places = std::collections::BTreeMap::new();
    let mut blocks: Vec<Block> = Vec::new();
    for (i, cell) in cells.iter().enumerate() {
        let id = cell.block_id();
        let place = *places.entry(id.clone()).or_insert(blocks.len());
        if place == blocks.len() {
            blocks.push(Block { id, cells: Vec::new() });
        }
        blocks[place].cells.push(i);
    }
    blocks
}
