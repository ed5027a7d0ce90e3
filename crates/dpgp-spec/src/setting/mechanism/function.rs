//! A sample of a process, added to a mean function.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use dpgp_mechanisms::FunctionSensitivity;

/// A sample of the model's process, added to its mean function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FunctionSetting {
    /// The sensitivity that scales it.
    pub sensitivity: FunctionSensitivity,
    /// Whether predictions are the best linear ones given what is released, as for cloaking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denoise: Option<bool>,
}
