//! Statements about results: the papers' and ours.

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
    /// The paper's own sentence; without one the claim is ours.
    #[serde(default)]
    pub quote: Option<String>,
    /// Where the paper says it, for example `Section 6.2`.
    #[serde(default)]
    pub place: Option<String>,
}

impl RawClaim {
    /// Whose claim it is.
    pub fn owner(&self) -> ClaimOwner {
        if self.quote.is_some() { ClaimOwner::Paper } else { ClaimOwner::Ours }
    }
}

/// Whose a claim is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimOwner {
    /// The paper says it about its results.
    Paper,
    /// We say it about ours.
    Ours,
}

impl ClaimOwner {
    /// Its name, as result tables show it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Ours => "ours",
        }
    }
}

/// A statement as a predicate over rows: every row of `cells` stands in the relation to every row of `other`, or to a number.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Whose statement it is.
    pub from: ClaimOwner,
    /// Where the paper says it; empty if the claim is ours.
    pub place: String,
    /// Its sentence; empty if the claim is ours.
    pub quote: String,
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

impl Claim {
    /// Whether it compares a cell with these labels.
    pub fn looks_at(&self, labels: &[String]) -> bool {
        let other = self.other.as_ref().is_ok_and(|other| other.selects(labels));
        other || self.cells.selects(labels)
    }
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
