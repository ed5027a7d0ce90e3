//! Cross-validated errors of each candidate, fold by fold, and the mechanism of a choice for its audit.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};

use super::judged::{CandidateScorer, clipped_target_range, expected_clipped_square};
use crate::cross_validation::{FoldRows, rows_outside_fold, split_into_test_folds};
use crate::job::Memo;
use crate::noise::cloaking_options;
use crate::summary::standard_normal_vector;
use crate::{
    AuditedMechanism, GpCandidate, ModelCandidate, NoiseScaleRule, ReplicateJob, SelectionTask, TargetChangeGuarantee,
    TaskError,
};
use dpgp_cloaking::{CloakingNoise, design_randomised_cloaking_noise};
use dpgp_gp::kernel::ExponentiatedQuadratic;
use dpgp_gp::{PredictionMap, exact_prediction_map, polynomial_prediction_map};
use dpgp_linalg::largest_or_nan;
use dpgp_mechanisms::FoldPredictionMap;

/// One fold of one candidate.
#[derive(Debug, Clone)]
pub(super) struct CandidateFold {
    pub columns: FoldPredictionMap,
    /// The test rows.
    pub tests: Vec<usize>,
    /// Prediction minus target, on the scale of the model.
    pub errors: Vec<f64>,
    /// The noise at multiplier 1 and change 1.
    pub noise: ErrorNoise,
    /// The largest squared norm of a column.
    pub longest: f64,
    pub gap: Option<f64>,
}

/// How the noise enters the errors.
#[derive(Debug, Clone)]
pub(super) enum ErrorNoise {
    /// By its standard deviations: the expectation is exact.
    Deviations(Vec<f64>),
    /// By sampled values, one list per draw.
    Draws(Vec<Vec<f64>>),
}

impl CandidateFold {
    /// The sum of squares of some errors with the noise times `noise`, clipped to `clip`: expected, or the mean over draws.
    pub fn sum_noisy_clipped_squares(&self, errors: &[f64], noise: f64, clip: f64) -> f64 {
        match &self.noise {
            ErrorNoise::Deviations(sds) => {
                errors.iter().zip(sds).map(|(e, sd)| expected_clipped_square(*e, noise * sd, clip)).sum()
            }
            ErrorNoise::Draws(draws) => {
                let of_draws = draws.iter().map(|draw| {
                    let noisy = errors.iter().zip(draw).map(|(e, z)| e + noise * z);
                    noisy.map(|e| e.clamp(-clip, clip).powi(2)).sum::<f64>()
                });
                of_draws.sum::<f64>() / draws.len() as f64
            }
        }
    }
}

/// The rows that candidates are compared on, with targets on the scale of the model.
pub(super) struct CandidateComparison<'a> {
    pub job: &'a ReplicateJob<'a>,
    pub task: &'a SelectionTask,
    pub inputs: &'a DMatrix<f64>,
    pub targets: &'a [f64],
}

impl CandidateComparison<'_> {
    /// The folds of each candidate of the task.
    pub fn evaluate_candidates(&self) -> Result<Vec<Vec<CandidateFold>>, TaskError> {
        let splits = split_into_test_folds(self.targets.len(), self.task.split, self.job.streams);
        let candidates = self.task.all_candidates();
        let of_each = candidates.iter().map(|candidate| {
            let folds = splits.iter().enumerate();
            folds.map(|(number, test)| self.evaluate_fold(candidate, number, test)).collect()
        });
        of_each.collect()
    }

    fn evaluate_fold(
        &self,
        candidate: &ModelCandidate,
        number: usize,
        test: &[usize],
    ) -> Result<CandidateFold, TaskError> {
        let training = rows_outside_fold(self.targets.len(), test);
        let map = self.prediction_map(candidate, &training, test)?;
        let targets: Vec<f64> = training.iter().map(|&row| self.targets[row]).collect();
        let predictions = map.predict(&targets);
        let name = candidate.name();
        let mut starts = self.job.streams.block_stream(&format!("start {name} fold {number}"));
        let options = cloaking_options(&self.job.setting.privacy.mechanism)?;
        let cloak =
            design_randomised_cloaking_noise(map.distinct_columns(), &map.targets_per_column(), &options, &mut starts)?;
        let purpose = format!("noise {name} fold {number}");
        Ok(CandidateFold {
            errors: test.iter().zip(predictions.iter()).map(|(&row, p)| p - self.targets[row]).collect(),
            tests: test.to_vec(),
            noise: self.error_noise(&cloak, &purpose),
            longest: largest_or_nan(map.distinct_columns().column_iter().map(|column| column.norm_squared())),
            columns: FoldPredictionMap { columns: map.to_full_matrix(), rows: training },
            gap: cloak.gap,
        })
    }

    fn prediction_map(
        &self,
        candidate: &ModelCandidate,
        training: &[usize],
        test: &[usize],
    ) -> Result<PredictionMap, TaskError> {
        let (training, test) = (self.inputs.select_rows(training), self.inputs.select_rows(test));
        Ok(match candidate {
            ModelCandidate::Polynomial(degree) => polynomial_prediction_map(*degree, &training, &test)?,
            ModelCandidate::Gp(GpCandidate { lengthscale, noise_variance, variance }) => {
                let kernel = ExponentiatedQuadratic::isotropic(*variance, *lengthscale);
                exact_prediction_map(&kernel, *noise_variance, &training, &test)?
            }
        })
    }

    fn error_noise(&self, cloak: &CloakingNoise, purpose: &str) -> ErrorNoise {
        let scale = match self.task.noise_scale {
            NoiseScaleRule::Delta => 1.0,
            // The noise of a cloak is scaled by Delta already.
            NoiseScaleRule::DeltaSquared => cloak.widened,
        };
        let Some(draws) = self.task.draws else {
            return ErrorNoise::Deviations(cloak.standard_deviations().iter().map(|sd| scale * sd).collect());
        };
        let mut stream = self.job.streams.block_stream(purpose);
        let map = cloak.noise_map() * scale;
        let noise = (0..draws.get()).map(|_| &map * standard_normal_vector(map.ncols(), &mut stream));
        ErrorNoise::Draws(noise.map(|noise| noise.iter().copied().collect()).collect())
    }
}

