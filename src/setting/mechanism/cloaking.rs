//! Gaussian noise with an optimal covariance.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::number::Tolerance;
use crate::privacy::{Objective, ReleaseRecipe, Solver};

/// The settings of cloaking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CloakingSetting {
    /// What the covariance minimises.
    pub objective: Objective,
    /// Directions below this singular value of C, relative to the largest, are dropped.
    pub rank_tolerance: Tolerance,
    /// How the weights are found.
    #[serde(default = "interior_point")]
    pub solver: Solver,
    /// What is released when directions are dropped.
    #[serde(default = "projection")]
    pub release: ReleaseRecipe,
}

fn interior_point() -> Solver {
    Solver::InteriorPoint
}

fn projection() -> ReleaseRecipe {
    ReleaseRecipe::Projection
}
