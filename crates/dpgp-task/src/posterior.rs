//! A Bayesian classifier with an approximate posterior, with or without privacy: settings, the noise on
//! gradients, test accuracy, and the cost of privacy.

use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Certified, Job, Measured, Sample, Sampled, Task, TaskError, TaskSpec};
use dpgp_accounting::{
    Accountant, AccountantKind, AccountingCaveat, AccountingError, AssumePoisson, Caveat, Certificate,
    LossDistribution, Relation, Sampling, Schedule, noise_multiplier,
};
use dpgp_gp::advi::{BatchSampling, Family, FitStreams, LogisticRegression, Training, fit, mode};
use dpgp_mechanisms::{GradientSetting, PrivacySetting, Sections};
use dpgp_number::{Budget, Count, Positive, Share};
use dpgp_spec::setting::rules::to_test;
use dpgp_spec::setting::{Checked, ThresholdSetting};

/// The largest element of the gradient at the mode.
const STATIONARY: f64 = 1e-6;

/// Why `looseness` is undefined.
const NOTHING_SPENT: &str = "the tight epsilon is 0 at this delta, so the ratio is undefined";

/// The metrics `accuracy` (share of the test rows whose class is the sign of the mean's margin), and with privacy
/// `sigma` (noise sd over twice the clip), `tight-epsilon` (the epsilon from privacy loss distributions for the same noise, with
/// sampling treated as Poisson) and `looseness` (claimed over tight epsilon).
impl Task for PosteriorTask {
    fn measure(&self, job: &Job<'_>) -> Result<Vec<Measured>, TaskError> {
        let models = Models::new(self, job.sample);
        job.cells.iter().map(|cell| models.cell(self, job, cell)).collect()
    }
}

/// The model of the training rows and that of the test rows.
struct Models {
    training: LogisticRegression,
    test: LogisticRegression,
}

impl Models {
    fn new(task: &PosteriorTask, sample: &Sample) -> Self {
        let PosteriorModel::Logistic { prior_variance } = task.model;
        let inputs = standardised(&sample.inputs);
        let positive = &task.positive;
        let classes: Vec<bool> =
            sample.targets.iter().map(|y| positive.is.holds(y.partial_cmp(&positive.value.get()))).collect();
        let (rows, train) = (sample.rows(), task.train.get().min(sample.rows()));
        let (training, test) =
            (inputs.rows(0, train).into_owned(), inputs.rows(train, rows - train).into_owned());
        Self {
            training: LogisticRegression::new(&training, &classes[..train], prior_variance.get()),
            test: LogisticRegression::new(&test, &classes[train..], prior_variance.get()),
        }
    }

    fn cell(
        &self,
        task: &PosteriorTask,
        job: &Job<'_>,
        cell: &PrivacySetting,
    ) -> Result<Measured, TaskError> {
        let gradient = cell.mechanism.downcast::<GradientSetting>();
        let gradient = gradient.ok_or(TaskError::Missing { needed: "mechanism.gradient" })?;
        let accuracy = match &task.method {
            PosteriorMethod::Advi(advi) if cell.epsilon.get().is_finite() => {
                return self.private(advi, gradient, job, cell);
            }
            PosteriorMethod::Advi(advi) => self.accuracy(advi, gradient.clip.map(Positive::get), 0.0, job),
            PosteriorMethod::Mode {} => {
                let mode = mode(&self.training, STATIONARY);
                self.test.accuracy(&mode.ok_or(TaskError::NoMode { tolerance: STATIONARY })?)
            }
        };
        Ok(Certified::nothing().measured(0.0, [("accuracy", accuracy)]))
    }

