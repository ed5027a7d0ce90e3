//! Settings of a private regression that is scored by its predictive distribution.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::measure::METRICS;
use crate::selection::{GpHyperparameterGrid, NoiseScale, SelectionTask};
use crate::{FitSize, ScoredTargetsSetting, TaskRequirements, noisy_sums, site_sums};
use dpgp_gp::variational::{NoiseCorrection, Regularisation};
use dpgp_mechanisms::SseSensitivityRule;
use dpgp_mechanisms::{
    BinningSetting, CloakingSetting, MomentsSetting, Sections, SummedValueKind, SumsSetting, check_stationary_kernel,
    check_waves_only, cloaking_setting, linear_mechanism,
};
use dpgp_number::{Count, Epsilon, Positive, Probability};
use dpgp_spec::setting::rules::fail;
use dpgp_spec::setting::{
    CheckResult, ModelSetting, NoiseAwareInverseSetting, RangeSetting, SpecProblem, SplitSetting,
};

/// Cross-validated predictive distributions: their errors, how probable they find the targets, and how often their intervals
/// contain them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeaderboardTask {
    /// How rows are split into folds.
    pub split: SplitSetting,
    /// Runs of the mechanism in each fold.
    pub draws: Count,
    /// Which held-out targets predictions are compared with.
    #[serde(default)]
    pub score: ScoredTargetsSetting,
    /// What is scored instead of a private regression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<BaselineSetting>,
    /// The public inducing inputs of noisy sums, a range for each input.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inducing: Vec<RangeSetting>,
    /// How the posterior follows from noisy sums.
    #[serde(default, skip_serializing_if = "LeaderboardPosteriorSetting::is_noise_aware")]
    pub posterior: LeaderboardPosteriorSetting,
    /// Chooses the lengthscale from the private targets, for a share of the budget; without it, the lengthscale is that of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choose: Option<LengthscaleChoiceSetting>,
    /// Calibrates the intervals of noisy moments to their nominal coverage, for a share of the budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibrate: Option<IntervalCalibrationSetting>,
}

/// How a posterior follows from noisy sums.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LeaderboardPosteriorSetting {
    /// By a regularised inverse, with the covariance corrected for the noise to first order.
    #[default]
    NoiseAware,
    /// By a process on the public box, given how many rows may lie near public sites. This is inferred from the noisy sums; no
    /// row is read again, and the guarantee is the same.
    Sites,
}

impl LeaderboardPosteriorSetting {
    fn is_noise_aware(&self) -> bool {
        *self == Self::NoiseAware
    }
}

/// What private regressions are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BaselineSetting {
    /// The mean of the training targets after clipping, at every input and every epsilon. It hides nothing and has no noise.
    Constant,
    /// The same with Gaussian noise: the mean of n targets moves by at most `change / n`.
    Mean,
}

/// Two noisy counts of the training rows outside their 90 % intervals, by which intervals are widened or narrowed. The total
/// epsilon and delta stay the same.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IntervalCalibrationSetting {
    /// The share of the squared noise ratio `mu^2` of the guarantee that the two counts spend together: the noise on the moments grows by
    /// `1 / sqrt(1 - share)`.
    pub share: Probability,
}

/// A private choice of the lengthscale by the exponential mechanism on cross-validated errors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LengthscaleChoiceSetting {
    /// The lengthscales to choose from.
    pub lengthscales: Vec<Positive>,
    /// The share of epsilon that the choice spends.
    pub share: Probability,
    /// Folds of its cross-validation of the training rows.
    pub folds: usize,
}

impl LeaderboardTask {
    /// How posteriors follow from noisy sums.
    pub const POSTERIOR: NoiseAwareInverseSetting =
        NoiseAwareInverseSetting { regularisation: Regularisation::Tight, correction: NoiseCorrection::FirstOrder };
}

impl LengthscaleChoiceSetting {
    /// The selection among Gaussian processes that differ from the model in their lengthscale.
    pub fn to_selection_task(&self, model: &ModelSetting) -> SelectionTask {
        let grid = GpHyperparameterGrid {
            lengthscales: self.lengthscales.iter().map(|l| l.get()).collect(),
            noise_variances: model.noise_variance.iter().map(|noise| noise.get()).collect(),
            variances: model.exponentiated_quadratic().iter().map(|(variance, _)| *variance).collect(),
        };
        SelectionTask {
            rows: None,
            split: SplitSetting::Contiguous(self.folds),
            candidates: Vec::new(),
            gp: Some(grid),
            epsilon: Epsilon::NONE,
            clip: Some(SelectionTask::CORRECTED_CLIP),
            sensitivity: SseSensitivityRule::Corrected,
            threshold: None,
            draws: None,
            noise_scale: NoiseScale::Delta,
            entries: Vec::new(),
            each_fold: false,
            summary: true,
        }
    }
}

