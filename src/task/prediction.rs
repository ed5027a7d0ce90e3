//! Predictions of a regression on a grid, with their privacy noise.

use nalgebra::{DMatrix, DVector};
use rand_distr::{Distribution, StandardNormal};

use super::grid::grid;
use super::measure::Measured;
use super::noise::Noise;
use super::normalise::{Normalised, caveats, normalise};
use super::witness::record;
use super::{Frame, Measurement, Sample, Streams, TaskError, model};
use crate::gp::LinearMap;
use crate::kernel::{DensityLengthscale, Kernel};
use crate::privacy::{Caveat, Certificate};
use crate::spec::{KernelSetting, ModelSetting, PredictionTask, PrivacySetting, Setting};

/// The stream of the inducing inputs.
const PURPOSE: &str = "prediction";

/// The metrics `mean@X`, `gp-sd@X` and `noise-sd@X` at the points of the task (units of the target), and `influence`:
/// the largest change of a prediction when one target changes by 1; with privacy `noise-rms`, the root mean square of
/// `noise-sd` over the grid; for a private function `sensitivity`, which scales
/// its noise, at change 1. Frames: `curve` in one dimension, `map` (and
/// `surface`) in more, `data`, `inducing`, `lengthscale`.
pub(super) fn prediction(
    block: &Setting,
    task: &PredictionTask,
    model: &ModelSetting,
    cells: &[&PrivacySetting],
    sample: &Sample,
    streams: &Streams,
) -> Result<Vec<Measured>, TaskError> {
    let normalised = normalise(&sample.targets, &block.normalise);
    let kernel = model::kernel(&model.kernel, &sample.inputs);
    let grid = grid(&task.grid);
    let pair = (&sample.inputs, &grid);
    let map = model::map(model, kernel.as_ref(), pair, streams, PURPOSE)?;
    let variance = model::variance(model, kernel.as_ref(), pair, streams, PURPOSE)?;
    let noise = match cells.iter().any(|cell| cell.epsilon.is_finite()) {
        true => Some(Noise::new(block, (model, kernel.as_ref()), pair, &map, (streams, PURPOSE))?),
        false => None,
    };
    let released =
        noise.as_ref().map(|noise| noise.released_columns(&map) * map.sum_groups(&normalised.targets));
    let on_scale = |m: f64| m * normalised.scale + normalised.centre;
    let bench = Bench {
        task,
        gp_sd: variance.iter().map(|v| v.sqrt() * normalised.scale).collect(),
        mean: map.predict(&normalised.targets).map(on_scale),
        released: released.map(|mean| mean.map(on_scale)),
        beside: beside(task, model, kernel.as_ref(), sample, &normalised, streams)?,
        caveats: caveats(block, &normalised),
        map,
        noise,
        grid,
    };
    Ok(cells.iter().map(|cell| bench.cell(cell, streams)).collect())
}

/// What all cells of a block share.
struct Bench<'a> {
    task: &'a PredictionTask,
    grid: DMatrix<f64>,
    map: LinearMap,
    mean: DVector<f64>,
    /// The mean that noise is added to: without the directions that a rank rule drops. None without privacy.
    released: Option<DVector<f64>>,
    gp_sd: Vec<f64>,
    noise: Option<Noise>,
    /// The frames beside the predictions.
    beside: Vec<Frame>,
    caveats: [(Caveat, bool); 2],
}