    fn private(
        &self,
        advi: &AdviSetting,
        gradient: &GradientSetting,
        job: &Job<'_>,
        cell: &PrivacySetting,
    ) -> Result<Measured, TaskError> {
        let clip = gradient.clip.ok_or(TaskError::Missing { needed: "mechanism.gradient.clip" })?.get();
        let question = PriceKey::new(advi, gradient, cell)?;
        let price = job.known.prices.get_or_compute(&question, || question.price())?;
        let noise = price.multiplier * clip;
        let accuracy = self.accuracy(advi, Some(clip), noise, job);
        let certified = job.certify(certificate(&question, &price), || {
            vec![Sampled::Gradients {
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
        Ok(certified.measured(0.0, metrics).undefined_where_nan("looseness", NOTHING_SPENT))
    }

    fn accuracy(&self, advi: &AdviSetting, clip: Option<f64>, noise: f64, job: &Job<'_>) -> f64 {
        let AdviSetting { family, steps, rate, sampling, learning_rate } = *advi;
        let training = Training {
            family,
            steps: steps.get(),
            rate: rate.get(),
            sampling,
            learning_rate: learning_rate.get(),
            clip,
            noise,
        };
        let mut streams = FitStreams {
            batches: job.streams.of_block("batches"),
            draws: job.streams.of_block("draws"),
            noise: job.streams.of_block("noise"),
        };
        self.test.accuracy(fit(&self.training, &training, &mut streams).mean())
    }
}

fn certificate(question: &PriceKey, price: &Price) -> Certificate {
    let PriceKey { accountant, relation, budget, .. } = *question;
    let mut caveats = vec![Caveat::PrivateStandardisation];
    caveats.extend(price.caveats.iter().copied().map(Caveat::Accounting));
    let claim = Certificate::noisy_gradient(accountant, relation, budget.into(), price.delta_exact);
    Certificate { caveats, ..claim }
}

/// Columns with mean 0 and population variance 1, by statistics of all rows.
fn standardised(inputs: &DMatrix<f64>) -> DMatrix<f64> {
    let mut standardised = inputs.clone();
    for mut column in standardised.column_iter_mut() {
        let mean = column.mean();
        let sd = column.variance().sqrt();
        column.apply(|x| *x = (*x - mean) / if sd > 0.0 { sd } else { 1.0 });
    }
    standardised
}

/// Question to an accountant; it determines the answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PriceKey {
    pub accountant: AccountantKind,
    pub relation: Relation,
    pub schedule: Schedule,
    pub budget: Budget,
}

/// The noise that a guarantee needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Price {
    /// Standard deviation of the noise over the clip.
    pub multiplier: f64,
    /// The epsilon from privacy loss distributions for the same noise, with sampling treated as Poisson.
    pub tight: f64,
    /// An upper bound on the true delta at the claimed epsilon, if the sampling is covered by a proof.
    pub delta_exact: Option<f64>,
    /// Caveats of the accountant.
    pub caveats: Vec<AccountingCaveat>,
}

impl PriceKey {
    /// The question about a training for the guarantee of a cell.
    ///
    /// # Errors
    /// [`TaskError`] for a guarantee that is none, which the checks of a spec refuse, and for more steps than an accountant
    /// counts.
    pub fn new(
        advi: &AdviSetting,
        gradient: &GradientSetting,
        cell: &PrivacySetting,
    ) -> Result<Self, TaskError> {
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
            schedule: Schedule { sampling, steps },
            budget: Budget { epsilon: cell.epsilon, delta: cell.delta },
        })
    }

    /// The answer.
    ///
    /// # Errors
    /// [`AccountingError`] if no noise is enough, or its accountant has no proof for the sampling.
    pub fn price(&self) -> Result<Price, AccountingError> {
        let Self { relation, schedule, budget, .. } = *self;
        let (epsilon, delta) = (budget.epsilon.get(), budget.delta.get());
        let accountant = self.accountant.accountant();
        let multiplier = noise_multiplier(accountant.as_ref(), schedule, relation, budget)?;
        let event = schedule.with_noise(multiplier);
        let loss = LossDistribution::default();
        let tight = match self.accountant {
            // The noise is the least with this very epsilon.
            AccountantKind::LossDistribution => epsilon,
            _ => AssumePoisson(loss).epsilon(&event, relation, delta)?.upper,
        };
        let delta_exact = loss.delta(&event, relation, epsilon).ok().map(|spent| spent.upper);
        let caveats = accountant.delta(&event, relation, epsilon)?.caveats;
        Ok(Price { multiplier, tight, delta_exact, caveats })
    }
}

/// A Bayesian classifier, fitted to the first rows and tested on the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PosteriorTask {
    /// The likelihood and the prior.
    pub model: PosteriorModel,
    /// The class of a row: positive if this comparison holds for its target.
    pub positive: ThresholdSetting,
    /// The number of rows at the beginning of the data that are training rows; the others are test rows.
    pub train: Count,
    /// How the posterior is found.
    pub method: PosteriorMethod,
}

/// A likelihood and a prior.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PosteriorModel {
    /// Logistic regression without intercept on standardised inputs.
    Logistic {
        /// Variance of each weight under the prior.
        prior_variance: Positive,
    },
}

/// How a posterior is found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PosteriorMethod {
    /// Its mode, without privacy.
    Mode {},
    /// Variational inference by stochastic gradients.
    Advi(AdviSetting),
}

/// Variational inference by stochastic gradients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdviSetting {
    /// The variational family.
    pub family: Family,
    /// Steps.
    pub steps: Count,
    /// The share of the training rows that a step samples.
    pub rate: Share,
    /// How a step samples rows.
    pub sampling: BatchSampling,
    /// The learning rate of windowed AdaGrad.
    pub learning_rate: Positive,
}

impl TaskSpec for PosteriorTask {
    fn check(&self, setting: &Sections) -> Checked {
        let privacy = &setting.privacy;
        let gradient =
            privacy.mechanism.downcast::<GradientSetting>().ok_or_else(|| privacy.wrong("gradient"))?;
        if matches!(self.method, PosteriorMethod::Mode {}) {
            privacy.protects_nothing("inf (the mode is computed without privacy)")?;
        }
        gradient.check(privacy.epsilon)
    }

    fn metrics(&self, _: u32) -> Vec<String> {
        ["accuracy", "sigma", "tight-epsilon", "looseness"].map(str::to_owned).to_vec()
    }

    fn check_rows(&self, rows: usize) -> Checked {
        to_test("task.posterior.train", self.train.get(), rows)
    }
}
