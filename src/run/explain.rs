//! Why a cell has to be computed again.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Plan;
use super::store::{NUMERICS, Store, StoreError, Stored};
use crate::task::Cell;

/// One thing that changed since a cell was last computed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// No earlier run has a cell with these labels.
    NeverComputed,
    /// A value of the spec.
    Spec {
        /// The dotted path.
        path: String,
        /// What it was; none if it was not there.
        from: Option<String>,
        /// What it is.
        to: Option<String>,
    },
    /// The contents of a data file.
    Data {
        /// The file.
        file: String,
        /// The digest that it had; none if it was not used.
        from: Option<String>,
        /// The digest that it has.
        to: Option<String>,
    },
    /// The version of the numerics.
    Numerics {
        /// What it was.
        from: u32,
        /// What it is.
        to: u32,
    },
    /// The seed.
    Seed {
        /// What it was.
        from: u32,
        /// What it is.
        to: u32,
    },
    /// The data have not been fetched yet, so that their digest is not known.
    DataUnknown,
}

/// Replicates of cells that are not stored for one and the same reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stale {
    /// What changed.
    pub reasons: Vec<Reason>,
    /// The cells and replicates.
    pub places: Vec<String>,
}

/// Compares every result that is missing with the latest one of the same experiment, labels and replicate.
///
/// # Errors
/// [`StoreError`].
pub fn explain(plan: &Plan<'_>, store: &Store) -> Result<Vec<Stale>, StoreError> {
    let earlier = store.of_experiment(&plan.experiment.name)?;
    let mut latest: BTreeMap<(&[String], u32), &Stored> = BTreeMap::new();
    for stored in &earlier {
        latest.insert((&stored.record.about.labels, stored.record.about.replicate), stored);
    }
    let mut groups: BTreeMap<Vec<Reason>, Vec<String>> = BTreeMap::new();
    let mut order: Vec<Vec<Reason>> = Vec::new();
    for (number, cell) in plan.experiment.cells.iter().enumerate() {
        for replicate in 0..plan.experiment.meta.replicates {
            if plan.is_stored(number, replicate) {
                continue;
            }
            let reasons = match latest.get(&(cell.labels(), replicate)) {
                None => vec![Reason::NeverComputed],
                Some(stored) => differences(plan, cell, stored, store)?,
            };
            if !groups.contains_key(&reasons) {
                order.push(reasons.clone());
            }
            let place = if plan.experiment.meta.replicates == 1 {
                cell.place()
            } else {
                format!("{}, replicate {replicate}", cell.place())
            };
            groups.entry(reasons).or_default().push(place);
        }
    }
    let stale = |reasons| groups.remove_entry(&reasons).map(|(reasons, places)| Stale { reasons, places });
    Ok(order.into_iter().filter_map(stale).collect())
}

fn differences(
    plan: &Plan<'_>,
    cell: &Cell,
    stored: &Stored,
    store: &Store,
) -> Result<Vec<Reason>, StoreError> {
    let Stored { run, record } = stored;
    let mut reasons = Vec::new();
    if run.seed != plan.seed {
        reasons.push(Reason::Seed { from: run.seed, to: plan.seed });
    }
    if run.numerics != NUMERICS {
        reasons.push(Reason::Numerics { from: run.numerics, to: NUMERICS });
    }
    let sections: BTreeMap<&str, &str> =
        cell.sections().map(|(name, text)| (name, text.canonical.as_str())).collect();
    let names: BTreeSet<&str> =
        sections.keys().copied().chain(record.about.sections.keys().map(String::as_str)).collect();
    for name in names {
        let before = match record.about.sections.get(name) {
            Some(id) => store.text(id)?,
            None => None,
        };
        spec_differences(name, before.as_deref(), sections.get(name).copied(), &mut reasons);
    }
    match plan.digests.of(&cell.data_id()) {
        None => reasons.push(Reason::DataUnknown),
        Some(now) => data_differences(&record.about.data, now, &mut reasons),
    }
    Ok(reasons)
}

fn data_differences(before: &[(String, String)], now: &[(String, String)], reasons: &mut Vec<Reason>) {
    let before: BTreeMap<&String, &String> = before.iter().map(|(file, digest)| (file, digest)).collect();
    let now: BTreeMap<&String, &String> = now.iter().map(|(file, digest)| (file, digest)).collect();
    let files: BTreeSet<&&String> = before.keys().chain(now.keys()).collect();
    for &&file in &files {
        let (from, to) = (before.get(file).map(|d| (*d).clone()), now.get(file).map(|d| (*d).clone()));
        if from != to {
            reasons.push(Reason::Data { file: file.clone(), from, to });
        }
    }
}

/// The paths at which two canonical texts differ.
fn spec_differences(name: &str, before: Option<&str>, now: Option<&str>, reasons: &mut Vec<Reason>) {
    let leaves = |text: Option<&str>| text.map(|text| leaves(name, text)).unwrap_or_default();
    let (before, now) = (leaves(before), leaves(now));
    let paths: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    for path in paths {
        let (from, to) = (before.get(path).cloned(), now.get(path).cloned());
        if from != to {
            reasons.push(Reason::Spec { path: path.clone(), from, to });
        }
    }
}

/// The values of a canonical text by dotted path. The text is not JSON only in that infinities stand in it bare.
fn leaves(name: &str, text: &str) -> BTreeMap<String, String> {
    let mut leaves = BTreeMap::new();
    walk(name.to_owned(), text, &mut leaves);
    leaves
}

fn walk(path: String, text: &str, leaves: &mut BTreeMap<String, String>) {
    let Some(inside) = text.strip_prefix('{').and_then(|t| t.strip_suffix('}')) else {
        leaves.insert(path, text.to_owned());
        return;
    };
    if inside.is_empty() {
        leaves.insert(path, "{}".to_owned());
        return;
    }
    for entry in top_level(inside) {
        if let Some((key, value)) = split_entry(entry) {
            walk(format!("{path}.{key}"), value, leaves);
        }
    }
}

/// Cuts at the commas outside brackets and strings.
fn top_level(text: &str) -> Vec<&str> {
    let (mut depth, mut quoted, mut escaped, mut start, mut parts) = (0usize, false, false, 0, Vec::new());
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '{' | '[' if !quoted => depth += 1,
            '}' | ']' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// `"key":value`; keys are names, so that no quote stands in them.
fn split_entry(entry: &str) -> Option<(&str, &str)> {
    entry.strip_prefix('"')?.split_once("\":")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_paths_that_differ_are_named() {
        let mut reasons = Vec::new();
        let before =
            r#"{"kernel":{"eq":{"lengthscale":15.0,"variance":10.0}},"note":"a,\"{b","list":[1.0,inf]}"#;
        let now = r#"{"kernel":{"eq":{"lengthscale":16.0,"variance":10.0}},"note":"a,\"{b","list":[1.0,2.0],"new":{}}"#;
        spec_differences("model", Some(before), Some(now), &mut reasons);
        let change = |path: &str, from: Option<&str>, to: &str| Reason::Spec {
            path: path.to_owned(),
            from: from.map(str::to_owned),
            to: Some(to.to_owned()),
        };
        let expected = [
            change("model.kernel.eq.lengthscale", Some("15.0"), "16.0"),
            change("model.list", Some("[1.0,inf]"), "[1.0,2.0]"),
            change("model.new", None, "{}"),
        ];
        assert_eq!(reasons, expected);
    }
}
