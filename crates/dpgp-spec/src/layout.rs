//! How a table is laid out for people.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A table as a paper lays it out: a metric over some axes downwards and some across. Cells that differ on another axis stand in
/// tables of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableLayout {
    /// The metric that is shown.
    pub metric: String,
    /// The axes whose labels stand at the left.
    pub rows: Vec<String>,
    /// The axes whose labels stand at the top.
    pub columns: Vec<String>,
    /// Which number of a column is the best, and stands in bold; none without it.
    #[serde(default)]
    pub best: Option<Best>,
}

/// Which number is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Best {
    /// The smallest, as of an error.
    Least,
    /// The largest, as of an accuracy.
    Greatest,
}
