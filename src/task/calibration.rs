//! How far predictions from noisy sums err, and how well they know it.

use nalgebra::DMatrix;

use super::grid::grid;
use super::measure::Measured;
use super::noisy_sums::{NoisySums, split};
use super::witness::{Sampled, record};
use super::{Frame, Measurement, Sample, Streams, TaskError};
use crate::gp::variational::{
    Inducing, Located, Prediction, Statistics, WeightPosterior, moment, noise_aware,
};
use crate::kernel::ExponentiatedQuadratic;
use crate::spec::{CalibrationTask, ModelSetting, PosteriorRule, PrivacySetting};

/// Training rows that a figure shows.
const SHOWN: usize = 128;

/// The metrics `rmse` (of the mean against the true function), `width` (two standard deviations of f, on
/// average), `log-likelihood` (of a noisy target, on average), `coverage/MASS` (share of the noisy targets
/// within their central interval of this mass) and `coverage-f/MASS` (the same of the true function). Frames:
/// `curve`, `data` (the first 128 rows) and `inducing`, if the task asks for them.
pub(super) fn calibration(
    task: &CalibrationTask,
    model: &ModelSetting,
    cells: &[&PrivacySetting],
    sample: &Sample,
    streams: &Streams,
) -> Result<Vec<Measured>, TaskError> {
    let (Some((variance, lengthscale)), Some(first)) = (model.exponentiated_quadratic(), cells.first())
    else {
        return Ok(Vec::new());
    };
    let kernel = ExponentiatedQuadratic::isotropic(variance, lengthscale);
    let points = grid(&task.inducing);
    let inducing = Inducing::new(&kernel, &points)?;
    let sums = NoisySums::new(&first.mechanism, &task.inducing, (variance, lengthscale))?;
    let (training, others) = split(&sample.inputs, task.train);
    let test = Test::new(task, &inducing, &others, &sample.targets[task.train..]);
    let statistics =
        Statistics::new(&inducing, &training, &sample.targets[..task.train], sums.target_bound());
    let moment_grid = match &task.posterior {
        PosteriorRule::Moment { grid: ranges } => inducing.features(&grid(ranges)),
        PosteriorRule::NoiseAware(_) => DMatrix::zeros(0, 0),
    };
    let bench = Bench {
        task,
        noise_variance: model.noise(),
        inducing: &inducing,
        points,
        sums,
        statistics,
        moment_grid,
        test,
    };
    cells.iter().map(|cell| bench.cell(cell, sample, streams)).collect()
}

/// Test inputs, noisy targets and the true function there.
struct Test {
    inputs: DMatrix<f64>,
    located: Located,
    noisy: Vec<f64>,
    truth: Vec<f64>,
}

impl Test {
    /// The first half of the rows is noisy, the other true.
    fn new(task: &CalibrationTask, inducing: &Inducing<'_>, inputs: &DMatrix<f64>, targets: &[f64]) -> Self {
        let half = targets.len() / 2;
        let [low, high] = task.window.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        let inside = |i: &usize| (low..=high).contains(&inputs[(*i, 0)]);
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
struct Bench<'a> {
    task: &'a CalibrationTask,
    noise_variance: f64,
    inducing: &'a Inducing<'a>,
    points: DMatrix<f64>,
    sums: NoisySums<'a>,
    statistics: Statistics,
    /// Covariances of the grid of the moment cone with the inducing inputs.
    moment_grid: DMatrix<f64>,
    test: Test,
}

impl Bench<'_> {
    fn cell(&self, cell: &PrivacySetting, sample: &Sample, streams: &Streams) -> Result<Measured, TaskError> {
        let sensitivities = self.sums.sensitivities(self.sums.target_bound());
        let noise = self.sums.noise(cell.calibration, (cell.epsilon, cell.delta), sensitivities.0);
        record(cell, || {
            let sums = self.sums.sampled(noise, self.sums.bounded_labels());
            Sampled::Records(self.sums.together(vec![sums]))
        });
        let noisy = noise.release(&self.statistics, &mut streams.of_block("noise"));
        let posterior = match self.task.posterior {
            PosteriorRule::NoiseAware(rule) => {
                let unit = noisy.scaled(1.0 / self.noise_variance);
                noise_aware(self.inducing, &unit, rule.regularisation, rule.correction)?
            }
            PosteriorRule::Moment { .. } => {
                let cone = (&self.moment_grid, self.statistics.rows);
                moment(self.inducing, &noisy, self.noise_variance, cone)?
            }
        };
        let prediction = posterior.predict(&self.test.located);
        let certificate = self.sums.certificate(cell, sensitivities);
        let measurement = |(metric, value): (String, f64)| Measurement {
            metric,
            values: vec![value],
            certificate: certificate.clone(),
            jitter: posterior.jitter.max(self.inducing.jitter()),
        };
        let metrics =
            self.task.metrics().into_iter().zip(self.values(&prediction)).map(measurement).collect();
        let frames = if self.task.curve { self.frames(&posterior, &prediction, sample) } else { Vec::new() };
        Ok(Measured { metrics, frames })
    }

    /// In the order of the task's metrics.
    fn values(&self, prediction: &Prediction) -> Vec<f64> {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let width: Vec<f64> = prediction.variance.iter().map(|v| 2.0 * v.sqrt()).collect();
        let densities = prediction.log_densities(&self.test.noisy, self.noise_variance);
        let mut values = vec![prediction.rmse(&self.test.truth), mean(&width), mean(&densities)];
        for (observed, noise) in [(&self.test.noisy, self.noise_variance), (&self.test.truth, 0.0)] {
            let masses = prediction.central_masses(observed, noise);
            let covered =
                |mass: &f64| masses.iter().filter(|m| **m <= *mass).count() as f64 / masses.len() as f64;
            values.extend(self.task.masses.iter().map(covered));
        }
        values
    }

    fn frames(&self, posterior: &WeightPosterior, prediction: &Prediction, sample: &Sample) -> Vec<Frame> {
        let curve = Frame::new("curve")
            .with_points(&self.test.inputs)
            .with("mean", prediction.mean.iter().copied())
            .with("gp-sd", prediction.variance.iter().map(|v| v.sqrt()))
            .with("truth", self.test.truth.iter().copied());
        let shown = SHOWN.min(self.task.train);
        let data = Frame::new("data")
            .with_points(&sample.inputs.rows(0, shown).into_owned())
            .with("y", sample.targets[..shown].iter().copied());
        let values = posterior.inducing_mean(self.inducing);
        let inducing = Frame::new("inducing").with_points(&self.points).with("y", values.iter().copied());
        vec![curve, data, inducing]
    }
}
