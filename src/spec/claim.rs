//! Statements that a paper makes about its results.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::Selector;

/// A claim as the spec writes it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawClaim {
    /// The statement, in words.
    pub text: String,
    /// The metric that it is about.
    pub metric: String,
    /// The cells on the left: labels of axes.
    #[serde(default)]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub cells: Table,
    pub is: Relation,
    /// The cells on the right.
    #[serde(default)]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub other: Option<Table>,
    /// A number instead of cells on the right.
    #[serde(default)]
    pub value: Option<f64>,
    /// Compare only rows that agree on every axis that neither side names.
    #[serde(default)]
    pub paired: bool,
}

/// A predicate over rows: every row of `cells` stands in the relation to every row of `other`, or to a number.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The statement, in words.
    pub text: String,
    /// The metric that it is about.
    pub metric: String,
    /// The cells on the left.
    pub cells: Selector,
    /// The relation.
    pub is: Relation,
    /// The cells on the right, or a number.
    pub other: Result<Selector, f64>,
    /// The axes on which rows that are compared agree, by index.
    pub agree: Vec<usize>,
}

/// The relation of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// Less than.
    Below,
    /// Greater than.
    Above,
}

impl Relation {
    /// Whether it holds.
    pub fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Self::Below => left < right,
            Self::Above => left > right,
        }
    }
}
