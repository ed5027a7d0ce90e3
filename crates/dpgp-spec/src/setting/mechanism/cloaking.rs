//! Gaussian noise with an optimal covariance.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::setting::Problem;
use crate::setting::rules::Fault;
use dpgp_cloaking::{CloakingOptions, Objective, ReleaseRecipe, Solver};
use dpgp_number::Tolerance;

/// The settings of cloaking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CloakingSetting {
    /// What the design minimises.
    pub objective: ObjectiveSetting,
    /// Directions below this singular value of C, relative to the largest, are dropped; needed for all objectives but risk, which
    /// drops what does not pay. Below 1e-10 rounding may keep the design from its optimum: the gap tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank_tolerance: Option<Tolerance>,
    /// How the weights are found.
    #[serde(default = "interior_point")]
    pub solver: Solver,
    /// What is released when directions are dropped.
    #[serde(default = "projection")]
    pub release: ReleaseRecipe,
    /// Whether predictions are the best linear ones given what is released, which costs no budget. `dpgp predict` does so unless
    /// this is false, experiments where it is true. The objective risk always does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denoise: Option<bool>,
}

/// What the design of a release minimises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectiveSetting {
    /// `log det M` for the covariance M of the noise on the predictions of the model, as published; it depends on the rank rule.
    LogDet,
    /// `tr M`, the expected squared noise on the predictions of the model.
    Trace,
    /// The expected squared error of the predictions under the model, over the map from targets to predictions and the
    /// noise together; never worse than the prior mean.
    Risk,
}

impl CloakingSetting {
    /// The options of the noise on the predictions of the model.
    ///
    /// # Errors
    /// [`Problem::MissingKey`] without a rank rule, [`Problem::OnlyPredictions`] for the objective that designs predictions
    /// together with their noise.
    pub fn options(&self) -> Result<CloakingOptions, Fault> {
        let objective = match self.objective {
            ObjectiveSetting::LogDet => Objective::LogDet,
            ObjectiveSetting::Trace => Objective::Trace,
            ObjectiveSetting::Risk => return Err(Fault::new(OBJECTIVE, Problem::OnlyPredictions)),
        };
        let missing = Problem::MissingKey { key: "rank_tolerance", by: "cloaking" };
        let rank_tolerance =
            self.rank_tolerance.ok_or_else(|| Fault::new("privacy.mechanism.cloaking", missing))?;
        Ok(CloakingOptions {
            objective,
            rank_tolerance: rank_tolerance.get(),
            solver: self.solver,
            release: self.release,
        })
    }

    /// Whether predictions and noise are designed together, for a noise that is known.
    pub fn is_risk(&self) -> bool {
        self.objective == ObjectiveSetting::Risk
    }
}

const OBJECTIVE: &str = "privacy.mechanism.cloaking.objective";

fn interior_point() -> Solver {
    Solver::InteriorPoint
}

fn projection() -> ReleaseRecipe {
    ReleaseRecipe::Projection
}
