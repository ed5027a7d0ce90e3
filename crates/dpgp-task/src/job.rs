//! The task trait, the jobs that tasks measure, the values that all jobs of a run share, and the number of rows
//! per fitted model.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::ThreadId;

use nalgebra::DMatrix;

use super::measure::GeneratedSampleKey;
use super::model::{InducingInputPlacer, KMeansCentresKey};
use super::posterior::{NoiseCalibration, NoiseCalibrationKey};
use super::regression::FoldMapsKey;
use super::site_sums::EllipsoidKey;
use super::{CellMeasurements, RandomStreams, Sample, TaskError};
use dpgp_accounting::AccountingError;
use dpgp_gp::PredictionMap;
use dpgp_gp::kernel::BoxKernel;
use dpgp_linalg::{LinalgError, for_each_piece_in_parallel};
use dpgp_mechanisms::{
    CellSections, FourierDesignProblem, FourierMomentsDesign, MechanismSetting, NoiseEllipsoid, PrivacySetting,
    SumsSetting,
};
use dpgp_noise::PrivacyError;
use dpgp_spec::setting::{CheckResult, ModelSetting, SplitSetting};

/// A task that can measure the cells of a replicate.
pub trait MeasurableTask: TaskRequirements {
    /// Measures one replicate of one block: the model and the noise design are computed once, then every cell of the
    /// job is answered, in order.
    ///
    /// # Errors
    /// [`TaskError`] if a factorisation fails, a release is refused or a number overflows.
    fn measure_cells(&self, job: &ReplicateJob<'_>) -> Result<Vec<CellMeasurements>, TaskError>;
}

/// One replicate of one block, and the cells of it that are asked for.
#[derive(Debug, Clone, Copy)]
pub struct ReplicateJob<'a> {
    /// The setting that all cells of the block share; their privacy sections differ.
    pub setting: &'a CellSections,
    /// The privacy section of each cell.
    pub cells: &'a [&'a PrivacySetting],
    /// The rows.
    pub sample: &'a Sample,
    /// The random streams of the replicate.
    pub streams: &'a RandomStreams,
    /// Values computed already, for all jobs of a run.
    pub known: &'a RunCache,
    /// Whether each claim keeps the mechanism that drew its noise, for an audit.
    pub audited: bool,
}

impl<'a> ReplicateJob<'a> {
    /// Measures each cell by itself: in parallel, if the job is all that its threads have to do. Stops at a failure, and reports the
    /// first one in the order of the cells.
    pub(super) fn measure_each_cell(
        &self,
        measure: impl Fn(&PrivacySetting) -> Result<CellMeasurements, TaskError> + Sync,
    ) -> Result<Vec<CellMeasurements>, TaskError> {
        let mut measured: Vec<Option<Result<CellMeasurements, TaskError>>> = self.cells.iter().map(|_| None).collect();
        let first_failed = AtomicUsize::new(usize::MAX);
        for_each_piece_in_parallel(measured.chunks_mut(1), |place, cell| {
            if place < first_failed.load(Ordering::Relaxed) {
                let outcome = measure(self.cells[place]);
                if outcome.is_err() {
                    first_failed.fetch_min(place, Ordering::Relaxed);
                }
                cell[0] = Some(outcome);
            }
        });
        measured.into_iter().flatten().collect()
    }

    /// Whether a cell has noise.
    pub(super) fn any_cell_has_noise(&self) -> bool {
        self.cells.iter().any(|cell| cell.epsilon.get().is_finite())
    }

    /// Places the inducing inputs of a training set.
    pub(super) fn inducing_placement<'b>(&'b self, purpose: &'b str) -> InducingInputPlacer<'b> {
        InducingInputPlacer { streams: self.streams, known: self.known, purpose }
    }

