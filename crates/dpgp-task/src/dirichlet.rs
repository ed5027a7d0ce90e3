//! Classification by regression on Dirichlet labels: settings, released sums, posteriors and test accuracy.

use nalgebra::DMatrix;
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::measurement::{Metric, names};
use crate::noisy_sums::{NoisySums, Sensitivity, split};
use crate::sample::product_grid;
use crate::{
    Job, Measured, RecordReleases, Sampled, Setting, SumsGuarantee, Task, TaskError, TaskSetting, TaskSpec,
    WeightedLabel, noisy_sums,
};
use dpgp_accounting::{Caveat, PrivacyUnit};
use dpgp_gp::kernel::ExponentiatedQuadratic;
use dpgp_gp::variational::{
    DirichletLabels, Inducing, Located, NoisyStatistics, Prediction, Statistics, SumsUnits, WeightPosterior,
    noise_aware,
};
use dpgp_mechanisms::{
    HeteroscedasticRule, MechanismSetting, PrivacySetting, Sections, SummedTargets, SumsNoise, SumsSetting,
    class_sums_sensitivity,
};
use dpgp_noise::RoundedNoise;
use dpgp_number::{Count, Positive};
use dpgp_spec::setting::rules::{fail, to_test};
use dpgp_spec::setting::{Checked, DataSetting, NoiseAwareSetting, Problem, RangeSetting};
use dpgp_stream::{ClassSummand, ClassSums, PackedKernel, class_of};

/// The model of a Dirichlet task.
#[derive(Debug, Clone)]
pub struct ClassModel {
    task: DirichletTask,
    labels: DirichletLabels,
    kernel: ExponentiatedQuadratic,
    variance: f64,
    lengthscale: f64,
    mechanism: SumsSetting,
    unit: PrivacyUnit,
}

impl ClassModel {
    /// The model of a cell; none if it has another task or mechanism, or another kernel than the exponentiated quadratic.
    pub fn from_setting(setting: &Setting) -> Option<Self> {
        let TaskSetting::Dirichlet(task) = &*setting.task else { return None };
        Self::of_task(task, setting)
    }

    pub(super) fn of_task(task: &DirichletTask, setting: &Sections) -> Option<Self> {
        let mechanism = setting.privacy.mechanism.downcast::<SumsSetting>()?;
        let (variance, lengthscale) = setting.model.as_deref()?.exponentiated_quadratic()?;
        Some(Self {
            task: task.clone(),
            labels: DirichletLabels::new(task.alpha.get()),
            kernel: ExponentiatedQuadratic::isotropic(variance, lengthscale),
            variance,
            lengthscale,
            mechanism: mechanism.clone(),
            unit: setting.data.unit(),
        })
    }

    /// Settings of the classes.
    pub fn task(&self) -> &DirichletTask {
        &self.task
    }

    /// The inducing inputs (m x d).
    pub fn points(&self) -> DMatrix<f64> {
        product_grid(&self.task.inducing)
    }

    /// The Gaussian targets of labels.
    pub fn labels(&self) -> &DirichletLabels {
        &self.labels
    }

