//! Predictive distributions of private regressions, scored on held-out rows.

mod method;
mod moments;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cross_validation::{FoldRows, NO_ERROR, r_squared};
use crate::measurement::Metric;
use crate::model::noise_variance;
use crate::normalise::{normalisation_caveats, normalise};
use crate::selection::{GpHyperparameterGrid, NoiseScaleRule, SelectionTask};
use crate::summary::mean;
use crate::{
    AuditableCertificate, CellMeasurements, FitSize, MeasurableTask, ReplicateJob, ScoredTargetsSetting, TaskError,
    TaskRequirements, noisy_sums, site_sums,
};
use dpgp_accounting::GuaranteeCaveat;
use dpgp_gp::PredictiveMixture;
use dpgp_gp::variational::{GaussianPrediction, NoiseCorrection, Regularisation};
use dpgp_mechanisms::{
    BinningSetting, CellSections, CloakingSetting, MomentsSetting, PrivacySetting, SseSensitivityRule, SummedValueKind,
    SumsSetting, check_stationary_kernel, check_waves_only, require_cloaking_setting, require_linear_mechanism,
};
use dpgp_number::{Count, Epsilon, Positive, Probability};
use dpgp_spec::setting::rules::fail;
use dpgp_spec::setting::{
    CheckResult, ModelSetting, NoiseAwareInverseSetting, RangeSetting, SpecProblem, SplitSetting,
};
use method::{LeaderboardContext, PrivateRegression};

/// Cross-validated predictive distributions: their errors, how probable the targets are under them, and how often their
/// intervals contain the targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeaderboardTask {
    /// How rows are split into folds.
    pub split: SplitSetting,
    /// The number of runs of the mechanism in each fold.
    pub draws: Count,
    /// The held-out targets with which predictions are compared.
    #[serde(default)]
    pub score: ScoredTargetsSetting,
    /// The baseline that is scored instead of a private regression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<BaselineSetting>,
    /// The public inducing inputs of noisy sums, a product grid with a range for each input.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inducing: Vec<RangeSetting>,
    /// How the posterior follows from noisy sums.
    #[serde(default, skip_serializing_if = "LeaderboardPosteriorSetting::is_noise_aware")]
    pub posterior: LeaderboardPosteriorSetting,
    /// Chooses the lengthscale from the private targets, for a share of the budget. Without it, the lengthscale of the
    /// model is used.
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
    /// By a Gaussian process on the public box of the inputs, given how many rows lie near each public site. These numbers are inferred from the
    /// noisy sums, with their uncertainty. No row is read again, and the guarantee is the same.
    Sites,
}

impl LeaderboardPosteriorSetting {
    fn is_noise_aware(&self) -> bool {
        *self == Self::NoiseAware
    }
}

/// A prediction with which private regressions are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BaselineSetting {
    /// The mean of the clipped training targets, at every input and every epsilon. It has no noise and protects nothing.
    Constant,
    /// The same mean with Gaussian noise, for a sensitivity of `change / n` with n training targets.
    Mean,
}

/// Two noisy counts of the training rows that lie outside their 90 % intervals. Intervals are widened or narrowed according
/// to these counts. The total epsilon and delta stay the same.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IntervalCalibrationSetting {
    /// The share of the guarantee's squared noise ratio `mu^2` that the two counts spend together. The noise on the moments
    /// grows by a factor of `1 / sqrt(1 - share)`.
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
    /// The number of folds in the cross-validation on the training rows.
    pub folds: usize,
}

impl LeaderboardTask {
    /// How posteriors are computed from noisy sums.
    pub const POSTERIOR: NoiseAwareInverseSetting =
        NoiseAwareInverseSetting { regularisation: Regularisation::Tight, correction: NoiseCorrection::FirstOrder };
}

impl LengthscaleChoiceSetting {
    /// The selection among Gaussian processes that differ from the model in their lengthscale.
    pub fn to_selection_task(&self, model: &ModelSetting) -> SelectionTask {
        let grid = GpHyperparameterGrid {
            lengthscales: self.lengthscales.iter().map(|l| l.get()).collect(),
            noise_variances: model.noise_variance.iter().map(|noise| noise.get()).collect(),
            variances: model.eq_kernel_parameters().iter().map(|(variance, _)| *variance).collect(),
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
            noise_scale: NoiseScaleRule::Delta,
            entries: Vec::new(),
            each_fold: false,
            summary: true,
        }
    }
}

impl LengthscaleChoiceSetting {
    fn check(&self, setting: &CellSections) -> CheckResult {
        let path = "task.leaderboard.choose";
        if self.lengthscales.is_empty() {
            return fail(&format!("{path}.lengthscales"), SpecProblem::Empty);
        }
        SplitSetting::Contiguous(self.folds).check(&format!("{path}.folds"))?;
        let model = setting.model("task.leaderboard")?;
        let whole = model.sparse.is_none() && model.eq_kernel_parameters().is_some();
        match (setting.privacy.mechanism.downcast::<CloakingSetting>(), whole) {
            (Some(_), true) => require_cloaking_setting(&setting.privacy).map(drop),
            _ => {
                let why = "needs mechanism.cloaking and an exact model with the `eq` kernel";
                fail(path, SpecProblem::Shape(why.to_owned()))
            }
        }
    }
}

