//! Calibration of predictions from noisy sums or noisy moments: their errors on held-out rows, the coverage
//! of their intervals, and the settings of the task.

use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::noise_variance;
use crate::noisy_sums::{TargetSums, split};
use crate::sample::product_grid;
use crate::site_sums::{BoxModel, SitePosterior, SiteRows, SummedRows};
use crate::{Frame, Job, Measured, Sample, Sampled, Task, TaskError, TaskSpec, noisy_sums, site_sums};
use dpgp_gp::Predictive;
use dpgp_gp::kernel::ExponentiatedQuadratic;
use dpgp_gp::variational::{
    Inducing, Located, NoisyStatistics, Statistics, WeightPosterior, moment, noise_aware,
};
use dpgp_mechanisms::{
    MomentsModel, MomentsSetting, PrivacySetting, Sections, SimulatedMoments, SummedTargets, check_moments,
    waves_alone,
};
use dpgp_number::{Count, Probability};
use dpgp_spec::setting::rules::{check_grid, fail, range, to_test};
use dpgp_spec::setting::{Checked, NoiseAwareSetting, Problem, RangeSetting};
use dpgp_stream::LatticeSums;

/// Training rows that a figure shows.
const SHOWN: usize = 128;

/// The metrics `rmse` (of the mean against the true function), `width` (two standard deviations of f, on
/// average), `log-likelihood` (of a noisy target, on average), `coverage/MASS` (share of the noisy targets
/// within their central interval of this mass) and `coverage-f/MASS` (the same of the true function). Frames:
/// `curve`, `data` (the first 128 rows) and `inducing`, if the task asks for them.
impl Task for CalibrationTask {
    fn measure(&self, job: &Job<'_>) -> Result<Vec<Measured>, TaskError> {
        let (training, others) = split(&job.sample.inputs, self.train.get());
        let (targets, tested) = job.sample.targets.split_at(self.train.get());
        let test = TestRows::new(self, &others, tested);
        let training = Sample { inputs: training, targets: targets.to_vec(), persons: Vec::new() };
        if job.setting.privacy.mechanism.downcast::<MomentsSetting>().is_some() {
            let block = MomentsBlock::new(self, job, &training, test)?;
            return job.cells.iter().map(|cell| block.cell(cell)).collect();
        }
        let (variance, lengthscale) = job.exponentiated_quadratic()?;
        let rule = self.posterior()?;
        if *rule == PosteriorRule::Sites {
            let block = SitesBlock::new(self, job, &training, test)?;
            return job.cells.iter().map(|cell| block.cell(cell)).collect();
        }
        let sums = TargetSums::new(job.sums()?, &self.inducing, variance, lengthscale)?;
        let kernel = ExponentiatedQuadratic::isotropic(variance, lengthscale);
        let points = product_grid(&self.inducing);
        let inducing = Inducing::new(&kernel, &points)?;
        let block = CalibrationBlock {
            task: self,
            job,
            noise_variance: noise_variance(job.model()?)?,
            statistics: Statistics::new(&inducing, &training.inputs, &training.targets, sums.bound),
            rule: Rule::new(rule, &inducing)?,
            located: inducing.locate(&test.inputs),
            test,
            inducing: &inducing,
            points,
            sums,
        };
        job.cells.iter().map(|cell| block.cell(cell)).collect()
    }
}

/// How a posterior follows from noisy sums.
enum Rule {
    NoiseAware(NoiseAwareSetting),
    /// Covariances of the grid of the moment cone with the inducing inputs.
    Moment(DMatrix<f64>),
}

impl Rule {
    fn new(setting: &PosteriorRule, inducing: &Inducing<'_>) -> Result<Self, TaskError> {
        match setting {
            PosteriorRule::NoiseAware(rule) => Ok(Self::NoiseAware(*rule)),
            PosteriorRule::Moment { grid: ranges } => {
                Ok(Self::Moment(inducing.features(&product_grid(ranges))))
            }
            // A process on the box has a block of its own.
            PosteriorRule::Sites => Err(TaskError::Missing { needed: "a posterior over weights" }),
        }
    }
}

/// State shared by all cells of a block.
struct CalibrationBlock<'a> {
    task: &'a CalibrationTask,
    job: &'a Job<'a>,
    noise_variance: f64,
    inducing: &'a Inducing<'a>,
    points: DMatrix<f64>,
    sums: TargetSums<'a>,
    statistics: Statistics,
    rule: Rule,
    test: TestRows,
    located: Located,
}