/// Gaussian processes of several lengthscales to choose from, by cross-validation on some training rows.
pub(crate) struct LengthscaleCandidates {
    task: SelectionTask,
    candidates: Vec<Vec<CandidateFold>>,
    rows: usize,
    scale: f64,
    range: Option<(f64, f64)>,
    chances: Memo<ChoiceAndReleaseBudgets, Arc<Vec<f64>>>,
}

/// Budget of a choice, and the rest for the release after it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ChoiceAndReleaseBudgets {
    rest: TargetChangeGuarantee,
    epsilon: f64,
}

impl LengthscaleCandidates {
    /// Among the candidates of a task, on the training rows of a fold, whose targets are in units of `scale`.
    pub fn new(job: &ReplicateJob<'_>, task: SelectionTask, rows: &FoldRows, scale: f64) -> Result<Self, TaskError> {
        let compared = CandidateComparison { job, task: &task, inputs: &rows.inputs, targets: &rows.targets };
        let candidates = compared.evaluate_candidates()?;
        let range = clipped_target_range(&job.setting.normalise, scale);
        Ok(Self { candidates, rows: rows.targets.len(), task, scale, range, chances: Memo::default() })
    }

    fn candidate_scorer(&self) -> CandidateScorer<'_> {
        let Self { task, candidates, rows, scale, range, .. } = self;
        CandidateScorer { task, candidates, rows: *rows, scale: *scale, range: *range }
    }

    /// The probability with which each is chosen with a budget, where the release after it has the guarantee of `rest`.
    pub fn choice_probabilities(&self, rest: TargetChangeGuarantee, epsilon: f64) -> Arc<Vec<f64>> {
        let budget = ChoiceAndReleaseBudgets { rest, epsilon };
        self.chances
            .get_or_compute(&budget, || Arc::new(self.candidate_scorer().score_candidates(rest, epsilon).probability))
    }

    /// Evidence of the choice: its candidates.
    pub fn audited_mechanism(&self, rest: TargetChangeGuarantee, epsilon: f64) -> AuditedMechanism {
        let judge = self.candidate_scorer();
        judge.audited_mechanism(rest, epsilon, &judge.score_candidates(rest, epsilon))
    }
}

/// Errors that the exponential mechanism chooses by, as a function of the targets.
#[derive(Debug, Clone)]
pub struct SelectionErrorFunction {
    /// The folds of each candidate that is allowed.
    pub(super) candidates: Vec<Vec<CandidateFold>>,
    /// The number of targets.
    pub rows: usize,
    /// Factor of the noise of each prediction.
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

impl SelectionErrorFunction {
    /// The number of candidates.
    pub fn candidate_count(&self) -> usize {
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
    pub fn sum_noisy_clipped_squared_errors(&self, candidate: usize, errors: &DVector<f64>) -> f64 {
        let folds = self.candidates[candidate].iter().map(|fold| {
            let errors: Vec<f64> = fold.tests.iter().map(|&test| errors[test]).collect();
            fold.sum_noisy_clipped_squares(&errors, self.noise, self.clip)
        });
        folds.sum()
    }

    /// The columns of a candidate's folds.
    pub fn fold_prediction_maps(&self, candidate: usize) -> impl Iterator<Item = &FoldPredictionMap> {
        self.candidates[candidate].iter().map(|fold| &fold.columns)
    }
}
