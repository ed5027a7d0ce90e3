//! Gaussian noise with an optimal covariance.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use nalgebra::DMatrix;

use crate::{
    AuditedLinearMechanism, LinearFit, LinearMechanism, LinearNoise, LinearReleaseMatrices, Mechanism, PrivacySetting,
    require_linear_mechanism,
};
use dpgp_accounting::{Calibration, CertifiedMechanism};
use dpgp_cloaking::{
    CloakingNoise, CloakingOptions, DroppedDirectionRule, MinimumRiskDesign, Objective, PredictionRiskProblem, Solver,
    design_cloaking_noise, design_minimum_risk_prediction,
};
use dpgp_gp::PredictionMap;
use dpgp_noise::PrivacyError;
use dpgp_number::Tolerance;
use dpgp_spec::setting::rules::{CheckResult, SettingError};
use dpgp_spec::setting::{PersonRowChoiceBasis, SpecProblem};

/// The settings of cloaking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CloakingSetting {
    /// What the design minimises.
    pub objective: DesignObjectiveSetting,
    /// A direction is dropped if its singular value in the prediction map C, relative to the largest, is below this
    /// tolerance. Required for all objectives except `risk`, which drops directions that are not worth their noise. With a
    /// tolerance below 1e-10, rounding may keep the design from its optimum, and the gap then shows this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank_tolerance: Option<Tolerance>,
    /// How the weights of the noise design are found.
    #[serde(default = "default_solver")]
    pub solver: Solver,
    /// What is released when directions are dropped.
    #[serde(default = "default_dropped_direction_rule")]
    pub release: DroppedDirectionRule,
    /// Whether predictions are the best linear predictions given the released values, at no cost in budget. By default,
    /// `dpgp predict` uses such predictions, but experiments do not. The objective `risk` always uses them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denoise: Option<bool>,
}

impl Mechanism for CloakingSetting {
    fn as_linear(&self) -> Option<&dyn LinearMechanism> {
        Some(self)
    }

    fn person_row_choice_basis(&self) -> PersonRowChoiceBasis {
        PersonRowChoiceBasis::Inputs
    }

    fn denoise_setting(&self) -> Option<bool> {
        self.denoise
    }
}

/// What the design of a release minimises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DesignObjectiveSetting {
    /// `log det M`, as published, for the covariance M of the noise on the predictions of the model. The noise depends on
    /// `rank_tolerance`.
    LogDet,
    /// `tr M`, the expected squared noise on the predictions of the model.
    Trace,
    /// The expected squared error of the predictions under the model. The map from targets to predictions and the noise are
    /// designed together. The expected error is never above that of the prior mean.
    Risk,
}

impl CloakingSetting {
    /// The options of the noise on the predictions of the model.
    ///
    /// # Errors
    /// [`SpecProblem::Shape`] without a rank tolerance, [`SpecProblem::OnlyPredictions`] for the objective that designs predictions
    /// together with their noise.
    pub fn options(&self) -> Result<CloakingOptions, SettingError> {
        let objective = match self.objective {
            DesignObjectiveSetting::LogDet => Objective::LogDet,
            DesignObjectiveSetting::Trace => Objective::Trace,
            DesignObjectiveSetting::Risk => {
                return Err(SettingError::new(OBJECTIVE, SpecProblem::OnlyPredictions));
            }
        };
        let missing = || SpecProblem::Shape("cloaking needs a value for `rank_tolerance`, such as 1e-8".to_owned());
        let rank_tolerance =
            self.rank_tolerance.ok_or_else(|| SettingError::new("privacy.mechanism.cloaking", missing()))?;
        Ok(CloakingOptions {
            objective,
            rank_tolerance: rank_tolerance.get(),
            solver: self.solver,
            release: self.release,
        })
    }

    /// Whether predictions and their noise are designed together.
    pub fn has_risk_objective(&self) -> bool {
        self.objective == DesignObjectiveSetting::Risk
    }
}

/// The settings of cloaking by noise on what a model predicts, the mechanism of most tasks.
///
/// # Errors
/// [`SpecProblem::WrongMechanism`] with another mechanism, [`SpecProblem::OnlyPredictions`] with the objective risk, or the problem
/// with the settings.
pub fn require_cloaking_setting(privacy: &PrivacySetting) -> Result<&CloakingSetting, SettingError> {
    let cloaking =
        privacy.mechanism.downcast::<CloakingSetting>().ok_or_else(|| privacy.wrong_mechanism_error("cloaking"))?;
    require_linear_mechanism(privacy)?;
    cloaking.options().map(|_| cloaking)
}

/// A cloak, and what the latent values vary by given its release, where it was designed for that.
struct CloakedPredictionNoise {
    cloak: CloakingNoise,
    variances: Option<Vec<f64>>,
}

impl LinearMechanism for CloakingSetting {
    fn check(&self) -> CheckResult {
        if self.has_risk_objective() { Ok(()) } else { self.options().map(drop) }
    }

    fn designs_for_one_noise_scale(&self) -> bool {
        self.has_risk_objective()
    }

    fn design_noise(&self, fit: &dyn LinearFit, scale: f64) -> Result<Box<dyn LinearNoise>, PrivacyError> {
        let Ok(options) = self.options() else {
            // The least expected squared error, the weighted sum over the test inputs.
            let even = PredictionRiskProblem::with_equal_weights(fit.prior_moments()?);
            let problem = match fit.test_weights() {
                Some(weights) => PredictionRiskProblem { weights: weights.to_vec(), ..even },
                None => even,
            };
            let MinimumRiskDesign { cloak, variances, .. } = design_minimum_risk_prediction(&problem, scale)?;
            return Ok(Box::new(CloakedPredictionNoise { cloak, variances: Some(variances) }));
        };
        let cloak = design_cloaking_noise(
            fit.linear_map().distinct_columns(),
            &fit.linear_map().targets_per_column(),
            &options,
        )?;
        Ok(Box::new(CloakedPredictionNoise { cloak, variances: None }))
    }
}

impl LinearNoise for CloakedPredictionNoise {
    fn noise_map(&self) -> DMatrix<f64> {
        self.cloak.noise_map()
    }

    fn true_to_assumed_sensitivity_ratio(&self) -> f64 {
        self.cloak.sensitivity
    }

    fn whitened_columns(&self, _: &PredictionMap) -> DMatrix<f64> {
        self.cloak.whitened_columns().clone()
    }

    fn released_columns(&self, _: &PredictionMap) -> DMatrix<f64> {
        self.cloak.released_mean_map()
    }

    fn latent_variances(&self) -> Option<Vec<f64>> {
        self.variances.clone()
    }

    fn optimality_gap(&self) -> Option<f64> {
        self.cloak.gap
    }

    fn certified_mechanism(&self) -> fn(Calibration) -> CertifiedMechanism {
        CertifiedMechanism::Cloaking
    }

    fn audited_mechanism(&self) -> AuditedLinearMechanism {
        AuditedLinearMechanism::Numbers(LinearReleaseMatrices::from_cloak(&self.cloak))
    }
}

const OBJECTIVE: &str = "privacy.mechanism.cloaking.objective";

fn default_solver() -> Solver {
    Solver::InteriorPoint
}

fn default_dropped_direction_rule() -> DroppedDirectionRule {
    DroppedDirectionRule::Projection
}
