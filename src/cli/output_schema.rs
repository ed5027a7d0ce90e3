//! The JSON Schema of what verbs print.

use schemars::Schema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use super::Verb;

/// What a verb prints as JSON: the name of the output, and the schemas of its types, of which it has one.
pub(super) type Output = (&'static str, fn(&mut SchemaGenerator) -> Vec<Schema>);

/// The schema of an object with a property for each verb, whose schema is that of what the verb prints with `--format json`, and
/// one for the certificate that `predict --out` writes. A value may get more keys in later versions; none is
/// taken away.
pub(super) fn output_schema() -> Value {
    let mut all = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut outputs = Verb::outputs();
    // By verb, the outputs of each in the order of its entry.
    outputs.sort_by_key(|(name, _)| name.split([' ', ':']).next());
    let properties: Map<String, Value> =
        outputs.into_iter().map(|(name, schemas)| (name.to_owned(), one_of(schemas(&mut all)))).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What dpgp prints with --format json, by verb",
        "type": "object",
        "properties": properties,
        "$defs": all.take_definitions(true),
    })
}

fn one_of(mut types: Vec<Schema>) -> Value {
    if types.len() == 1 { types.remove(0).to_value() } else { json!({ "anyOf": types }) }
}