impl CalibrationBlock<'_> {
    fn cell(&self, cell: &PrivacySetting) -> Result<Measured, TaskError> {
        let noise = self.sums.noise(cell);
        let noisy = noise.release(&self.statistics, &mut self.job.streams.of_block("noise"));
        let posterior = self.posterior(&noisy)?;
        let function = posterior.predict(&self.located).observed(0.0);
        let targets = function.clone().with_noise(self.noise_variance);
        let jitter = posterior.jitter.max(self.inducing.jitter());
        let metrics = self.task.metrics(1).into_iter().zip(self.test.scores(self.task, &function, &targets));
        let measured = self.sums.certify(self.job, cell)?.measured(jitter, metrics);
        let frames = if self.task.curve { self.frames(&posterior, &function) } else { Vec::new() };
        Ok(measured.with_frames(frames))
    }

    fn posterior(&self, noisy: &NoisyStatistics) -> Result<WeightPosterior, TaskError> {
        Ok(match &self.rule {
            Rule::NoiseAware(rule) => {
                let unit = noisy.scaled(1.0 / self.noise_variance);
                noise_aware(self.inducing, &unit, rule.regularisation, rule.correction)?
            }
            Rule::Moment(cone) => {
                moment(self.inducing, noisy, self.noise_variance, cone, self.statistics.rows)?
            }
        })
    }

    fn frames(&self, posterior: &WeightPosterior, function: &Predictive) -> Vec<Frame> {
        let (curve, data) = (self.test.curve(function), data_frame(self.task, self.job.sample));
        let values = posterior.inducing_mean(self.inducing);
        let inducing = Frame::new("inducing").with_points(&self.points).with("y", values.iter().copied());
        vec![curve, data, inducing]
    }
}

/// The first training rows.
pub(super) fn data_frame(task: &CalibrationTask, sample: &Sample) -> Frame {
    let shown = SHOWN.min(task.train.get());
    Frame::new("data")
        .with_points(&sample.inputs.rows(0, shown).into_owned())
        .with("y", sample.targets[..shown].iter().copied())
}

/// State shared by all cells of a block.
pub(super) struct MomentsBlock<'a> {
    task: &'a CalibrationTask,
    job: &'a Job<'a>,
    model: MomentsModel,
    sums: LatticeSums,
    test: TestRows,
}

impl<'a> MomentsBlock<'a> {
    /// Of the training rows.
    pub fn new(
        task: &'a CalibrationTask,
        job: &'a Job<'a>,
        training: &Sample,
        test: TestRows,
    ) -> Result<Self, TaskError> {
        let model = MomentsModel::new(job.setting).ok_or(TaskError::Missing { needed: "a moments model" })?;
        Ok(Self { task, job, sums: model.sums(training.columns())?, model, test })
    }

    pub fn cell(&self, cell: &PrivacySetting) -> Result<Measured, TaskError> {
        let mut stream = self.job.streams.of_block("noise");
        let SimulatedMoments { released, guarantee, sampled } =
            self.model.simulated(&self.sums, cell, &mut stream)?;
        let prediction = self.model.predicted(&self.model.posterior(&released)?, &self.test.inputs);
        let values = self.test.scores(self.task, &prediction.function, &prediction.targets);
        let certified = self.job.certify(guarantee.certificate, || vec![Sampled::Moments(sampled)])?;
        let measured = certified.measured(0.0, self.task.metrics(1).into_iter().zip(values));
        if !self.task.curve {
            return Ok(measured);
        }
        let frames = vec![self.test.curve(&prediction.function), data_frame(self.task, self.job.sample)];
        Ok(measured.with_frames(frames))
    }
}

/// How well predictions from noisy sums are calibrated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CalibrationTask {
    /// The number of rows at the beginning of the data that are training rows. The others are test rows, followed by as many rows
    /// with the same inputs and the values of the true function.
    pub train: Count,
    /// The public inducing inputs of noisy sums, a product grid with a range for each input; noisy moments have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inducing: Vec<RangeSetting>,
    /// How the posterior follows from noisy sums.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub posterior: Option<PosteriorRule>,
    /// Masses of the central intervals whose coverage is measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masses: Vec<Probability>,
    /// Only test rows whose first input lies between these are used; without it, all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<[f64; 2]>,
    /// Whether the figure shows the curve itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub curve: bool,
}

/// How a posterior follows from noisy sums.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PosteriorRule {
    /// By a regularised inverse, with the covariance corrected for the noise.
    NoiseAware(NoiseAwareSetting),
    /// By projecting the second sum onto the matrices that data can produce.
    Moment {
        /// The public grid of inputs, a range for each input.
        grid: Vec<RangeSetting>,
    },
    /// By a process on the public box of the inputs, which accounts for how little is known about them.
    Sites,
}

/// The most points of the grid of a moment cone.
const MOST_VERTICES: usize = 1000;

