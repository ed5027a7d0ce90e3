//! Predictions of a private regression and their scores on held-out rows, fold by fold.

use std::rc::Rc;

use super::method::{LeaderboardContext, PrivateRegression};
use crate::cross_validation::{FoldRows, NO_ERROR, r_squared};
use crate::measurement::Metric;
use crate::model::noise_variance;
use crate::normalise::{normalisation_caveats, normalise};
use crate::{AuditableCertificate, CellMeasurements, LeaderboardTask, MeasurableTask, ReplicateJob, TaskError};
use dpgp_accounting::Caveat;
use dpgp_gp::PredictiveMixture;
use dpgp_gp::variational::GaussianPrediction;
use dpgp_mechanisms::PrivacySetting;

/// The metrics of [`METRICS`]: for each fold the mean over runs.
impl MeasurableTask for LeaderboardTask {
    fn measure_cells(&self, job: &ReplicateJob<'_>) -> Result<Vec<CellMeasurements>, TaskError> {
        let normalised = normalise(&job.sample.targets, &job.setting.normalise);
        let context = LeaderboardContext { job, task: self, model: job.model()?, scale: normalised.scale };
        let mut folds = Vec::new();
        for rows in FoldRows::split(job.sample, &normalised, self.split, self.score, job.streams) {
            let method = context.build_regression(&rows)?;
            let scorer = HeldOutScorer::new(&rows, noise_variance(context.model)?, context.scale);
            folds.push(FoldEvaluation { number: rows.number, method, scorer });
        }
        let caveats = normalisation_caveats(job.setting, &normalised);
        job.cells.iter().map(|cell| context.measure_cell(cell, &folds, &caveats)).collect()
    }
}

/// A method that has seen the training rows of a fold.
struct FoldEvaluation<'a> {
    number: usize,
    method: Box<dyn PrivateRegression + 'a>,
    scorer: HeldOutScorer,
}

impl LeaderboardContext<'_> {
    fn measure_cell(
        &self,
        cell: &PrivacySetting,
        folds: &[FoldEvaluation<'_>],
        caveats: &[(Caveat, bool)],
    ) -> Result<CellMeasurements, TaskError> {
        let mut scores: [Vec<f64>; METRICS.len()] = Default::default();
        for fold in folds {
            let of_fold = self.scores(cell, fold)?;
            scores.iter_mut().zip(of_fold).for_each(|(values, score)| values.push(score));
        }
        let certified = folds.iter().map(|fold| fold.method.certify_run(self.job, cell));
        let certified: Vec<AuditableCertificate> = certified.collect::<Result<_, TaskError>>()?;
        let certified = certified.into_iter().reduce(AuditableCertificate::combine_worst);
        let certified = certified.ok_or(TaskError::Missing { needed: "a fold" })?.with_caveats(caveats);
        let jitter = folds.iter().map(|fold| fold.method.jitter()).fold(0.0, f64::max);
        Ok(certified.into_metric_measurements(jitter, &METRICS, scores))
    }

    /// The mean over runs of each metric.
    fn scores(&self, cell: &PrivacySetting, fold: &FoldEvaluation<'_>) -> Result<MetricScores, TaskError> {
        let FoldEvaluation { number, method, scorer } = fold;
        let runs = if cell.epsilon.get().is_finite() { self.task.draws.get() } else { 1 };
        let mut total = [0.0; METRICS.len()];
        for run in 0..runs {
            let purpose = format!("fold {number} run {run} epsilon {}", cell.epsilon);
            let predicted = method.predict_with_noise(cell, &mut self.job.streams.block_stream(&purpose))?;
            total.iter_mut().zip(scorer.score(predicted)).for_each(|(sum, score)| *sum += score);
        }
        Ok(total.map(|sum| sum / runs as f64))
    }
}

/// The mass of the interval whose coverage is measured.
pub(super) const MASS: f64 = 0.9;

/// Predictions of a run at the test inputs.
pub(super) enum FoldPrediction {
    /// The latent function, about which targets have the noise variance of the model.
    Function(GaussianPrediction),
    /// Targets.
    Targets {
        /// Their distributions.
        targets: PredictiveMixture,
        /// The mass of the central intervals that are said to hold [`MASS`] of them.
        level: f64,
    },
}

