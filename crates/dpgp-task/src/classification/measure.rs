//! The accuracy of a classifier, and its predictions.

use nalgebra::DVector;

use super::{Classifier, Steps};
use crate::{Certified, Frame, Job, Measured, OneTarget, Task, TaskError};
use crate::{ClassificationTask, PredictionTask};
use dpgp_gp::{averaged_probability, latent_variance, newton_path};
use dpgp_mechanisms::PrivacySetting;
use dpgp_mechanisms::PrivateStep;

/// Most dimensions of inputs that are shown.
const SHOWN: usize = 2;

/// The metrics `accuracy` (share of the test rows, mean over draws), `accuracy-se` (its standard error over draws) and
/// `majority-share` (the accuracy of always saying the class that most test rows have);
/// `probability@X`, `latent@X` and `probability-sd@X` (over draws) at the points of the task. Frames: `counts` in one
/// dimension, `training` in two, and the predictions as `classes` (without privacy) or `samples` (with it).
impl Task for ClassificationTask {
    fn measure(&self, job: &Job<'_>) -> Result<Vec<Measured>, TaskError> {
        let classifier = Classifier::new(job, self.train.get(), &self.positive, &self.at)?;
        let zero = DVector::zeros(classifier.labels.len());
        let first = if job.is_private() { Some(classifier.step(&zero)?) } else { None };
        let shown = job.sample.inputs.ncols() <= SHOWN;
        let block = ClassificationBlock { task: self, job, classifier: &classifier, first, shown };
        job.cells.iter().map(|cell| block.cell(cell)).collect()
    }
}

/// What all cells of a block share.
struct ClassificationBlock<'a> {
    task: &'a ClassificationTask,
    job: &'a Job<'a>,
    classifier: &'a Classifier,
    /// The first private step, which all draws share.
    first: Option<PrivateStep>,
    shown: bool,
}

/// Predictions of one draw at all test inputs.
struct DrawnClasses {
    accuracy: f64,
    latent: Vec<f64>,
    probability: Vec<f64>,
}