impl Bench<'_> {
    fn cell(&self, cell: &PrivacySetting, streams: &Streams) -> Measured {
        let scale = cell.change() * cell.calibration.sigma(cell.epsilon, cell.delta);
        let private = self.noise.as_ref().filter(|_| cell.epsilon.is_finite());
        if let Some(noise) = private {
            record(cell, || noise.sampled(scale, cell.change()));
        }
        let zero = || DVector::zeros(self.grid.nrows());
        let noise_sd = private.map_or_else(zero, |noise| noise.standard_deviations() * scale);
        let certificate =
            private.map_or_else(Certificate::none, |noise| noise.certificate(cell, &self.caveats));
        let measurement = |metric: String, value: f64| Measurement {
            metric,
            values: vec![value],
            certificate: certificate.clone(),
            jitter: self.map.jitter(),
        };
        let mut metrics = Vec::new();
        for point in &self.task.at {
            let Some(row) = self.row(point) else { continue };
            let named = [("mean", self.mean[row]), ("gp-sd", self.gp_sd[row]), ("noise-sd", noise_sd[row])];
            metrics
                .extend(named.map(|(name, value)| measurement(PredictionTask::metric(name, point), value)));
        }
        metrics.push(measurement("influence".to_owned(), self.map.columns().amax()));
        if private.is_some() {
            let rms = (noise_sd.norm_squared() / noise_sd.len() as f64).sqrt();
            metrics.push(measurement("noise-rms".to_owned(), rms));
        }
        metrics
            .extend(private.and_then(|noise| noise.bound).map(|b| measurement("sensitivity".to_owned(), b)));
        let name = if self.grid.ncols() == 1 { "curve" } else { "map" };
        let mut frame = Frame::new(name).with_points(&self.grid).with("mean", self.mean.iter().copied());
        frame = frame.with("gp-sd", self.gp_sd.iter().copied());
        if let Some(noise) = private {
            frame = self.draws(frame.with("noise-sd", noise_sd.iter().copied()), noise, scale, streams);
        }
        Measured { metrics, frames: std::iter::once(frame).chain(self.beside.iter().cloned()).collect() }
    }

    /// The point's row of the grid, which the checks of a spec make sure of.
    fn row(&self, point: &[f64]) -> Option<usize> {
        let close = |(i, x): (usize, &f64)| (x - point[i]).abs() <= 1e-9 * (1.0 + x.abs());
        (0..self.grid.nrows()).find(|&row| self.grid.row(row).iter().enumerate().all(close))
    }

    /// With a column for each private sample: the released mean with one draw of the noise.
    fn draws(&self, frame: Frame, noise: &Noise, scale: f64, streams: &Streams) -> Frame {
        let mut stream = streams.of_block("draws");
        let mean = self.released.as_ref().unwrap_or(&self.mean);
        (1..=self.task.draws).fold(frame, |frame, number| {
            let unit = DVector::from_fn(noise.map.ncols(), |_, _| StandardNormal.sample(&mut stream));
            frame.with(format!("draw{number}"), (mean + &noise.map * unit * scale).iter().copied())
        })
    }
}

/// The data, the inducing inputs, the finer surface and the lengthscale.
fn beside(
    task: &PredictionTask,
    model: &ModelSetting,
    kernel: &dyn Kernel,
    sample: &Sample,
    normalised: &Normalised,
    streams: &Streams,
) -> Result<Vec<Frame>, TaskError> {
    let data = Frame::new("data").with_points(&sample.inputs).with("y", sample.targets.iter().copied());
    let mut frames = vec![data];
    let inducing = model::inducing(model, &sample.inputs, streams, PURPOSE);
    frames.extend(inducing.map(|points| Frame::new("inducing").with_points(&points)));
    if let Some(ranges) = &task.surface {
        let fine = grid(ranges);
        let map = model::map(model, kernel, (&sample.inputs, &fine), streams, PURPOSE)?;
        let mean = map.predict(&normalised.targets) * normalised.scale;
        let mean: Vec<f64> = mean.iter().map(|m| m + normalised.centre).collect();
        frames.push(Frame::new("surface").with_points(&fine).with("mean", mean));
    }
    frames.extend(lengthscale(task, model, sample));
    Ok(frames)
}

/// The lengthscale of a nonstationary kernel along the grid, in one dimension.
fn lengthscale(task: &PredictionTask, model: &ModelSetting, sample: &Sample) -> Option<Frame> {
    let KernelSetting::Gibbs { bandwidth, points, longest, .. } = model.kernel else { return None };
    let grid = grid(&task.grid);
    (grid.ncols() == 1).then(|| {
        let lengthscale = DensityLengthscale::new(&sample.inputs, bandwidth, points, longest);
        let along = grid.iter().map(|x| lengthscale.at(0, *x)).collect::<Vec<f64>>();
        Frame::new("lengthscale").with_points(&grid).with("value", along)
    })
}
