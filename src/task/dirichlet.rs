//! Test accuracy of classification by regression on Dirichlet labels.

use nalgebra::DMatrix;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

use super::grid::grid;
use super::measure::Measured;
use super::noisy_sums::{NoisySums, split};
use super::witness::{RecordReleases, Sampled, WeightedLabel, record};
use super::{Measurement, Sample, Streams, TaskError};
use crate::gp::variational::{
    DirichletLabels, Inducing, Located, NoisyStatistics, Prediction, Statistics, noise_aware,
};
use crate::kernel::ExponentiatedQuadratic;
use crate::privacy::{Caveat, Certificate, HeteroscedasticRule, SumsNoise, class_sums_sensitivity};
use crate::spec::{DirichletRelease, DirichletTask, ModelSetting, PrivacySetting};

/// Draws of the latent functions that class probabilities average over.
const DRAWS: usize = 64;

/// The metrics `accuracy` (share of the test rows whose class has the greatest mean) and `log-loss` (mean
/// negative logarithm of the probability of the true class: the softmax of the latent functions, averaged over
/// 64 draws of them at each row).
pub(super) fn dirichlet(
    task: &DirichletTask,
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
    let inducing = Inducing::new(&kernel, &grid(&task.inducing))?;
    let sums = NoisySums::new(&first.mechanism, &task.inducing, (variance, lengthscale))?;
    let classes: Result<Vec<usize>, TaskError> = sample.targets.iter().map(|y| class(task, *y)).collect();
    let classes = classes?;
    let (training, test) = split(&sample.inputs, task.train);
    let labels = DirichletLabels::new(task.alpha);
    let statistics = statistics(task, &labels, &inducing, &training, &classes[..task.train]);
    let located = inducing.locate(&test);
    let bench =
        Bench { task, labels, inducing: &inducing, sums, statistics, located, truth: &classes[task.train..] };
    cells.iter().map(|cell| bench.cell(cell, streams)).collect()
}

/// The class that a target names.
fn class(task: &DirichletTask, target: f64) -> Result<usize, TaskError> {
    let known = (0..task.classes).find(|class| *class as f64 == target);
    known.ok_or(TaskError::UnknownClass { target, last: task.classes - 1 })
}

/// The sums that are released: over the rows of each class, or weighted over all rows for each class.
fn statistics(
    task: &DirichletTask,
    labels: &DirichletLabels,
    inducing: &Inducing<'_>,
    inputs: &DMatrix<f64>,
    classes: &[usize],
) -> Vec<Statistics> {
    let of_class = |class: usize| match task.release {
        DirichletRelease::ClassSums => {
            let rows: Vec<usize> = (0..classes.len()).filter(|&i| classes[i] == class).collect();
            Statistics::collect(inducing, &inputs.select_rows(&rows), |_| (1.0, 1.0))
        }
        DirichletRelease::WeightedSums(_) => Statistics::collect(inducing, inputs, |i| {
            let own = usize::from(classes[i] == class);
            (labels.target[own], 1.0 / labels.variance[own])
        }),
    };
    (0..task.classes).map(of_class).collect()
}

/// What all cells of a block share.
struct Bench<'a> {
    task: &'a DirichletTask,
    labels: DirichletLabels,
    inducing: &'a Inducing<'a>,
    sums: NoisySums<'a>,
    statistics: Vec<Statistics>,
    located: Located,
    truth: &'a [usize],
}

