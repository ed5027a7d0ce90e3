//! JSON of published files: read without repeated keys, and with a digest of its content.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use dpgp_data::Digest;

/// The field that holds it.
pub(super) const FIELD: &str = "content_sha256";

/// Adds the digest of the content to a file as its last field. The digest detects damage and accidental edits. A
/// deliberate edit can replace the digest, too: only a signature detects it.
pub(super) fn with_digest(mut file: Value) -> Value {
    file[FIELD] = Value::String(content_digest(&file));
    file
}

/// Computes the SHA-256 of the canonical text of all fields except the digest. Keys are sorted, there are no blanks,
/// and numbers have the fewest digits that read back. So the layout of the file does not matter.
pub(super) fn content_digest(file: &Value) -> String {
    let mut text = String::new();
    match file {
        Value::Object(fields) => {
            append_canonical_object(fields.iter().filter(|(name, _)| *name != FIELD), &mut text);
        }
        other => append_canonical_value(other, &mut text),
    }
    Digest::of_bytes(text.as_bytes()).to_string()
}

fn append_canonical_object<'v>(fields: impl Iterator<Item = (&'v String, &'v Value)>, text: &mut String) {
    let mut fields: Vec<(&String, &Value)> = fields.collect();
    fields.sort_by_key(|(name, _)| *name);
    text.push('{');
    for (place, (name, value)) in fields.into_iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        text.push_str(&Value::from(name.as_str()).to_string());
        text.push(':');
        append_canonical_value(value, text);
    }
    text.push('}');
}

fn append_canonical_value(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => append_canonical_object(fields.iter(), text),
        Value::Array(items) => {
            text.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                append_canonical_value(item, text);
            }
            text.push(']');
        }
        plain => text.push_str(&plain.to_string()),
    }
}

/// Parses a text without repeated keys: readers differ in which of two equal keys they use.
///
/// ```
/// use dpgp_release::parse_json_with_unique_keys;
/// assert_eq!(parse_json_with_unique_keys("{\"a\": [1, {}]}").unwrap()["a"][0], 1);
/// assert!(parse_json_with_unique_keys("{\"a\": {\"b\": 1, \"b\": 2}}").unwrap_err().to_string().contains("appears twice"));
/// ```
///
/// # Errors
/// [`serde_json::Error`] for text that is not JSON, or for an object with a repeated key.
pub fn parse_json_with_unique_keys(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str::<UniqueKeyValue>(text).map(|UniqueKeyValue(value)| value)
}

/// A value without repeated keys.
struct UniqueKeyValue(Value);

impl<'de> Deserialize<'de> for UniqueKeyValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueKeyVisitor).map(Self)
    }
}

struct UniqueKeyVisitor;

impl<'de> Visitor<'de> for UniqueKeyVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(UniqueKeyValue(value)) = list.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let UniqueKeyValue(value) = map.next_value()?;
            if values.contains_key(&key) {
                return Err(A::Error::custom(format_args!("the key {key:?} appears twice")));
            }
            values.insert(key, value);
        }
        Ok(Value::Object(values))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// SHA-256 of `{"a":[1.5,null],"b":{"c":"x","d":1e-9}}`, by sha256sum.
    #[test]
    fn layout_and_order_do_not_count() {
        let one = json!({ "b": { "d": 1e-9, "c": "x" }, "a": [1.5, null] });
        let read: Value =
            serde_json::from_str("{ \"a\": [1.50, null],\n \"b\": {\"c\": \"x\", \"d\": 1e-09} }").unwrap();
        assert_eq!(content_digest(&one), content_digest(&read));
        assert_eq!(content_digest(&one), "95fc53142209ed9eb8f1c7d50ed6b8746f04848e020a6e4270097c7cdbce7338");
    }

    #[test]
    fn every_part_counts() {
        let file = with_digest(json!({ "a": [1.0, 2.0], "b": "x" }));
        assert_eq!(file[FIELD], content_digest(&file));
        for changed in
            [json!({ "a": [1.0, 2.5], "b": "x" }), json!({ "a": [2.0, 1.0], "b": "x" }), json!({ "a": [1.0, 2.0] })]
        {
            assert_ne!(file[FIELD], content_digest(&changed));
        }
    }
}
