//! Scores of a predictive distribution on the held-out rows of a fold.

use std::rc::Rc;

use super::predicted::{MASS, Predicted};
use crate::against_constant::{NO_ERROR, against_constant};
use crate::cross_validation::FoldRows;
use crate::metric::Metric;
use dpgp_gp::Predictive;

/// The metrics of a board, each in units of the target where it has a unit. A new one is a line here.
pub(super) const METRICS: [Metric<HeldOut>; 5] = [
    // Root mean squared error of the means.
    Metric::new("rmse", |held| held.scale * held.rmse()),
    // 1 - MSE / MSE of the constant: 0 is as good as the mean of the training targets, less than 0 worse.
    Metric::undefined("r2", |held| against_constant(held.rmse() * held.rmse(), held.constant), NO_ERROR),
    // Mean log density of the held-out targets, nats.
    Metric::new("log-score", |held| mean(&held.targets.log_densities(&held.truth)) - held.scale.ln()),
    // Mean continuous ranked probability score; the less the better.
    Metric::new("crps", |held| held.scale * mean(&held.targets.ranked_probability_scores(&held.truth))),
    // Share of the targets within their central 90 % interval.
    Metric::new("coverage-90", HeldOut::covered),
];

/// One value for each of [`METRICS`].
pub(super) type Scores = [f64; METRICS.len()];

/// Held-out targets and what was predicted of them, on the scale of the model.
pub(super) struct HeldOut {
    targets: Predictive,
    /// The mass that counts as a central 90 % interval.
    level: f64,
    truth: Rc<[f64]>,
    /// The mean squared error of the constant that a method without privacy would predict: the mean of the training targets.
    constant: f64,
    /// Units of the target per unit of the model.
    scale: f64,
}

impl HeldOut {
    fn rmse(&self) -> f64 {
        self.targets.rmse(&self.truth)
    }

    fn covered(&self) -> f64 {
        let masses = self.targets.central_masses(&self.truth);
        let covered = masses.iter().filter(|mass| **mass <= self.level).count() as f64;
        covered / self.truth.len() as f64
    }
}

/// What predictions at the held-out inputs of a fold are compared with.
pub(super) struct Scorer {
    truth: Rc<[f64]>,
    constant: f64,
    /// The variance of an observation about the latent function.
    noise_variance: f64,
    scale: f64,
}

impl Scorer {
    pub fn new(rows: &FoldRows, noise_variance: f64, scale: f64) -> Self {
        Self {
            truth: rows.truth.as_slice().into(),
            constant: rows.error_of_constant(),
            noise_variance,
            scale,
        }
    }

    /// The value of each metric.
    pub fn of(&self, predicted: Predicted) -> Scores {
        let Self { truth, constant, noise_variance, scale } = self;
        let (targets, level) = match predicted {
            Predicted::Function(prediction) => (prediction.observed(*noise_variance), MASS),
            Predicted::Targets { targets, level } => (targets, level),
        };
        let held = HeldOut { targets, level, truth: Rc::clone(truth), constant: *constant, scale: *scale };
        METRICS.map(|metric| (metric.value)(&held))
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
