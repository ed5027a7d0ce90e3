//! Binary classification by the Laplace approximation, with or without private Newton steps: settings,
//! guarantee, accuracy and predictions.

use nalgebra::{DMatrix, DVector};
use rand_pcg::Pcg64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::GpOnTrainingInputs;
use crate::noise::cloaking_options;
use crate::prediction::PredictionTask;
use crate::summary::standard_normal_vector;
use crate::{
    AuditableCertificate, AuditedMechanism, CellMeasurements, FigureTable, FitSize, MeasurableTask, ReplicateJob,
    TargetChangeGuarantee, TaskError, TaskRequirements,
};
use dpgp_accounting::{CertifiedMechanism, GuaranteeCaveat, ReleaseKind};
use dpgp_cloaking::{CloakingOptions, DroppedDirectionRule};
use dpgp_gp::{KernelFeatures, NewtonStep, averaged_probability, latent_variance_at_tests, newton_path};
use dpgp_linalg::{cholesky_of_gram_matrix, largest_or_nan};
use dpgp_mechanisms::{
    CellSections, LinearReleaseMatrices, PrivacySetting, PrivateNewtonStep, require_cloaking_setting,
};
use dpgp_number::Count;
use dpgp_spec::setting::rules::{check_leaves_test_rows, check_point_dimensions, fail};
use dpgp_spec::setting::{CheckResult, SpecProblem, ThresholdSetting};

/// A training set as features, with its labels; test inputs likewise.
pub(crate) struct ClassificationProblem {
    pub features: KernelFeatures,
    /// The public upper triangular R of `Phi = Q R`.
    root: DMatrix<f64>,
    pub inputs: DMatrix<f64>,
    /// The test inputs: the other rows, then the requested points.
    pub test: DMatrix<f64>,
    /// Labels -1 and 1 of the training rows.
    pub labels: DVector<f64>,
    /// The classes of the test rows.
    pub truth: Vec<bool>,
    options: CloakingOptions,
}

impl ClassificationProblem {
    /// The first `train` rows of the sample are training rows. The others, followed by the points `at`, are the test inputs.
    pub fn new(
        job: &ReplicateJob<'_>,
        train: usize,
        positive: &ThresholdSetting,
        at: &[Vec<f64>],
    ) -> Result<Self, TaskError> {
        let (model, sample) = (job.model()?, job.sample);
        let train = train.min(sample.row_count());
        let classes: Vec<bool> =
            sample.targets.iter().map(|y| positive.is.holds(y.partial_cmp(&positive.value.get()))).collect();
        let inputs = sample.inputs.rows(0, train).into_owned();
        let tested = sample.row_count() - train;
        let test = DMatrix::from_fn(tested + at.len(), sample.inputs.ncols(), |i, j| match i.checked_sub(tested) {
            Some(point) => at[point][j],
            None => sample.inputs[(train + i, j)],
        });
        let kernel = model.kernel.build_kernel(&inputs);
        let process =
            GpOnTrainingInputs::new(model, kernel.as_ref(), &inputs, job.inducing_placement("classification"));
        let features = process.features(&test)?;
        Ok(Self {
            root: cholesky_of_gram_matrix("Phi' Phi", &features.training)?.factor().transpose(),
            labels: DVector::from_fn(train, |i, _| if classes[i] { 1.0 } else { -1.0 }),
            truth: classes[train..].to_vec(),
            options: cloaking_options(&job.setting.privacy.mechanism)?,
            features,
            inputs,
            test,
        })
    }

    /// The latent values at the training inputs.
    pub fn training_latent_values(&self, weights: &DVector<f64>) -> DVector<f64> {
        &self.features.training * weights
    }

    /// The private Newton step from latent values.
    pub fn private_newton_step(&self, latent: &DVector<f64>) -> Result<PrivateNewtonStep, TaskError> {
        let step = NewtonStep::from_latent_values(&self.features.training, latent)?;
        let labels = self.labels.as_slice();
        Ok(PrivateNewtonStep::new(&step, &self.root, &self.inputs, labels, &self.options)?)
    }

    /// The share of test rows that belong to the more frequent class.
    pub fn majority_share(&self) -> f64 {
        let positive = self.truth.iter().filter(|class| **class).count();
        positive.max(self.truth.len() - positive) as f64 / self.truth.len().max(1) as f64
    }

