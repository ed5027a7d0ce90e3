//! An erratum in words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an erratum finds of its statement, the gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ErratumKind {
    /// False as printed.
    Error,
    /// True, and by a factor more than is needed.
    Loose,
    /// Not proved, or not stated.
    Gap,
    /// No statement of the paper: our own protocol, or the code of others.
    Remark,
}

/// An erratum in words. Its numbers are computed by the cell that names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ErratumWords {
    /// The name that `task.errata.erratum` has.
    pub name: String,
    /// The paper's key.
    pub paper: String,
    /// What is found.
    pub kind: ErratumKind,
    /// Where in the paper, by its own numbers of sections and equations; of a remark, whose statement it is.
    pub place: String,
    /// The paper's own words at that place. Only a remark may be without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// What is tested of it, in our words.
    pub statement: String,
    /// The counter-example.
    pub example: String,
    /// What is right.
    pub correction: String,
    /// What it does to the paper's tables and figures.
    pub effect: String,
}

impl ErratumWords {
    /// Whether it accuses a paper without quoting it.
    pub(super) fn lacks_quote(&self) -> bool {
        let quoted = self.quote.as_deref().is_some_and(|quote| !quote.trim().is_empty());
        self.kind != ErratumKind::Remark && !quoted
    }
}
