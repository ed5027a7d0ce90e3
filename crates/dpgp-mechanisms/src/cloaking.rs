//! Gaussian noise with an optimal covariance.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use nalgebra::DMatrix;

use crate::{
    LinearEvidence, LinearFit, LinearMechanism, LinearNoise, LinearRelease, Mechanism, PrivacySetting,
    noisy_predictions,
};
use dpgp_accounting::{Calibration, CertifiedMechanism};
use dpgp_cloaking::{
    Cloak, CloakingOptions, Objective, ReleaseRecipe, RiskDesign, RiskProblem, Solver, cloak, risk_cloak,
};
use dpgp_gp::LinearMap;
use dpgp_noise::PrivacyError;
use dpgp_number::Tolerance;
use dpgp_spec::setting::rules::{Checked, SettingError};
use dpgp_spec::setting::{ChosenBy, Problem};

/// The settings of cloaking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CloakingSetting {
    /// What the design minimises.
    pub objective: ObjectiveSetting,
    /// Directions whose singular value of C, relative to the largest, is below this are dropped; needed for all objectives except
    /// risk, which drops directions that are not worth their noise. Below 1e-10, rounding may keep the design from its optimum,
    /// which the gap shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank_tolerance: Option<Tolerance>,
    /// How the weights are found.
    #[serde(default = "interior_point")]
    pub solver: Solver,
    /// What is released when directions are dropped.
    #[serde(default = "projection")]
    pub release: ReleaseRecipe,
    /// Whether predictions are the best linear predictions given the released values, which costs no budget. `dpgp predict` uses
    /// them unless this is false; experiments use them only if it is true. The objective risk always uses them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denoise: Option<bool>,
}

impl Mechanism for CloakingSetting {
    fn linear(&self) -> Option<&dyn LinearMechanism> {
        Some(self)
    }

    fn chosen_by(&self) -> ChosenBy {
        ChosenBy::Inputs
    }

    fn denoise(&self) -> Option<bool> {
        self.denoise
    }
}

/// What the design of a release minimises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectiveSetting {
    /// `log det M` for the covariance M of the noise on the predictions of the model, as published; it depends on the rank rule.
    LogDet,
    /// `tr M`, the expected squared noise on the predictions of the model.
    Trace,
    /// The expected squared error of the predictions under the model, with the map from targets to predictions and the noise
    /// designed together; never worse than the prior mean.
    Risk,
}

impl CloakingSetting {
    /// The options of the noise on the predictions of the model.
    ///
    /// # Errors
    /// [`Problem::MissingKey`] without a rank rule, [`Problem::OnlyPredictions`] for the objective that designs predictions
    /// together with their noise.
    pub fn options(&self) -> Result<CloakingOptions, SettingError> {
        let objective = match self.objective {
            ObjectiveSetting::LogDet => Objective::LogDet,
            ObjectiveSetting::Trace => Objective::Trace,
            ObjectiveSetting::Risk => return Err(SettingError::new(OBJECTIVE, Problem::OnlyPredictions)),
        };
        let missing = Problem::MissingKey { key: "rank_tolerance", by: "cloaking" };
        let rank_tolerance =
            self.rank_tolerance.ok_or_else(|| SettingError::new("privacy.mechanism.cloaking", missing))?;
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

/// The settings of cloaking by noise on what a model predicts, the mechanism of most tasks.
///
/// # Errors
/// [`Problem::WrongMechanism`] with another mechanism, [`Problem::OnlyPredictions`] with the objective risk, or what is wrong
/// with the settings.
pub fn cloaking(privacy: &PrivacySetting) -> Result<&CloakingSetting, SettingError> {
    let cloaking =
        privacy.mechanism.downcast::<CloakingSetting>().ok_or_else(|| privacy.wrong("cloaking"))?;
    noisy_predictions(privacy)?;
    cloaking.options().map(|_| cloaking)
}

/// A cloak, and what the latent values vary by given its release, where it was designed for that.
struct CloakedPredictions {
    cloak: Cloak,
    variances: Option<Vec<f64>>,
}

impl LinearMechanism for CloakingSetting {
    fn check(&self) -> Checked {
        if self.is_risk() { Ok(()) } else { self.options().map(drop) }
    }

    fn is_for_one_scale(&self) -> bool {
        self.is_risk()
    }

    fn design(&self, fit: &dyn LinearFit, scale: f64) -> Result<Box<dyn LinearNoise>, PrivacyError> {
        let Ok(options) = self.options() else {
            // The least expected squared error, the weighted sum over the test inputs.
            let even = RiskProblem::even(fit.moments()?);
            let problem = match fit.weights() {
                Some(weights) => RiskProblem { weights: weights.to_vec(), ..even },
                None => even,
            };
            let RiskDesign { cloak, variances, .. } = risk_cloak(&problem, scale)?;
            return Ok(Box::new(CloakedPredictions { cloak, variances: Some(variances) }));
        };
        let cloak = cloak(fit.map().columns(), &fit.map().counts(), &options)?;
        Ok(Box::new(CloakedPredictions { cloak, variances: None }))
    }
}

impl LinearNoise for CloakedPredictions {
    fn map(&self) -> DMatrix<f64> {
        self.cloak.noise_map()
    }

    fn ratio(&self) -> f64 {
        self.cloak.sensitivity
    }

    fn whitened_columns(&self, _: &LinearMap) -> DMatrix<f64> {
        self.cloak.whitened_columns().clone()
    }

    fn released_columns(&self, _: &LinearMap) -> DMatrix<f64> {
        self.cloak.mean_columns()
    }

    fn variances(&self) -> Option<Vec<f64>> {
        self.variances.clone()
    }

    fn gap(&self) -> Option<f64> {
        self.cloak.gap
    }

    fn certified(&self) -> fn(Calibration) -> CertifiedMechanism {
        CertifiedMechanism::Cloaking
    }

    fn evidence(&self) -> LinearEvidence {
        LinearEvidence::Numbers(LinearRelease::from_cloak(&self.cloak))
    }
}

const OBJECTIVE: &str = "privacy.mechanism.cloaking.objective";

fn interior_point() -> Solver {
    Solver::InteriorPoint
}

fn projection() -> ReleaseRecipe {
    ReleaseRecipe::Projection
}