    /// The share of test rows whose class matches the sign of the latent mean (positive if the averaged probability is above 1/2).
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
impl MeasurableTask for ClassificationTask {
    fn measure_cells(&self, job: &ReplicateJob<'_>) -> Result<Vec<CellMeasurements>, TaskError> {
        let classifier = ClassificationProblem::new(job, self.train.get(), &self.positive, &self.at)?;
        let zero = DVector::zeros(classifier.labels.len());
        let first = if job.any_cell_has_noise() { Some(classifier.private_newton_step(&zero)?) } else { None };
        let shown = job.sample.inputs.ncols() <= SHOWN;
        let block = ClassificationReplicateState { task: self, job, classifier: &classifier, first, shown };
        job.measure_each_cell(|cell| block.measure_cell(cell))
    }
}

struct ClassificationReplicateState<'a> {
    task: &'a ClassificationTask,
    job: &'a ReplicateJob<'a>,
    classifier: &'a ClassificationProblem,
    /// The first private step, which all draws share.
    first: Option<PrivateNewtonStep>,
    shown: bool,
}

/// Predictions of one draw at all test inputs.
struct ClassPredictionDraw {
    accuracy: f64,
    latent: Vec<f64>,
    probability: Vec<f64>,
}

impl ClassificationReplicateState<'_> {
    fn measure_cell(&self, cell: &PrivacySetting) -> Result<CellMeasurements, TaskError> {
        let Self { task, classifier, .. } = self;
        let target = TargetChangeGuarantee::for_one_row(cell)?;
        let (draws, certified) = match &self.first {
            Some(first) if target.is_private() => self.draw_private_predictions(target, first)?,
            _ => {
                let path = newton_path(&classifier.features.training, &classifier.labels, task.newton.get())?;
                let weights = path.last().cloned().unwrap_or_default();
                (vec![self.predict(&weights)?], AuditableCertificate::without_claim())
            }
        };
        let measured = certified.into_measurements(classifier.features.jitter, self.summarise_draws(&draws));
        let frames = if self.shown { self.figure_frames(&draws, target.is_private()) } else { Vec::new() };
        Ok(measured.with_frames(frames))
    }

    fn summarise_draws(&self, draws: &[ClassPredictionDraw]) -> Vec<(String, f64)> {
        let rows = self.classifier.truth.len();
        let mut metrics = Vec::new();
        if rows > 0 {
            let accuracy = MeanAndSd::from_values(draws.iter().map(|draw| draw.accuracy));
            metrics.push(("accuracy".to_owned(), accuracy.mean));
            metrics.push(("accuracy-se".to_owned(), accuracy.sd / (draws.len() as f64).sqrt()));
            metrics.push(("majority-share".to_owned(), self.classifier.majority_share()));
        }
        for (i, point) in self.task.at.iter().enumerate() {
            let probability = MeanAndSd::from_values(draws.iter().map(|draw| draw.probability[rows + i]));
            let latent = MeanAndSd::from_values(draws.iter().map(|draw| draw.latent[rows + i]));
            let values = [probability.mean, probability.sd, latent.mean];
            let names = ClassificationTask::AT.map(|name| PredictionTask::point_metric_name(name, point));
            metrics.extend(names.into_iter().zip(values));
        }
        metrics
    }

    /// All draws with privacy. Each step has its share of epsilon and delta; all but the first follow the noise of those
    /// before, so that their noise is designed anew.
    fn draw_private_predictions(
        &self,
        target: TargetChangeGuarantee,
        first: &PrivateNewtonStep,
    ) -> Result<(Vec<ClassPredictionDraw>, AuditableCertificate), TaskError> {
        let Self { task, classifier, .. } = self;
        let count = task.iterations.get() as f64;
        let each = TargetChangeGuarantee { epsilon: target.epsilon / count, delta: target.delta / count, ..target };
        let mut steps = PrivateStepSequence::new(self.job, each, task.iterations.get());
        steps.record_step(0, first);
        let mut draws = Vec::with_capacity(task.draws.get());
        for _ in 0..task.draws.get() {
            let mut weights = steps.draw_noisy_weights(first);
            for place in 1..task.iterations.get() {
                let step = classifier.private_newton_step(&classifier.training_latent_values(&weights))?;
                steps.record_step(place, &step);
                weights = steps.draw_noisy_weights(&step);
            }
            draws.push(self.predict(&weights)?);
        }
        Ok((draws, steps.certify_sequence()?))
    }

    fn predict(&self, weights: &DVector<f64>) -> Result<ClassPredictionDraw, TaskError> {
        let accuracy = self.classifier.accuracy(weights);
        if !self.shown && self.task.at.is_empty() {
            return Ok(ClassPredictionDraw { accuracy, latent: Vec::new(), probability: Vec::new() });
        }
        let features = &self.classifier.features;
        let variance = latent_variance_at_tests(features, &self.classifier.training_latent_values(weights))?;
        let latent: Vec<f64> = (&features.test * weights).iter().copied().collect();
        let probability = latent.iter().zip(&variance).map(|(f, v)| averaged_probability(*f, *v)).collect();
        Ok(ClassPredictionDraw { accuracy, latent, probability })
    }

    /// The training data, and the predictions at the points of the task, or else at the test rows.
    fn figure_frames(&self, draws: &[ClassPredictionDraw], private: bool) -> Vec<FigureTable> {
        let rows = self.classifier.truth.len();
        let from = if self.task.at.is_empty() { 0 } else { rows };
        let to = draws.first().map_or(0, |draw| draw.latent.len());
        let points = self.classifier.test.rows(from, to - from).into_owned();
        let mut frame = FigureTable::new(if private { "samples" } else { "classes" }).with_points(&points);
        for (i, draw) in draws.iter().enumerate() {
            let number = if private { (i + 1).to_string() } else { String::new() };
            frame = frame
                .with_column(format!("probability{number}"), draw.probability[from..to].iter().copied())
                .with_column(format!("latent{number}"), draw.latent[from..to].iter().copied());
        }
        vec![self.training_frame(), frame]
    }

    /// In one dimension how many rows of each class each input has, otherwise the rows themselves.
    fn training_frame(&self) -> FigureTable {
        let ClassificationProblem { inputs, labels, .. } = self.classifier;
        if inputs.ncols() > 1 {
            return FigureTable::new("training").with_points(inputs).with_column("y", labels.iter().copied());
        }
        let mut values: Vec<f64> = inputs.iter().copied().collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let [positive, negative] = [1.0, -1.0].map(|label| self.count_labelled_rows(&values, label));
        FigureTable::new("counts")
            .with_column("x1", values)
            .with_column("positive", positive)
            .with_column("negative", negative)
    }

    /// How many training rows with a label each input has.
    fn count_labelled_rows(&self, inputs: &[f64], label: f64) -> Vec<f64> {
        let ClassificationProblem { inputs: rows, labels, .. } = self.classifier;
        let mut counts = vec![0.0; inputs.len()];
        for (count, input) in counts.iter_mut().zip(inputs) {
            let own = rows.iter().zip(labels.iter()).filter(|(x, y)| *x == input && **y == label);
            *count = own.count() as f64;
        }
        counts
    }
}

