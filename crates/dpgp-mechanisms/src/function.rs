//! Private functions: a sample of the Gaussian process, scaled by a sensitivity in its Hilbert space.

use std::sync::Arc;

use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AuditedLinearMechanism, LinearFit, LinearMechanism, LinearNoise, Mechanism};
use dpgp_accounting::{Calibration, CertifiedMechanism, ReleaseKind};
use dpgp_gp::kernel::Kernel;
use dpgp_gp::{PredictionMap, Representer};
use dpgp_linalg::{Cholesky, LinalgError, largest_or_nan};
use dpgp_noise::PrivacyError;
use dpgp_spec::setting::PersonRowChoiceBasis;

/// A sample of the model's process, added to its mean function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FunctionNoiseSetting {
    /// The sensitivity by which the sample is scaled.
    pub sensitivity: FunctionSensitivity,
    /// Whether predictions are the best linear predictions given the released values, as for `cloaking`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denoise: Option<bool>,
}

impl Mechanism for FunctionNoiseSetting {
    fn as_linear(&self) -> Option<&dyn LinearMechanism> {
        Some(self)
    }

    fn person_row_choice_basis(&self) -> PersonRowChoiceBasis {
        PersonRowChoiceBasis::Inputs
    }

    fn denoise_setting(&self) -> Option<bool> {
        self.denoise
    }
}

/// The furthest that a mean `f = sum_i w_i k(., b_i)` with `w = A y` moves, in the RKHS norm, when one target moves by 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FunctionSensitivity {
    /// The largest absolute row sum of A (its infinity norm), as printed in Smith et al. 2016. One target enters through a
    /// column, not a row: unless A is symmetric, this is **not a bound**.
    Published,
    /// The largest absolute column sum of A: a bound for kernels of at most 1, by the triangle inequality.
    Column,
    /// The largest sum of entries of the same sign in a row, as in the authors' code. This is **not a bound**.
    SameSign,
    /// `sqrt(max_j [A' K A]_jj)`: the exact value, not only a bound.
    Exact,
}

impl FunctionSensitivity {
    /// The sensitivity of a mean with weights `A` (m x n), whose norms `sqrt([A' K A]_jj)` are given (n values).
    ///
    /// Obligation: target j enters through column j alone, so a change by 1 adds `sum_i A_ij k(., b_i)`, whose squared norm
    /// is `[A' K A]_jj` by the reproducing property; the triangle inequality bounds it by `sum_i |A_ij| sqrt(k(b_i, b_i))`.
    ///
    /// ```
    /// use dpgp_mechanisms::FunctionSensitivity::{Column, Published};
    /// use nalgebra::DMatrix;
    /// // One target with weight 1 on two points: it moves the function twice as far as a row sum says.
    /// let weights = DMatrix::from_column_slice(2, 1, &[1.0, 1.0]);
    /// let norms = [2f64.sqrt()];
    /// assert_eq!((Published.sensitivity(&weights, &norms), Column.sensitivity(&weights, &norms)), (1.0, 2.0));
    /// ```
    pub fn sensitivity(self, weights: &DMatrix<f64>, norms: &[f64]) -> f64 {
        match self {
            Self::Published => largest_or_nan(weights.row_iter().map(|row| row.lp_norm(1))),
            Self::Column => largest_or_nan(weights.column_iter().map(|column| column.lp_norm(1))),
            Self::SameSign => {
                let above = weights.row_iter().map(|row| row.iter().map(|v| v.max(0.0)).sum());
                let below = weights.row_iter().map(|row| row.iter().map(|v| (-v).max(0.0)).sum());
                largest_or_nan(above).max(largest_or_nan(below))
            }
            Self::Exact => largest_or_nan(norms.iter().copied()),
        }
    }
}

