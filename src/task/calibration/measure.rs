//! How far predictions from noisy sums err, and how well they know it.

use crate::task::Described;
use nalgebra::DMatrix;

use crate::gp::variational::{
    Inducing, Located, NoisyStatistics, Prediction, Statistics, WeightPosterior, moment, noise_aware,
};
use crate::kernel::ExponentiatedQuadratic;
use crate::setting::{NoiseAwareSetting, PrivacySetting};
use crate::task::grid::grid;
use crate::task::model::noise_variance;
use crate::task::noisy_sums::{TargetSums, split};
use crate::task::{CalibrationTask, PosteriorRule};
use crate::task::{Frame, Job, Measured, Task, TaskError};

/// Training rows that a figure shows.
const SHOWN: usize = 128;

/// The metrics `rmse` (of the mean against the true function), `width` (two standard deviations of f, on
/// average), `log-likelihood` (of a noisy target, on average), `coverage/MASS` (share of the noisy targets
/// within their central interval of this mass) and `coverage-f/MASS` (the same of the true function). Frames:
/// `curve`, `data` (the first 128 rows) and `inducing`, if the task asks for them.
impl Task for CalibrationTask {
    fn measure(&self, job: &Job<'_>) -> Result<Vec<Measured>, TaskError> {
        let (variance, lengthscale) = job.exponentiated_quadratic()?;
        let kernel = ExponentiatedQuadratic::isotropic(variance, lengthscale);
        let points = grid(&self.inducing);
        let inducing = Inducing::new(&kernel, &points)?;
        let sums = TargetSums::new(job.sums()?, &self.inducing, variance, lengthscale)?;
        let (training, others) = split(&job.sample.inputs, self.train.get());
        let (targets, tested) = job.sample.targets.split_at(self.train.get());
        let block = CalibrationBlock {
            task: self,
            job,
            noise_variance: noise_variance(job.model()?)?,
            statistics: Statistics::new(&inducing, &training, targets, sums.bound),
            rule: Rule::new(&self.posterior, &inducing),
            test: TestRows::new(self, &inducing, &others, tested),
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
    fn new(setting: &PosteriorRule, inducing: &Inducing<'_>) -> Self {
        match setting {
            PosteriorRule::NoiseAware(rule) => Self::NoiseAware(*rule),
            PosteriorRule::Moment { grid: ranges } => Self::Moment(inducing.features(&grid(ranges))),
        }
    }
}

/// Test inputs, noisy targets and the true function there.
struct TestRows {
    inputs: DMatrix<f64>,
    located: Located,
    noisy: Vec<f64>,
    truth: Vec<f64>,
}

impl TestRows {
    /// The first half of the rows is noisy, the other true.
    fn new(task: &CalibrationTask, inducing: &Inducing<'_>, inputs: &DMatrix<f64>, targets: &[f64]) -> Self {
        let half = targets.len() / 2;
        let inside =
            |i: &usize| task.window.is_none_or(|[low, high]| (low..=high).contains(&inputs[(*i, 0)]));
        let rows: Vec<usize> = (0..half).filter(inside).collect();
        let inputs = inputs.select_rows(&rows);
        Self {
            located: inducing.locate(&inputs),
            inputs,
            noisy: rows.iter().map(|&i| targets[i]).collect(),
            truth: rows.iter().map(|&i| targets[half + i]).collect(),
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
}

impl CalibrationBlock<'_> {
    fn cell(&self, cell: &PrivacySetting) -> Result<Measured, TaskError> {
        let noise = self.sums.noise(cell);
        let noisy = noise.release(&self.statistics, &mut self.job.streams.of_block("noise"));
        let posterior = self.posterior(&noisy)?;
        let prediction = posterior.predict(&self.test.located);
        let jitter = posterior.jitter.max(self.inducing.jitter());
        let metrics = self.task.metrics(1).into_iter().zip(self.values(&prediction));
        let measured = self.sums.certify(self.job, cell)?.measured(jitter, metrics);
        let frames = if self.task.curve { self.frames(&posterior, &prediction) } else { Vec::new() };
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

    /// In the order of the task's metrics.
    fn values(&self, prediction: &Prediction) -> Vec<f64> {
        let width: Vec<f64> = prediction.variance.iter().map(|v| 2.0 * v.sqrt()).collect();
        let densities = prediction.log_densities(&self.test.noisy, self.noise_variance);
        let mut values = vec![prediction.rmse(&self.test.truth), mean(&width), mean(&densities)];
        for (observed, noise) in [(&self.test.noisy, self.noise_variance), (&self.test.truth, 0.0)] {
            let masses = prediction.central_masses(observed, noise);
            values.extend(self.task.masses.iter().map(|mass| covered(&masses, mass.get())));
        }
        values
    }

    fn frames(&self, posterior: &WeightPosterior, prediction: &Prediction) -> Vec<Frame> {
        let sample = self.job.sample;
        let curve = Frame::new("curve")
            .with_points(&self.test.inputs)
            .with("mean", prediction.mean.iter().copied())
            .with("gp-sd", prediction.variance.iter().map(|v| v.sqrt()))
            .with("truth", self.test.truth.iter().copied());
        let shown = SHOWN.min(self.task.train.get());
        let data = Frame::new("data")
            .with_points(&sample.inputs.rows(0, shown).into_owned())
            .with("y", sample.targets[..shown].iter().copied());
        let values = posterior.inducing_mean(self.inducing);
        let inducing = Frame::new("inducing").with_points(&self.points).with("y", values.iter().copied());
        vec![curve, data, inducing]
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The share of targets whose interval of this mass reaches them.
fn covered(masses: &[f64], mass: f64) -> f64 {
    masses.iter().filter(|m| **m <= mass).count() as f64 / masses.len() as f64
}
