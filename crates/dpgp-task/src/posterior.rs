//! A Bayesian classifier with an approximate posterior, with or without privacy: settings, the noise on
//! gradients, test accuracy, and the cost of privacy.

use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AuditableCertificate, AuditedMechanism, CellMeasurements, MeasurableTask, ReplicateJob, Sample, TaskError,
    TaskRequirements,
};
use dpgp_accounting::{
    Accountant, AccountantKind, AccountingCaveat, AccountingError, AssumedPoissonAccountant, Certificate,
    GuaranteeCaveat, LossDistributionAccountant, NeighbourRelation, Sampling, SamplingSchedule,
    calibrate_noise_multiplier,
};
use dpgp_gp::advi::{
    BatchSampling, BayesianLogisticModel, FitRandomStreams, VariationalFamily, VariationalFitOptions,
    find_posterior_mode, fit_variational_posterior,
};
use dpgp_mechanisms::{CellSections, GradientSetting, PrivacySetting};
use dpgp_number::{Budget, Count, Positive, Share};
use dpgp_spec::setting::rules::check_leaves_test_rows;
use dpgp_spec::setting::{CheckResult, ThresholdSetting};

/// The largest element of the gradient at the mode.
const STATIONARY: f64 = 1e-6;

/// Why `looseness` is undefined.
const NOTHING_SPENT: &str = "the tight epsilon is 0 at this delta, so the ratio is undefined";

/// The metrics `accuracy` (share of the test rows whose class is the sign of the mean's margin), and with privacy
/// `sigma` (noise sd over twice the clip), `tight-epsilon` (the epsilon from privacy loss distributions for the same noise, with
/// sampling treated as Poisson) and `looseness` (claimed over tight epsilon).
impl MeasurableTask for PosteriorTask {
    fn measure_cells(&self, job: &ReplicateJob<'_>) -> Result<Vec<CellMeasurements>, TaskError> {
        let models = TrainTestModels::new(self, job.sample);
        job.measure_each_cell(|cell| models.measure_cell(self, job, cell))
    }
}

/// The model of the training rows and that of the test rows.
struct TrainTestModels {
    training: BayesianLogisticModel,
    test: BayesianLogisticModel,
}

impl TrainTestModels {
    fn new(task: &PosteriorTask, sample: &Sample) -> Self {
        let PosteriorModel::Logistic { prior_variance } = task.model;
        let inputs = standardise_columns(&sample.inputs);
        let positive = &task.positive;
        let classes: Vec<bool> =
            sample.targets.iter().map(|y| positive.is.holds(y.partial_cmp(&positive.value.get()))).collect();
        let (rows, train) = (sample.row_count(), task.train.get().min(sample.row_count()));
        let (training, test) = (inputs.rows(0, train).into_owned(), inputs.rows(train, rows - train).into_owned());
        Self {
            training: BayesianLogisticModel::new(&training, &classes[..train], prior_variance.get()),
            test: BayesianLogisticModel::new(&test, &classes[train..], prior_variance.get()),
        }
    }

    fn measure_cell(
        &self,
        task: &PosteriorTask,
        job: &ReplicateJob<'_>,
        cell: &PrivacySetting,
    ) -> Result<CellMeasurements, TaskError> {
        let gradient = cell.mechanism.downcast::<GradientSetting>();
        let gradient = gradient.ok_or(TaskError::Missing { needed: "mechanism.gradient" })?;
        let accuracy = match &task.method {
            PosteriorMethod::Advi(advi) if cell.epsilon.get().is_finite() => {
                return self.measure_private_fit(advi, gradient, job, cell);
            }
            PosteriorMethod::Advi(advi) => self.fit_and_test_accuracy(advi, gradient.clip.map(Positive::get), 0.0, job),
            PosteriorMethod::Mode {} => {
                let mode = find_posterior_mode(&self.training, STATIONARY);
                self.test.accuracy(&mode.ok_or(TaskError::NoMode { tolerance: STATIONARY })?)
            }
        };
        Ok(AuditableCertificate::without_claim().into_measurements(0.0, [("accuracy", accuracy)]))
    }

