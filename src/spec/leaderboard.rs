//! A private regression among others, scored by its predictive distribution.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Problem;
use super::check::{Checked, count, fail, folds, positive, range, regression_model};
use super::setting::{
    GpGrid, MechanismSetting, ModelSetting, RangeSetting, SelectionTask, Setting, SplitSetting,
};
use super::sums::NoiseAwareSetting;
use super::sums_check;
use crate::gp::variational::{Correction, Regularisation};
use crate::privacy::SensitivityRule;

/// Cross-validated predictive distributions: what they miss, how probable they find the targets, how often their
/// intervals hold them. Targets are compared as they are, not clipped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeaderboardTask {
    /// How rows are split into folds.
    pub split: SplitSetting,
    /// Runs of the mechanism in each fold.
    pub draws: usize,
    /// The public inducing inputs of noisy sums, a range for each input.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inducing: Vec<RangeSetting>,
    /// The lengthscale is chosen from the private targets, for a share of the budget; without it that of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choose: Option<ChooseSetting>,
}

/// A private choice of the lengthscale by the exponential mechanism on cross-validated errors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChooseSetting {
    /// The lengthscales to choose from.
    pub lengthscales: Vec<f64>,
    /// The share of epsilon that the choice spends.
    pub share: f64,
    /// Folds of its cross-validation of the training rows.
    pub folds: usize,
}

impl LeaderboardTask {
    /// What is measured.
    pub const METRICS: [&'static str; 3] = ["rmse", "log-score", "coverage-90"];

    /// How posteriors follow from noisy sums.
    pub const POSTERIOR: NoiseAwareSetting =
        NoiseAwareSetting { regularisation: Regularisation::Tight, correction: Correction::FirstOrder };
}

impl ChooseSetting {
    /// The selection among Gaussian processes that differ from the model in their lengthscale.
    pub fn task(&self, model: &ModelSetting) -> SelectionTask {
        let variance = model.exponentiated_quadratic().map_or(1.0, |(variance, _)| variance);
        let grid = GpGrid {
            lengthscales: self.lengthscales.clone(),
            noise_variances: vec![model.noise()],
            variances: vec![variance],
        };
        SelectionTask {
            rows: None,
            split: SplitSetting::Contiguous(self.folds),
            candidates: Vec::new(),
            gp: Some(grid),
            epsilon: f64::INFINITY,
            clip: Some(4.0),
            sensitivity: SensitivityRule::Corrected,
            threshold: None,
            draws: None,
            summary: true,
        }
    }
}

pub(super) fn leaderboard(task: &LeaderboardTask, setting: &Setting) -> Checked {
    let path = "task.leaderboard";
    regression_model(path, setting)?;
    folds(&format!("{path}.split"), task.split)?;
    count(&format!("{path}.draws"), task.draws)?;
    if matches!(setting.privacy.mechanism, MechanismSetting::Sums(_)) {
        sums_check::sums_model(path, &task.inducing, setting)?;
    }
    let Some(choose) = &task.choose else { return Ok(()) };
    let path = format!("{path}.choose");
    if choose.lengthscales.is_empty() {
        return fail(&format!("{path}.lengthscales"), Problem::Empty);
    }
    choose.lengthscales.iter().try_for_each(|l| positive(&format!("{path}.lengthscales"), *l))?;
    let inside = choose.share > 0.0 && choose.share < 1.0;
    range(&format!("{path}.share"), inside, "greater than 0 and less than 1", choose.share)?;
    folds(&format!("{path}.folds"), SplitSetting::Contiguous(choose.folds))?;
    let whole =
        setting.model.as_deref().is_some_and(|m| m.sparse.is_none() && m.exponentiated_quadratic().is_some());
    match (&setting.privacy.mechanism, whole) {
        (MechanismSetting::Cloaking(_), true) => Ok(()),
        _ => fail(
            &path,
            Problem::Shape("a choice needs cloaking and an exact model with the kernel eq".to_owned()),
        ),
    }
}
