//! Values computed once and shared by all jobs of a run.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use nalgebra::DMatrix;

use super::model::CentresKey;
use super::posterior::{NoiseCalibration, NoiseCalibrationKey};
use super::site_sums::EllipsoidKey;
use dpgp_accounting::AccountingError;
use dpgp_gp::kernel::BoxKernel;
use dpgp_linalg::LinalgError;
use dpgp_mechanisms::DesignProblem;
use dpgp_mechanisms::{MomentsDesign, NoiseEllipsoid};
use dpgp_noise::PrivacyError;

/// Memo that replicates, blocks, folds and threads share, because each depends on its question alone. A run owns one.
#[derive(Debug, Default)]
pub struct RunCache {
    /// The answers of accountants, which take seconds.
    pub(super) prices: Memo<NoiseCalibrationKey, Result<NoiseCalibration, AccountingError>>,
    /// Centres of k-means.
    pub(super) centres: Memo<CentresKey, DMatrix<f64>>,
    /// Designs of releases of moments.
    pub(super) designs: Memo<DesignProblem, Result<Arc<MomentsDesign>, PrivacyError>>,
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

#[cfg(test)]
mod tests {
    use super::*;

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