    fn measure_private_fit(
        &self,
        advi: &AdviSetting,
        gradient: &GradientSetting,
        job: &ReplicateJob<'_>,
        cell: &PrivacySetting,
    ) -> Result<CellMeasurements, TaskError> {
        let clip = gradient.clip.ok_or(TaskError::Missing { needed: "mechanism.gradient.clip" })?.get();
        let question = NoiseCalibrationKey::new(advi, gradient, cell)?;
        let price = job.known.prices.get_or_compute(&question, || question.calibrate_noise())?;
        let noise = price.multiplier * clip;
        let accuracy = self.fit_and_test_accuracy(advi, Some(clip), noise, job);
        let certified = job.auditable_certificate(gradient_certificate(&question, &price), || {
            vec![AuditedMechanism::Gradients {
                event: question.schedule.with_noise(noise / clip),
                relation: question.relation,
            }]
        })?;
        let metrics = [
            ("accuracy", accuracy),
            ("sigma", 0.5 * price.multiplier),
            ("tight-epsilon", price.tight),
            ("looseness", if price.tight > 0.0 { cell.epsilon.get() / price.tight } else { f64::NAN }),
        ];
        Ok(certified.into_measurements(0.0, metrics).explain_nan_metric("looseness", NOTHING_SPENT))
    }

    fn fit_and_test_accuracy(&self, advi: &AdviSetting, clip: Option<f64>, noise: f64, job: &ReplicateJob<'_>) -> f64 {
        let AdviSetting { family, steps, rate, sampling, learning_rate } = *advi;
        let training = VariationalFitOptions {
            family,
            steps: steps.get(),
            rate: rate.get(),
            sampling,
            learning_rate: learning_rate.get(),
            clip,
            noise,
        };
        let mut streams = FitRandomStreams {
            batches: job.streams.block_stream("batches"),
            draws: job.streams.block_stream("draws"),
            noise: job.streams.block_stream("noise"),
        };
        self.test.accuracy(fit_variational_posterior(&self.training, &training, &mut streams).mean())
    }
}

fn gradient_certificate(question: &NoiseCalibrationKey, price: &NoiseCalibration) -> Certificate {
    let NoiseCalibrationKey { accountant, relation, budget, .. } = *question;
    let mut caveats = vec![GuaranteeCaveat::PrivateStandardisation];
    caveats.extend(price.caveats.iter().copied().map(GuaranteeCaveat::Accounting));
    let claim = Certificate::noisy_gradient(accountant, relation, budget.into(), price.delta_exact);
    Certificate { caveats, ..claim }
}

/// Columns with mean 0 and population variance 1, by statistics of all rows.
fn standardise_columns(inputs: &DMatrix<f64>) -> DMatrix<f64> {
    let mut standardised = inputs.clone();
    for mut column in standardised.column_iter_mut() {
        let mean = column.mean();
        let sd = column.variance().sqrt();
        column.apply(|x| *x = (*x - mean) / if sd > 0.0 { sd } else { 1.0 });
    }
    standardised
}

/// The input of a noise calibration, which determines its result: accountant, neighbours, schedule and budget.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoiseCalibrationKey {
    pub accountant: AccountantKind,
    pub relation: NeighbourRelation,
    pub schedule: SamplingSchedule,
    pub budget: Budget,
}

/// The noise that a guarantee needs.
#[derive(Debug, Clone, PartialEq)]
pub struct NoiseCalibration {
    /// Standard deviation of the noise divided by the clip.
    pub multiplier: f64,
    /// The epsilon from privacy loss distributions for the same noise, with sampling treated as Poisson.
    pub tight: f64,
    /// An upper bound on the true delta at the claimed epsilon, if the sampling is covered by a proof.
    pub delta_exact: Option<f64>,
    /// Caveats of the accountant.
    pub caveats: Vec<AccountingCaveat>,
}