/// Samples of a Gaussian process with the kernel of the mean, at test inputs (t).
///
/// Obligation: `f + s G` with G such a process and `s = sigma Delta`, where `Delta` bounds the change of f in the RKHS and
/// sigma is the noise multiplier of the Gaussian mechanism, has the privacy of that mechanism at every finite set of
/// inputs, however many are asked for: restricted to inputs with covariance K, the change v of f has `v' K^-1 v` at most the
/// squared norm of the change in the RKHS (its least-norm interpolant is that element's projection).
/// Source: Hall, Rinaldo and Wasserman 2013, Proposition 7 and Corollary 9.
#[derive(Debug, Clone)]
pub struct GaussianProcessSampler {
    factor: Cholesky,
}

impl GaussianProcessSampler {
    /// For the covariance K (t x t) of the kernel at the test inputs. Jitter only adds noise.
    ///
    /// # Errors
    /// [`LinalgError`] if K cannot be factorised.
    pub fn new(covariance: &DMatrix<f64>) -> Result<Self, LinalgError> {
        Ok(Self { factor: Cholesky::new("K_**", covariance)? })
    }

    /// The matrix (t x t) that turns standard normal draws into samples of the process.
    pub fn noise_map(&self) -> &DMatrix<f64> {
        self.factor.factor()
    }

    /// `L^-1 C` (t x k), to which independent noise is added, for the columns C of a mean at the test inputs.
    pub fn whitened(&self, columns: &DMatrix<f64>) -> DMatrix<f64> {
        self.factor.lower_solve(columns)
    }
}

impl LinearMechanism for FunctionNoiseSetting {
    fn releases_function(&self) -> bool {
        true
    }

    fn training_square_matrix_count(&self) -> f64 {
        2.0
    }

    fn design_noise(&self, fit: &dyn LinearFit, _: f64) -> Result<Box<dyn LinearNoise>, PrivacyError> {
        let noise =
            MeanFunctionNoise::new(self.sensitivity, &fit.mean_representer()?, fit.kernel(), fit.test_inputs())?;
        Ok(Box::new(noise))
    }
}

/// Noise for a released mean function: a sample of its Gaussian process, scaled by the sensitivity of the mean.
pub struct MeanFunctionNoise {
    /// Its weights, and the covariance of its basis.
    mean: Arc<(DMatrix<f64>, DMatrix<f64>)>,
    /// The sensitivity at change 1 that the noise is scaled by.
    bound: f64,
    /// The true one.
    exact: f64,
    /// At the test inputs.
    noise: GaussianProcessSampler,
}

impl MeanFunctionNoise {
    /// Samples of the process at the test inputs (t x d), scaled by a sensitivity of the mean.
    ///
    /// # Errors
    /// [`LinalgError`] if a covariance cannot be factorised.
    pub fn new(
        rule: FunctionSensitivity,
        mean: &Representer,
        kernel: &dyn Kernel,
        test: &DMatrix<f64>,
    ) -> Result<Self, LinalgError> {
        Ok(Self {
            bound: rule.sensitivity(&mean.weights, &mean.norms),
            exact: FunctionSensitivity::Exact.sensitivity(&mean.weights, &mean.norms),
            noise: GaussianProcessSampler::new(&kernel.matrix(test, test))?,
            mean: Arc::new((mean.weights.clone(), kernel.matrix(&mean.basis, &mean.basis))),
        })
    }
}

impl LinearNoise for MeanFunctionNoise {
    fn noise_map(&self) -> DMatrix<f64> {
        self.noise.noise_map() * self.bound
    }

    fn true_to_assumed_sensitivity_ratio(&self) -> f64 {
        self.exact / self.bound
    }

    fn whitened_columns(&self, plain: &PredictionMap) -> DMatrix<f64> {
        self.noise.whitened(plain.distinct_columns()) / self.bound
    }

    fn function_sensitivity(&self) -> Option<f64> {
        Some(self.bound)
    }

    fn release_kind(&self) -> ReleaseKind {
        ReleaseKind::Function
    }

    fn certified_mechanism(&self) -> fn(Calibration) -> CertifiedMechanism {
        CertifiedMechanism::Function
    }

    fn audited_mechanism(&self) -> AuditedLinearMechanism {
        AuditedLinearMechanism::Function { mean: Arc::clone(&self.mean), bound: self.bound }
    }
}
