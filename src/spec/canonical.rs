//! The canonical text of a setting, and its digest.

use sha2::{Digest, Sha256};
use toml::Value;

/// Keys sorted, numbers in their shortest form with floats always marked as such, no white space.
/// Two settings with the same meaning have the same text, however they were written.
pub fn canonical(value: &Value) -> String {
    match value {
        Value::Table(table) => {
            let mut entries: Vec<(&String, &Value)> = table.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            let entry = |(key, value): &(&String, &Value)| format!("{key:?}:{}", canonical(value));
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(","))
        }
        Value::Array(list) => format!("[{}]", list.iter().map(canonical).collect::<Vec<_>>().join(",")),
        Value::String(s) => format!("{s:?}"),
        Value::Float(x) => format!("{:?}", x + 0.0),
        other => other.to_string(),
    }
}

/// SHA-256 of a text, in hex.
pub fn digest(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_spelling_do_not_matter() {
        let a: Value = toml::from_str("x = 1.0\n[t]\nb = [0.0, inf]\na = 'q'").unwrap();
        let b: Value = toml::from_str("t = { a = \"q\", b = [-0.0, inf] }\nx = 1e0").unwrap();
        assert_eq!(canonical(&a), canonical(&b));
        assert_eq!(canonical(&a), r#"{"t":{"a":"q","b":[0.0,inf]},"x":1.0}"#);
    }

    #[test]
    fn the_digest_is_sha_256() {
        assert_eq!(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
