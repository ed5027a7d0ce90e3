//! Breaks of privacy that a spec announces.

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Table;

use super::Selector;

/// Cells whose guarantee does not hold, as published, and why.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawBroken {
    /// The cells: labels of axes.
    #[serde(default)]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub cells: Table,
    /// Why it does not hold.
    pub note: String,
}

/// Cells whose guarantee does not hold: an audit that finds so does not fail, and one that does not find so does.
#[derive(Debug, Clone)]
pub struct Broken {
    /// The cells.
    pub cells: Selector,
    /// Why it does not hold.
    pub note: String,
}
