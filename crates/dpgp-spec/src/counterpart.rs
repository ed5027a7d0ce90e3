//! Numbers that stand beside ours: a paper's, its authors', and references.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A number that stands beside one of ours, tied to its cell.
#[derive(Debug, Clone)]
pub struct Counterpart {
    /// Whose number it is.
    pub owner: Owner,
    /// Index of the cell.
    pub cell: usize,
    /// The metric.
    pub metric: String,
    /// The number.
    pub value: f64,
    /// Its spread, if any.
    pub spread: Option<f64>,
    /// What the spread is.
    pub spread_kind: SpreadKind,
    /// Over how many things the spread was taken.
    pub count: Option<u32>,
    /// The number is the mean of so many runs.
    pub runs: u32,
    /// The unit of the last printed digit.
    pub precision: f64,
    /// The largest difference that agrees, for formulas and readings off a figure.
    pub tolerance: Option<f64>,
    /// The difference that matters: an interval that is wider tells nothing.
    pub effect: Option<f64>,
    /// Why agreement shows nothing: a setting was chosen so that it fits.
    pub fitted: Option<String>,
    /// Where it stands.
    pub source: String,
    /// How it was read.
    pub read: HowRead,
}

/// Whose a number is. Only the first was published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// Printed in the paper, or read off its figure.
    Paper,
    /// Of a result file or the code of its authors.
    Authors,
    /// Of an independent computation, not in the paper.
    Reference,
}

impl Owner {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Paper, Self::Authors, Self::Reference];

    /// The section of a spec that holds its numbers, and the column of a result table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "published",
            Self::Authors => "authors",
            Self::Reference => "reference",
        }
    }
}

/// What a spread is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpreadKind {
    /// There is none.
    #[default]
    None,
    /// Standard deviation over folds.
    SdFolds,
    /// Standard deviation over replicates.
    SdReplicates,
    /// Standard error of the mean.
    StandardError,
}

impl SpreadKind {
    const ALL: [Self; 4] = [Self::None, Self::SdFolds, Self::SdReplicates, Self::StandardError];

    /// The kind that result tables show by this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The names of all kinds.
    pub fn names() -> String {
        let named = Self::ALL.into_iter().filter(|kind| *kind != Self::None);
        named.map(Self::name).collect::<Vec<_>>().join(", ")
    }

    /// Its name, as result tables show it; empty for none.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "",
            Self::SdFolds => "sd-folds",
            Self::SdReplicates => "sd-replicates",
            Self::StandardError => "standard-error",
        }
    }
}

/// How a published number was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HowRead {
    /// Printed in a table.
    #[default]
    Printed,
    /// Stated in the text.
    Text,
    /// Read off a figure.
    Figure,
}
