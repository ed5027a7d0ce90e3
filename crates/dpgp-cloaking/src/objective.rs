//! The objectives of a noise design.

use serde::{Deserialize, Serialize};

/// What the noise covariance M minimises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// `log det M`, as published; its noise depends on the rank rule.
    LogDet,
    /// `tr M`, the expected squared noise.
    Trace,
}
