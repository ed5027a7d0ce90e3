//! The evidence of a choice.

use nalgebra::{DMatrix, DVector};

use super::fold::CandidateFold;
use dpgp_mechanisms::FoldColumns;

/// What the exponential mechanism chose from, as a function of the targets.
#[derive(Debug, Clone)]
pub struct Selected {
    /// The folds of each candidate that is allowed.
    pub(super) candidates: Vec<Vec<CandidateFold>>,
    /// The number of targets.
    pub rows: usize,
    /// What multiplies the noise of each prediction.
    pub(super) noise: f64,
    /// Errors are clipped to this, on the scale of the model; infinite without a clip.
    pub clip: f64,
    /// The most that one target changes.
    pub change: f64,
    /// The budget.
    pub epsilon: f64,
    /// The sensitivity that was used.
    pub sensitivity: f64,
    /// The range of targets, where they are clipped to one.
    pub range: Option<(f64, f64)>,
}

impl Selected {
    /// The number of candidates.
    pub fn candidates(&self) -> usize {
        self.candidates.len()
    }

    /// The errors of a candidate's predictions as a linear map of the targets: a row for each tested row.
    pub fn error_map(&self, candidate: usize) -> DMatrix<f64> {
        let mut map = DMatrix::zeros(self.rows, self.rows);
        for fold in &self.candidates[candidate] {
            for (i, &test) in fold.tests.iter().enumerate() {
                for (k, &row) in fold.columns.rows.iter().enumerate() {
                    map[(test, row)] = fold.columns.columns[(i, k)];
                }
                map[(test, test)] = -1.0;
            }
        }
        map
    }

    /// The sum of squared errors of a candidate from its errors, with the noise and the clip of the task.
    pub fn sum(&self, candidate: usize, errors: &DVector<f64>) -> f64 {
        let folds = self.candidates[candidate].iter().map(|fold| {
            let errors: Vec<f64> = fold.tests.iter().map(|&test| errors[test]).collect();
            fold.squares(&errors, self.noise, self.clip)
        });
        folds.sum()
    }

    /// The columns of a candidate's folds.
    pub fn columns(&self, candidate: usize) -> impl Iterator<Item = &FoldColumns> {
        self.candidates[candidate].iter().map(|fold| &fold.columns)
    }
}
