//! Calibration of predictions from noisy sums or noisy moments: their errors on held-out rows, the coverage
//! of their intervals, and the settings of the task.

use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::noise_variance;
use crate::noisy_sums::{BoundedTargetSums, split_off_training_inputs};
use crate::sample::product_grid;
use crate::site_sums::{GpPriorOnBox, InducingSums, InputTargetRows, SitePosteriorModel};
use crate::summary::mean;
use crate::{
    AuditedMechanism, CellMeasurements, FigureTable, MeasurableTask, ReplicateJob, Sample, TaskError, TaskRequirements,
    noisy_sums, site_sums,
};
use dpgp_gp::PredictiveMixture;
use dpgp_gp::kernel::ExponentiatedQuadratic;
use dpgp_gp::variational::{
    CovariancesWithConditionalVariances, InducingInputs, NoisySufficientStatistics, SufficientStatistics,
    WeightPosterior, noise_aware_posterior, projected_moment_posterior,
};
use dpgp_mechanisms::{
    CellSections, MomentsModel, MomentsSetting, PrivacySetting, SimulatedMoments, SummedValueKind,
    check_spec_for_moments,
};
use dpgp_number::{Count, Probability};
use dpgp_spec::setting::rules::{check_grid, check_leaves_test_rows, check_range, fail};
use dpgp_spec::setting::{CheckResult, NoiseAwareInverseSetting, RangeSetting, SpecProblem};
use dpgp_stream::LatticeSums;

/// Training rows that a figure shows.
const SHOWN: usize = 128;

/// The metrics `rmse` (of the mean against the true function), `width` (two standard deviations of f, on
/// average), `log-likelihood` (of a noisy target, on average), `coverage/MASS` (share of the noisy targets
/// within their central interval of this mass) and `coverage-f/MASS` (the same of the true function). Frames:
/// `curve`, `data` (the first 128 rows) and `inducing`, if the task asks for them.
impl MeasurableTask for CalibrationTask {
    fn measure_cells(&self, job: &ReplicateJob<'_>) -> Result<Vec<CellMeasurements>, TaskError> {
        let (training, others) = split_off_training_inputs(&job.sample.inputs, self.train.get());
        let (targets, tested) = job.sample.targets.split_at(self.train.get());
        let test = TestRows::new(self, &others, tested);
        let training = Sample { inputs: training, targets: targets.to_vec(), persons: Vec::new() };
        if job.setting.privacy.mechanism.downcast::<MomentsSetting>().is_some() {
            let block = MomentsCalibrationReplicateState::new(self, job, &training, test)?;
            return job.measure_each_cell(|cell| block.measure_cell(cell));
        }
        let (variance, lengthscale) = job.eq_kernel_parameters()?;
        let rule = self.posterior_rule()?;
        if *rule == PosteriorRule::Sites {
            let block = SiteCalibrationReplicateState::new(self, job, &training, test)?;
            return job.measure_each_cell(|cell| block.measure_cell(cell));
        }
        let sums = BoundedTargetSums::new(job.sums()?, &self.inducing, variance, lengthscale)?;
        let kernel = ExponentiatedQuadratic::isotropic(variance, lengthscale);
        let points = product_grid(&self.inducing);
        let inducing = InducingInputs::new(&kernel, &points)?;
        let block = CalibrationReplicateState {
            task: self,
            job,
            noise_variance: noise_variance(job.model()?)?,
            statistics: SufficientStatistics::new(&inducing, &training.inputs, &training.targets, sums.bound),
            rule: PreparedPosteriorRule::new(rule, &inducing)?,
            located: inducing.covariances_with_conditional_variances(&test.inputs),
            test,
            inducing: &inducing,
            points,
            sums,
        };
        job.measure_each_cell(|cell| block.measure_cell(cell))
    }
}

/// How a posterior follows from noisy sums.
enum PreparedPosteriorRule {
    NoiseAware(NoiseAwareInverseSetting),
    /// Covariances between the grid of the moment cone and the inducing inputs.
    Moment(DMatrix<f64>),
}

impl PreparedPosteriorRule {
    fn new(setting: &PosteriorRule, inducing: &InducingInputs<'_>) -> Result<Self, TaskError> {
        match setting {
            PosteriorRule::NoiseAware(rule) => Ok(Self::NoiseAware(*rule)),
            PosteriorRule::Moment { grid: ranges } => {
                Ok(Self::Moment(inducing.inducing_covariances(&product_grid(ranges))))
            }
            // A process on the box has a block of its own.
            PosteriorRule::Sites => Err(TaskError::Missing { needed: "a posterior over weights" }),
        }
    }
}

