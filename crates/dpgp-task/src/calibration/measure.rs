//! How far predictions from noisy sums err, and how well they know it.

use nalgebra::DMatrix;

use super::moments::MomentsBlock;
use super::sites::SitesBlock;
use super::test_rows::TestRows;

use crate::grid::grid;
use crate::model::noise_variance;
use crate::noisy_sums::{TargetSums, split};
use crate::{CalibrationTask, Described, PosteriorRule};
use crate::{Frame, Job, Measured, Sample, Task, TaskError};
use dpgp_gp::Predictive;
use dpgp_gp::kernel::ExponentiatedQuadratic;
use dpgp_gp::variational::{
    Inducing, Located, NoisyStatistics, Statistics, WeightPosterior, moment, noise_aware,
};
use dpgp_mechanisms::{MomentsSetting, PrivacySetting};
use dpgp_spec::setting::NoiseAwareSetting;

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
        if job.setting.privacy.mechanism.of::<MomentsSetting>().is_some() {
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
        let points = grid(&self.inducing);
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
            PosteriorRule::Moment { grid: ranges } => Ok(Self::Moment(inducing.features(&grid(ranges)))),
            // A process on the box has a block of its own.
            PosteriorRule::Sites => Err(TaskError::Missing { needed: "a posterior of weights" }),
        }
    }
}

/// What all cells of a block share.
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
