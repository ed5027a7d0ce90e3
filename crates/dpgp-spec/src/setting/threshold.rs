//! What tells two classes apart.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use dpgp_data::Comparison;
use dpgp_number::Finite;

/// A comparison with a number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThresholdSetting {
    /// The comparison.
    pub is: Comparison,
    /// The number.
    pub value: Finite,
}