impl NoiseCalibrationKey {
    /// The question about a training for the guarantee of a cell.
    ///
    /// # Errors
    /// [`TaskError`] for an invalid guarantee, which the checks of a spec refuse, and for more steps than an accountant
    /// supports.
    pub fn new(advi: &AdviSetting, gradient: &GradientSetting, cell: &PrivacySetting) -> Result<Self, TaskError> {
        let rate = advi.rate;
        let sampling = match advi.sampling {
            BatchSampling::Poisson => Sampling::Poisson { rate: rate.get() },
            BatchSampling::WithReplacement => Sampling::WithReplacement { rate: rate.get() },
            BatchSampling::WithoutReplacement => Sampling::WithoutReplacement { rate: rate.get() },
        };
        let steps = u32::try_from(advi.steps.get());
        let steps = steps.map_err(|_| TaskError::Missing { needed: "fewer than 2^32 steps" })?;
        Ok(Self {
            accountant: gradient.accountant,
            relation: gradient.relation,
            schedule: SamplingSchedule { sampling, steps },
            budget: Budget { epsilon: cell.epsilon, delta: cell.delta },
        })
    }

    /// Finds the least noise multiplier that keeps the budget, and what is proved of it.
    ///
    /// # Errors
    /// [`AccountingError`] if no amount of noise is enough, or the accountant has no proof for the sampling.
    pub fn calibrate_noise(&self) -> Result<NoiseCalibration, AccountingError> {
        let Self { relation, schedule, budget, .. } = *self;
        let (epsilon, delta) = (budget.epsilon.get(), budget.delta.get());
        let accountant = self.accountant.accountant();
        let multiplier = calibrate_noise_multiplier(accountant.as_ref(), schedule, relation, budget)?;
        let event = schedule.with_noise(multiplier);
        let loss = LossDistributionAccountant::default();
        let tight = match self.accountant {
            // The noise is the least with this very epsilon.
            AccountantKind::LossDistribution => epsilon,
            _ => AssumedPoissonAccountant(loss).epsilon(&event, relation, delta)?.upper,
        };
        let delta_exact = loss.delta(&event, relation, epsilon).ok().map(|spent| spent.upper);
        let caveats = accountant.delta(&event, relation, epsilon)?.caveats;
        Ok(NoiseCalibration { multiplier, tight, delta_exact, caveats })
    }
}

/// A Bayesian classifier, fitted to the first rows of the data and tested on the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PosteriorTask {
    /// The likelihood and the prior.
    pub model: PosteriorModel,
    /// A row belongs to the positive class if this comparison holds for its target.
    pub positive: ThresholdSetting,
    /// The number of training rows, taken from the beginning of the data. The others are test rows.
    pub train: Count,
    /// How the posterior is approximated.
    pub method: PosteriorMethod,
}

/// A likelihood and a prior.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PosteriorModel {
    /// Logistic regression without an intercept, on standardised inputs.
    Logistic {
        /// Variance of each weight under the prior.
        prior_variance: Positive,
    },
}

/// How a posterior is approximated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PosteriorMethod {
    /// By its mode, without privacy.
    Mode {},
    /// By variational inference with stochastic gradients.
    Advi(AdviSetting),
}

/// Variational inference with stochastic gradients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdviSetting {
    /// The variational family.
    pub family: VariationalFamily,
    /// The number of steps.
    pub steps: Count,
    /// The share q of the training rows that a step samples.
    pub rate: Share,
    /// How a step samples rows.
    pub sampling: BatchSampling,
    /// The learning rate of windowed AdaGrad.
    pub learning_rate: Positive,
}

impl TaskRequirements for PosteriorTask {
    fn check(&self, setting: &CellSections) -> CheckResult {
        let privacy = &setting.privacy;
        let gradient =
            privacy.mechanism.downcast::<GradientSetting>().ok_or_else(|| privacy.wrong_mechanism_error("gradient"))?;
        if matches!(self.method, PosteriorMethod::Mode {}) {
            privacy.check_unprotected("inf (the mode is computed without privacy)")?;
        }
        gradient.check(privacy.epsilon)
    }

    fn metric_names(&self, _: u32) -> Vec<String> {
        ["accuracy", "sigma", "tight-epsilon", "looseness"].map(str::to_owned).to_vec()
    }

    fn check_row_count(&self, rows: usize) -> CheckResult {
        check_leaves_test_rows("task.posterior.train", self.train.get(), rows)
    }
}
