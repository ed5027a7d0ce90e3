//! Binary classification by the Laplace approximation, with or without private Newton steps: settings,
//! guarantee, accuracy and predictions.

use nalgebra::{DMatrix, DVector};
use rand_pcg::Pcg64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::Process;
use crate::noise::cloaking_options;
use crate::prediction::PredictionTask;
use crate::summary::normal_vector;
use crate::{
    Certified, FittedRows, Frame, Job, Measured, Sampled, TargetGuarantee, Task, TaskError, TaskSpec,
};
use dpgp_accounting::{Caveat, CertifiedMechanism, Release};
use dpgp_cloaking::{CloakingOptions, ReleaseRecipe};
use dpgp_gp::{Features, NewtonStep, averaged_probability, latent_variance, newton_path};
use dpgp_linalg::{gram_factor, largest};
use dpgp_mechanisms::{LinearRelease, PrivacySetting, PrivateStep, Sections, cloaking};
use dpgp_number::Count;
use dpgp_spec::setting::rules::{fail, points, to_test};
use dpgp_spec::setting::{Checked, Problem, ThresholdSetting};

/// A training set as features, with its labels; test inputs likewise.
pub(crate) struct Classifier {
    pub features: Features,
    /// The public upper triangular R of `Phi = Q R`.
    root: DMatrix<f64>,
    pub inputs: DMatrix<f64>,
    /// The test inputs: the other rows, then the points asked for.
    pub test: DMatrix<f64>,
    /// Labels -1 and 1 of the training rows.
    pub labels: DVector<f64>,
    /// The classes of the test rows.
    pub truth: Vec<bool>,
    options: CloakingOptions,
}

impl Classifier {
    /// The first `train` rows of the sample train, the others and then the points `at` are test inputs.
    pub fn new(
        job: &Job<'_>,
        train: usize,
        positive: &ThresholdSetting,
        at: &[Vec<f64>],
    ) -> Result<Self, TaskError> {
        let (model, sample) = (job.model()?, job.sample);
        let train = train.min(sample.rows());
        let classes: Vec<bool> =
            sample.targets.iter().map(|y| positive.is.holds(y.partial_cmp(&positive.value.get()))).collect();
        let inputs = sample.inputs.rows(0, train).into_owned();
        let tested = sample.rows() - train;
        let test =
            DMatrix::from_fn(tested + at.len(), sample.inputs.ncols(), |i, j| match i.checked_sub(tested) {
                Some(point) => at[point][j],
                None => sample.inputs[(train + i, j)],
            });
        let kernel = model.kernel.covariance(&inputs);
        let process = Process::new(model, kernel.as_ref(), &inputs, job.placing("classification"));
        let features = process.features(&test)?;
        Ok(Self {
            root: gram_factor("Phi' Phi", &features.training)?.factor().transpose(),
            labels: DVector::from_fn(train, |i, _| if classes[i] { 1.0 } else { -1.0 }),
            truth: classes[train..].to_vec(),
            options: cloaking_options(&job.setting.privacy.mechanism)?,
            features,
            inputs,
            test,
        })
    }

    /// The latent values at the training inputs.
    pub fn latent(&self, weights: &DVector<f64>) -> DVector<f64> {
        &self.features.training * weights
    }

    /// The private Newton step from latent values.
    pub fn step(&self, latent: &DVector<f64>) -> Result<PrivateStep, TaskError> {
        let step = NewtonStep::from(&self.features.training, latent)?;
        let labels = self.labels.as_slice();
        Ok(PrivateStep::new(&step, &self.root, &self.inputs, labels, &self.options)?)
    }

    /// The share of test rows that are of the more frequent class.
    pub fn majority_share(&self) -> f64 {
        let positive = self.truth.iter().filter(|class| **class).count();
        positive.max(self.truth.len() - positive) as f64 / self.truth.len().max(1) as f64
    }

    /// The share of test rows whose class is the sign of the latent mean: where the averaged probability is above 1/2.
    pub fn accuracy(&self, weights: &DVector<f64>) -> f64 {
        let latent = &self.features.test * weights;
        let right = self.truth.iter().zip(latent.iter()).filter(|(class, f)| **class == (**f > 0.0));
        right.count() as f64 / self.truth.len().max(1) as f64
    }
}

/// Most dimensions of inputs that are shown.
const SHOWN: usize = 2;

/// The metrics `accuracy` (share of the test rows, mean over draws), `accuracy-se` (its standard error over draws) and
/// `majority-share` (the accuracy of always predicting the class that most test rows have);
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

/// State shared by all cells of a block.
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
        let target = TargetGuarantee::from_privacy(cell)?;
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
            let accuracy = Moments::from_values(draws.iter().map(|draw| draw.accuracy));
            metrics.push(("accuracy".to_owned(), accuracy.mean));
            metrics.push(("accuracy-se".to_owned(), accuracy.sd / (draws.len() as f64).sqrt()));
            metrics.push(("majority-share".to_owned(), self.classifier.majority_share()));
        }
        for (i, point) in self.task.at.iter().enumerate() {
            let probability = Moments::from_values(draws.iter().map(|draw| draw.probability[rows + i]));
            let latent = Moments::from_values(draws.iter().map(|draw| draw.latent[rows + i]));
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
        target: TargetGuarantee,
        first: &PrivateStep,
    ) -> Result<(Vec<DrawnClasses>, Certified), TaskError> {
        let Self { task, classifier, .. } = self;
        let count = task.iterations.get() as f64;
        let each = TargetGuarantee { epsilon: target.epsilon / count, delta: target.delta / count, ..target };
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
    fn from_values(values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.collect();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        Self { mean, sd: if values.len() < 2 { 0.0 } else { (squares / (count - 1.0)).sqrt() } }
    }
}

