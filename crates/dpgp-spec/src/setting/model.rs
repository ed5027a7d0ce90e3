//! Model settings: the Gaussian process, its inducing inputs, and posteriors from noisy sums.

use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::{CheckResult, check_dimension, check_grid, check_points, check_range, fail};
use super::{RangeSetting, SpecProblem};
use dpgp_gp::kernel::{Kernel, KernelError, KernelKeyError, KernelSetting};
use dpgp_gp::lengthscale_averaged_kernel;
use dpgp_gp::variational::{NoiseCorrection, Regularisation};
use dpgp_number::{Count, NonNegative, Positive};

/// A Gaussian process with Gaussian noise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelSetting {
    /// The covariance function.
    pub kernel: KernelSetting,
    /// Variance of the Gaussian likelihood, in squared units of the normalised target; for regression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_variance: Option<Positive>,
    /// Whether predictions are averaged over lengthscales, variances and noise variances around these (from a quarter to four
    /// times), weighted by the released values, which costs no budget. The noise is then designed for the mean of these
    /// kernels. For cloaking with objective = "risk".
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub averaged: bool,
    /// A sparse approximation; without it, inference is exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sparse: Option<SparseSetting>,
}

/// A sparse approximation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SparseSetting {
    /// Fully independent training conditional; for regression.
    Fitc {
        /// Where the inducing inputs lie.
        inducing: InducingSetting,
    },
    /// Subset of regressors; for classification.
    Sor {
        /// Where the inducing inputs lie.
        inducing: InducingSetting,
        /// Added to the diagonal of the covariance of the inducing inputs.
        #[serde(default = "no_jitter")]
        jitter: NonNegative,
    },
}

impl ModelSetting {
    /// The prior covariance, for training inputs (n x d).
    pub fn covariance(&self, inputs: &DMatrix<f64>) -> Box<dyn Kernel> {
        let averaged = self.averaged.then(|| lengthscale_averaged_kernel(&self.kernel, inputs.ncols())).flatten();
        averaged.unwrap_or_else(|| self.kernel.covariance(inputs))
    }

    /// Checks the numbers, for data with this number of inputs.
    pub(super) fn check(&self, inputs: usize) -> CheckResult {
        self.kernel_fits(inputs)?;
        match &self.sparse {
            None => Ok(()),
            Some(SparseSetting::Fitc { inducing }) => inducing.check("model.sparse.fitc", inputs),
            Some(SparseSetting::Sor { inducing, .. }) => inducing.check("model.sparse.sor", inputs),
        }
    }

    /// Fails unless the kernel fits this number of inputs.
    fn kernel_fits(&self, inputs: usize) -> CheckResult {
        let Err(KernelKeyError { key, reason }) = self.kernel.check_input_count(inputs) else {
            return Ok(());
        };
        let path = format!("model.kernel.{key}");
        match reason {
            KernelError::Empty => fail(&path, SpecProblem::Empty),
            KernelError::Dimension(found) => check_dimension(&path, inputs, found),
            KernelError::Places => fail(
                &path,
                SpecProblem::Shape(format!(
                    "must be two different input numbers, each less than \
                 {inputs}"
                )),
            ),
        }
    }

    /// Fails unless it is the model of a regression: it has noise, and is exact or by FITC.
    ///
    /// # Errors
    /// [`super::SettingError`] at the model.
    pub fn check_regression(&self) -> CheckResult {
        self.check_noise_variance("regression")?;
        match self.sparse {
            Some(SparseSetting::Sor { .. }) => {
                fail("model.sparse", SpecProblem::Shape("regression needs sparse.fitc".to_owned()))
            }
            Some(SparseSetting::Fitc { .. }) | None => Ok(()),
        }
    }