    /// With `K_ZZ` factorised.
    ///
    /// # Errors
    /// [`TaskError::Linalg`] if it cannot be.
    pub fn inducing(&self) -> Result<Inducing<'_>, TaskError> {
        Ok(Inducing::new(&self.kernel, &self.points())?)
    }

    /// Summand of the rows of a file: the inputs, the class and the columns of the filters. None if the
    /// release is of weighted sums, which are not sums over the rows of each class.
    pub fn summand(&self, data: &DataSetting) -> Option<ClassSummand> {
        if self.task.release != DirichletRelease::ClassSums {
            return None;
        }
        let inputs = data.dimensions();
        let lengthscales = vec![self.lengthscale; inputs];
        Some(ClassSummand {
            kernel: PackedKernel::new(
                self.variance,
                &lengthscales,
                &self.points(),
                self.noisy_sums().least / self.variance,
            ),
            classes: self.task.classes.get(),
            filters: data.comparisons(),
            inputs,
        })
    }

    /// The sums of all classes with exactly rounded noise for the guarantee of a cell.
    ///
    /// # Errors
    /// [`TaskError::OutOfRange`] for noise beyond the arithmetic.
    pub fn release(
        &self,
        sums: &ClassSums,
        units: SumsUnits,
        cell: &PrivacySetting,
        source: &mut impl Rng,
    ) -> Result<Vec<NoisyStatistics>, TaskError> {
        let noise = self.guarantee(cell).noise;
        let noisy = sums.0.iter().map(|sums| noise.release_whole(sums.whole(units), source));
        Ok(noisy.collect::<Result<_, _>>()?)
    }

    /// A simulation of a release, with floating-point noise of a seeded stream.
    pub(super) fn simulated(
        &self,
        sums: &[Statistics],
        cell: &PrivacySetting,
        stream: &mut impl Rng,
    ) -> (Vec<NoisyStatistics>, SumsGuarantee) {
        let guarantee = self.guarantee(cell);
        (sums.iter().map(|sums| guarantee.noise.release(sums, stream)).collect(), guarantee)
    }

    /// The noise for the guarantee of a cell, and what is guaranteed.
    pub fn guarantee(&self, cell: &PrivacySetting) -> SumsGuarantee {
        let sums = self.noisy_sums();
        let sensitivity = self.sensitivity(&sums).times(self.unit.records());
        let noise = sums.noise(cell, sensitivity);
        let printed = self.task.release == DirichletRelease::WeightedSums(HeteroscedasticRule::Published);
        let caveats = [(Caveat::InvalidSensitivity, printed)];
        let certificate = sums.certificate(cell, sensitivity).about(self.unit.clone()).with_caveats(&caveats);
        let record = RoundedNoise { sensitivity: sensitivity.least, sd: noise.sd_a };
        SumsGuarantee { noise, certificate, record }
    }

    fn noisy_sums(&self) -> NoisySums<'_> {
        NoisySums::new(&self.mechanism, &self.task.inducing, self.variance, self.lengthscale)
    }

    /// The posterior of the latent function of each class, from what was released.
    ///
    /// # Errors
    /// [`TaskError::Linalg`] if a matrix of the sums cannot be inverted.
    pub fn posteriors(
        &self,
        inducing: &Inducing<'_>,
        noisy: &[NoisyStatistics],
    ) -> Result<Vec<WeightPosterior>, TaskError> {
        let rule = self.task.posterior;
        let posteriors = (0..self.task.classes.get()).map(|class| {
            let unit = match self.task.release {
                DirichletRelease::ClassSums => self.labels.class(noisy, class),
                DirichletRelease::WeightedSums(_) => noisy[class].clone(),
            };
            Ok(noise_aware(inducing, &unit, rule.regularisation, rule.correction)?)
        });
        posteriors.collect()
    }

    /// A pair of sums for each class, and how records of each class enter it.
    pub(super) fn sampled(&self, noise: SumsNoise) -> Sampled {
        let (sums, classes) = (self.noisy_sums(), self.task.classes.get());
        let pairs = (0..classes).map(|class| {
            let labels = (0..classes).map(|of| self.label(class == of));
            sums.sampled(noise, labels.collect())
        });
        let releases = sums.together(pairs.collect());
        Sampled::Records(RecordReleases { records: self.unit.records(), ..releases })
    }

    /// How a record enters the sums of a class: its own or another.
    fn label(&self, own: bool) -> WeightedLabel {
        let place = usize::from(own);
        match self.task.release {
            DirichletRelease::ClassSums => WeightedLabel { a: place as f64, b: place as f64 },
            DirichletRelease::WeightedSums(_) => {
                let weight = 1.0 / self.labels.variance[place];
                WeightedLabel { a: weight * self.labels.target[place], b: weight }
            }
        }
    }

    /// Sensitivity to one record. It takes part in the weighted sums of all classes.
    fn sensitivity(&self, sums: &NoisySums<'_>) -> Sensitivity {
        let DirichletLabels { target, variance } = &self.labels;
        match self.task.release {
            DirichletRelease::ClassSums => Sensitivity {
                assumed: class_sums_sensitivity(sums.features, sums.setting.split.get()),
                least: class_sums_sensitivity(sums.least, sums.setting.split.get()),
            },
            DirichletRelease::WeightedSums(rule) => {
                let of_one = sums.sensitivity(target[0].abs().max(target[1].abs()));
                let (least, greatest) = (variance[1].min(variance[0]), variance[0].max(variance[1]));
                let all = (self.task.classes.get() as f64).sqrt();
                Sensitivity {
                    assumed: all * of_one.assumed * rule.factor(least, greatest),
                    least: all * of_one.least * HeteroscedasticRule::Corrected.factor(least, greatest),
                }
            }
        }
    }
}

/// Classification by regression on Dirichlet labels. Targets are the classes 0, 1, 2, ...
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DirichletTask {
    /// The number of rows at the beginning of the data that are training rows; the others are test rows.
    pub train: Count,
    /// The number of classes.
    pub classes: Count<1000, 2>,
    /// The public inducing inputs, a product grid with a range for each input.
    pub inducing: Vec<RangeSetting>,
    /// The regularisation of the labels.
    pub alpha: Positive,
    /// How posteriors follow from the sums.
    pub posterior: NoiseAwareSetting,
    /// Which sums are released.
    pub release: DirichletRelease,
    /// Whether to allow rules that, as printed in the paper, break privacy.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub published: bool,
}

