//! The accuracy of a posterior, and the price of its privacy.

use nalgebra::DMatrix;

use super::price::{Price, PriceQuestion};
use crate::{AdviSetting, PosteriorMethod, PosteriorModel, PosteriorTask};
use crate::{Certified, Job, Measured, Sample, Sampled, Task, TaskError};
use dpgp_accounting::{Caveat, Certificate};
use dpgp_gp::advi::{FitStreams, LogisticRegression, Training, fit, mode};
use dpgp_mechanisms::{GradientSetting, PrivacySetting};
use dpgp_number::Positive;

/// The largest element of the gradient at the mode.
const STATIONARY: f64 = 1e-6;

/// Why `looseness` is undefined.
const NOTHING_SPENT: &str = "the epsilon of this noise is 0 at that delta, of which no epsilon is a multiple";

/// The metrics `accuracy` (share of the test rows whose class is the sign of the mean's margin), and with privacy
/// `sigma` (noise sd over twice the clip), `tight-epsilon` (what loss distributions give the same noise, sampling taken
/// as Poisson) and `looseness` (claimed over tight epsilon).
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
        let gradient = cell.mechanism.of::<GradientSetting>();
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
        let question = PriceQuestion::new(advi, gradient, cell)?;
        let price = job.known.prices.of(&question, || question.price())?;
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

fn certificate(question: &PriceQuestion, price: &Price) -> Certificate {
    let PriceQuestion { accountant, relation, budget, .. } = *question;
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
