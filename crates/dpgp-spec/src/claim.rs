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
    /// The metric that it is about; `rmse/*` means every metric of the family `rmse`.
    pub metric: String,
    /// The cells on the left: labels of axes.
    #[serde(default)]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub cells: Table,
    /// Cells whose values are subtracted from those on the left.
    #[serde(default)]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub minus: Option<Table>,
    pub is: Relation,
    /// The cells on the right.
    #[serde(default)]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub other: Option<Table>,
    /// Several sets of cells on the right, instead of one: the relation holds for each.
    #[serde(default)]
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    pub others: Vec<Table>,
    /// The metric of the cells on the right, where it is another one. No row is compared with itself, so that `rmse/*` means all others of a
    /// family.
    #[serde(default)]
    pub other_metric: Option<String>,
    /// A number instead of cells on the right.
    #[serde(default)]
    pub value: Option<f64>,
    /// A uniform pick among what a private selection allows, instead of cells on the right.
    #[serde(default)]
    pub uniform: Option<UniformPick>,
    /// Cells whose values are subtracted on the right, from other cells or from a number.
    #[serde(default)]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub other_minus: Option<Table>,
    /// How far the left may lie on the wrong side and still be as stated.
    #[serde(default)]
    pub margin: Option<Margin>,
    /// The relation need hold for more than this share of what is compared alone, which is all without it.
    #[serde(default)]
    pub share: Option<f64>,
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

/// What a private selection would err by if it picked uniformly among what it allows: the root of the mean square of `of/NAME`, as of an
/// `expected-rmse`, over the members NAME of the family whose `allowed/NAME` is above zero.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniformPick {
    /// The family of errors that is averaged.
    pub of: String,
    /// The family that is above zero where the selection allows a member, for example its probability.
    pub allowed: String,
}

/// How far a row may lie on the wrong side of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Margin {
    /// The difference of what the paper prints of both, as large as its rounding leaves it, and zero at least: a difference as
    /// small as that is none to the paper.
    AsPrinted,
}

/// What stands on the right of a claim.
#[derive(Debug, Clone, PartialEq)]
pub enum OtherSide {
    /// Rows, of any of these.
    Cells(Vec<Selector>),
    /// A number.
    Number(f64),
    /// A uniform pick in the same cell.
    Uniform(UniformPick),
}

/// A statement as a predicate over rows: every row of `cells`, less the row of `minus` that agrees with it, stands in the relation to every
/// row on the right.
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
    /// What is subtracted from them.
    pub minus: Option<Selector>,
    /// The relation.
    pub is: Relation,
    /// What stands on the right.
    pub other: OtherSide,
    /// Their metric, if it is another.
    pub other_metric: Option<String>,
    /// What is subtracted there.
    pub other_minus: Option<Selector>,
    /// How far the left may lie on the wrong side.
    pub margin: Option<Margin>,
    /// The relation must hold for more than this share of what is compared; for all where there is none.
    pub share: Option<f64>,
    /// The axes on which rows that are compared agree, by index.
    pub agree: Vec<usize>,
    /// The axes on which rows on the left differ, with their names.
    pub open: Vec<(usize, String)>,
}

impl Claim {
    /// Whether it compares a cell with these labels.
    pub fn looks_at(&self, labels: &[String]) -> bool {
        let others = match &self.other {
            OtherSide::Cells(others) => others.as_slice(),
            OtherSide::Number(_) | OtherSide::Uniform(_) => &[],
        };
        let sides = [Some(&self.cells), self.minus.as_ref(), self.other_minus.as_ref()];
        sides.into_iter().flatten().chain(others).any(|side| side.selects(labels))
    }

    /// Whether it is about a metric.
    pub fn is_about(&self, metric: &str) -> bool {
        means(&self.metric, metric)
    }

    /// Whether it compares with a metric.
    pub fn compares_with(&self, metric: &str) -> bool {
        means(self.other_metric.as_ref().unwrap_or(&self.metric), metric)
    }
}

/// Whether a metric is the one named, or of the family.
fn means(named: &str, metric: &str) -> bool {
    match named.strip_suffix('*') {
        Some(family) => metric.starts_with(family),
        None => named == metric,
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