struct CalibrationReplicateState<'a> {
    task: &'a CalibrationTask,
    job: &'a ReplicateJob<'a>,
    noise_variance: f64,
    inducing: &'a InducingInputs<'a>,
    points: DMatrix<f64>,
    sums: BoundedTargetSums<'a>,
    statistics: SufficientStatistics,
    rule: PreparedPosteriorRule,
    test: TestRows,
    located: CovariancesWithConditionalVariances,
}

impl CalibrationReplicateState<'_> {
    fn measure_cell(&self, cell: &PrivacySetting) -> Result<CellMeasurements, TaskError> {
        let noise = self.sums.noise(cell);
        let noisy = noise.simulate_release(&self.statistics, &mut self.job.streams.block_stream("noise"));
        let posterior = self.posterior(&noisy)?;
        let function = posterior.predict(&self.located).with_observation_noise(0.0);
        let targets = function.clone().with_noise(self.noise_variance);
        let jitter = posterior.jitter.max(self.inducing.jitter());
        let metrics =
            self.task.metric_names(1).into_iter().zip(self.test.metric_values(self.task, &function, &targets));
        let measured = self.sums.certify(self.job, cell)?.into_measurements(jitter, metrics);
        let frames = if self.task.curve { self.figure_frames(&posterior, &function) } else { Vec::new() };
        Ok(measured.with_frames(frames))
    }

    fn posterior(&self, noisy: &NoisySufficientStatistics) -> Result<WeightPosterior, TaskError> {
        Ok(match &self.rule {
            PreparedPosteriorRule::NoiseAware(rule) => {
                let unit = noisy.scaled(1.0 / self.noise_variance);
                noise_aware_posterior(self.inducing, &unit, rule.regularisation, rule.correction)?
            }
            PreparedPosteriorRule::Moment(cone) => {
                projected_moment_posterior(self.inducing, noisy, self.noise_variance, cone, self.statistics.rows)?
            }
        })
    }

    fn figure_frames(&self, posterior: &WeightPosterior, function: &PredictiveMixture) -> Vec<FigureTable> {
        let (curve, data) = (self.test.curve_frame(function), training_data_frame(self.task, self.job.sample));
        let values = posterior.inducing_mean(self.inducing);
        let inducing = FigureTable::new("inducing").with_points(&self.points).with_column("y", values.iter().copied());
        vec![curve, data, inducing]
    }
}

/// The first training rows.
pub(super) fn training_data_frame(task: &CalibrationTask, sample: &Sample) -> FigureTable {
    let shown = SHOWN.min(task.train.get());
    FigureTable::new("data")
        .with_points(&sample.inputs.rows(0, shown).into_owned())
        .with_column("y", sample.targets[..shown].iter().copied())
}

/// State shared by all cells of a block.
pub(super) struct MomentsCalibrationReplicateState<'a> {
    task: &'a CalibrationTask,
    job: &'a ReplicateJob<'a>,
    model: MomentsModel,
    sums: LatticeSums,
    test: TestRows,
}

impl<'a> MomentsCalibrationReplicateState<'a> {
    /// Of the training rows.
    pub fn new(
        task: &'a CalibrationTask,
        job: &'a ReplicateJob<'a>,
        training: &Sample,
        test: TestRows,
    ) -> Result<Self, TaskError> {
        let model = MomentsModel::new(job.setting).ok_or(TaskError::Missing { needed: "a moments model" })?;
        Ok(Self { task, job, sums: model.sum_rows_on_lattice(training.columns())?, model, test })
    }

    pub fn measure_cell(&self, cell: &PrivacySetting) -> Result<CellMeasurements, TaskError> {
        let mut stream = self.job.streams.block_stream("noise");
        let SimulatedMoments { released, guarantee, sampled } =
            self.model.simulate_release(&self.sums, cell, &mut stream)?;
        let prediction = self.model.predict_in_model_units(&self.model.posterior(&released)?, &self.test.inputs);
        let values = self.test.metric_values(self.task, &prediction.function, &prediction.targets);
        let certified =
            self.job.auditable_certificate(guarantee.certificate, || vec![AuditedMechanism::Moments(sampled)])?;
        let measured = certified.into_measurements(0.0, self.task.metric_names(1).into_iter().zip(values));
        if !self.task.curve {
            return Ok(measured);
        }
        let frames = vec![self.test.curve_frame(&prediction.function), training_data_frame(self.task, self.job.sample)];
        Ok(measured.with_frames(frames))
    }
}

