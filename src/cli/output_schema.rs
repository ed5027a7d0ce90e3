//! The JSON Schema of what verbs print.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Value, json};

use super::Verb;

/// The schemas of what verbs print, by the name of the output.
pub(super) struct Schemas {
    all: SchemaGenerator,
    named: BTreeMap<&'static str, Vec<Value>>,
}

impl Schemas {
    /// One of the types that an output with this name may have.
    pub(super) fn add<T: JsonSchema>(&mut self, name: &'static str) {
        let schema = self.all.subschema_for::<T>();
        self.named.entry(name).or_default().push(schema.to_value());
    }
}

/// Adds all types of an output.
macro_rules! printed {
    ($schemas:ident, $name:literal, $($printed:ty),+) => {
        $($schemas.add::<$printed>($name);)+
    };
}
pub(super) use printed;

/// The schema of an object with a property for each verb, whose schema is that of what the verb prints with `--format json`, and
/// one for the certificate that `predict --out` writes. A value may get more keys in later versions; none is
/// taken away.
pub(super) fn output_schema() -> Value {
    let all = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schemas = Schemas { all, named: BTreeMap::new() };
    Verb::schemas(&mut schemas);
    let properties: serde_json::Map<String, Value> = schemas
        .named
        .into_iter()
        .map(|(name, mut types)| {
            let only = types.pop().filter(|_| types.is_empty());
            (name.to_owned(), only.unwrap_or_else(|| json!({ "anyOf": types })))
        })
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What dpgp prints with --format json, by verb",
        "type": "object",
        "properties": properties,
        "$defs": schemas.all.take_definitions(true),
    })
}
