//! Scores of a predictive distribution on the held-out rows of a fold.

use super::predicted::{MASS, Predicted};
use crate::LeaderboardTask;
use crate::against_constant::against_constant;
use crate::cross_validation::FoldRows;

/// One value for each of [`LeaderboardTask::METRICS`], in that order.
pub(super) type Scores = [f64; Scorer::COUNT];

/// What predictions at the held-out inputs of a fold are compared with.
pub(super) struct Scorer {
    /// The held-out targets, on the scale of the model.
    truth: Vec<f64>,
    /// The mean squared error of the constant that a method without privacy would predict: the mean of the training targets.
    constant: f64,
    /// The variance of an observation about the latent function.
    noise_variance: f64,
    /// Units of the target per unit of the normalised one.
    scale: f64,
}

impl Scorer {
    /// The number of metrics.
    pub const COUNT: usize = LeaderboardTask::METRICS.len();

    pub fn new(rows: &FoldRows, noise_variance: f64, scale: f64) -> Self {
        Self { truth: rows.truth.clone(), constant: rows.error_of_constant(), noise_variance, scale }
    }

    /// - `rmse`: root mean squared error of the means, in units of the target;
    /// - `r2`: `1 - MSE / MSE of the constant`: 0 is as good as the mean of the training targets, less than 0 worse;
    /// - `log-score`: mean log density of the held-out targets, nats, in units of the target;
    /// - `crps`: mean continuous ranked probability score, in units of the target; the less the better;
    /// - `coverage-90`: share of the targets within their central 90 % interval.
    pub fn of(&self, predicted: Predicted) -> Scores {
        let Self { truth, noise_variance, scale, .. } = self;
        let (targets, level) = match predicted {
            Predicted::Function(prediction) => (prediction.observed(*noise_variance), MASS),
            Predicted::Targets { targets, level } => (targets, level),
        };
        let rmse = targets.rmse(truth);
        let masses = targets.central_masses(truth);
        let covered = masses.iter().filter(|mass| **mass <= level).count() as f64;
        [
            scale * rmse,
            against_constant(rmse * rmse, self.constant),
            mean(&targets.log_densities(truth)) - scale.ln(),
            scale * mean(&targets.ranked_probability_scores(truth)),
            covered / truth.len() as f64,
        ]
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
