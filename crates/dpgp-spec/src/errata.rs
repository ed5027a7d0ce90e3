//! Each erratum that is computed is described, once, and in the paper's own words.

use std::collections::BTreeSet;

use super::axis::Axis;
use super::expand::blamed;
use super::source::SourceText;
use super::words::ErratumWords;
use super::{Cell, Experiment, Problem, SpecError, TaskSection};
use crate::setting::Fault;
use dpgp_data::suggest::closest;

impl<T: TaskSection> Experiment<T> {
    /// The words of the erratum that a cell computes; none if its task is another.
    pub fn erratum(&self, cell: &Cell<T>) -> Option<&ErratumWords> {
        let name = cell.setting().task.erratum()?;
        self.errata.iter().find(|words| words.name == name)
    }
}

/// Checks that each `[[erratum]]` describes what a cell computes, and no two the same.
pub(super) fn described_once<T: TaskSection>(
    errata: &[ErratumWords],
    cells: &[Cell<T>],
    source: &SourceText,
) -> Result<(), SpecError> {
    let known: BTreeSet<&str> = cells.iter().filter_map(|cell| cell.setting().task.erratum()).collect();
    let mut seen = BTreeSet::new();
    for (i, ErratumWords { name, .. }) in errata.iter().enumerate() {
        let problem = if !known.contains(name.as_str()) {
            Problem::ErratumOfNoCell { name: name.clone(), hint: hint(name, known.iter().copied()) }
        } else if !seen.insert(name) {
            Problem::DuplicateValue { label: name.clone() }
        } else {
            continue;
        };
        return Err(source.error(&["erratum", &i.to_string(), "name"], problem));
    }
    Ok(())
}

/// Checks that whatever is said against a paper quotes it.
pub(super) fn all_quoted(errata: &[ErratumWords], source: &SourceText) -> Result<(), SpecError> {
    let Some((i, words)) = errata.iter().enumerate().find(|(_, words)| words.lacks_quote()) else {
        return Ok(());
    };
    let problem = Problem::ErratumWithoutQuote { name: words.name.clone() };
    Err(source.error(&["erratum", &i.to_string(), "quote"], problem))
}

/// Checks that an `[[erratum]]` describes what each cell computes.
pub(super) fn all_described<T: TaskSection>(
    errata: &[ErratumWords],
    cells: &[Cell<T>],
    axes: &[Axis],
    source: &SourceText,
) -> Result<(), SpecError> {
    let known: BTreeSet<&str> = errata.iter().map(|words| words.name.as_str()).collect();
    for (number, cell) in cells.iter().enumerate() {
        if let Some(name) = cell.setting().task.erratum().filter(|name| !known.contains(name)) {
            let problem = Problem::ErratumWithoutWords { name: name.to_owned() };
            return Err(blamed(number, axes, source, Fault::new("task.errata.erratum", problem)));
        }
    }
    Ok(())
}

fn hint<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    closest(name, known).map(|near| format!(" (did you mean {near:?}?)")).unwrap_or_default()
}