/// Which sums a classification releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum DirichletRelease {
    /// The sums over the rows of each class, from which the posterior of every class follows.
    ClassSums,
    /// The sums of each class over all rows, weighted by its heteroscedastic noise.
    WeightedSums(HeteroscedasticRule),
}

impl TaskSpec for DirichletTask {
    fn check(&self, setting: &Sections) -> Checked {
        let path = "task.dirichlet";
        noisy_sums::model(path, setting)?;
        noisy_sums::inducing(path, &self.inducing, setting)?;
        let printed = self.release == DirichletRelease::WeightedSums(HeteroscedasticRule::Published);
        if printed && !self.published {
            let why = "the factor printed in the paper breaks privacy; to use it anyway, set `published = true` in this section";
            return fail(&format!("{path}.release"), Problem::Shape(why.to_owned()));
        }
        self.posterior.check(&format!("{path}.posterior"))?;
        noisy_sums::mechanism(setting, SummedTargets::Labels)?.holds(&self.inducing)
    }

    fn protects_persons(&self, mechanism: &MechanismSetting) -> bool {
        mechanism.downcast::<SumsSetting>().is_some()
    }

    fn metrics(&self, _: u32) -> Vec<String> {
        names(&METRICS)
    }

    fn check_rows(&self, rows: usize) -> Checked {
        to_test("task.dirichlet.train", self.train.get(), rows)
    }
}

/// Draws of the latent functions that class probabilities average over.
const DRAWS: usize = 64;

/// Values computed for predicted classes.
pub(super) struct ClassScores {
    accuracy: f64,
    log_loss: f64,
}

/// The metrics of predicted classes.
pub(super) const METRICS: [Metric<ClassScores>; 2] =
    [Metric::new("accuracy", |scores| scores.accuracy), Metric::new("log-loss", |scores| scores.log_loss)];

/// The metrics `accuracy` (share of the test rows whose class has the greatest mean) and `log-loss` (mean
/// negative logarithm of the probability of the true class: the softmax of the latent functions, averaged over
/// 64 draws of them at each row).
impl Task for DirichletTask {
    fn measure(&self, job: &Job<'_>) -> Result<Vec<Measured>, TaskError> {
        let model = ClassModel::of_task(self, job.setting);
        let model = model.ok_or(TaskError::Missing { needed: "a class model" })?;
        let inducing = model.inducing()?;
        let classes = job.sample.targets.iter().map(|y| class(self, *y));
        let classes: Vec<usize> = classes.collect::<Result<_, TaskError>>()?;
        let (training, test) = split(&job.sample.inputs, self.train.get());
        let (labels, truth) = classes.split_at(self.train.get());
        let block = DirichletBlock {
            job,
            statistics: statistics(self, &model, &inducing, &training, labels),
            located: inducing.locate(&test),
            inducing: &inducing,
            model: &model,
            truth,
        };
        job.cells.iter().map(|cell| block.cell(cell)).collect()
    }
}

/// The class that a target names.
fn class(task: &DirichletTask, target: f64) -> Result<usize, TaskError> {
    class_of(target, task.classes.get())
        .ok_or(TaskError::UnknownClass { target, last: task.classes.get() - 1 })
}

/// The sums that are released: over the rows of each class, or weighted over all rows for each class.
fn statistics(
    task: &DirichletTask,
    model: &ClassModel,
    inducing: &Inducing<'_>,
    inputs: &DMatrix<f64>,
    classes: &[usize],
) -> Vec<Statistics> {
    let labels = model.labels();
    let of_class = (0..task.classes.get()).map(|class| match task.release {
        DirichletRelease::ClassSums => {
            let rows: Vec<usize> = (0..classes.len()).filter(|&i| classes[i] == class).collect();
            Statistics::collect(inducing, &inputs.select_rows(&rows), |_| (1.0, 1.0))
        }
        DirichletRelease::WeightedSums(_) => Statistics::collect(inducing, inputs, |i| {
            let own = usize::from(classes[i] == class);
            (labels.target[own], 1.0 / labels.variance[own])
        }),
    });
    of_class.collect()
}

/// State shared by all cells of a block.
struct DirichletBlock<'a> {
    job: &'a Job<'a>,
    model: &'a ClassModel,
    inducing: &'a Inducing<'a>,
    statistics: Vec<Statistics>,
    located: Located,
    truth: &'a [usize],
}

