//! The canonical text of a setting, and its digest.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use toml::Value;

/// SHA-256 of a canonical text: what a cell, a block or a section is known by. Shown in hex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Identity([u8; 32]);

impl Identity {
    /// The identity of a text.
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first 16 hex digits, which tables show.
    pub fn short(&self) -> String {
        hex::encode(&self.0[..8])
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl From<[u8; 32]> for Identity {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl FromStr for Identity {
    type Err = hex::FromHexError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes)?;
        Ok(Self(bytes))
    }
}

impl TryFrom<String> for Identity {
    type Error = hex::FromHexError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Identity> for String {
    fn from(identity: Identity) -> Self {
        identity.to_string()
    }
}

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
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Identity::of("abc").to_string(), text);
        assert_eq!(text.parse(), Ok(Identity::of("abc")));
    }
}
