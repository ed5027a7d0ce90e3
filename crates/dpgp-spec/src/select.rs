//! Selectors: which cells of the grid a published value or a claim is about.

use toml::Table;

use super::axis::{Axis, label};
use super::source::SourceText;
use super::{Cell, Problem, SpecError, TaskSection};

/// Axis positions and the labels that they must have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selector {
    wanted: Vec<(usize, String)>,
}

impl Selector {
    /// Resolves a `where` table against the axes.
    ///
    /// # Errors
    /// [`SpecError`] at `place` if an axis or a label does not exist.
    pub(super) fn new(
        table: &Table,
        axes: &[Axis],
        source: &SourceText,
        place: &[&str],
    ) -> Result<Self, SpecError> {
        let mut wanted = Vec::new();
        for (name, value) in table {
            let error = |problem| source.error(&[place, &[name.as_str()]].concat(), problem);
            let Some(axis) = axes.iter().position(|axis| axis.name == *name) else {
                let known = listing(axes.iter().map(|axis| axis.name.as_str()));
                return Err(error(Problem::UnknownAxis { axis: name.clone(), known }));
            };
            let label = label(value);
            if !axes[axis].labels.contains(&label) {
                let known = axes[axis].labels.join(", ");
                return Err(error(Problem::SelectsNothing { axis: name.clone(), label, known }));
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
    pub(super) fn only<T: TaskSection>(&self, cells: &[Cell<T>]) -> Result<usize, Problem> {
        let selected: Vec<usize> = (0..cells.len()).filter(|&i| self.selects(cells[i].labels())).collect();
        match selected[..] {
            [cell] => Ok(cell),
            _ => Err(Problem::SelectsMany { count: selected.len() }),
        }
    }
}

/// Names of axes, for messages.
pub(super) fn listing<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