impl PosteriorRule {
    fn check(&self, path: &str, inputs: usize) -> Checked {
        match self {
            Self::NoiseAware(rule) => rule.check(&format!("{path}.noise-aware")),
            Self::Moment { grid: points } => {
                let path = format!("{path}.moment.grid");
                check_grid(&path, points, inputs)?;
                let total: usize = points.iter().map(|range| range.points).product();
                range(&path, total <= MOST_VERTICES, "at most 1000 points", total as f64)
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
    pub(super) fn posterior(&self) -> Result<&PosteriorRule, TaskError> {
        self.posterior.as_ref().ok_or(TaskError::Missing { needed: "task.calibration.posterior" })
    }

    fn check_sums(&self, setting: &Sections) -> Checked {
        noisy_sums::model(PATH, setting)?.has_noise("calibration")?;
        noisy_sums::inducing(PATH, &self.inducing, setting)?;
        let Some(posterior) = &self.posterior else {
            return fail(PATH, Problem::MissingKey { key: "posterior", by: "noisy sums" });
        };
        posterior.check(&format!("{PATH}.posterior"), setting.data.dimensions())?;
        match posterior {
            PosteriorRule::Sites => site_sums::check(PATH, &self.inducing, setting),
            PosteriorRule::NoiseAware(_) | PosteriorRule::Moment { .. } => {
                noisy_sums::mechanism(setting, SummedTargets::Targets).map(drop)
            }
        }
    }
}

impl TaskSpec for CalibrationTask {
    fn check(&self, setting: &Sections) -> Checked {
        let path = PATH;
        if let Some([low, high]) = self.window {
            let rising = low < high && low.is_finite() && high.is_finite();
            range(&format!("{path}.window"), rising, "increasing and finite", high)?;
        }
        let Some(moments) = setting.privacy.mechanism.downcast::<MomentsSetting>() else {
            return self.check_sums(setting);
        };
        let without = self.inducing.is_empty() && self.posterior.is_none();
        waves_alone(path, moments)?;
        check_moments(path, moments, without, setting)
    }

    fn metrics(&self, _: u32) -> Vec<String> {
        let plain = ["rmse", "width", "log-likelihood"].map(str::to_owned).into_iter();
        let coverage = ["coverage", "coverage-f"]
            .into_iter()
            .flat_map(|name| self.masses.iter().map(move |mass| format!("{name}/{mass}")));
        plain.chain(coverage).collect()
    }

    fn check_rows(&self, rows: usize) -> Checked {
        to_test("task.calibration.train", self.train.get(), rows)
    }
}

/// State shared by all cells of a block.
pub(super) struct SitesBlock<'a> {
    task: &'a CalibrationTask,
    job: &'a Job<'a>,
    posterior: SitePosterior,
    sums: SummedRows<'a>,
    test: TestRows,
}

impl<'a> SitesBlock<'a> {
    /// Of the training rows.
    pub fn new(
        task: &'a CalibrationTask,
        job: &'a Job<'a>,
        training: &Sample,
        test: TestRows,
    ) -> Result<Self, TaskError> {
        let model = BoxModel::new(job)?;
        let rows = SiteRows { inputs: &training.inputs, targets: &training.targets };
        let sums = SummedRows::new(job, &task.inducing, &model, rows)?;
        Ok(Self { task, job, posterior: SitePosterior::new(model, sums.maps()), sums, test })
    }

    pub fn cell(&self, cell: &PrivacySetting) -> Result<Measured, TaskError> {
        let released = self.sums.noisy(cell, &mut self.job.streams.of_block("noise"));
        let prediction = self.posterior.predict(&self.posterior.given(&released)?, &self.test.inputs);
        let values = self.test.scores(self.task, &prediction.function, &prediction.targets);
        let certified = self.sums.certify(self.job, cell)?;
        let measured = certified.measured(0.0, self.task.metrics(1).into_iter().zip(values));
        if !self.task.curve {
            return Ok(measured);
        }
        let frames = vec![self.test.curve(&prediction.function), data_frame(self.task, self.job.sample)];
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
    /// The first half of the rows is noisy, the other true.
    pub fn new(task: &CalibrationTask, inputs: &DMatrix<f64>, targets: &[f64]) -> Self {
        let half = targets.len() / 2;
        let inside =
            |i: &usize| task.window.is_none_or(|[low, high]| (low..=high).contains(&inputs[(*i, 0)]));
        let rows: Vec<usize> = (0..half).filter(inside).collect();
        Self {
            inputs: inputs.select_rows(&rows),
            noisy: rows.iter().map(|&i| targets[i]).collect(),
            truth: rows.iter().map(|&i| targets[half + i]).collect(),
        }
    }

    /// In the order of the task's metrics, by predictions of the function and of targets.
    pub fn scores(&self, task: &CalibrationTask, function: &Predictive, targets: &Predictive) -> Vec<f64> {
        let width: Vec<f64> = function.variance().iter().map(|v| 2.0 * v.sqrt()).collect();
        let densities = targets.log_densities(&self.noisy);
        let mut values = vec![function.rmse(&self.truth), mean(&width), mean(&densities)];
        for masses in [targets.central_masses(&self.noisy), function.central_masses(&self.truth)] {
            values.extend(task.masses.iter().map(|mass| covered(&masses, mass.get())));
        }
        values
    }

    /// The curve of a figure.
    pub fn curve(&self, function: &Predictive) -> Frame {
        Frame::new("curve")
            .with_points(&self.inputs)
            .with("mean", function.mean().iter().copied())
            .with("gp-sd", function.variance().iter().map(|v| v.sqrt()))
            .with("truth", self.truth.iter().copied())
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The share of targets whose interval of this mass reaches them.
fn covered(masses: &[f64], mass: f64) -> f64 {
    masses.iter().filter(|m| **m <= mass).count() as f64 / masses.len() as f64
}
