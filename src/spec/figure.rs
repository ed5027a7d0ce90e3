//! What an experiment's figure shows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kinds of figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum FigureSetting {
    /// One line per cell: our value and spread beside the published ones.
    Intervals(IntervalsFigure),
    /// A metric along an axis of the grid: a line for each label of another, a panel for each label of a third.
    Lines(LinesFigure),
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
    /// Whether a linear value axis shows only the range of the values instead of beginning at zero.
    #[serde(default)]
    pub close: bool,
}

/// A metric along an axis of the grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinesFigure {
    /// The metric.
    pub metric: String,
    /// The axis along which it is drawn; its labels are numbers.
    pub x: String,
    /// The axis that has a line for each of its labels.
    pub lines: String,
    /// The axis that has a panel for each of its labels; one panel without it.
    #[serde(default)]
    pub panels: Option<String>,
    /// The label of the x axis, with units.
    pub x_label: String,
    /// The label of the y axis, with units.
    pub label: String,
    /// A logarithmic x axis.
    #[serde(default)]
    pub log: bool,
    /// Where the y axis begins; points below are left out, and counted.
    #[serde(default)]
    pub least: Option<f64>,
    /// Levels to compare with.
    #[serde(default)]
    pub levels: Vec<LevelSetting>,
}

/// A horizontal line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LevelSetting {
    /// What it is.
    pub label: String,
    /// Where it stands.
    pub value: f64,
}
