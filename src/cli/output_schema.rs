//! The JSON Schema of the output of verbs.

use schemars::Schema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use super::Verb;

/// An output of a verb: its name, and the schemas of its possible types.
pub(super) type VerbOutput = (&'static str, fn(&mut SchemaGenerator) -> Vec<Schema>);

/// Makes the schema of an object with a property for each verb, which describes its output with `--format json`, and one for the
/// certificate of `predict --out`. Later versions may add keys to a value, but remove none.
pub(super) fn output_schema() -> Value {
    let mut all = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut outputs = Verb::json_outputs();
    // By verb, the outputs of each in the order of its entry.
    outputs.sort_by_key(|(name, _)| name.split([' ', ':']).next());
    let properties: Map<String, Value> =
        outputs.into_iter().map(|(name, schemas)| (name.to_owned(), one_of(schemas(&mut all)))).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Output of dpgp with --format json, by verb",
        "type": "object",
        "properties": properties,
        "$defs": all.take_definitions(true),
    })
}

fn one_of(mut types: Vec<Schema>) -> Value {
    if types.len() == 1 { types.remove(0).to_value() } else { json!({ "anyOf": types }) }
}
