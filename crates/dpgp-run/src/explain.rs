//! The reasons why a cell must be computed again.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Plan;
use super::store::{NUMERICS, ResultStore, ResultWithRun, StoreError};
use dpgp_task::Cell;

/// One thing that changed since a cell was last computed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RecomputeReason {
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StaleResults {
    /// What changed.
    pub reasons: Vec<RecomputeReason>,
    /// The cells and replicates.
    pub places: Vec<String>,
}

/// Compares every result that is missing with the latest one of the same experiment, labels and replicate.
///
/// # Errors
/// [`StoreError`].
pub(super) fn explain(plan: &Plan<'_>, store: &ResultStore) -> Result<Vec<StaleResults>, StoreError> {
    let earlier = store.experiment_results(&plan.experiment.name)?;
    let mut latest: BTreeMap<(&[String], u32), &ResultWithRun> = BTreeMap::new();
    for stored in &earlier {
        latest.insert((&stored.record.about.labels, stored.record.about.replicate), stored);
    }
    // Groups stand in the order of their first cell.
    let (mut stale, mut places): (Vec<StaleResults>, BTreeMap<Vec<RecomputeReason>, usize>) =
        (Vec::new(), BTreeMap::new());
    for (number, cell) in plan.experiment.cells.iter().enumerate() {
        for replicate in 0..plan.experiment.meta.replicates {
            if plan.is_stored(number, replicate) {
                continue;
            }
            let reasons = match latest.get(&(cell.labels(), replicate)) {
                None => vec![RecomputeReason::NeverComputed],
                Some(stored) => compare_with_stored(plan, cell, stored, store)?,
            };
            let group = *places.entry(reasons).or_insert_with_key(|reasons| {
                stale.push(StaleResults { reasons: reasons.clone(), places: Vec::new() });
                stale.len() - 1
            });
            let place = match plan.experiment.meta.replicates {
                1 => cell.joined_labels(),
                _ => format!("{}, replicate {replicate}", cell.joined_labels()),
            };
            stale[group].places.push(place);
        }
    }
    Ok(stale)
}

fn compare_with_stored(
    plan: &Plan<'_>,
    cell: &Cell,
    stored: &ResultWithRun,
    store: &ResultStore,
) -> Result<Vec<RecomputeReason>, StoreError> {
    let ResultWithRun { run, record } = stored;
    let mut reasons = Vec::new();
    if run.seed != plan.seed {
        reasons.push(RecomputeReason::Seed { from: run.seed, to: plan.seed });
    }
    if run.numerics != NUMERICS {
        reasons.push(RecomputeReason::Numerics { from: run.numerics, to: NUMERICS });
    }
    let (mut before, mut now) = (BTreeMap::new(), BTreeMap::new());
    for (name, id) in &record.about.sections {
        if let Some(text) = store.section_text(id)? {
            collect_leaves(name.clone(), &text, &mut before);
        }
    }
    for (name, text) in cell.sections() {
        collect_leaves(name.to_owned(), &text.canonical, &mut now);
    }
    for ValueChange { key: path, from, to } in changes(before, now) {
        reasons.push(RecomputeReason::Spec { path, from, to });
    }
    match plan.digests.cell_files(cell) {
        None => reasons.push(RecomputeReason::DataUnknown),
        Some(now) => {
            let before = record.about.data.iter().cloned().collect();
            for ValueChange { key: file, from, to } in changes(before, now.iter().cloned().collect()) {
                reasons.push(RecomputeReason::Data { file, from, to });
            }
        }
    }
    Ok(reasons)
}

/// A key whose value is another than it was.
struct ValueChange {
    key: String,
    from: Option<String>,
    to: Option<String>,
}

/// The changes from one set of values to another, by key.
fn changes(mut before: BTreeMap<String, String>, mut now: BTreeMap<String, String>) -> Vec<ValueChange> {
    let keys: BTreeSet<String> = before.keys().chain(now.keys()).cloned().collect();
    let mut changes = Vec::new();
    for key in keys {
        let (from, to) = (before.remove(&key), now.remove(&key));
        if from != to {
            changes.push(ValueChange { key, from, to });
        }
    }
    changes
}

/// Collects the values of a canonical text by dotted path. The text is not JSON only in that infinities stand in it bare.
fn collect_leaves(path: String, text: &str, found: &mut BTreeMap<String, String>) {
    match text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
        Some(inside) if !inside.is_empty() => {
            for entry in split_top_level(inside) {
                // Keys are names, so that no quote stands in them.
                let entry = entry.strip_prefix('"').and_then(|entry| entry.split_once("\":"));
                if let Some((key, value)) = entry {
                    collect_leaves(format!("{path}.{key}"), value, found);
                }
            }
        }
        _ => {
            found.insert(path, text.to_owned());
        }
    }
}

/// Cuts at the commas outside brackets and strings.
fn split_top_level(text: &str) -> Vec<&str> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_paths_that_differ_are_named() {
        let (mut before, mut now) = (BTreeMap::new(), BTreeMap::new());
        let text = r#"{"kernel":{"eq":{"lengthscale":15.0,"variance":10.0}},"note":"a,\"{b","list":[1.0,inf]}"#;
        collect_leaves("model".to_owned(), text, &mut before);
        let text =
            r#"{"kernel":{"eq":{"lengthscale":16.0,"variance":10.0}},"note":"a,\"{b","list":[1.0,2.0],"new":{}}"#;
        collect_leaves("model".to_owned(), text, &mut now);
        let found: Vec<_> = changes(before, now).into_iter().map(|c| (c.key, c.from, c.to)).collect();
        let change =
            |path: &str, from: Option<&str>, to: &str| (path.to_owned(), from.map(str::to_owned), Some(to.to_owned()));
        let expected = [
            change("model.kernel.eq.lengthscale", Some("15.0"), "16.0"),
            change("model.list", Some("[1.0,inf]"), "[1.0,2.0]"),
            change("model.new", None, "{}"),
        ];
        assert_eq!(found, expected);
    }
}
