//! An erratum in words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An erratum in words. Its numbers are computed by the cell that names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ErratumWords {
    /// The name that `task.errata.erratum` has.
    pub name: String,
    /// The paper's key.
    pub paper: String,
    /// Where in the paper.
    pub place: String,
    /// What it says.
    pub statement: String,
    /// The counter-example.
    pub example: String,
    /// What is right.
    pub correction: String,
    /// What it does to the paper's tables and figures.
    pub effect: String,
}
