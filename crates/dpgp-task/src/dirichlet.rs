//! Classification by regression on Dirichlet labels: settings, released sums, posteriors and test accuracy.

use nalgebra::DMatrix;
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::measurement::{Metric, metric_names};
use crate::noisy_sums::{
    NoisySumsBounds, SumsSensitivity, range_in_lengthscales, split_off_training_inputs, sums_setting_in_lengthscales,
};
use crate::sample::product_grid;
use crate::{
    AuditedJointSumsNoise, AuditedMechanism, CellMeasurements, CellSetting, CertifiedSumsNoise, MeasurableTask,
    RecordSumWeights, ReplicateJob, TaskError, TaskRequirements, TaskSetting, noisy_sums,
};
use dpgp_accounting::{GuaranteeCaveat, PrivacyUnit};
use dpgp_gp::kernel::ExponentiatedQuadratic;
use dpgp_gp::variational::{
    CovariancesWithConditionalVariances, DirichletLabels, GaussianPrediction, InducingInputs, IntegerSumUnits,
    NoisySufficientStatistics, SufficientStatistics, WeightPosterior, noise_aware_posterior,
};
use dpgp_mechanisms::{
    CellSections, HeteroscedasticSensitivityRule, MechanismSetting, PrivacySetting, SummedValueKind, SumsNoise,
    SumsSetting, class_sums_sensitivity,
};
use dpgp_noise::RoundedNoiseParameters;
use dpgp_number::{Count, Positive};
use dpgp_spec::setting::rules::{check_leaves_test_rows, fail};
use dpgp_spec::setting::{CheckResult, DataSetting, NoiseAwareInverseSetting, RangeSetting, SpecProblem};
use dpgp_stream::{ClassSummand, ClassSums, QuantizedKernel, class_of};

/// The model of a Dirichlet task.
#[derive(Debug, Clone)]
pub struct DirichletModel {
    task: DirichletTask,
    labels: DirichletLabels,
    kernel: ExponentiatedQuadratic,
    variance: f64,
    lengthscales: Vec<f64>,
    bounds: IsotropicSumsSetting,
    unit: PrivacyUnit,
}

/// The mechanism and the inducing inputs in units in which the kernel is isotropic: bounds on features need one lengthscale.
#[derive(Debug, Clone)]
struct IsotropicSumsSetting {
    mechanism: SumsSetting,
    inducing: Vec<RangeSetting>,
    lengthscale: f64,
}

impl DirichletModel {
    /// The model of a cell; none if the cell has another task or mechanism, or a kernel other than the exponentiated quadratic
    /// with one or several lengthscales.
    pub fn from_setting(setting: &CellSetting) -> Option<Self> {
        let TaskSetting::Dirichlet(task) = &*setting.task else { return None };
        Self::from_task(task, setting)
    }

    pub(super) fn from_task(task: &DirichletTask, setting: &CellSections) -> Option<Self> {
        let mechanism = setting.privacy.mechanism.downcast::<SumsSetting>()?;
        let model = setting.model.as_deref()?;
        let (variance, lengthscales) = model.variance_and_lengthscales(setting.data.dimensions())?;
        let (kernel, bounds) = match model.eq_kernel_parameters() {
            Some((_, lengthscale)) => {
                let (mechanism, inducing) = (mechanism.clone(), task.inducing.clone());
                (
                    ExponentiatedQuadratic::isotropic(variance, lengthscale),
                    IsotropicSumsSetting { mechanism, inducing, lengthscale },
                )
            }
            None => {
                let mechanism = sums_setting_in_lengthscales(mechanism, &lengthscales);
                let ranges = task.inducing.iter().zip(&lengthscales);
                let inducing = ranges.map(|(range, l)| range_in_lengthscales(range, *l)).collect();
                let kernel = ExponentiatedQuadratic::ard(variance, lengthscales.clone());
                (kernel, IsotropicSumsSetting { mechanism, inducing, lengthscale: 1.0 })
            }
        };
        Some(Self {
            task: task.clone(),
            labels: DirichletLabels::new(task.alpha.get()),
            kernel,
            variance,
            lengthscales,
            bounds,
            unit: setting.data.privacy_unit(),
        })
    }