impl ClassificationBlock<'_> {
    fn cell(&self, cell: &PrivacySetting) -> Result<Measured, TaskError> {
        let Self { task, classifier, .. } = self;
        let target = OneTarget::of(cell)?;
        let (draws, certified) = match &self.first {
            Some(first) if target.is_private() => self.private(target, first)?,
            _ => {
                let path = newton_path(&classifier.features.training, &classifier.labels, task.newton.get())?;
                let weights = path.last().cloned().unwrap_or_default();
                (vec![self.predict(&weights)?], Certified::nothing())
            }
        };
        let measured = certified.measured(classifier.features.jitter, self.metrics(&draws));
        let frames = if self.shown { self.frames(&draws, target.is_private()) } else { Vec::new() };
        Ok(measured.with_frames(frames))
    }

    fn metrics(&self, draws: &[DrawnClasses]) -> Vec<(String, f64)> {
        let rows = self.classifier.truth.len();
        let mut metrics = Vec::new();
        if rows > 0 {
            let accuracy = Moments::of(draws.iter().map(|draw| draw.accuracy));
            metrics.push(("accuracy".to_owned(), accuracy.mean));
            metrics.push(("accuracy-se".to_owned(), accuracy.sd / (draws.len() as f64).sqrt()));
            metrics.push(("majority-share".to_owned(), self.classifier.majority_share()));
        }
        for (i, point) in self.task.at.iter().enumerate() {
            let probability = Moments::of(draws.iter().map(|draw| draw.probability[rows + i]));
            let latent = Moments::of(draws.iter().map(|draw| draw.latent[rows + i]));
            let values = [probability.mean, probability.sd, latent.mean];
            let names = ClassificationTask::AT.map(|name| PredictionTask::metric(name, point));
            metrics.extend(names.into_iter().zip(values));
        }
        metrics
    }

    /// All draws with privacy. Each step has its share of epsilon and delta; all but the first follow the noise of those
    /// before, so that their noise is designed anew.
    fn private(
        &self,
        target: OneTarget,
        first: &PrivateStep,
    ) -> Result<(Vec<DrawnClasses>, Certified), TaskError> {
        let Self { task, classifier, .. } = self;
        let count = task.iterations.get() as f64;
        let each = OneTarget { epsilon: target.epsilon / count, delta: target.delta / count, ..target };
        let mut steps = Steps::new(self.job, each, task.iterations.get());
        steps.see(0, first);
        let mut draws = Vec::with_capacity(task.draws.get());
        for _ in 0..task.draws.get() {
            let mut weights = steps.weights(first);
            for place in 1..task.iterations.get() {
                let step = classifier.step(&classifier.latent(&weights))?;
                steps.see(place, &step);
                weights = steps.weights(&step);
            }
            draws.push(self.predict(&weights)?);
        }
        Ok((draws, steps.certified()?))
    }

    fn predict(&self, weights: &DVector<f64>) -> Result<DrawnClasses, TaskError> {
        let accuracy = self.classifier.accuracy(weights);
        if !self.shown && self.task.at.is_empty() {
            return Ok(DrawnClasses { accuracy, latent: Vec::new(), probability: Vec::new() });
        }
        let features = &self.classifier.features;
        let variance = latent_variance(features, &self.classifier.latent(weights))?;
        let latent: Vec<f64> = (&features.test * weights).iter().copied().collect();
        let probability = latent.iter().zip(&variance).map(|(f, v)| averaged_probability(*f, *v)).collect();
        Ok(DrawnClasses { accuracy, latent, probability })
    }

    /// The training data, and the predictions at the points of the task, or else at the test rows.
    fn frames(&self, draws: &[DrawnClasses], private: bool) -> Vec<Frame> {
        let rows = self.classifier.truth.len();
        let from = if self.task.at.is_empty() { 0 } else { rows };
        let to = draws.first().map_or(0, |draw| draw.latent.len());
        let points = self.classifier.test.rows(from, to - from).into_owned();
        let mut frame = Frame::new(if private { "samples" } else { "classes" }).with_points(&points);
        for (i, draw) in draws.iter().enumerate() {
            let number = if private { (i + 1).to_string() } else { String::new() };
            frame = frame
                .with(format!("probability{number}"), draw.probability[from..to].iter().copied())
                .with(format!("latent{number}"), draw.latent[from..to].iter().copied());
        }
        vec![self.training(), frame]
    }

    /// In one dimension how many rows of each class each input has, otherwise the rows themselves.
    fn training(&self) -> Frame {
        let Classifier { inputs, labels, .. } = self.classifier;
        if inputs.ncols() > 1 {
            return Frame::new("training").with_points(inputs).with("y", labels.iter().copied());
        }
        let mut values: Vec<f64> = inputs.iter().copied().collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let [positive, negative] = [1.0, -1.0].map(|label| self.counts(&values, label));
        Frame::new("counts").with("x1", values).with("positive", positive).with("negative", negative)
    }

    /// How many training rows with a label each input has.
    fn counts(&self, inputs: &[f64], label: f64) -> Vec<f64> {
        let Classifier { inputs: rows, labels, .. } = self.classifier;
        let mut counts = vec![0.0; inputs.len()];
        for (count, input) in counts.iter_mut().zip(inputs) {
            let own = rows.iter().zip(labels.iter()).filter(|(x, y)| *x == input && **y == label);
            *count = own.count() as f64;
        }
        counts
    }
}

/// Mean and sample standard deviation; a single value has no spread.
struct Moments {
    mean: f64,
    sd: f64,
}

impl Moments {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.collect();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        Self { mean, sd: if values.len() < 2 { 0.0 } else { (squares / (count - 1.0)).sqrt() } }
    }
}
