//! Gaussian noise with an optimal covariance.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::rules::{Checked, count, positive, range};
use crate::privacy::{Objective, ReleaseRecipe, Solver};

/// The settings of cloaking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CloakingSetting {
    /// What the covariance minimises.
    pub objective: Objective,
    /// Directions below this singular value of C, relative to the largest, are dropped.
    pub rank_tolerance: f64,
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

impl CloakingSetting {
    /// Checks the numbers.
    pub(in crate::setting) fn check(&self) -> Checked {
        let (tolerance, path) = (self.rank_tolerance, "privacy.mechanism.cloaking");
        let inside = (0.0..1.0).contains(&tolerance);
        range(&format!("{path}.rank_tolerance"), inside, "at least 0 and less than 1", tolerance)?;
        if let Solver::Gradient { step, steps } = self.solver {
            positive(&format!("{path}.solver.gradient.step"), step)?;
            count(&format!("{path}.solver.gradient.steps"), steps)?;
        }
        Ok(())
    }
}