    /// The Gaussian process, for a task that cannot do without one.
    ///
    /// # Errors
    /// [`TaskError::Missing`], which the checks of a spec rule out.
    pub(super) fn model(&self) -> Result<&'a ModelSetting, TaskError> {
        self.setting.model.as_deref().ok_or(TaskError::Missing { needed: "a model" })
    }

    /// Variance and lengthscale of the kernel, for a task that knows no other than the exponentiated quadratic.
    ///
    /// # Errors
    /// [`TaskError::Missing`], which the checks of a spec rule out.
    pub(super) fn eq_kernel_parameters(&self) -> Result<(f64, f64), TaskError> {
        self.model()?.eq_kernel_parameters().ok_or(TaskError::Missing { needed: "the `eq` kernel" })
    }

    /// The noise on sums, for a task that knows no other.
    ///
    /// # Errors
    /// [`TaskError::Missing`], which the checks of a spec rule out.
    pub(super) fn sums(&self) -> Result<&'a SumsSetting, TaskError> {
        self.setting.privacy.mechanism.downcast().ok_or(TaskError::Missing { needed: "mechanism.sums" })
    }
}

/// The setting of a task: what it needs of the other sections, and which metrics it has.
pub trait TaskRequirements {
    /// Checks the values of the section and what the task needs of the others, which have been checked.
    ///
    /// # Errors
    /// [`dpgp_spec::setting::SettingError`] of the first value that is wrong.
    fn check(&self, setting: &CellSections) -> CheckResult;

    /// The metrics that it measures, in the order of the table; with several replicates also their spread between
    /// replicates.
    fn metric_names(&self, replicates: u32) -> Vec<String>;

    /// Those metrics that are compared with no printed number and by no check.
    fn uncompared_metrics(&self) -> &[String] {
        &[]
    }

    /// The name of the erratum that it computes, for a task that computes one.
    fn erratum_name(&self) -> Option<&str> {
        None
    }

    /// Whether its certificates and its noise are about all rows of one person if `data.person` identifies people. A task that
    /// returns false is refused with that key.
    fn protects_persons(&self, _mechanism: &MechanismSetting) -> bool {
        false
    }

    /// Whether it reads inputs.
    fn needs_inputs(&self) -> bool {
        true
    }

    /// Whether it counts rows where `data.target` is not given.
    fn can_count_rows(&self) -> bool {
        false
    }

    /// Whether it averages predictions over hyperparameters where `model.averaged` asks for it.
    fn averages_hyperparameters(&self) -> bool {
        false
    }

    /// Checks what depends on the number of rows that a replicate works on.
    ///
    /// # Errors
    /// [`dpgp_spec::setting::SettingError`] where there are too few.
    fn check_row_count(&self, _rows: usize) -> CheckResult {
        Ok(())
    }

    /// How many of the rows a Gaussian process with matrices of all of them is fitted to at once; none for a task without one.
    fn fit_size(&self, _rows: usize) -> Option<FitSize> {
        None
    }
}

/// Rows that a model is fitted to at once, and points that it predicts at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FitSize {
    /// Rows of one fit (n).
    pub training: usize,
    /// Points of one fit (p).
    pub points: usize,
    /// Points of all fits whose maps are kept (t).
    pub all_points: usize,
}

impl FitSize {
    /// The greatest of the fits of a cross-validation.
    pub(super) fn from_split(split: SplitSetting, rows: usize) -> Self {
        let folds = split.min_row_count().max(1);
        match split {
            SplitSetting::Tail(tested) => Self::from_test_size(rows.saturating_sub(tested), tested),
            _ => Self { training: rows - rows / folds, points: rows.div_ceil(folds), all_points: rows },
        }
    }

    /// One fit, and what it predicts.
    pub(super) fn from_test_size(training: usize, points: usize) -> Self {
        Self { training, points, all_points: points }
    }
}