impl DirichletBlock<'_> {
    fn cell(&self, cell: &PrivacySetting) -> Result<Measured, TaskError> {
        let streams = self.job.streams;
        let (noisy, guarantee) = self.model.simulated(&self.statistics, cell, &mut streams.of_block("noise"));
        let posteriors = self.model.posteriors(self.inducing, &noisy)?;
        let jitter = posteriors.iter().fold(self.inducing.jitter(), |most, of| of.jitter.max(most));
        let predictions: Vec<Prediction> = posteriors.iter().map(|of| of.predict(&self.located)).collect();
        let log_loss = self.log_loss(&predictions, &mut streams.of_block("draws"));
        let scores = ClassScores { accuracy: self.accuracy(&predictions), log_loss };
        let noise = guarantee.noise;
        let certified = self.job.certify(guarantee.certificate, || vec![self.model.sampled(noise)])?;
        Ok(certified.scored(jitter, &METRICS, &scores))
    }

    fn accuracy(&self, predictions: &[Prediction]) -> f64 {
        let right = self.truth.iter().enumerate().filter(|(i, class)| greatest(predictions, *i) == **class);
        right.count() as f64 / self.truth.len() as f64
    }

    fn log_loss(&self, predictions: &[Prediction], stream: &mut impl Rng) -> f64 {
        let losses = self.truth.iter().enumerate().map(|(i, &class)| {
            let draws = (0..DRAWS).map(|_| softmax(&drawn_latent(predictions, i, stream))[class]);
            let probability = draws.sum::<f64>() / DRAWS as f64;
            -probability.max(f64::MIN_POSITIVE).ln()
        });
        losses.sum::<f64>() / self.truth.len() as f64
    }
}

/// The class with the greatest mean at a row; the first of several.
fn greatest(predictions: &[Prediction], row: usize) -> usize {
    (0..predictions.len()).fold(0, |best, class| {
        if predictions[class].mean[row] > predictions[best].mean[row] { class } else { best }
    })
}

/// The latent function of each class at a row, drawn.
fn drawn_latent(predictions: &[Prediction], row: usize, stream: &mut impl Rng) -> Vec<f64> {
    let latent = predictions.iter().map(|prediction| {
        let z: f64 = StandardNormal.sample(stream);
        prediction.mean[row] + prediction.variance[row].sqrt() * z
    });
    latent.collect()
}

/// `e^f_j / sum_l e^f_l`.
fn softmax(latent: &[f64]) -> Vec<f64> {
    let most = latent.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = latent.iter().map(|f| (f - most).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|w| w / total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sample;
    use crate::{Experiment, TaskSetting};
    use dpgp_data::Manifest;
    use dpgp_data::rows::InMemory;
    use dpgp_stream::collect_here;

    const SPEC: &str = r#"
experiment.title = "three classes"
data = { source.csv.path = "rows.csv", inputs = ["x", "y"], target = "class" }
model.kernel.eq = { variance = 1.7, lengthscale = 0.6 }
[task.dirichlet]
train = 40000
classes = 3
inducing = [{ from = -1.0, to = 1.0, points = 5 }, { from = -1.0, to = 1.0, points = 4 }]
alpha = 0.01
posterior = { regularisation = "tight", correction = "first-order" }
release = "class-sums"
[privacy]
epsilon = 1.0
delta = 1e-5
mechanism.sums = { features = "trivial", sensitivity = "exact" }
"#;

    /// The sums of the stream are those of the task.
    #[test]
    fn rows_in_memory_and_streamed_have_the_same_sums() {
        let manifest = Manifest::shipped().unwrap();
        let spec = Experiment::parse("s", "s.toml".as_ref(), SPEC.to_owned(), &manifest).unwrap();
        let setting = spec.cells[0].setting();
        let TaskSetting::Dirichlet(task) = &*setting.task else { panic!("another task") };
        let model = ClassModel::from_setting(setting).unwrap();
        let column = |step: f64| (0..task.train.get()).map(|i| (i as f64 * step).sin()).collect::<Vec<f64>>();
        let (inputs, targets) =
            ([column(0.37), column(0.011)], (0..task.train.get()).map(|i| (i * i % 7 % 3) as f64));
        let sample = Sample::new(&inputs, targets.collect());
        let classes: Vec<usize> = sample.targets.iter().map(|y| class(task, *y).unwrap()).collect();
        let before = statistics(task, &model, &model.inducing().unwrap(), &sample.inputs, &classes);
        let summand = model.summand(&setting.data).unwrap();
        let mut rows = InMemory::new(vec![&inputs[0], &inputs[1], &sample.targets]);
        let total = collect_here(&mut rows, &summand).unwrap().sums;
        let streamed = total.0.iter().map(|sums| sums.statistics(summand.units()));
        for (before, streamed) in before.iter().zip(streamed) {
            assert_eq!(before.rows, streamed.rows);
            assert!((&before.a - &streamed.a).amax() < 1e-8 * before.a.amax());
            assert!((&before.b - &streamed.b).amax() < 1e-8 * before.b.amax());
        }
    }
}