impl LeaderboardTask {
    /// A baseline takes the place of the mechanism, whose settings are then ignored.
    fn check_baseline(&self, setting: &CellSections) -> CheckResult {
        if self.choose.is_some() {
            let why = "cannot be combined with `baseline`, which has no lengthscale";
            return fail("task.leaderboard.choose", SpecProblem::Shape(why.to_owned()));
        }
        setting.privacy.check_target_change("a mean")
    }
}

impl LeaderboardTask {
    fn check_posterior(&self, setting: &CellSections) -> CheckResult {
        let sums = setting.privacy.mechanism.downcast::<SumsSetting>().is_some() && self.baseline.is_none();
        if sums || self.posterior.is_noise_aware() {
            return Ok(());
        }
        let why = "needs mechanism.sums; no other mechanism has a posterior rule";
        fail("task.leaderboard.posterior", SpecProblem::Shape(why.to_owned()))
    }

    fn check_calibrate(&self, setting: &CellSections) -> CheckResult {
        let moments = setting.privacy.mechanism.downcast::<MomentsSetting>().is_some();
        if self.calibrate.is_none() || (moments && self.baseline.is_none()) {
            return Ok(());
        }
        let why = "needs mechanism.moments; no other intervals are calibrated";
        fail("task.leaderboard.calibrate", SpecProblem::Shape(why.to_owned()))
    }
}

impl TaskRequirements for LeaderboardTask {
    fn check(&self, setting: &CellSections) -> CheckResult {
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
        require_linear_mechanism(&setting.privacy).map(drop)
    }

    fn metric_names(&self, replicates: u32) -> Vec<String> {
        let ends = if replicates > 1 { &["", "-replicates"][..] } else { &[""][..] };
        METRICS.iter().flat_map(|metric| ends.iter().map(move |end| format!("{}{end}", metric.name))).collect()
    }

    fn averages_hyperparameters(&self) -> bool {
        true
    }

    fn check_row_count(&self, rows: usize) -> CheckResult {
        self.split.check_row_count("task.leaderboard.split", rows)
    }

    fn fit_size(&self, rows: usize) -> Option<FitSize> {
        self.baseline.is_none().then(|| FitSize::from_split(self.split, rows))
    }
}

/// The metrics of `METRICS`: for each fold the mean over runs.
impl MeasurableTask for LeaderboardTask {
    fn measure_cells(&self, job: &ReplicateJob<'_>) -> Result<Vec<CellMeasurements>, TaskError> {
        let normalised = normalise(&job.sample.targets, &job.setting.normalise);
        let context = LeaderboardContext { job, task: self, model: job.model()?, scale: normalised.scale };
        let mut folds = Vec::new();
        for rows in FoldRows::split(job.sample, &normalised, self.split, self.score, job.streams) {
            let method = context.build_regression(&rows)?;
            let scorer = HeldOutScorer::new(&rows, noise_variance(context.model)?, context.scale);
            folds.push(FittedFold { number: rows.number, method, scorer });
        }
        let caveats = normalisation_caveats(job.setting, &normalised);
        job.measure_each_cell(|cell| context.measure_cell(cell, &folds, &caveats))
    }
}

/// A method that has seen the training rows of a fold.
struct FittedFold<'a> {
    number: usize,
    method: Box<dyn PrivateRegression + 'a>,
    scorer: HeldOutScorer,
}

impl LeaderboardContext<'_> {
    fn measure_cell(
        &self,
        cell: &PrivacySetting,
        folds: &[FittedFold<'_>],
        caveats: &[(GuaranteeCaveat, bool)],
    ) -> Result<CellMeasurements, TaskError> {
        let mut scores: [Vec<f64>; METRICS.len()] = Default::default();
        for fold in folds {
            let of_fold = self.mean_scores(cell, fold)?;
            scores.iter_mut().zip(of_fold).for_each(|(values, score)| values.push(score));
        }
        let certified = folds.iter().map(|fold| fold.method.certify_run(self.job, cell));
        let certified: Vec<AuditableCertificate> = certified.collect::<Result<_, TaskError>>()?;
        let certified = certified.into_iter().reduce(AuditableCertificate::combine_worst);
        let certified = certified.ok_or(TaskError::Missing { needed: "a fold" })?.with_caveats(caveats);
        let jitter = folds.iter().map(|fold| fold.method.jitter()).fold(0.0, f64::max);
        Ok(certified.into_metric_measurements(jitter, &METRICS, scores))
    }

    /// The mean over runs of each metric.
    fn mean_scores(&self, cell: &PrivacySetting, fold: &FittedFold<'_>) -> Result<MetricScores, TaskError> {
        let FittedFold { number, method, scorer } = fold;
        let runs = if cell.epsilon.get().is_finite() { self.task.draws.get() } else { 1 };
        let mut total = [0.0; METRICS.len()];
        for run in 0..runs {
            let purpose = format!("fold {number} run {run} epsilon {}", cell.epsilon);
            let predicted = method.predict_with_noise(cell, &mut self.job.streams.block_stream(&purpose))?;
            total.iter_mut().zip(scorer.score(predicted)).for_each(|(sum, score)| *sum += score);
        }
        Ok(total.map(|sum| sum / runs as f64))
    }
}

