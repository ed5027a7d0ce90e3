//! What an experiment's figure shows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kinds of figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum FigureSetting {
    /// One line per cell: our value and spread beside the published ones.
    Intervals(IntervalsFigure),
}

/// One line per cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IntervalsFigure {
    /// The metrics shown, in this order.
    pub metrics: Vec<String>,
    /// The label of the value axis, with units.
    pub label: String,
    /// A logarithmic value axis.
    #[serde(default)]
    pub log: bool,
}
