//! Gaussian noise on the counts of a histogram.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::privacy::accounting::Relation;

/// Gaussian noise on the counts of a histogram.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HistogramSetting {
    /// Which data sets are neighbours.
    pub relation: Relation,
}