/// How well predictions from noisy sums are calibrated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CalibrationTask {
    /// The number of training rows, taken from the beginning of the data. The test rows follow. After them come as many
    /// rows again, with the same inputs and the values of the true function.
    pub train: Count<10_000_000>,
    /// The public inducing inputs of noisy sums: a product grid with a range for each input. Noisy moments have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inducing: Vec<RangeSetting>,
    /// How the posterior is computed from noisy sums.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub posterior: Option<PosteriorRule>,
    /// Probability masses of the central intervals whose coverage is measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masses: Vec<Probability>,
    /// Only test rows whose first input lies between these two numbers are used. Without this key, all test rows are used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<[f64; 2]>,
    /// Whether the figure shows the predicted function itself, as a curve.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub curve: bool,
}

/// How a posterior is computed from noisy sums.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PosteriorRule {
    /// By a regularised inverse, with the covariance corrected for the noise.
    NoiseAware(NoiseAwareInverseSetting),
    /// By projecting the second sum onto the matrices that data can produce.
    Moment {
        /// The public grid of inputs, a range for each input.
        grid: Vec<RangeSetting>,
    },
    /// By a Gaussian process on the public box of the inputs, which accounts for the uncertainty about the private inputs.
    Sites,
}

/// The most points of the grid of a moment cone.
const MOST_VERTICES: usize = 1000;

impl PosteriorRule {
    fn check(&self, path: &str, inputs: usize) -> CheckResult {
        match self {
            Self::NoiseAware(rule) => rule.check(&format!("{path}.noise-aware")),
            Self::Moment { grid: points } => {
                let path = format!("{path}.moment.grid");
                check_grid(&path, points, inputs)?;
                let total: usize = points.iter().map(|range| range.points).product();
                check_range(&path, total <= MOST_VERTICES, "at most 1000 points", total as f64)
            }
            Self::Sites => Ok(()),
        }
    }
}

const PATH: &str = "task.calibration";

impl CalibrationTask {
    /// How the posterior follows from noisy sums.
    ///
    /// # Errors
    /// [`TaskError::Missing`], which the checks of a spec rule out.
    pub(super) fn posterior_rule(&self) -> Result<&PosteriorRule, TaskError> {
        self.posterior.as_ref().ok_or(TaskError::Missing { needed: "task.calibration.posterior" })
    }

    fn check_sums(&self, setting: &CellSections) -> CheckResult {
        noisy_sums::require_eq_model(PATH, setting)?.check_noise_variance("calibration")?;
        noisy_sums::check_inducing_inputs(PATH, &self.inducing, setting)?;
        let Some(posterior) = &self.posterior else {
            return fail(PATH, SpecProblem::MissingKey { key: "posterior", by: "noisy sums" });
        };
        posterior.check(&format!("{PATH}.posterior"), setting.data.dimensions())?;
        match posterior {
            PosteriorRule::Sites => site_sums::check_site_sums(PATH, &self.inducing, setting),
            PosteriorRule::NoiseAware(_) | PosteriorRule::Moment { .. } => {
                noisy_sums::require_sums_mechanism(setting, SummedValueKind::Targets).map(drop)
            }
        }
    }
}

impl TaskRequirements for CalibrationTask {
    fn check(&self, setting: &CellSections) -> CheckResult {
        let path = PATH;
        if let Some([low, high]) = self.window {
            let rising = low < high && low.is_finite() && high.is_finite();
            check_range(&format!("{path}.window"), rising, "increasing and finite", high)?;
        }
        let Some(moments) = setting.privacy.mechanism.downcast::<MomentsSetting>() else {
            return self.check_sums(setting);
        };
        let without = self.inducing.is_empty() && self.posterior.is_none();
        check_spec_for_moments(path, moments, without, setting)
    }

    fn metric_names(&self, _: u32) -> Vec<String> {
        let plain = ["rmse", "width", "log-likelihood"].map(str::to_owned).into_iter();
        let coverage = ["coverage", "coverage-f"]
            .into_iter()
            .flat_map(|name| self.masses.iter().map(move |mass| format!("{name}/{mass}")));
        plain.chain(coverage).collect()
    }