    /// Settings of the classes.
    pub fn task(&self) -> &DirichletTask {
        &self.task
    }

    /// The inducing inputs (m x d).
    pub fn inducing_inputs(&self) -> DMatrix<f64> {
        product_grid(&self.task.inducing)
    }

    /// The Gaussian targets of labels.
    pub fn labels(&self) -> &DirichletLabels {
        &self.labels
    }

    /// With `K_ZZ` factorised.
    ///
    /// # Errors
    /// [`TaskError::Linalg`] if `K_ZZ` cannot be factorised.
    pub fn factorise_inducing(&self) -> Result<InducingInputs<'_>, TaskError> {
        Ok(InducingInputs::new(&self.kernel, &self.inducing_inputs())?)
    }

    /// The columns of a file that the sums read: the inputs, the class and the columns of the filters. None if the
    /// release contains weighted sums, which are not sums over the rows of each class.
    pub fn summand(&self, data: &DataSetting) -> Option<ClassSummand> {
        if self.task.release != DirichletReleaseSetting::ClassSums {
            return None;
        }
        Some(ClassSummand {
            kernel: QuantizedKernel::new(
                self.variance,
                &self.lengthscales,
                &self.inducing_inputs(),
                self.sums_bounds().least / self.variance,
            ),
            classes: self.task.classes.get(),
            filters: data.row_filter_comparisons(),
            inputs: data.dimensions(),
        })
    }

    /// The sums of all classes with exactly rounded noise for the guarantee of a cell.
    ///
    /// # Errors
    /// [`TaskError::OutOfRange`] for noise that is too large for the arithmetic.
    pub fn release(
        &self,
        sums: &ClassSums,
        units: IntegerSumUnits,
        cell: &PrivacySetting,
        source: &mut impl Rng,
    ) -> Result<Vec<NoisySufficientStatistics>, TaskError> {
        let noise = self.guarantee(cell).noise;
        let noisy = sums.0.iter().map(|sums| noise.release_integers(sums.as_integer_sums(units), source));
        Ok(noisy.collect::<Result<_, _>>()?)
    }

    /// A simulation of a release, with floating-point noise of a seeded stream.
    pub(super) fn simulate_release(
        &self,
        sums: &[SufficientStatistics],
        cell: &PrivacySetting,
        stream: &mut impl Rng,
    ) -> (Vec<NoisySufficientStatistics>, CertifiedSumsNoise) {
        let guarantee = self.guarantee(cell);
        (sums.iter().map(|sums| guarantee.noise.simulate_release(sums, stream)).collect(), guarantee)
    }

    /// The noise for the guarantee of a cell, and what is guaranteed.
    pub fn guarantee(&self, cell: &PrivacySetting) -> CertifiedSumsNoise {
        let sums = self.sums_bounds();
        let sensitivity = self.sensitivity(&sums).times(self.unit.max_records());
        let noise = sums.noise(cell, sensitivity);
        let printed =
            self.task.release == DirichletReleaseSetting::WeightedSums(HeteroscedasticSensitivityRule::Published);
        let caveats = [(GuaranteeCaveat::InvalidSensitivity, printed)];
        let certificate =
            sums.certificate(cell, sensitivity).with_privacy_unit(self.unit.clone()).with_caveats(&caveats);
        let record = RoundedNoiseParameters { sensitivity: sensitivity.least, sd: noise.sd_a };
        CertifiedSumsNoise { noise, certificate, record }
    }

    fn sums_bounds(&self) -> NoisySumsBounds<'_> {
        let IsotropicSumsSetting { mechanism, inducing, lengthscale } = &self.bounds;
        NoisySumsBounds::new(mechanism, inducing, self.variance, *lengthscale)
    }

    /// The posterior of the latent function of each class, from what was released.
    ///
    /// # Errors
    /// [`TaskError::Linalg`] if a matrix of the sums cannot be inverted.
    pub fn posteriors(
        &self,
        inducing: &InducingInputs<'_>,
        noisy: &[NoisySufficientStatistics],
    ) -> Result<Vec<WeightPosterior>, TaskError> {
        let rule = self.task.posterior;
        let posteriors = (0..self.task.classes.get()).map(|class| {
            let unit = match self.task.release {
                DirichletReleaseSetting::ClassSums => self.labels.class_statistics(noisy, class),
                DirichletReleaseSetting::WeightedSums(_) => noisy[class].clone(),
            };
            Ok(noise_aware_posterior(inducing, &unit, rule.regularisation, rule.correction)?)
        });
        posteriors.collect()
    }

    /// A pair of sums for each class, and how records of each class enter it.
    pub(super) fn audited_mechanism(&self, noise: SumsNoise) -> AuditedMechanism {
        let (sums, classes) = (self.sums_bounds(), self.task.classes.get());
        let pairs = (0..classes).map(|class| {
            let labels = (0..classes).map(|of| self.record_sum_weights(class == of));
            sums.sums_release(noise, labels.collect())
        });
        let releases = sums.joint_release(pairs.collect());
        AuditedMechanism::Records(AuditedJointSumsNoise { records: self.unit.max_records(), ..releases })
    }

    /// How a record enters the sums of a class: its own or another.
    fn record_sum_weights(&self, own: bool) -> RecordSumWeights {
        let place = usize::from(own);
        match self.task.release {
            DirichletReleaseSetting::ClassSums => RecordSumWeights { a: place as f64, b: place as f64 },
            DirichletReleaseSetting::WeightedSums(_) => {
                let weight = 1.0 / self.labels.variance[place];
                RecordSumWeights { a: weight * self.labels.target[place], b: weight }
            }
        }
    }

    /// Sensitivity to one record. It takes part in the weighted sums of all classes.
    fn sensitivity(&self, sums: &NoisySumsBounds<'_>) -> SumsSensitivity {
        let DirichletLabels { target, variance } = &self.labels;
        match self.task.release {
            DirichletReleaseSetting::ClassSums => SumsSensitivity {
                assumed: class_sums_sensitivity(sums.features, sums.setting.split.get()),
                least: class_sums_sensitivity(sums.least, sums.setting.split.get()),
            },
            DirichletReleaseSetting::WeightedSums(rule) => {
                let of_one = sums.sensitivity(target[0].abs().max(target[1].abs()));
                let (least, greatest) = (variance[1].min(variance[0]), variance[0].max(variance[1]));
                let all = (self.task.classes.get() as f64).sqrt();
                SumsSensitivity {
                    assumed: all * of_one.assumed * rule.factor(least, greatest),
                    least: all * of_one.least * HeteroscedasticSensitivityRule::Corrected.factor(least, greatest),
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
    /// How posteriors are computed from the sums.
    pub posterior: NoiseAwareInverseSetting,
    /// Which sums are released.
    pub release: DirichletReleaseSetting,
    /// Whether to allow rules that, as printed in the paper, break privacy.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub published: bool,
}

/// Which sums a classification releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum DirichletReleaseSetting {
    /// The sums over the rows of each class, from which the posterior of every class follows.
    ClassSums,
    /// Sums over all rows for each class, weighted by the heteroscedastic noise of its labels.
    WeightedSums(HeteroscedasticSensitivityRule),
}

impl TaskRequirements for DirichletTask {
    fn check(&self, setting: &CellSections) -> CheckResult {
        let path = "task.dirichlet";
        noisy_sums::check_eq_or_ard_kernel(path, setting)?;
        noisy_sums::check_inducing_inputs(path, &self.inducing, setting)?;
        let printed = self.release == DirichletReleaseSetting::WeightedSums(HeteroscedasticSensitivityRule::Published);
        if printed && !self.published {
            let why = "the factor printed in the paper breaks privacy; to use it anyway, set `published = true` in this section";
            return fail(&format!("{path}.release"), SpecProblem::Shape(why.to_owned()));
        }
        self.posterior.check(&format!("{path}.posterior"))?;
        noisy_sums::require_sums_mechanism(setting, SummedValueKind::Labels)?
            .check_domain_holds_inducing_inputs(&self.inducing)
    }

    fn protects_persons(&self, mechanism: &MechanismSetting) -> bool {
        mechanism.downcast::<SumsSetting>().is_some()
    }

    fn metric_names(&self, _: u32) -> Vec<String> {
        metric_names(&METRICS)
    }

    fn check_row_count(&self, rows: usize) -> CheckResult {
        check_leaves_test_rows("task.dirichlet.train", self.train.get(), rows)
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
impl MeasurableTask for DirichletTask {
    fn measure_cells(&self, job: &ReplicateJob<'_>) -> Result<Vec<CellMeasurements>, TaskError> {
        let model = DirichletModel::from_task(self, job.setting);
        let model = model.ok_or(TaskError::Missing { needed: "a class model" })?;
        let inducing = model.factorise_inducing()?;
        let classes = job.sample.targets.iter().map(|y| class_from_target(self, *y));
        let classes: Vec<usize> = classes.collect::<Result<_, TaskError>>()?;
        let (training, test) = split_off_training_inputs(&job.sample.inputs, self.train.get());
        let (labels, truth) = classes.split_at(self.train.get());
        let block = DirichletReplicateState {
            job,
            statistics: compute_sums_before_noise(self, &model, &inducing, &training, labels),
            located: inducing.covariances_with_conditional_variances(&test),
            inducing: &inducing,
            model: &model,
            truth,
        };
        job.measure_each_cell(|cell| block.measure_cell(cell))
    }
}

fn class_from_target(task: &DirichletTask, target: f64) -> Result<usize, TaskError> {
    class_of(target, task.classes.get()).ok_or(TaskError::UnknownClass { target, last: task.classes.get() - 1 })
}

/// The sums that are released: over the rows of each class, or weighted over all rows for each class.
fn compute_sums_before_noise(
    task: &DirichletTask,
    model: &DirichletModel,
    inducing: &InducingInputs<'_>,
    inputs: &DMatrix<f64>,
    classes: &[usize],
) -> Vec<SufficientStatistics> {
    let labels = model.labels();
    let of_class = (0..task.classes.get()).map(|class| match task.release {
        DirichletReleaseSetting::ClassSums => {
            let rows: Vec<usize> = (0..classes.len()).filter(|&i| classes[i] == class).collect();
            SufficientStatistics::from_rows(inducing, &inputs.select_rows(&rows), |_| (1.0, 1.0))
        }
        DirichletReleaseSetting::WeightedSums(_) => SufficientStatistics::from_rows(inducing, inputs, |i| {
            let own = usize::from(classes[i] == class);
            (labels.target[own], 1.0 / labels.variance[own])
        }),
    });
    of_class.collect()
}

struct DirichletReplicateState<'a> {
    job: &'a ReplicateJob<'a>,
    model: &'a DirichletModel,
    inducing: &'a InducingInputs<'a>,
    statistics: Vec<SufficientStatistics>,
    located: CovariancesWithConditionalVariances,
    truth: &'a [usize],
}

impl DirichletReplicateState<'_> {
    fn measure_cell(&self, cell: &PrivacySetting) -> Result<CellMeasurements, TaskError> {
        let streams = self.job.streams;
        let (noisy, guarantee) =
            self.model.simulate_release(&self.statistics, cell, &mut streams.block_stream("noise"));
        let posteriors = self.model.posteriors(self.inducing, &noisy)?;
        let jitter = posteriors.iter().fold(self.inducing.jitter(), |most, of| of.jitter.max(most));
        let predictions: Vec<GaussianPrediction> = posteriors.iter().map(|of| of.predict(&self.located)).collect();
        let log_loss = self.log_loss(&predictions, &mut streams.block_stream("draws"));
        let scores = ClassScores { accuracy: self.accuracy(&predictions), log_loss };
        let noise = guarantee.noise;
        let certified =
            self.job.auditable_certificate(guarantee.certificate, || vec![self.model.audited_mechanism(noise)])?;
        Ok(certified.evaluate_metrics(jitter, &METRICS, &scores))
    }

    fn accuracy(&self, predictions: &[GaussianPrediction]) -> f64 {
        let right = self.truth.iter().enumerate().filter(|(i, class)| predicted_class(predictions, *i) == **class);
        right.count() as f64 / self.truth.len() as f64
    }

    fn log_loss(&self, predictions: &[GaussianPrediction], stream: &mut impl Rng) -> f64 {
        let losses = self.truth.iter().enumerate().map(|(i, &class)| {
            let draws = (0..DRAWS).map(|_| softmax(&draw_latent_values(predictions, i, stream))[class]);
            let probability = draws.sum::<f64>() / DRAWS as f64;
            -probability.max(f64::MIN_POSITIVE).ln()
        });
        losses.sum::<f64>() / self.truth.len() as f64
    }
}

/// The class with the greatest mean at a row; the first of several.
fn predicted_class(predictions: &[GaussianPrediction], row: usize) -> usize {
    (0..predictions.len())
        .fold(0, |best, class| if predictions[class].mean[row] > predictions[best].mean[row] { class } else { best })
}

/// The latent function of each class at a row, drawn.
fn draw_latent_values(predictions: &[GaussianPrediction], row: usize, stream: &mut impl Rng) -> Vec<f64> {
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
    use crate::{Experiment, Sample, TaskSetting};
    use dpgp_data::DatasetManifest;
    use dpgp_data::rows::InMemoryRows;
    use dpgp_stream::sum_rows_serially;

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
        let manifest = DatasetManifest::load_shipped().unwrap();
        let spec = Experiment::parse("s", "s.toml".as_ref(), SPEC.to_owned(), &manifest).unwrap();
        let setting = spec.cells[0].setting();
        let TaskSetting::Dirichlet(task) = &*setting.task else { panic!("another task") };
        let model = DirichletModel::from_setting(setting).unwrap();
        let column = |step: f64| (0..task.train.get()).map(|i| (i as f64 * step).sin()).collect::<Vec<f64>>();
        let (inputs, targets) = ([column(0.37), column(0.011)], (0..task.train.get()).map(|i| (i * i % 7 % 3) as f64));
        let sample = Sample::new(&inputs, targets.collect());
        let classes: Vec<usize> = sample.targets.iter().map(|y| class_from_target(task, *y).unwrap()).collect();
        let before =
            compute_sums_before_noise(task, &model, &model.factorise_inducing().unwrap(), &sample.inputs, &classes);
        let summand = model.summand(&setting.data).unwrap();
        let mut rows = InMemoryRows::new(vec![&inputs[0], &inputs[1], &sample.targets]);
        let total = sum_rows_serially(&mut rows, &summand).unwrap().sums;
        let streamed = total.0.iter().map(|sums| sums.statistics(summand.units()));
        for (before, streamed) in before.iter().zip(streamed) {
            assert_eq!(before.rows, streamed.rows);
            assert!((&before.a - &streamed.a).amax() < 1e-8 * before.a.amax());
            assert!((&before.b - &streamed.b).amax() < 1e-8 * before.b.amax());
        }
    }

    /// An input in other units, with its lengthscale and its ranges, changes nothing.
    #[test]
    fn lengthscales_of_inputs_are_their_units() {
        let manifest = DatasetManifest::load_shipped().unwrap();
        let noise = |text: String| {
            let spec = Experiment::parse("s", "s.toml".as_ref(), text, &manifest).unwrap();
            let setting = spec.cells[0].setting();
            let CertifiedSumsNoise { noise, record, .. } =
                DirichletModel::from_setting(setting).unwrap().guarantee(&setting.privacy);
            [noise.sd_a, noise.sd_b, record.sensitivity]
        };
        let domain = |features: &str| SPEC.replace("features = \"trivial\"", features);
        let one = domain("features = { supremum = [[-1.0, 1.0], [-2.0, 1.5]] }");
        let eq_ard = |lengthscales: &str| {
            one.replace(
                "eq = { variance = 1.7, lengthscale = 0.6 }",
                &format!("eq-ard = {{ variance = 1.7, lengthscales = {lengthscales} }}"),
            )
        };
        let stretched = eq_ard("[0.6, 6.0]")
            .replace("{ from = -1.0, to = 1.0, points = 4 }", "{ from = -10.0, to = 10.0, points = 4 }")
            .replace("[-2.0, 1.5]", "[-20.0, 15.0]");
        let expected = noise(one.clone());
        for text in [eq_ard("[0.6, 0.6]"), stretched] {
            for (found, expected) in noise(text).into_iter().zip(expected) {
                assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
            }
        }
        // Another lengthscale is another bound on the features.
        assert!((noise(eq_ard("[0.6, 0.2]"))[0] / expected[0] - 1.0).abs() > 0.01);
    }
}