impl LengthscaleChoiceSetting {
    fn check(&self, setting: &Sections) -> CheckResult {
        let path = "task.leaderboard.choose";
        if self.lengthscales.is_empty() {
            return fail(&format!("{path}.lengthscales"), SpecProblem::Empty);
        }
        SplitSetting::Contiguous(self.folds).check(&format!("{path}.folds"))?;
        let model = setting.model("task.leaderboard")?;
        let whole = model.sparse.is_none() && model.exponentiated_quadratic().is_some();
        match (setting.privacy.mechanism.downcast::<CloakingSetting>(), whole) {
            (Some(_), true) => cloaking_setting(&setting.privacy).map(drop),
            _ => {
                let why = "needs mechanism.cloaking and an exact model with the kernel `eq`";
                fail(path, SpecProblem::Shape(why.to_owned()))
            }
        }
    }
}

impl LeaderboardTask {
    /// A baseline takes the place of the mechanism, whose settings are then ignored.
    fn check_baseline(&self, setting: &Sections) -> CheckResult {
        if self.choose.is_some() {
            let why = "cannot be combined with `baseline`, which has no lengthscale";
            return fail("task.leaderboard.choose", SpecProblem::Shape(why.to_owned()));
        }
        setting.privacy.check_target_change("a mean")
    }
}

impl LeaderboardTask {
    fn check_posterior(&self, setting: &Sections) -> CheckResult {
        let sums = setting.privacy.mechanism.downcast::<SumsSetting>().is_some() && self.baseline.is_none();
        if sums || self.posterior.is_noise_aware() {
            return Ok(());
        }
        let why = "needs mechanism.sums; no other mechanism has a posterior rule";
        fail("task.leaderboard.posterior", SpecProblem::Shape(why.to_owned()))
    }

    fn check_calibrate(&self, setting: &Sections) -> CheckResult {
        let moments = setting.privacy.mechanism.downcast::<MomentsSetting>().is_some();
        if self.calibrate.is_none() || (moments && self.baseline.is_none()) {
            return Ok(());
        }
        let why = "needs mechanism.moments; no other intervals are calibrated";
        fail("task.leaderboard.calibrate", SpecProblem::Shape(why.to_owned()))
    }
}

impl TaskRequirements for LeaderboardTask {
    fn check(&self, setting: &Sections) -> CheckResult {
        let path = "task.leaderboard";
        let inputs = setting.data.dimensions();
        setting.regression_model(path)?;
        setting.data.check_split(&format!("{path}.split"), self.split)?;
        self.choose.as_ref().map_or(Ok(()), |choose| choose.check(setting))?;
        self.check_posterior(setting)?;
        self.check_calibrate(setting)?;
        if self.baseline.is_some() {
            return self.check_baseline(setting);
        }
        let mechanism = &setting.privacy.mechanism;
        if mechanism.downcast::<SumsSetting>().is_some() {
            noisy_sums::require_eq_model(path, setting)?.check_noise_variance("noisy sums")?;
            noisy_sums::check_inducing_inputs(path, &self.inducing, setting)?;
            return match self.posterior {
                LeaderboardPosteriorSetting::NoiseAware => {
                    noisy_sums::require_sums_mechanism(setting, SummedValueKind::Targets).map(drop)
                }
                LeaderboardPosteriorSetting::Sites => site_sums::check_site_sums(path, &self.inducing, setting),
            };
        }
        if let Some(moments) = mechanism.downcast::<MomentsSetting>() {
            if self.calibrate.is_some() {
                check_waves_only("task.leaderboard.calibrate", moments)?;
            }
            setting.model(path)?.check_noise_variance("noisy moments")?;
            moments.check(inputs)?;
            setting.normalise.check_target_clip(moments.target_bound.get())?;
            return check_stationary_kernel(setting);
        }
        if let Some(binning) = mechanism.downcast::<BinningSetting>() {
            setting.privacy.check_target_change("binning")?;
            return binning.check(inputs);
        }
        linear_mechanism(&setting.privacy).map(drop)
    }

    fn metric_names(&self, replicates: u32) -> Vec<String> {
        let ends = if replicates > 1 { &["", "-replicates"][..] } else { &[""][..] };
        METRICS.iter().flat_map(|metric| ends.iter().map(move |end| format!("{}{end}", metric.name))).collect()
    }

    fn averages_hyperparameters(&self) -> bool {
        true
    }

    fn check_row_count(&self, rows: usize) -> CheckResult {
        self.split.check_rows("task.leaderboard.split", rows)
    }

    fn fit_size(&self, rows: usize) -> Option<FitSize> {
        self.baseline.is_none().then(|| FitSize::from_split(self.split, rows))
    }
}
