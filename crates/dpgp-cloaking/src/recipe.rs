//! The sampling recipes.

use serde::{Deserialize, Serialize};

/// What is released when the rank rule drops directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReleaseRecipe {
    /// `U U' C y` with noise on the kept directions U: the mean moves by the dropped ones.
    Projection,
    /// `C y` with a little noise in every direction.
    Jitter,
}