/// The mass of the interval whose coverage is measured.
const MASS: f64 = 0.9;

/// Predictions of a run at the test inputs.
enum FoldPrediction {
    /// The latent function. Targets vary about it with the model's noise variance.
    Function(GaussianPrediction),
    /// Targets.
    Targets {
        /// Their distributions.
        targets: PredictiveMixture,
        /// The mass of the central intervals that are said to hold [`MASS`] of them.
        level: f64,
    },
}

impl From<GaussianPrediction> for FoldPrediction {
    fn from(prediction: GaussianPrediction) -> Self {
        Self::Function(prediction)
    }
}

/// The metrics of a board, each in units of the target where it has a unit. A new one is a line here.
const METRICS: [Metric<HeldOutComparison>; 5] = [
    // Root mean squared error of the means.
    Metric::new("rmse", |held| held.scale * held.rmse()),
    // 1 - MSE / MSE of the constant: 0 is as good as the mean of the training targets, less than 0 worse.
    Metric::with_undefined_reason("r2", |held| r_squared(held.rmse() * held.rmse(), held.constant), NO_ERROR),
    // Mean log density of the held-out targets, nats.
    Metric::new("log-score", |held| mean(&held.targets.log_densities(&held.truth)) - held.scale.ln()),
    // Mean continuous ranked probability score; the less the better.
    Metric::new("crps", |held| held.scale * mean(&held.targets.ranked_probability_scores(&held.truth))),
    // Share of the targets within their central 90 % interval.
    Metric::new("coverage-90", HeldOutComparison::interval_coverage),
];

/// One value for each of [`METRICS`].
type MetricScores = [f64; METRICS.len()];

/// Held-out targets and what was predicted of them, on the scale of the model.
struct HeldOutComparison {
    targets: PredictiveMixture,
    /// The mass that counts as a central 90 % interval.
    level: f64,
    truth: Arc<[f64]>,
    /// The mean squared error of the constant that a method without privacy would predict: the mean of the training targets.
    constant: f64,
    /// Units of the target per unit of the model.
    scale: f64,
}

impl HeldOutComparison {
    fn rmse(&self) -> f64 {
        self.targets.rmse(&self.truth)
    }

    fn interval_coverage(&self) -> f64 {
        let masses = self.targets.central_interval_masses(&self.truth);
        let covered = masses.iter().filter(|mass| **mass <= self.level).count() as f64;
        covered / self.truth.len() as f64
    }
}

/// Targets that predictions at the held-out inputs of a fold are compared with.
struct HeldOutScorer {
    truth: Arc<[f64]>,
    constant: f64,
    /// The variance of an observation about the latent function.
    noise_variance: f64,
    scale: f64,
}

impl HeldOutScorer {
    pub fn new(rows: &FoldRows, noise_variance: f64, scale: f64) -> Self {
        Self { truth: rows.truth.as_slice().into(), constant: rows.constant_prediction_mse(), noise_variance, scale }
    }

    /// The value of each metric.
    pub fn score(&self, predicted: FoldPrediction) -> MetricScores {
        let Self { truth, constant, noise_variance, scale } = self;
        let (targets, level) = match predicted {
            FoldPrediction::Function(prediction) => (prediction.with_observation_noise(*noise_variance), MASS),
            FoldPrediction::Targets { targets, level } => (targets, level),
        };
        let held = HeldOutComparison { targets, level, truth: Arc::clone(truth), constant: *constant, scale: *scale };
        METRICS.map(|metric| (metric.value)(&held))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::DVector;

    /// The value of an expression and its text.
    macro_rules! printed {
        ($($token:tt)*) => { ($($token)*, stringify!($($token)*)) };
    }

    /// The page on extensions adds a metric that compiles and has its value.
    #[test]
    fn the_metric_of_the_page_is_one_line() {
        let (metric, text): (Metric<HeldOutComparison>, &str) =
            printed!(Metric::new("bias", |held| held.scale * (held.targets.mean().mean() - mean(&held.truth))));
        let page = include_str!("../../../../docs/extend.md").replace(char::is_whitespace, "");
        assert!(page.contains(&text.replace(char::is_whitespace, "")), "{text}");
        let mean = DVector::from_vec(vec![1.0, 4.0]);
        let targets =
            PredictiveMixture::from_parts(vec![dpgp_gp::WeightedNormals { weight: 1.0, variance: mean.clone(), mean }]);
        let held = HeldOutComparison { targets, level: MASS, truth: Arc::new([0.0, 3.5]), constant: 1.0, scale: 2.0 };
        assert_eq!((metric.value)(&held), 1.5);
    }
}
