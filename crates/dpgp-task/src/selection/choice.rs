//! A choice that is part of another task.

use std::sync::Arc;

use super::candidates::Compared;
use super::fold::CandidateFold;
use super::judged::{Judge, clipped_range};
use crate::SelectionTask;
use crate::cross_validation::FoldRows;
use crate::known::Answers;
use crate::{Job, OneTarget, Sampled, TaskError};

/// Gaussian processes of several lengthscales to choose from, by cross-validation on some training rows.
pub(crate) struct Choice {
    task: SelectionTask,
    candidates: Vec<Vec<CandidateFold>>,
    rows: usize,
    scale: f64,
    range: Option<(f64, f64)>,
    chances: Answers<Budget, Arc<Vec<f64>>>,
}

/// What a choice may cost, and what is left for the release after it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Budget {
    rest: OneTarget,
    epsilon: f64,
}

impl Choice {
    /// Among the candidates of a task, on the training rows of a fold, whose targets are in units of `scale`.
    pub fn new(job: &Job<'_>, task: SelectionTask, rows: &FoldRows, scale: f64) -> Result<Self, TaskError> {
        let compared = Compared { job, task: &task, inputs: &rows.inputs, targets: &rows.targets };
        let candidates = compared.candidates()?;
        let range = clipped_range(&job.setting.normalise, scale);
        Ok(Self { candidates, rows: rows.targets.len(), task, scale, range, chances: Answers::default() })
    }

    fn judge(&self) -> Judge<'_> {
        let Self { task, candidates, rows, scale, range, .. } = self;
        Judge { task, candidates, rows: *rows, scale: *scale, range: *range }
    }

    /// The probability with which each is chosen with a budget, where the release after it has the guarantee of `rest`.
    pub fn probabilities(&self, rest: OneTarget, epsilon: f64) -> Arc<Vec<f64>> {
        let budget = Budget { rest, epsilon };
        self.chances.of(&budget, || Arc::new(self.judge().judged(rest, epsilon).probability))
    }

    /// What is chosen from.
    pub fn sampled(&self, rest: OneTarget, epsilon: f64) -> Sampled {
        let judge = self.judge();
        judge.sampled(rest, epsilon, &judge.judged(rest, epsilon))
    }
}