impl Bench<'_> {
    fn cell(&self, cell: &PrivacySetting, streams: &Streams) -> Result<Measured, TaskError> {
        let (assumed, least) = self.sensitivities();
        let noise = self.sums.noise(cell.calibration, (cell.epsilon, cell.delta), assumed);
        record(cell, || Sampled::Records(self.sampled(noise)));
        let mut stream = streams.of_block("noise");
        let noisy: Vec<NoisyStatistics> =
            self.statistics.iter().map(|sums| noise.release(sums, &mut stream)).collect();
        let (mut predictions, mut jitter) = (Vec::new(), self.inducing.jitter());
        for class in 0..self.task.classes {
            let unit = match self.task.release {
                DirichletRelease::ClassSums => self.labels.class(&noisy, class),
                DirichletRelease::WeightedSums(_) => noisy[class].clone(),
            };
            let rule = self.task.posterior;
            let posterior = noise_aware(self.inducing, &unit, rule.regularisation, rule.correction)?;
            jitter = posterior.jitter.max(jitter);
            predictions.push(posterior.predict(&self.located));
        }
        let certificate = self.certificate(cell, (assumed, least));
        let measurement = |metric: &str, value: f64| Measurement {
            metric: metric.to_owned(),
            values: vec![value],
            certificate: certificate.clone(),
            jitter,
        };
        let log_loss = self.log_loss(&predictions, &mut streams.of_block("draws"));
        let metrics =
            vec![measurement("accuracy", self.accuracy(&predictions)), measurement("log-loss", log_loss)];
        Ok(metrics.into())
    }

    /// A pair of sums for each class, and how records of each class enter it.
    fn sampled(&self, noise: SumsNoise) -> RecordReleases {
        let labels = &self.labels;
        let enters = |class: usize, of: usize| {
            let own = usize::from(class == of);
            match self.task.release {
                DirichletRelease::ClassSums => WeightedLabel { a: own as f64, b: own as f64 },
                DirichletRelease::WeightedSums(_) => {
                    let weight = 1.0 / labels.variance[own];
                    WeightedLabel { a: weight * labels.target[own], b: weight }
                }
            }
        };
        let classes = 0..self.task.classes;
        let of = |class| self.sums.sampled(noise, classes.clone().map(|of| enters(class, of)).collect());
        self.sums.together(classes.clone().map(of).collect())
    }

    /// What noise is scaled by, and what is known to be enough. Every record takes part in the weighted sums of
    /// all classes.
    fn sensitivities(&self) -> (f64, f64) {
        let labels = &self.labels;
        match self.task.release {
            DirichletRelease::ClassSums => {
                let of = |features| class_sums_sensitivity(features, self.sums.setting.split);
                (of(self.sums.features), of(self.sums.least))
            }
            DirichletRelease::WeightedSums(rule) => {
                let bound = labels.target[0].abs().max(labels.target[1].abs());
                let (assumed, least) = self.sums.sensitivities(bound);
                let range =
                    (labels.variance[1].min(labels.variance[0]), labels.variance[0].max(labels.variance[1]));
                let all = (self.task.classes as f64).sqrt();
                (
                    all * assumed * rule.factor(range),
                    all * least * HeteroscedasticRule::Corrected.factor(range),
                )
            }
        }
    }

    fn certificate(&self, cell: &PrivacySetting, sensitivities: (f64, f64)) -> Certificate {
        let printed = self.task.release == DirichletRelease::WeightedSums(HeteroscedasticRule::Published);
        self.sums.certificate(cell, sensitivities).with_caveats(&[(Caveat::InvalidSensitivity, printed)])
    }

    fn accuracy(&self, predictions: &[Prediction]) -> f64 {
        let greatest = |i: usize| {
            (0..predictions.len()).fold(0, |best, class| {
                if predictions[class].mean[i] > predictions[best].mean[i] { class } else { best }
            })
        };
        let right = self.truth.iter().enumerate().filter(|(i, class)| greatest(*i) == **class).count();
        right as f64 / self.truth.len() as f64
    }

    fn log_loss(&self, predictions: &[Prediction], stream: &mut Pcg64) -> f64 {
        let mut draw = |i: usize| -> Vec<f64> {
            let latent = |p: &Prediction| {
                let z: f64 = StandardNormal.sample(stream);
                p.mean[i] + p.variance[i].sqrt() * z
            };
            softmax(&predictions.iter().map(latent).collect::<Vec<_>>())
        };
        let loss = |(i, &class): (usize, &usize)| {
            let probability = (0..DRAWS).map(|_| draw(i)[class]).sum::<f64>() / DRAWS as f64;
            -probability.max(f64::MIN_POSITIVE).ln()
        };
        self.truth.iter().enumerate().map(loss).sum::<f64>() / self.truth.len() as f64
    }
}

/// `e^f_j / sum_l e^f_l`.
fn softmax(latent: &[f64]) -> Vec<f64> {
    let most = latent.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = latent.iter().map(|f| (f - most).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|w| w / total).collect()
}
