//! Gaussian noise on predictions that are linear in the targets, where inputs are public.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};

use crate::{Mechanism, PrivacySetting};
use dpgp_accounting::{Calibration, CertifiedMechanism, ReleaseKind};
use dpgp_cloaking::CloakingNoise;
use dpgp_gp::kernel::Kernel;
use dpgp_gp::{PredictionMap, Representer, TargetSumCovariances};
use dpgp_linalg::LinalgError;
use dpgp_noise::PrivacyError;
use dpgp_spec::setting::{CheckResult, SettingError};

/// A mechanism that covers predictions `C y` of targets y: a change of one target moves them along a column of C, which is public.
pub trait LinearMechanism: Mechanism {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`SettingError`] of the first value that is wrong.
    fn check(&self) -> CheckResult {
        Ok(())
    }

    /// Whether a design is for one size of the noise, and its predictions are the best ones given what is released.
    fn designs_for_one_noise_scale(&self) -> bool {
        false
    }

    /// Whether the mean is released as a function, at all inputs together.
    fn releases_function(&self) -> bool {
        false
    }

    /// How many matrices with a row and a column for each training row a design holds, beside those of the model.
    fn training_square_matrix_count(&self) -> f64 {
        0.0
    }

    /// The noise for the predictions of a model, at multiplier 1 and change 1; `scale` is the standard deviation that it will be
    /// multiplied by, in units of the model.
    ///
    /// Obligation: [`LinearNoise::true_to_assumed_sensitivity_ratio`] is the true sensitivity of what is released over the one that the noise has, by the matrices
    /// that are used.
    ///
    /// # Errors
    /// [`PrivacyError`] if there is no such noise, or a factorisation fails.
    fn design_noise(&self, fit: &dyn LinearFit, scale: f64) -> Result<Box<dyn LinearNoise>, PrivacyError>;
}

/// A model that is fitted to public training inputs, at test inputs.
pub trait LinearFit {
    /// From targets at the training inputs to predictions at the test inputs (t x k, a column for each distinct training input).
    fn linear_map(&self) -> &PredictionMap;

    /// The test inputs (t x d).
    fn test_inputs(&self) -> &DMatrix<f64>;

    /// The covariance of the process.
    fn kernel(&self) -> &dyn Kernel;

    /// The mean as a function of the inputs.
    ///
    /// # Errors
    /// [`LinalgError`] if a factorisation fails.
    fn mean_representer(&self) -> Result<Representer, LinalgError>;

    /// The joint prior of the latent values at the test inputs and of the sums of targets that the map takes.
    ///
    /// # Errors
    /// [`LinalgError`] if a factorisation fails.
    fn prior_moments(&self) -> Result<TargetSumCovariances, LinalgError>;

    /// Public weights of the test inputs, where not all count alike.
    fn test_weights(&self) -> Option<&[f64]>;
}

/// Noise for predictions at t test inputs, at multiplier 1 and change 1.
pub trait LinearNoise: Send + Sync {
    /// Turns standard normal draws into the noise (t x r).
    fn noise_map(&self) -> DMatrix<f64>;

    /// The true sensitivity over the one that the noise is scaled by: more than 1 is too little noise.
    fn true_to_assumed_sensitivity_ratio(&self) -> f64;

    /// What independent noise is added to, before [`LinearNoise::noise_map`] maps both (r x k): the columns of `plain`, whitened.
    fn whitened_columns(&self, plain: &PredictionMap) -> DMatrix<f64>;

    /// What is released without its noise: from sums over equal inputs to predictions (t x k). `plain` where the noise covers all of it.
    fn released_columns(&self, plain: &PredictionMap) -> DMatrix<f64> {
        plain.distinct_columns().clone()
    }

    /// The variances of the latent values given what is released (squared units of the model), for noise that was designed for
    /// one scale.
    fn latent_variances(&self) -> Option<Vec<f64>> {
        None
    }

    /// The sensitivity of a function at change 1, in its Hilbert space.
    fn function_sensitivity(&self) -> Option<f64> {
        None
    }

    /// Its distance from the least noise, where a certificate of optimality says it.
    fn optimality_gap(&self) -> Option<f64> {
        None
    }

    /// The release, in the words of certificates.
    fn release_kind(&self) -> ReleaseKind {
        ReleaseKind::Predictions
    }

    /// How certificates name the mechanism.
    fn certified_mechanism(&self) -> fn(Calibration) -> CertifiedMechanism;

    /// The very matrices that noise is drawn with, for an audit.
    fn audited_mechanism(&self) -> AuditedLinearMechanism;
}

/// One Gaussian release `q = B y + scale L xi`: the very matrices that were used.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearReleaseMatrices {
    /// `B` (r x k), a column for each distinct way in which a target enters.
    pub columns: DMatrix<f64>,
    /// The lower triangular `L` (r x r).
    pub factor: DMatrix<f64>,
}

impl LinearReleaseMatrices {
    /// The release of a cloak.
    pub fn from_cloak(cloak: &CloakingNoise) -> Self {
        Self { columns: cloak.released_columns().clone(), factor: cloak.noise_factor().clone() }
    }
}

/// Random draws of the noise on predictions.
#[derive(Debug, Clone)]
pub enum AuditedLinearMechanism {
    /// A release of finitely many numbers.
    Numbers(LinearReleaseMatrices),
    /// A mean function and a sample of its process.
    Function {
        /// The weights A of the mean `sum_i (A y)_i k(., b_i)` (m x n), and the covariance of the points b (m x m).
        mean: Arc<(DMatrix<f64>, DMatrix<f64>)>,
        /// Factor of the process.
        bound: f64,
    },
}

/// The mechanism of a task that releases predictions of a model.
///
/// # Errors
/// [`WrongMechanism`](dpgp_spec::setting::SpecProblem::WrongMechanism) for a mechanism that covers no predictions, or what is wrong with its settings.
pub fn require_linear_mechanism(privacy: &PrivacySetting) -> Result<&dyn LinearMechanism, SettingError> {
    let mechanism = privacy.mechanism.as_linear().ok_or_else(|| privacy.wrong_mechanism_error("cloaking"))?;
    privacy.check_target_change(privacy.mechanism.spec_keyword())?;
    mechanism.check()?;
    Ok(mechanism)
}

/// The standard deviations of noise at multiplier 1, by the rows of its map.
pub fn noise_standard_deviations(map: &DMatrix<f64>) -> DVector<f64> {
    DVector::from_fn(map.nrows(), |row, _| row_norm(map, row))
}

/// The Euclidean norm of a row, also of one whose squares are too small for a double: far from all data the noise is tiny, and
/// must not be reported as zero.
fn row_norm(map: &DMatrix<f64>, row: usize) -> f64 {
    let row = map.row(row);
    let largest = row.amax();
    // The square root of the least normal double: above it no square that counts is rounded away.
    if largest > f64::MIN_POSITIVE.sqrt() / f64::EPSILON || largest == 0.0 {
        return row.norm();
    }
    largest * (row / largest).norm()
}
