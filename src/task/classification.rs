//! Binary classification by the Laplace approximation, with or without privacy.

use nalgebra::DVector;

use super::latent::{LABEL_CHANGE, Problem, noisy, scale};
use super::measure::Measured;
use super::witness::{LinearRelease, Sampled, record, watched};
use super::{Frame, Measurement, Sample, Streams, TaskError};
use crate::gp::{averaged_probability, latent_variance, newton_path};
use crate::privacy::{Certificate, PrivateStep};
use crate::spec::{ClassificationTask, ModelSetting, PredictionTask, PrivacySetting, Setting};

/// Most dimensions of inputs that are shown.
const SHOWN: usize = 2;

/// The metrics `accuracy` (share of the test rows, mean over draws) and `accuracy-se` (its standard error over draws);
/// `probability@X`, `latent@X` and `probability-sd@X` (over draws) at the points of the task. Frames: `counts` in one
/// dimension, `training` in two, and the predictions as `classes` (without privacy) or `samples` (with it).
pub(super) fn classification(
    block: &Setting,
    task: &ClassificationTask,
    model: &ModelSetting,
    cells: &[&PrivacySetting],
    sample: &Sample,
    streams: &Streams,
) -> Result<Vec<Measured>, TaskError> {
    let problem = Problem::new(block, model, (task.train, &task.positive), &task.at, (sample, streams))?;
    let private = cells.iter().any(|cell| cell.epsilon.is_finite());
    let zero = DVector::zeros(problem.labels.len());
    let first = if private { Some(problem.step(&zero)?) } else { None };
    let shown = sample.inputs.ncols() <= SHOWN;
    let bench = Bench { task, problem: &problem, first, streams, shown };
    cells.iter().map(|cell| bench.cell(cell)).collect()
}

struct Bench<'a> {
    task: &'a ClassificationTask,
    problem: &'a Problem,
    /// The first private step, which all draws share.
    first: Option<PrivateStep>,
    streams: &'a Streams,
    shown: bool,
}

/// Predictions of one draw at all test inputs.
struct Predictions {
    accuracy: f64,
    latent: Vec<f64>,
    probability: Vec<f64>,
}

