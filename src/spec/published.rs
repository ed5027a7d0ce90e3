//! Values that a paper prints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Table;

/// A published value as the spec writes it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPublished {
    /// The one cell: its labels on the axes.
    #[serde(default, rename = "where")]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub cells: Table,
    /// The metric.
    pub metric: String,
    /// The printed value, in the units of the metric.
    pub value: f64,
    /// The printed spread.
    #[serde(default)]
    pub spread: Option<f64>,
    #[serde(default)]
    pub spread_kind: SpreadKind,
    /// Over how many folds, replicates or values the spread was taken.
    #[serde(default)]
    pub count: Option<u32>,
    /// Runs that the value averages, where the paper does not tell their spread: ours stands for it.
    #[serde(default)]
    pub runs: Option<u32>,
    /// The unit of the last printed digit.
    #[serde(default)]
    pub precision: f64,
    /// The largest difference that agrees, instead of what the uncertainties allow.
    #[serde(default)]
    pub tolerance: Option<f64>,
    /// Where it is printed, for example `Table 1, row 2`.
    pub source: String,
    #[serde(default)]
    pub read: HowRead,
}

/// A published value, tied to its cell.
#[derive(Debug, Clone)]
pub struct Published {
    /// Index of the cell.
    pub cell: usize,
    /// The metric.
    pub metric: String,
    /// The printed value.
    pub value: f64,
    /// The printed spread, if any.
    pub spread: Option<f64>,
    /// What the spread is.
    pub spread_kind: SpreadKind,
    /// Over how many things the spread was taken.
    pub count: Option<u32>,
    /// The value is of so many runs, whose spread the paper does not know: that of our replicates stands for it.
    pub runs: Option<u32>,
    /// The unit of the last printed digit.
    pub precision: f64,
    /// An absolute tolerance that decides instead of the uncertainties.
    pub tolerance: Option<f64>,
    /// Where it is printed.
    pub source: String,
    /// How it was read.
    pub read: HowRead,
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

/// How a published value was read.
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
    /// Not in the paper: reached by an independent computation of its protocol.
    Computed,
}
