//! Scores of predictive distributions, fold by fold.

use super::method::{Leaderboard, Method};
use super::scores::{METRICS, Scorer, Scores};
use crate::LeaderboardTask;
use crate::cross_validation::FoldRows;
use crate::model::noise_variance;
use crate::normalise::{caveats, normalise};
use crate::{Certified, Job, Measured, Task, TaskError};
use dpgp_accounting::Caveat;
use dpgp_mechanisms::PrivacySetting;

/// The metrics of [`METRICS`]: for each fold the mean over runs.
impl Task for LeaderboardTask {
    fn measure(&self, job: &Job<'_>) -> Result<Vec<Measured>, TaskError> {
        let normalised = normalise(&job.sample.targets, &job.setting.normalise);
        let context = Leaderboard { job, task: self, model: job.model()?, scale: normalised.scale };
        let mut folds = Vec::new();
        for rows in FoldRows::of(job.sample, &normalised, self.split, self.score, job.streams) {
            let method = context.method(&rows)?;
            let scorer = Scorer::new(&rows, noise_variance(context.model)?, context.scale);
            folds.push(ScoredFold { number: rows.number, method, scorer });
        }
        let caveats = caveats(job.setting, &normalised);
        job.cells.iter().map(|cell| context.measured(cell, &folds, &caveats)).collect()
    }
}

/// A method that has seen the training rows of a fold.
struct ScoredFold<'a> {
    number: usize,
    method: Box<dyn Method + 'a>,
    scorer: Scorer,
}

impl Leaderboard<'_> {
    fn measured(
        &self,
        cell: &PrivacySetting,
        folds: &[ScoredFold<'_>],
        caveats: &[(Caveat, bool)],
    ) -> Result<Measured, TaskError> {
        let mut scores: [Vec<f64>; METRICS.len()] = Default::default();
        for fold in folds {
            let of_fold = self.scores(cell, fold)?;
            scores.iter_mut().zip(of_fold).for_each(|(values, score)| values.push(score));
        }
        let certified = folds.iter().map(|fold| fold.method.certified(self.job, cell));
        let certified: Vec<Certified> = certified.collect::<Result<_, TaskError>>()?;
        let certified = certified.into_iter().reduce(Certified::and);
        let certified = certified.ok_or(TaskError::Missing { needed: "a fold" })?.with_caveats(caveats);
        let jitter = folds.iter().map(|fold| fold.method.jitter()).fold(0.0, f64::max);
        Ok(certified.named(jitter, &METRICS, scores))
    }

    /// The mean over runs of each metric.
    fn scores(&self, cell: &PrivacySetting, fold: &ScoredFold<'_>) -> Result<Scores, TaskError> {
        let ScoredFold { number, method, scorer } = fold;
        let runs = if cell.epsilon.get().is_finite() { self.task.draws.get() } else { 1 };
        let mut total = [0.0; METRICS.len()];
        for run in 0..runs {
            let purpose = format!("fold {number} run {run} epsilon {}", cell.epsilon);
            let predicted = method.run(cell, &mut self.job.streams.of_block(&purpose))?;
            total.iter_mut().zip(scorer.of(predicted)).for_each(|(sum, score)| *sum += score);
        }
        Ok(total.map(|sum| sum / runs as f64))
    }
}