/// Mean and sample standard deviation; a single value has no spread.
struct MeanAndSd {
    mean: f64,
    sd: f64,
}

impl MeanAndSd {
    fn from_values(values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.collect();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        Self { mean, sd: if values.len() < 2 { 0.0 } else { (squares / (count - 1.0)).sqrt() } }
    }
}

/// Binary classification by the Laplace approximation. The first rows are training rows, the others are test rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassificationTask {
    /// The number of training rows, taken from the beginning of the data.
    pub train: Count,
    /// A row belongs to the positive class if this comparison holds for its target.
    pub positive: ThresholdSetting,
    /// The number of Newton steps with privacy, which share epsilon and delta evenly.
    #[serde(default = "default_iterations")]
    pub iterations: Count,
    /// The number of Newton steps without privacy.
    #[serde(default = "default_newton_steps")]
    pub newton: Count,
    /// The number of draws of the privacy noise.
    pub draws: Count,
    /// Inputs whose predictions have their own metrics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<Vec<f64>>,
}

fn default_iterations() -> Count {
    Count::literal::<1>()
}

fn default_newton_steps() -> Count {
    Count::literal::<20>()
}

impl ClassificationTask {
    /// The metrics at each point.
    pub const AT: [&str; 3] = ["probability", "probability-sd", "latent"];
}

