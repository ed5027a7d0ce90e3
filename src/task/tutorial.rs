//! A Gaussian process at two places, before or after the observations.

use nalgebra::{DMatrix, DVector};
use rand_distr::{Distribution, StandardNormal};

use super::grid::grid;
use super::measure::Measured;
use super::{Frame, Measurement, Sample, Streams, TaskError, model};
use crate::kernel::Kernel;
use crate::linalg::{Cholesky, normal_pdf, thin_svd};
use crate::privacy::Certificate;
use crate::spec::{ModelSetting, TutorialTask};

/// Standard deviations on either side of the mean that the density is shown for.
const REACH: f64 = 4.0;
/// Points of the density.
const POINTS: usize = 161;

/// The metrics `mean` and `sd` of the function at the second place, and its `correlation` with that at the first. Frames:
/// `draws` of the function, `pair` (the two places, their means, standard deviations and correlation), `marginal` (the density at
/// the second place), `data`.
pub(super) fn tutorial(
    task: &TutorialTask,
    model: &ModelSetting,
    sample: &Sample,
    streams: &Streams,
) -> Result<Measured, TaskError> {
    let kernel = model::kernel(&model.kernel, &sample.inputs);
    let seen = if task.observed { sample.clone() } else { sample.select(&[]) };
    let process = Process { kernel: kernel.as_ref(), noise: model.noise(), seen: &seen };
    let (mean, covariance) = process.at(&DMatrix::from_row_slice(2, 1, &task.pair))?;
    let sd = [covariance[(0, 0)].sqrt(), covariance[(1, 1)].sqrt()];
    let correlation = covariance[(0, 1)] / (sd[0] * sd[1]);
    let measurement = |(metric, value): (&str, f64)| Measurement {
        metric: metric.to_owned(),
        values: vec![value],
        certificate: Certificate::none(),
        jitter: 0.0,
    };
    let metrics = TutorialTask::METRICS.into_iter().zip([mean[1], sd[1], correlation]).map(measurement);
    let pair = [("x1", task.pair[0]), ("x2", task.pair[1]), ("mean1", mean[0]), ("mean2", mean[1])];
    let spread = [("sd1", sd[0]), ("sd2", sd[1]), ("correlation", correlation)];
    let pair =
        pair.into_iter().chain(spread).fold(Frame::new("pair"), |f, (name, value)| f.with(name, [value]));
    let along = |i: usize| mean[1] + sd[1] * REACH * (2.0 * i as f64 / (POINTS - 1) as f64 - 1.0);
    let values: Vec<f64> = (0..POINTS).map(along).collect();
    let density: Vec<f64> = values.iter().map(|f| normal_pdf((f - mean[1]) / sd[1]) / sd[1]).collect();
    let marginal = Frame::new("marginal").with("value", values).with("density", density);
    let data = Frame::new("data").with_points(&seen.inputs).with("y", seen.targets.iter().copied());
    let frames = vec![draws(task, &process, streams)?, pair, marginal, data];
    Ok(Measured { metrics: metrics.collect(), frames })
}

/// A prior and what is known of it.
struct Process<'a> {
    kernel: &'a dyn Kernel,
    noise: f64,
    seen: &'a Sample,
}

impl Process<'_> {
    /// Mean and covariance of the function at some inputs (Rasmussen and Williams 2006, Eq. 2.22 to 2.24).
    fn at(&self, inputs: &DMatrix<f64>) -> Result<(DVector<f64>, DMatrix<f64>), TaskError> {
        let prior = self.kernel.matrix(inputs, inputs);
        if self.seen.rows() == 0 {
            return Ok((DVector::zeros(inputs.nrows()), prior));
        }
        let mut k = self.kernel.matrix(&self.seen.inputs, &self.seen.inputs);
        (0..k.nrows()).for_each(|i| k[(i, i)] += self.noise);
        let factor = Cholesky::new("K + sigma^2 I", &k)?;
        let across = factor.half_solve(&self.kernel.matrix(&self.seen.inputs, inputs));
        let targets = DMatrix::from_column_slice(self.seen.rows(), 1, &self.seen.targets);
        let mean = across.tr_mul(&factor.half_solve(&targets)).column(0).into_owned();
        Ok((mean, prior - across.tr_mul(&across)))
    }
}

/// Functions drawn on the grid, by the singular value decomposition of their covariance.
fn draws(task: &TutorialTask, process: &Process<'_>, streams: &Streams) -> Result<Frame, TaskError> {
    let grid = grid(&[task.grid]);
    let (mean, covariance) = process.at(&grid)?;
    let svd = thin_svd("the covariance on the grid", &covariance)?;
    let root = &svd.u * DMatrix::from_diagonal(&svd.s.map(f64::sqrt));
    let mut stream = streams.of_block("draws");
    let frame = Frame::new("draws").with_points(&grid);
    Ok((1..=task.draws).fold(frame, |frame, number| {
        let unit = DVector::from_fn(root.ncols(), |_, _| StandardNormal.sample(&mut stream));
        frame.with(format!("draw{number}"), (&mean + &root * unit).iter().copied())
    }))
}
