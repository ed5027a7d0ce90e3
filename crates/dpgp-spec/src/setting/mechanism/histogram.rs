//! Gaussian noise on the counts of a histogram.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use dpgp_accounting::Relation;
use dpgp_number::Count;

/// Gaussian noise on the counts of a histogram.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HistogramSetting {
    /// Which data sets are neighbours.
    pub relation: Relation,
    /// The most records that a row stands for; more are clipped. Neighbours then differ in a row (or in a person, with
    /// data.person), not in one of its records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_per_row: Option<Count>,
    /// Whether a process that is fitted to the noisy counts knows the variance of their noise, which is public, and fits only what they
    /// have beside it; otherwise it fits both together. Needs estimate.process of task.density; costs no budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denoise: Option<bool>,
}