impl Bench<'_> {
    fn cell(&self, cell: &PrivacySetting) -> Result<Measured, TaskError> {
        let Self { task, problem, .. } = self;
        let (draws, certificate) = match &self.first {
            Some(first) if cell.epsilon.is_finite() => self.private(cell, first)?,
            _ => {
                let path = newton_path(&problem.features.training, &problem.labels, task.newton)?;
                let weights = path.last().cloned().unwrap_or_default();
                (vec![self.predict(&weights)?], Certificate::none())
            }
        };
        let measurement = |metric: String, value: f64| Measurement {
            metric,
            values: vec![value],
            certificate: certificate.clone(),
            jitter: problem.features.jitter,
        };
        let mut metrics = Vec::new();
        if !problem.truth.is_empty() {
            let accuracies: Vec<f64> = draws.iter().map(|draw| draw.accuracy).collect();
            let (mean, sd) = moments(&accuracies);
            metrics.push(measurement("accuracy".to_owned(), mean));
            metrics.push(measurement("accuracy-se".to_owned(), sd / (draws.len() as f64).sqrt()));
        }
        for (i, point) in task.at.iter().enumerate() {
            let at = problem.truth.len() + i;
            let (probability, sd) = moments(&draws.iter().map(|d| d.probability[at]).collect::<Vec<_>>());
            let (latent, _) = moments(&draws.iter().map(|d| d.latent[at]).collect::<Vec<_>>());
            let values = [probability, sd, latent].into_iter();
            let names = ClassificationTask::AT.into_iter().zip(values);
            metrics
                .extend(names.map(|(name, value)| measurement(PredictionTask::metric(name, point), value)));
        }
        let frames = if self.shown { self.frames(&draws, cell.epsilon.is_finite()) } else { Vec::new() };
        Ok(Measured { metrics, frames })
    }

    /// All draws with privacy. Each step has its share of epsilon and delta; all but the first follow the noise of those
    /// before, so that their noise is designed anew.
    fn private(
        &self,
        cell: &PrivacySetting,
        first: &PrivateStep,
    ) -> Result<(Vec<Predictions>, Certificate), TaskError> {
        let Self { task, problem, .. } = self;
        let steps = task.iterations as f64;
        let budget = (cell.epsilon / steps, cell.delta / steps);
        let scale = scale(cell, cell.calibration, budget);
        let mut stream = self.streams.of_block("noise");
        let mut taken = vec![(first.cloak().sensitivity, first.cloak().gap)];
        let mut places = vec![vec![LinearRelease::of(first.cloak())]];
        places.resize(task.iterations, Vec::new());
        let mut draws = Vec::with_capacity(task.draws);
        for _ in 0..task.draws {
            let mut weights = noisy(first, scale, &mut stream);
            for place in places.iter_mut().skip(1) {
                let step = problem.step(&problem.latent(&weights))?;
                taken.push((step.cloak().sensitivity, step.cloak().gap));
                if watched() {
                    place.push(LinearRelease::of(step.cloak()));
                }
                weights = noisy(&step, scale, &mut stream);
            }
            draws.push(self.predict(&weights)?);
        }
        record(cell, || Sampled::Linear { places, scale, change: LABEL_CHANGE });
        Ok((draws, problem.certificate(cell, budget, task.iterations, &taken)))
    }

    fn predict(&self, weights: &DVector<f64>) -> Result<Predictions, TaskError> {
        let accuracy = self.problem.accuracy(weights);
        if !self.shown && self.task.at.is_empty() {
            return Ok(Predictions { accuracy, latent: Vec::new(), probability: Vec::new() });
        }
        let features = &self.problem.features;
        let test = (&features.test, features.residual.as_slice());
        let variance = latent_variance(&features.training, &self.problem.latent(weights), test)?;
        let latent: Vec<f64> = (&features.test * weights).iter().copied().collect();
        let probability = latent.iter().zip(&variance).map(|(f, v)| averaged_probability(*f, *v)).collect();
        Ok(Predictions { accuracy, latent, probability })
    }

    /// The training data, and the predictions at the points of the task, or else at the test rows.
    fn frames(&self, draws: &[Predictions], private: bool) -> Vec<Frame> {
        let rows = self.problem.truth.len();
        let from = if self.task.at.is_empty() { 0 } else { rows };
        let to = draws.first().map_or(0, |draw| draw.latent.len());
        let points = self.problem.test.rows(from, to - from).into_owned();
        let frame = Frame::new(if private { "samples" } else { "classes" }).with_points(&points);
        let number = |i: usize| if private { (i + 1).to_string() } else { String::new() };
        let with = |frame: Frame, (i, draw): (usize, &Predictions)| {
            let frame =
                frame.with(format!("probability{}", number(i)), draw.probability[from..to].iter().copied());
            frame.with(format!("latent{}", number(i)), draw.latent[from..to].iter().copied())
        };
        vec![self.training(), draws.iter().enumerate().fold(frame, with)]
    }

    /// In one dimension how many rows of each class each input has, otherwise the rows themselves.
    fn training(&self) -> Frame {
        let Problem { inputs, labels, .. } = self.problem;
        if inputs.ncols() > 1 {
            return Frame::new("training").with_points(inputs).with("y", labels.iter().copied());
        }
        let mut values: Vec<f64> = inputs.iter().copied().collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let count = |x: &f64, label: f64| {
            inputs.iter().zip(labels.iter()).filter(|(i, l)| *i == x && **l == label).count() as f64
        };
        let positive: Vec<f64> = values.iter().map(|x| count(x, 1.0)).collect();
        let negative: Vec<f64> = values.iter().map(|x| count(x, -1.0)).collect();
        Frame::new("counts").with("x1", values).with("positive", positive).with("negative", negative)
    }
}

/// Mean and sample standard deviation; a single value has no spread.
fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, if values.len() < 2 { 0.0 } else { (squares / (count - 1.0)).sqrt() })
}
