//! Scores of predictive distributions, fold by fold.

use super::method::{Leaderboard, Method};
use crate::privacy::Caveat;
use crate::setting::PrivacySetting;
use crate::task::cross_validation::FoldRows;
use crate::task::model::noise_variance;
use crate::task::normalise::{caveats, normalise};
use crate::task::{Certified, Job, Measured, Task, TaskError};
use crate::task::{LeaderboardTask, ScoreSetting};

/// The mass of the interval whose coverage is measured.
const MASS: f64 = 0.9;

/// The metrics `rmse` (units of the target), `log-score` (mean log density of the held-out targets, nats, in units of
/// the target) and `coverage-90` (share of them within their central 90 % interval): for each fold the mean over runs.
impl Task for LeaderboardTask {
    fn measure(&self, job: &Job<'_>) -> Result<Vec<Measured>, TaskError> {
        let normalised = normalise(&job.sample.targets, &job.setting.normalise);
        let context = Leaderboard { job, task: self, model: job.model()?, scale: normalised.scale };
        let mut folds = Vec::new();
        // Targets are compared as they are: a method that profits from clipping them has to pay for it.
        for rows in FoldRows::of(job.sample, &normalised, self.split, ScoreSetting::Original, job.streams) {
            folds.push(ScoredFold { number: rows.number, method: context.method(&rows)?, truth: rows.truth });
        }
        let caveats = caveats(job.setting, &normalised);
        job.cells.iter().map(|cell| context.measured(cell, &folds, &caveats)).collect()
    }
}

/// A method that has seen the training rows of a fold.
struct ScoredFold<'a> {
    number: usize,
    method: Box<dyn Method + 'a>,
    /// The held-out targets, not clipped.
    truth: Vec<f64>,
}

impl Leaderboard<'_> {
    fn measured(
        &self,
        cell: &PrivacySetting,
        folds: &[ScoredFold<'_>],
        caveats: &[(Caveat, bool)],
    ) -> Result<Measured, TaskError> {
        let mut scores: [Vec<f64>; 3] = Default::default();
        for fold in folds {
            let of_fold = self.scores(cell, fold)?;
            scores.iter_mut().zip(of_fold).for_each(|(values, score)| values.push(score));
        }
        let certified = folds.iter().map(|fold| fold.method.certified(self.job, cell));
        let certified: Vec<Certified> = certified.collect::<Result<_, TaskError>>()?;
        let certified = certified.into_iter().reduce(Certified::and);
        let certified = certified.ok_or(TaskError::Missing { needed: "a fold" })?.with_caveats(caveats);
        let jitter = folds.iter().map(|fold| fold.method.jitter()).fold(0.0, f64::max);
        Ok(certified.measured_often(jitter, LeaderboardTask::METRICS.into_iter().zip(scores)))
    }

    /// The mean over runs of the error, the log density and the coverage.
    fn scores(&self, cell: &PrivacySetting, fold: &ScoredFold<'_>) -> Result<[f64; 3], TaskError> {
        let ScoredFold { number, method, truth } = fold;
        let runs = if cell.epsilon.get().is_finite() { self.task.draws.get() } else { 1 };
        let noise = noise_variance(self.model)?;
        let mut total = [0.0; 3];
        for run in 0..runs {
            let purpose = format!("fold {number} run {run} epsilon {}", cell.epsilon);
            let prediction = method.run(cell, &mut self.job.streams.of_block(&purpose))?;
            let densities = prediction.log_densities(truth, noise);
            let masses = prediction.central_masses(truth, noise);
            total[0] += self.scale * prediction.rmse(truth);
            total[1] += densities.iter().sum::<f64>() / truth.len() as f64 - self.scale.ln();
            total[2] += masses.iter().filter(|mass| **mass <= MASS).count() as f64 / truth.len() as f64;
        }
        Ok(total.map(|sum| sum / runs as f64))
    }
}