impl From<GaussianPrediction> for FoldPrediction {
    fn from(prediction: GaussianPrediction) -> Self {
        Self::Function(prediction)
    }
}

/// The metrics of a board, each in units of the target where it has a unit. A new one is a line here.
pub(super) const METRICS: [Metric<HeldOutComparison>; 5] = [
    // Root mean squared error of the means.
    Metric::new("rmse", |held| held.scale * held.rmse()),
    // 1 - MSE / MSE of the constant: 0 is as good as the mean of the training targets, less than 0 worse.
    Metric::with_undefined_reason("r2", |held| r_squared(held.rmse() * held.rmse(), held.constant), NO_ERROR),
    // Mean log density of the held-out targets, nats.
    Metric::new("log-score", |held| mean(&held.targets.log_densities(&held.truth)) - held.scale.ln()),
    // Mean continuous ranked probability score; the less the better.
    Metric::new("crps", |held| held.scale * mean(&held.targets.ranked_probability_scores(&held.truth))),
    // Share of the targets within their central 90 % interval.
    Metric::new("coverage-90", HeldOutComparison::interval_coverage),
];

/// One value for each of [`METRICS`].
pub(super) type MetricScores = [f64; METRICS.len()];

/// Held-out targets and what was predicted of them, on the scale of the model.
pub(super) struct HeldOutComparison {
    targets: PredictiveMixture,
    /// The mass that counts as a central 90 % interval.
    level: f64,
    truth: Rc<[f64]>,
    /// The mean squared error of the constant that a method without privacy would predict: the mean of the training targets.
    constant: f64,
    /// Units of the target per unit of the model.
    scale: f64,
}

impl HeldOutComparison {
    fn rmse(&self) -> f64 {
        self.targets.rmse(&self.truth)
    }

    fn interval_coverage(&self) -> f64 {
        let masses = self.targets.central_interval_masses(&self.truth);
        let covered = masses.iter().filter(|mass| **mass <= self.level).count() as f64;
        covered / self.truth.len() as f64
    }
}

/// Targets that predictions at the held-out inputs of a fold are compared with.
pub(super) struct HeldOutScorer {
    truth: Rc<[f64]>,
    constant: f64,
    /// The variance of an observation about the latent function.
    noise_variance: f64,
    scale: f64,
}

impl HeldOutScorer {
    pub fn new(rows: &FoldRows, noise_variance: f64, scale: f64) -> Self {
        Self { truth: rows.truth.as_slice().into(), constant: rows.constant_prediction_error(), noise_variance, scale }
    }

    /// The value of each metric.
    pub fn score(&self, predicted: FoldPrediction) -> MetricScores {
        let Self { truth, constant, noise_variance, scale } = self;
        let (targets, level) = match predicted {
            FoldPrediction::Function(prediction) => (prediction.with_observation_noise(*noise_variance), MASS),
            FoldPrediction::Targets { targets, level } => (targets, level),
        };
        let held = HeldOutComparison { targets, level, truth: Rc::clone(truth), constant: *constant, scale: *scale };
        METRICS.map(|metric| (metric.value)(&held))
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::DVector;

    /// The value of an expression and its text.
    macro_rules! printed {
        ($($token:tt)*) => { ($($token)*, stringify!($($token)*)) };
    }

    /// The page on extensions adds a metric that compiles and has its value.
    #[test]
    fn the_metric_of_the_page_is_one_line() {
        let (metric, text): (Metric<HeldOutComparison>, &str) =
            printed!(Metric::new("bias", |held| held.scale * (held.targets.mean().mean() - mean(&held.truth))));
        let page = include_str!("../../../../docs/extend.md").replace(char::is_whitespace, "");
        assert!(page.contains(&text.replace(char::is_whitespace, "")), "{text}");
        let mean = DVector::from_vec(vec![1.0, 4.0]);
        let targets =
            PredictiveMixture::mixture(vec![dpgp_gp::WeightedNormals { weight: 1.0, variance: mean.clone(), mean }]);
        let held = HeldOutComparison { targets, level: MASS, truth: Rc::new([0.0, 3.5]), constant: 1.0, scale: 2.0 };
        assert_eq!((metric.value)(&held), 1.5);
    }
}