    /// Fails unless it is the model of a classifier: exact or a subset of regressors.
    ///
    /// # Errors
    /// [`super::SettingError`] at the model.
    pub fn check_classifier(&self) -> CheckResult {
        match self.sparse {
            Some(SparseSetting::Fitc { .. }) => {
                fail("model.sparse", SpecProblem::Shape("classification needs sparse.sor".to_owned()))
            }
            Some(SparseSetting::Sor { .. }) | None => Ok(()),
        }
    }

    /// Fails unless the noise variance is given, which `by` needs.
    ///
    /// # Errors
    /// [`SpecProblem::MissingKey`].
    pub fn check_noise_variance(&self, by: &'static str) -> CheckResult {
        let missing = SpecProblem::MissingKey { key: "noise_variance", by };
        if self.noise_variance.is_some() { Ok(()) } else { fail("model", missing) }
    }

    /// Variance and lengthscale of an exponentiated quadratic kernel; none for another kernel.
    pub fn exponentiated_quadratic(&self) -> Option<(f64, f64)> {
        match &self.kernel {
            KernelSetting::Eq(eq) => Some((eq.variance.get(), eq.lengthscale.get())),
            _ => None,
        }
    }

    /// Variance and lengthscales of an exponentiated quadratic kernel over this number of inputs; none for another kernel.
    pub fn variance_and_lengthscales(&self, inputs: usize) -> Option<(f64, Vec<f64>)> {
        match &self.kernel {
            KernelSetting::Eq(eq) => Some((eq.variance.get(), vec![eq.lengthscale.get(); inputs])),
            KernelSetting::EqArd(eq) => Some((eq.variance.get(), eq.lengthscales.iter().map(|l| l.get()).collect())),
            _ => None,
        }
    }
}

fn no_jitter() -> NonNegative {
    NonNegative::ZERO
}

/// Where inducing inputs lie.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum InducingSetting {
    /// At the k-means centres of the training inputs.
    Kmeans {
        /// Number of centres.
        centres: Count,
        /// Restarts.
        #[serde(default = "default_restarts")]
        restarts: Count,
    },
    /// At the given points, one list of coordinates each.
    Points(Vec<Vec<f64>>),
    /// At the points of a grid: the product of these ranges, one per input.
    Grid(Vec<RangeSetting>),
}

fn default_restarts() -> Count {
    Count::literal::<10>()
}

impl InducingSetting {
    /// The most inducing inputs that there can be.
    pub fn max_inducing_count(&self) -> usize {
        match self {
            Self::Kmeans { centres, .. } => centres.get(),
            Self::Points(points) => points.len(),
            Self::Grid(ranges) => ranges.iter().map(|range| range.points).product(),
        }
    }

    /// Checks the numbers, for data with this number of inputs; `path` is that of the sparse approximation.
    pub(super) fn check(&self, path: &str, inputs: usize) -> CheckResult {
        let path = format!("{path}.inducing");
        match self {
            Self::Kmeans { .. } => Ok(()),
            Self::Grid(ranges) => check_grid(&format!("{path}.grid"), ranges, inputs),
            Self::Points(all) if all.is_empty() => fail(&format!("{path}.points"), SpecProblem::Empty),
            Self::Points(all) => check_points(&format!("{path}.points"), all, inputs),
        }
    }
}

/// The settings of a regularised inverse.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoiseAwareInverseSetting {
    /// What is added to the diagonal.
    pub regularisation: Regularisation,
    /// What is added to the covariance.
    pub correction: NoiseCorrection,
}

impl NoiseAwareInverseSetting {
    /// Checks the numbers.
    ///
    /// # Errors
    /// [`super::SpecProblem::OutOfRange`].
    pub fn check(&self, path: &str) -> CheckResult {
        let (name, rho) = match self.regularisation {
            Regularisation::Printed { rho } => ("printed", rho),
            Regularisation::Inside { rho } => ("inside", rho),
            Regularisation::Tight => return Ok(()),
        };
        check_range(&format!("{path}.regularisation.{name}.rho"), rho > 0.0 && rho < 1.0, "between 0 and 1", rho)
    }
}