impl TaskRequirements for ClassificationTask {
    fn check(&self, setting: &CellSections) -> CheckResult {
        let path = "task.classification";
        check_classifier(path, setting)?;
        check_point_dimensions(&format!("{path}.at"), &self.at, setting.data.dimensions())
    }

    fn metric_names(&self, _: u32) -> Vec<String> {
        let accuracy = ["accuracy", "accuracy-se", "majority-share"].map(str::to_owned).into_iter();
        let at = self.at.iter().flat_map(|point| Self::AT.map(|name| PredictionTask::point_metric_name(name, point)));
        accuracy.chain(at).collect()
    }

    fn check_row_count(&self, rows: usize) -> CheckResult {
        // Points of their own can be predicted without a test row.
        let points = usize::from(!self.at.is_empty());
        check_leaves_test_rows("task.classification.train", self.train.get(), rows + points)
    }

    fn fit_size(&self, rows: usize) -> Option<FitSize> {
        let train = self.train.get().min(rows);
        Some(FitSize::from_test_size(train, rows - train + self.at.len()))
    }
}

/// Change from a flipped label, -1 or 1.
const LABEL_CHANGE: f64 = 2.0;

/// Private steps one after the other, each for the same guarantee, and perhaps several runs of them. A step is seen once
/// for all that follows from it: the noise on it, the certificate of all steps and the mechanism for its audit.
pub(crate) struct PrivateStepSequence<'a> {
    job: &'a ReplicateJob<'a>,
    /// The guarantee of one step.
    each: TargetChangeGuarantee,
    stream: Pcg64,
    sensitivities: Vec<f64>,
    gaps: Vec<Option<f64>>,
    /// At each place of the sequence the releases of all runs; empty unless the job is audited.
    places: Vec<Vec<LinearReleaseMatrices>>,
}

impl<'a> PrivateStepSequence<'a> {
    /// A sequence of this many steps.
    pub fn new(job: &'a ReplicateJob<'a>, each: TargetChangeGuarantee, steps: usize) -> Self {
        Self {
            job,
            each,
            stream: job.streams.block_stream("noise"),
            sensitivities: Vec::new(),
            gaps: Vec::new(),
            places: vec![Vec::new(); steps],
        }
    }

    /// Records the sensitivity and the optimality gap of a step's noise design, and its release if the job is audited.
    pub fn record_step(&mut self, place: usize, step: &PrivateNewtonStep) {
        let cloak = step.cloak();
        self.sensitivities.push(cloak.sensitivity);
        self.gaps.push(cloak.gap);
        if self.job.audited {
            self.places[place].push(LinearReleaseMatrices::from_cloak(cloak));
        }
    }

    /// The weights after a recorded step, with fresh noise.
    pub fn draw_noisy_weights(&mut self, step: &PrivateNewtonStep) -> DVector<f64> {
        let rank = step.cloak().noise_factor().ncols();
        step.noisy_weights(self.each.noise_scale_in_target_units(), &standard_normal_vector(rank, &mut self.stream))
    }

    /// Guarantee of all steps together.
    pub fn certify_sequence(self) -> Result<AuditableCertificate, TaskError> {
        let Self { job, each, sensitivities, gaps, places, .. } = self;
        let gaps: Option<Vec<f64>> = gaps.into_iter().collect();
        let step = each.calibrated_gaussian_release(
            ReleaseKind::LatentFunction,
            CertifiedMechanism::Cloaking,
            largest_or_nan(sensitivities),
        );
        let certificate = step.certificate_for_steps(places.len()).with_optimality_gap(gaps.map(largest_or_nan));
        let chosen = (GuaranteeCaveat::PrivateFilter, job.setting.data.selects_by_target());
        job.auditable_certificate(certificate.with_caveats(&[chosen]), || {
            vec![AuditedMechanism::Linear { places, scale: each.noise_scale_in_target_units(), change: LABEL_CHANGE }]
        })
    }
}

/// Checks the model of a classifier and what it releases, for the task at a path.
pub(super) fn check_classifier(path: &str, setting: &CellSections) -> CheckResult {
    setting.model(path)?.check_classifier()?;
    if require_cloaking_setting(&setting.privacy)?.release != DroppedDirectionRule::Projection {
        let why = "must be \"projection\" for classification".to_owned();
        return fail("privacy.mechanism.cloaking.release", SpecProblem::Shape(why));
    }
    Ok(())
}