    fn check_row_count(&self, rows: usize) -> CheckResult {
        check_leaves_test_rows("task.calibration.train", self.train.get(), rows)
    }
}

/// State shared by all cells of a block.
pub(super) struct SiteCalibrationReplicateState<'a> {
    task: &'a CalibrationTask,
    job: &'a ReplicateJob<'a>,
    posterior: SitePosteriorModel,
    sums: InducingSums<'a>,
    test: TestRows,
}

impl<'a> SiteCalibrationReplicateState<'a> {
    /// Of the training rows.
    pub fn new(
        task: &'a CalibrationTask,
        job: &'a ReplicateJob<'a>,
        training: &Sample,
        test: TestRows,
    ) -> Result<Self, TaskError> {
        let model = GpPriorOnBox::new(job)?;
        let rows = InputTargetRows { inputs: &training.inputs, targets: &training.targets };
        let sums = InducingSums::new(job, &task.inducing, &model, rows)?;
        Ok(Self { task, job, posterior: SitePosteriorModel::new(model, sums.feature_maps()), sums, test })
    }

    pub fn measure_cell(&self, cell: &PrivacySetting) -> Result<CellMeasurements, TaskError> {
        let released = self.sums.simulate_release(cell, &mut self.job.streams.block_stream("noise"));
        let prediction = self.posterior.predict(&self.posterior.condition_on_release(&released)?, &self.test.inputs);
        let values = self.test.metric_values(self.task, &prediction.function, &prediction.targets);
        let certified = self.sums.certify(self.job, cell)?;
        let measured = certified.into_measurements(0.0, self.task.metric_names(1).into_iter().zip(values));
        if !self.task.curve {
            return Ok(measured);
        }
        let frames = vec![self.test.curve_frame(&prediction.function), training_data_frame(self.task, self.job.sample)];
        Ok(measured.with_frames(frames))
    }
}

/// Test inputs, noisy targets and the true function there.
pub(super) struct TestRows {
    pub inputs: DMatrix<f64>,
    pub noisy: Vec<f64>,
    pub truth: Vec<f64>,
}

impl TestRows {
    /// The first half of the targets is noisy. The second half has the true values.
    pub fn new(task: &CalibrationTask, inputs: &DMatrix<f64>, targets: &[f64]) -> Self {
        let half = targets.len() / 2;
        let inside = |i: &usize| task.window.is_none_or(|[low, high]| (low..=high).contains(&inputs[(*i, 0)]));
        let rows: Vec<usize> = (0..half).filter(inside).collect();
        Self {
            inputs: inputs.select_rows(&rows),
            noisy: rows.iter().map(|&i| targets[i]).collect(),
            truth: rows.iter().map(|&i| targets[half + i]).collect(),
        }
    }

    /// The values of the task's metrics, in their order, from predictions of the function and of the noisy targets.
    pub fn metric_values(
        &self,
        task: &CalibrationTask,
        function: &PredictiveMixture,
        targets: &PredictiveMixture,
    ) -> Vec<f64> {
        let width: Vec<f64> = function.variance().iter().map(|v| 2.0 * v.sqrt()).collect();
        let densities = targets.log_densities(&self.noisy);
        let mut values = vec![function.rmse(&self.truth), mean(&width), mean(&densities)];
        for masses in [targets.central_interval_masses(&self.noisy), function.central_interval_masses(&self.truth)] {
            values.extend(task.masses.iter().map(|mass| coverage_share(&masses, mass.get())));
        }
        values
    }

    /// The figure's curve: mean and standard deviation of the predicted function, and the true function, at the test inputs.
    pub fn curve_frame(&self, function: &PredictiveMixture) -> FigureTable {
        FigureTable::new("curve")
            .with_points(&self.inputs)
            .with_column("mean", function.mean().iter().copied())
            .with_column("gp-sd", function.variance().iter().map(|v| v.sqrt()))
            .with_column("truth", self.truth.iter().copied())
    }
}

/// The share of targets inside the central interval of this mass; `masses` are those of the smallest intervals that hold each target.
fn coverage_share(masses: &[f64], mass: f64) -> f64 {
    masses.iter().filter(|m| **m <= mass).count() as f64 / masses.len() as f64
}