/// Memo that replicates, blocks, folds and threads share, because each depends on its question alone. A run owns one.
#[derive(Debug, Default)]
pub struct RunCache {
    /// Generated rows.
    pub(super) samples: LatestAnswers<GeneratedSampleKey, Arc<Sample>>,
    /// Maps from targets to predictions, of all folds.
    pub(super) maps: LatestAnswers<FoldMapsKey, Result<Arc<Vec<PredictionMap>>, TaskError>>,
    /// The answers of accountants, which take seconds.
    pub(super) prices: Memo<NoiseCalibrationKey, Result<NoiseCalibration, AccountingError>>,
    /// Centres of k-means.
    pub(super) centres: Memo<KMeansCentresKey, DMatrix<f64>>,
    /// Designs of releases of moments.
    pub(super) designs: Memo<FourierDesignProblem, Result<Arc<FourierMomentsDesign>, PrivacyError>>,
    /// The matrices of the kernels of a grid among the sites of the box.
    pub(super) kernels: Memo<BoxKernel, Arc<Vec<DMatrix<f64>>>>,
    /// Shapes of noise on sums.
    pub(super) ellipsoids: Memo<EllipsoidKey, Result<Arc<NoiseEllipsoid>, LinalgError>>,
}

/// The answers to questions, each computed once.
#[derive(Debug)]
pub(super) struct Memo<Q, A> {
    /// A list, since there are few questions and they have no order.
    known: Mutex<Vec<(Q, Arc<OnceLock<A>>)>>,
}

impl<Q, A> Default for Memo<Q, A> {
    fn default() -> Self {
        Self { known: Mutex::default() }
    }
}

impl<Q: Clone + PartialEq, A: Clone> Memo<Q, A> {
    /// The known answer, or that of `compute`, which has to depend on the question alone.
    pub fn get_or_compute(&self, question: &Q, compute: impl FnOnce() -> A) -> A {
        // The lock is not held while an answer is computed: other questions do not wait for it.
        self.find_or_insert_slot(question).get_or_init(compute).clone()
    }

    fn find_or_insert_slot(&self, question: &Q) -> Arc<OnceLock<A>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, answer)) = known.iter().find(|(asked, _)| asked == question) {
            return Arc::clone(answer);
        }
        let answer = Arc::default();
        known.push((question.clone(), Arc::clone(&answer)));
        answer
    }
}

/// The latest answer of each thread: these answers are too large to keep all of them.
#[derive(Debug)]
pub(super) struct LatestAnswers<Q, A> {
    latest: Mutex<Vec<(ThreadId, Q, A)>>,
}

impl<Q, A> Default for LatestAnswers<Q, A> {
    fn default() -> Self {
        Self { latest: Mutex::default() }
    }
}

impl<Q: Clone + PartialEq, A: Clone> LatestAnswers<Q, A> {
    /// The answer, if it is the latest of any thread, or that of `compute`, which has to depend on the question alone.
    pub fn get_or_compute(&self, question: &Q, compute: impl FnOnce() -> A) -> A {
        let thread = std::thread::current().id();
        {
            let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
            let known = latest.iter().find(|(_, asked, _)| asked == question).map(|(_, _, answer)| answer.clone());
            // This frees its memory before the next answer needs as much.
            latest.retain(|(other, ..)| *other != thread);
            if let Some(answer) = known {
                latest.push((thread, question.clone(), answer.clone()));
                return answer;
            }
        }
        let answer = compute();
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        latest.push((thread, question.clone(), answer.clone()));
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_latest_answer_of_a_thread_is_kept() {
        let (answers, mut computed) = (LatestAnswers::default(), Vec::new());
        for question in [3, 3, 5, 5, 3] {
            let answer = answers.get_or_compute(&question, || {
                computed.push(question);
                question * question
            });
            assert_eq!(answer, question * question);
        }
        assert_eq!(computed, [3, 5, 3]);
        let other = std::thread::scope(|scope| scope.spawn(|| answers.get_or_compute(&3, || 0)).join());
        assert_eq!(other.unwrap(), 9, "another thread's latest answer serves too");
    }

    #[test]
    fn a_question_is_answered_once() {
        let answers = Memo::default();
        let computed = Mutex::new(0);
        let mut found = Vec::new();
        for question in [3, 5, 3, 5, 3] {
            found.push(answers.get_or_compute(&question, || {
                *computed.lock().unwrap() += 1;
                question * question
            }));
        }
        assert_eq!((found, *computed.lock().unwrap()), (vec![9, 25, 9, 25, 9], 2));
    }
}