/// Binary classification by the Laplace approximation. The first rows are training rows, the others test rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassificationTask {
    /// The number of rows at the beginning of the data that are training rows.
    pub train: Count,
    /// The class of a row: positive if this comparison holds for its target.
    pub positive: ThresholdSetting,
    /// Newton steps with privacy; they share epsilon and delta evenly.
    #[serde(default = "one")]
    pub iterations: Count,
    /// Newton steps without privacy.
    #[serde(default = "twenty")]
    pub newton: Count,
    /// Draws of the privacy noise.
    pub draws: Count,
    /// Inputs whose predictions have their own metrics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<Vec<f64>>,
}

fn one() -> Count {
    Count::literal::<1>()
}

fn twenty() -> Count {
    Count::literal::<20>()
}

impl ClassificationTask {
    /// The metrics at each point.
    pub const AT: [&str; 3] = ["probability", "probability-sd", "latent"];
}

impl TaskSpec for ClassificationTask {
    fn check(&self, setting: &Sections) -> Checked {
        let path = "task.classification";
        check(path, setting)?;
        points(&format!("{path}.at"), &self.at, setting.data.dimensions())
    }

    fn metrics(&self, _: u32) -> Vec<String> {
        let accuracy = ["accuracy", "accuracy-se", "majority-share"].map(str::to_owned).into_iter();
        let at = self.at.iter().flat_map(|point| Self::AT.map(|name| PredictionTask::metric(name, point)));
        accuracy.chain(at).collect()
    }

    fn check_rows(&self, rows: usize) -> Checked {
        // Points of their own can be predicted without a test row.
        let points = usize::from(!self.at.is_empty());
        to_test("task.classification.train", self.train.get(), rows + points)
    }

    fn fitted_rows(&self, rows: usize) -> Option<FittedRows> {
        let train = self.train.get().min(rows);
        Some(FittedRows::of_test(train, rows - train + self.at.len()))
    }
}

/// Change from a flipped label, -1 or 1.
const LABEL_CHANGE: f64 = 2.0;

/// Private steps one after the other, each for the same guarantee, and perhaps several runs of them. A step is seen once
/// for all that follows from it: the noise on it, the certificate of all steps and its evidence.
pub(crate) struct Steps<'a> {
    job: &'a Job<'a>,
    /// The guarantee of one step.
    each: TargetGuarantee,
    stream: Pcg64,
    sensitivities: Vec<f64>,
    gaps: Vec<Option<f64>>,
    /// At each place of the sequence the releases of all runs; empty unless the job is audited.
    places: Vec<Vec<LinearRelease>>,
}

impl<'a> Steps<'a> {
    /// A sequence of so many steps.
    pub fn new(job: &'a Job<'a>, each: TargetGuarantee, steps: usize) -> Self {
        Self {
            job,
            each,
            stream: job.streams.of_block("noise"),
            sensitivities: Vec::new(),
            gaps: Vec::new(),
            places: vec![Vec::new(); steps],
        }
    }

    /// Takes the design of a step into account.
    pub fn see(&mut self, place: usize, step: &PrivateStep) {
        let cloak = step.cloak();
        self.sensitivities.push(cloak.sensitivity);
        self.gaps.push(cloak.gap);
        if self.job.audited {
            self.places[place].push(LinearRelease::from_cloak(cloak));
        }
    }

    /// The weights after a step that was seen, with fresh noise.
    pub fn weights(&mut self, step: &PrivateStep) -> DVector<f64> {
        let rank = step.cloak().noise_factor().ncols();
        step.weights(self.each.scale(), &normal_vector(rank, &mut self.stream))
    }

    /// Guarantee of all steps together.
    pub fn certified(self) -> Result<Certified, TaskError> {
        let Self { job, each, sensitivities, gaps, places, .. } = self;
        let gaps: Option<Vec<f64>> = gaps.into_iter().collect();
        let step =
            each.gaussian(Release::LatentFunction, CertifiedMechanism::Cloaking, largest(sensitivities));
        let certificate = step.repeated(places.len()).with_gap(gaps.map(largest));
        let chosen = (Caveat::PrivateFilter, job.setting.data.chosen_by_target());
        job.certify(certificate.with_caveats(&[chosen]), || {
            vec![Sampled::Linear { places, scale: each.scale(), change: LABEL_CHANGE }]
        })
    }
}

/// Checks the model of a classifier and what it releases, for the task at a path.
pub(super) fn check(path: &str, setting: &Sections) -> Checked {
    setting.model(path)?.classifies()?;
    if cloaking(&setting.privacy)?.release != ReleaseRecipe::Projection {
        let why = "classification releases a projection".to_owned();
        return fail("privacy.mechanism.cloaking.release", Problem::Shape(why));
    }
    Ok(())
}
