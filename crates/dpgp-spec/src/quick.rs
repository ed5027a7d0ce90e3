//! The reduced form of a spec: its `[quick]` table laid over it.

use toml::{Table, Value};

use super::document::Document;
use super::select::listing;
use super::source::{SourceText, keys, plain};
use super::{Problem, SpecError};

/// What `[quick]` may change: the work, not what is published or claimed about it.
const CHANGEABLE: [&str; 8] = ["axis", "data", "experiment", "grid", "model", "normalise", "privacy", "task"];

/// The document with its `[quick]` table laid over it: tables are merged, anything else is replaced, and
/// `[quick.axis]` lists the labels of an axis that are kept. None if the spec has no such table.
///
/// # Errors
/// [`SpecError`] inside `[quick]`.
pub(super) fn reduced(source: &SourceText) -> Result<Option<Document>, SpecError> {
    let mut table: Table = toml::from_str(source.text()).map_err(|e| source.toml_error(&e))?;
    let Some(Value::Table(mut quick)) = table.remove("quick") else { return Ok(None) };
    if let Some(key) = quick.keys().find(|key| !CHANGEABLE.contains(&key.as_str())) {
        let known = CHANGEABLE.map(|name| format!("`{name}`")).join(", ");
        let reason = format!("unknown field `{key}`, expected one of {known}");
        return Err(source.error(&["quick", key], Problem::Shape(reason)));
    }
    match quick.remove("axis") {
        None => {}
        Some(Value::Table(kept)) => keep(&mut table, &kept, source)?,
        Some(_) => {
            let problem = Problem::Shape("lists the labels to keep below the name of each axis".to_owned());
            return Err(source.error(&["quick", "axis"], problem));
        }
    }
    merge(&mut table, quick);
    let document = serde_path_to_error::deserialize(Value::Table(table)).map_err(|error| {
        let inside: Vec<String> = keys(error.path()).collect();
        let path: Vec<&str> = std::iter::once("quick").chain(inside.iter().map(String::as_str)).collect();
        source.error(&path, Problem::Shape(plain(error.inner().message())))
    })?;
    Ok(Some(document))
}

fn merge(base: &mut Table, over: Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(value)) => merge(inner, value),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// Keeps the named labels of bundle axes.
fn keep(table: &mut Table, kept: &Table, source: &SourceText) -> Result<(), SpecError> {
    for (name, labels) in kept {
        let fail = |problem| Err(source.error(&["quick", "axis", name], problem));
        let axes = table.get_mut("axis").and_then(Value::as_table_mut);
        let known = listing(axes.iter().flat_map(|axes| axes.keys()).map(String::as_str));
        let Some(bundles) = axes.and_then(|axes| axes.get_mut(name)).and_then(Value::as_table_mut) else {
            return fail(Problem::UnknownAxis { axis: name.clone(), known });
        };
        let labels: Option<Vec<&str>> =
            labels.as_array().and_then(|list| list.iter().map(Value::as_str).collect());
        let Some(labels) = labels else {
            return fail(Problem::Shape("lists the labels of the axis to keep".to_owned()));
        };
        if let Some(label) = labels.iter().find(|label| !bundles.contains_key(**label)) {
            let known = bundles.keys().cloned().collect::<Vec<_>>().join(", ");
            let (axis, label) = (name.clone(), (*label).to_owned());
            return fail(Problem::SelectsNothing { axis, label, known });
        }
        bundles.retain(|label, _| labels.contains(&label));
    }
    Ok(())
}
