//! Test accuracy of a Bayesian classifier whose posterior is approximated, with or without privacy.

use nalgebra::DMatrix;

use super::price::{Price, Question};
use super::witness::{Sampled, record};
use super::{Measurement, Sample, Streams, TaskError};
use crate::advi::{FitStreams, Logistic, Training, fit, mode};
use crate::privacy::{Caveat, Certificate};
use crate::spec::{
    AdviSetting, GradientSetting, MechanismSetting, PosteriorMethod, PosteriorModel, PosteriorTask,
    PrivacySetting,
};

/// The largest element of the gradient at the mode.
const STATIONARY: f64 = 1e-6;

/// The metrics `accuracy` (share of the test rows whose class is the sign of the mean's margin), and with privacy
/// `sigma` (noise sd over twice the clip), `tight-epsilon` (what loss distributions give the same noise, sampling taken
/// as Poisson) and `looseness` (claimed over tight epsilon).
pub(super) fn posterior(
    task: &PosteriorTask,
    cells: &[&PrivacySetting],
    sample: &Sample,
    streams: &Streams,
) -> Result<Vec<Vec<Measurement>>, TaskError> {
    let models = Models::new(task, sample);
    cells.iter().map(|cell| models.cell(task, cell, streams)).collect()
}

/// The model of the training rows and that of the test rows.
struct Models {
    training: Logistic,
    test: Logistic,
}

impl Models {
    fn new(task: &PosteriorTask, sample: &Sample) -> Self {
        let PosteriorModel::Logistic { prior_variance } = task.model;
        let inputs = standardised(&sample.inputs);
        let is_positive = |y: &f64| task.positive.is.holds(y.partial_cmp(&task.positive.value));
        let classes: Vec<bool> = sample.targets.iter().map(is_positive).collect();
        let (rows, train) = (sample.rows(), task.train.min(sample.rows()));
        let model = |from: usize, to: usize| {
            Logistic::new(&inputs.rows(from, to - from).into_owned(), &classes[from..to], prior_variance)
        };
        Self { training: model(0, train), test: model(train, rows) }
    }

    fn cell(
        &self,
        task: &PosteriorTask,
        cell: &PrivacySetting,
        streams: &Streams,
    ) -> Result<Vec<Measurement>, TaskError> {
        let MechanismSetting::Gradient(gradient) = &cell.mechanism else {
            return Err(TaskError::WrongMechanism { needed: "gradient" });
        };
        match &task.method {
            PosteriorMethod::Mode {} => {
                let mode =
                    mode(&self.training, STATIONARY).ok_or(TaskError::NoMode { tolerance: STATIONARY })?;
                Ok(vec![measurement("accuracy", self.test.accuracy(&mode), &Certificate::none())])
            }
            PosteriorMethod::Advi(advi) if cell.epsilon.is_infinite() => {
                let accuracy = self.accuracy(advi, gradient.clip, 0.0, streams);
                Ok(vec![measurement("accuracy", accuracy, &Certificate::none())])
            }
            PosteriorMethod::Advi(advi) => self.private(advi, gradient, cell, streams),
        }
    }

    fn private(
        &self,
        advi: &AdviSetting,
        gradient: &GradientSetting,
        cell: &PrivacySetting,
        streams: &Streams,
    ) -> Result<Vec<Measurement>, TaskError> {
        let question =
            Question::new(advi, (gradient.accountant, gradient.relation), (cell.epsilon, cell.delta));
        let price = question.price()?;
        let clip = gradient.clip.unwrap_or(f64::INFINITY);
        let noise = price.multiplier * clip;
        record(cell, || Sampled::Gradients {
            event: question.event(noise / clip),
            relation: gradient.relation,
        });
        let accuracy = self.accuracy(advi, gradient.clip, noise, streams);
        let certificate = certificate(&question, &price);
        Ok(vec![
            measurement("accuracy", accuracy, &certificate),
            measurement("sigma", 0.5 * price.multiplier, &certificate),
            measurement("tight-epsilon", price.tight, &certificate),
            measurement("looseness", cell.epsilon / price.tight, &certificate),
        ])
    }

    fn accuracy(&self, advi: &AdviSetting, clip: Option<f64>, noise: f64, streams: &Streams) -> f64 {
        let AdviSetting { family, steps, rate, sampling, learning_rate } = *advi;
        let training = Training { family, steps, rate, sampling, learning_rate, clip, noise };
        let mut streams = FitStreams {
            batches: streams.of_block("batches"),
            draws: streams.of_block("draws"),
            noise: streams.of_block("noise"),
        };
        self.test.accuracy(fit(&self.training, &training, &mut streams).mean())
    }
}

fn measurement(metric: &str, value: f64, certificate: &Certificate) -> Measurement {
    Measurement {
        metric: metric.to_owned(),
        values: vec![value],
        certificate: certificate.clone(),
        jitter: 0.0,
    }
}

fn certificate(question: &Question, price: &Price) -> Certificate {
    let Question { accountant, relation, epsilon, delta, .. } = *question;
    let caveats = std::iter::once(Caveat::PrivateStandardisation);
    let caveats = caveats.chain(price.caveats.iter().copied().map(Caveat::Accounting)).collect();
    Certificate::noisy_gradient(accountant, relation, (epsilon, delta), price.delta_exact, caveats)
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
