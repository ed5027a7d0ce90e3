//! The way of the Laplace approximation to its mode, step by step.

use nalgebra::DVector;

use super::latent::{LABEL_CHANGE, Problem, noisy, scale};
use super::measure::Measured;
use super::witness::{LinearRelease, Sampled, record, watched};
use super::{Frame, Measurement, Sample, Streams, TaskError};
use crate::gp::newton_path;
use crate::privacy::Certificate;
use crate::spec::{ConvergenceTask, ModelSetting, PrivacySetting, Setting};

/// Newton steps after which the mode is found to rounding.
const TO_THE_MODE: usize = 100;

/// The metrics `first-step-share` (what the first step does of the way from zero to the mode, in the sum of absolute
/// values) and `accuracy` (of the last step, on the test rows). Frame `trace`: the absolute distance of each latent value
/// from the mode after each step.
pub(super) fn convergence(
    block: &Setting,
    task: &ConvergenceTask,
    model: &ModelSetting,
    cells: &[&PrivacySetting],
    sample: &Sample,
    streams: &Streams,
) -> Result<Vec<Measured>, TaskError> {
    let problem = Problem::new(block, model, (task.train, &task.positive), &[], (sample, streams))?;
    let mode = newton_path(&problem.features.training, &problem.labels, TO_THE_MODE)?;
    let mode = problem.latent(mode.last().unwrap_or(&DVector::zeros(problem.features.training.ncols())));
    let of_cell = |cell: &&PrivacySetting| {
        let (path, certificate) = match cell.epsilon.is_finite() {
            true => private(&problem, task, cell, streams)?,
            false => {
                (newton_path(&problem.features.training, &problem.labels, task.steps)?, Certificate::none())
            }
        };
        Ok(measured(&problem, &mode, &path, &certificate))
    };
    cells.iter().map(of_cell).collect()
}

/// The weights after each step, with fresh noise at the whole budget in each.
fn private(
    problem: &Problem,
    task: &ConvergenceTask,
    cell: &PrivacySetting,
    streams: &Streams,
) -> Result<(Vec<DVector<f64>>, Certificate), TaskError> {
    let budget = (cell.epsilon, cell.delta);
    let scale = scale(cell, cell.calibration, budget);
    let mut stream = streams.of_block("noise");
    let mut latent = DVector::zeros(problem.labels.len());
    let (mut path, mut taken, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..task.steps {
        let step = problem.step(&latent)?;
        taken.push((step.cloak().sensitivity, step.cloak().gap));
        if watched() {
            places.push(vec![LinearRelease::of(step.cloak())]);
        }
        let weights = noisy(&step, scale, &mut stream);
        latent = problem.latent(&weights);
        path.push(weights);
    }
    record(cell, || Sampled::Linear { places, scale, change: LABEL_CHANGE });
    Ok((path, problem.certificate(cell, budget, task.steps, &taken)))
}

fn measured(
    problem: &Problem,
    mode: &DVector<f64>,
    path: &[DVector<f64>],
    certificate: &Certificate,
) -> Measured {
    let away = |weights: &DVector<f64>| (problem.latent(weights) - mode).abs();
    let distances: Vec<DVector<f64>> = std::iter::once(mode.abs()).chain(path.iter().map(away)).collect();
    let share = distances.get(1).map_or(0.0, |first| 1.0 - first.sum() / mode.abs().sum());
    let accuracy = path.last().map_or(0.0, |weights| problem.accuracy(weights));
    let measurement = |(metric, value): (&str, f64)| Measurement {
        metric: metric.to_owned(),
        values: vec![value],
        certificate: certificate.clone(),
        jitter: problem.features.jitter,
    };
    let metrics = ConvergenceTask::METRICS.into_iter().zip([share, accuracy]).map(measurement).collect();
    let frame = Frame::new("trace").with("iteration", (0..distances.len()).map(|i| i as f64));
    let with =
        |frame: Frame, i: usize| frame.with(format!("element{}", i + 1), distances.iter().map(|d| d[i]));
    Measured { metrics, frames: vec![(0..mode.len()).fold(frame, with)] }
}
