//! What tells two classes apart.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::{Checked, range};
use crate::data::Comparison;

/// A comparison with a number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThresholdSetting {
    /// The comparison.
    pub is: Comparison,
    /// The number.
    pub value: f64,
}

impl ThresholdSetting {
    /// Fails unless the number is finite; `path` is that of the threshold.
    ///
    /// # Errors
    /// [`super::Problem::OutOfRange`].
    pub fn check(&self, path: &str) -> Checked {
        range(&format!("{path}.value"), self.value.is_finite(), "finite", self.value)
    }
}
