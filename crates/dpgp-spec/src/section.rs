//! One section of a cell, built once for all cells that share it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::Problem;
use super::canonical::{Identity, canonical};

/// The sections of a cell, in the order of their canonical text.
pub(super) const SECTIONS: [&str; 5] = ["data", "model", "normalise", "privacy", "task"];

/// Why a section could not be built.
pub(super) enum Fault {
    /// An axis value that cannot be set: the axis' index, and why.
    Assign(usize, String),
    /// Serde's refusal, its path without the section's name.
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
    /// SHA-256 of the canonical text.
    pub id: Identity,
}

/// Builds the sections of one name; each combination of the axis values that set it is built once.
pub(super) struct Builder<T> {
    base: Option<Value>,
    /// The axes that set a path of this section.
    touching: Vec<usize>,
    inner: &'static [&'static str],
    built: BTreeMap<Vec<usize>, Option<Section<T>>>,
    name: &'static str,
}

impl<T: DeserializeOwned + Serialize> Builder<T> {
    pub fn new(
        name: &'static str,
        base: &Table,
        axes: &[super::Axis],
        inner: &'static [&'static str],
    ) -> Self {
        let touches =
            |axis: &super::Axis| axis.values.iter().flatten().any(|assignment| assignment.path[0] == name);
        Self {
            base: base.get(name).cloned(),
            touching: (0..axes.len()).filter(|&i| touches(&axes[i])).collect(),
            inner,
            built: BTreeMap::new(),
            name,
        }
    }

    /// The section of the cell at these positions on the axes; none if neither base nor axes write it.
    pub fn at(&mut self, axes: &[super::Axis], at: &[usize]) -> Result<Option<Section<T>>, Fault> {
        let key: Vec<usize> = self.touching.iter().map(|&axis| at[axis]).collect();
        if let Some(section) = self.built.get(&key) {
            return Ok(section.clone());
        }
        let section = self.build(axes, at)?;
        self.built.insert(key, section.clone());
        Ok(section)
    }

    fn build(&self, axes: &[super::Axis], at: &[usize]) -> Result<Option<Section<T>>, Fault> {
        let mut table = Table::new();
        if let Some(base) = &self.base {
            table.insert(self.name.to_owned(), base.clone());
        }
        for &axis in &self.touching {
            let own = axes[axis].values[at[axis]].iter().filter(|a| a.path[0] == self.name);
            for assignment in own {
                assign(&mut table, &assignment.path, &assignment.value)
                    .map_err(|why| Fault::Assign(axis, why))?;
            }
        }
        let Some(value) = table.remove(self.name) else { return Ok(None) };
        let value: T = serde_path_to_error::deserialize(value).map_err(Fault::Form)?;
        let written = Value::try_from(&value).map_err(|error| Fault::Text(error.to_string()))?;
        let text = Arc::new(SectionText::new(&written, self.inner));
        Ok(Some(Section { value: Arc::new(value), text }))
    }
}

impl SectionText {
    fn new(value: &Value, inner: &[&str]) -> Self {
        let text = canonical(value);
        let outer = (!inner.is_empty()).then(|| {
            let mut outer = value.clone();
            if let Some(table) = outer.as_table_mut() {
                table.retain(|key, _| !inner.contains(&key));
            }
            canonical(&outer)
        });
        Self { outer, id: Identity::of(&text), canonical: text }
    }

    /// The text without the keys that only rescale the noise.
    pub(super) fn outer(&self) -> &str {
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
pub(super) fn known_section(path: &[String]) -> Result<(), Problem> {
    if SECTIONS.contains(&path[0].as_str()) {
        return Ok(());
    }
    let known = SECTIONS.map(|name| format!("`{name}`")).join(", ");
    Err(Problem::UnknownPath { reason: format!("unknown field `{}`, expected one of {known}", path[0]) })
}
