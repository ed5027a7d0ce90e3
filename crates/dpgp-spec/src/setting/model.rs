//! Model settings: how targets are scaled for the model, the Gaussian process, its inducing inputs, and posteriors from
//! noisy sums.

use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::{CheckResult, check_bounds, check_dimension, check_grid, check_point_dimensions, check_range, fail};
use super::{RangeSetting, SpecProblem};
use dpgp_gp::kernel::{Kernel, KernelKeyError, KernelKeyErrorReason, KernelSetting};
use dpgp_gp::lengthscale_averaged_kernel;
use dpgp_gp::variational::{NoiseCorrection, Regularisation};
use dpgp_number::{Count, Finite, NonNegative, Positive};

/// A Gaussian process with Gaussian noise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelSetting {
    /// The covariance function.
    pub kernel: KernelSetting,
    /// Variance of the Gaussian likelihood, in squared units of the normalised target, for regression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_variance: Option<Positive>,
    /// Whether predictions are averaged over lengthscales, variances and noise variances from a quarter to four times the
    /// given ones, weighted by the released values. The averaging costs no budget. The noise is then designed for the
    /// mean of these kernels. Only for cloaking with `objective = "risk"`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub averaged: bool,
    /// A sparse approximation. Without one, inference is exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sparse: Option<SparseSetting>,
}

/// A sparse approximation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SparseSetting {
    /// Fully independent training conditional (FITC), for regression.
    Fitc {
        /// Where the inducing inputs lie.
        inducing: InducingSetting,
    },
    /// Subset of regressors, for classification.
    Sor {
        /// Where the inducing inputs lie.
        inducing: InducingSetting,
        /// The number added to the diagonal of the covariance of the inducing inputs.
        #[serde(default = "no_jitter")]
        jitter: NonNegative,
    },
}

impl ModelSetting {
    /// The prior covariance, for training inputs (n x d).
    pub fn prior_kernel(&self, inputs: &DMatrix<f64>) -> Box<dyn Kernel> {
        let averaged = self.averaged.then(|| lengthscale_averaged_kernel(&self.kernel, inputs.ncols())).flatten();
        averaged.unwrap_or_else(|| self.kernel.build_kernel(inputs))
    }

    /// Checks the numbers, for data with this number of inputs.
    pub(super) fn check(&self, inputs: usize) -> CheckResult {
        self.check_kernel_inputs(inputs)?;
        match &self.sparse {
            None => Ok(()),
            Some(SparseSetting::Fitc { inducing }) => inducing.check("model.sparse.fitc", inputs),
            Some(SparseSetting::Sor { inducing, .. }) => inducing.check("model.sparse.sor", inputs),
        }
    }

    /// Fails unless the kernel fits this number of inputs.
    fn check_kernel_inputs(&self, inputs: usize) -> CheckResult {
        let Err(KernelKeyError { key, reason }) = self.kernel.check_input_count(inputs) else {
            return Ok(());
        };
        let path = format!("model.kernel.{key}");
        match reason {
            KernelKeyErrorReason::Empty => fail(&path, SpecProblem::Empty),
            KernelKeyErrorReason::Dimension(found) => check_dimension(&path, inputs, found),
            KernelKeyErrorReason::Places => fail(
                &path,
                SpecProblem::Shape(format!(
                    "must be two different input numbers, each less than \
                 {inputs}"
                )),
            ),
        }
    }

    /// Fails unless the model suits regression: it has a noise variance, and is exact or uses FITC.
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

    /// Fails unless the model suits a classifier: it is exact, or a subset of regressors.
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
    pub fn eq_kernel_parameters(&self) -> Option<(f64, f64)> {
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
        /// Number of restarts.
        #[serde(default = "default_restarts")]
        restarts: Count,
    },
    /// At the given points, each a list of coordinates.
    Points(Vec<Vec<f64>>),
    /// At the points of a grid: the product of these ranges, one per input.
    Grid(Vec<RangeSetting>),
}

fn default_restarts() -> Count {
    Count::literal::<10>()
}

impl InducingSetting {
    /// The largest possible number of inducing inputs.
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
            Self::Points(all) => check_point_dimensions(&format!("{path}.points"), all, inputs),
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

/// How targets are clipped, centred and scaled before the model sees them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum NormaliseSetting {
    /// Targets are left as they are.
    #[default]
    None,
    /// By statistics of the private targets, as in the papers. This costs privacy that the guarantee does not account for.
    Private {
        /// Clip targets to the midrange plus or minus this number, in units of the target.
        #[serde(skip_serializing_if = "Option::is_none")]
        clip: Option<Positive>,
        /// The statistic that is subtracted.
        centre: PrivateCentreSetting,
        /// Whether to divide by the population standard deviation.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        scale: bool,
    },
    /// Clip to the public bounds [low, high], then subtract the mean of the clipped targets and divide by their
    /// population standard deviation. Both statistics are private. This costs privacy that the guarantee does not account
    /// for.
    Standardised {
        /// Lower bound on the targets.
        low: Finite,
        /// Upper bound on the targets.
        high: Finite,
    },
    /// By public constants: subtract the centre and divide by the scale.
    Constants {
        /// The number that is subtracted, in units of the target.
        #[serde(default = "nought", skip_serializing_if = "is_nought")]
        centre: Finite,
        /// Units of the target per unit of the normalised target.
        scale: Positive,
    },
    /// By public constants: clip to [low, high], subtract the centre and divide by the scale.
    Bounds {
        /// Lower bound on the targets.
        low: Finite,
        /// Upper bound on the targets.
        high: Finite,
        /// The mean of the prior, in units of the target, from public knowledge. The default is the middle of the bounds.
        /// Where little is released, predictions stay near this mean.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        centre: Option<Finite>,
        /// Units of the target per unit of the normalised target.
        #[serde(default = "unit", skip_serializing_if = "is_unit")]
        scale: Positive,
    },
}

/// The smallest part of the public bounds that a second clip, by a bound in units of the model, may leave: less suggests a
/// mistake in a scale.
const LEAST_KEPT: f64 = 0.1;

impl NormaliseSetting {
    /// Fails where a bound on either side of zero, in units of the model, leaves hardly anything of the public bounds: all
    /// targets would be clipped to nearly the same value.
    ///
    /// # Errors
    /// [`SpecProblem::OutOfRange`](super::SpecProblem::OutOfRange).
    pub fn check_target_clip(&self, bound: f64) -> CheckResult {
        let Self::Bounds { low, high, scale, .. } = *self else { return Ok(()) };
        let kept = 2.0 * bound * scale.get();
        let asked = "at least (high - low) / (20 target_bound): targets are clipped to centre +- target_bound x scale";
        check_range("normalise.bounds.scale", kept >= LEAST_KEPT * (high.get() - low.get()), asked, scale.get())
    }

    /// Fails unless the bounds rise.
    pub(super) fn check(&self) -> CheckResult {
        match *self {
            Self::None | Self::Private { .. } | Self::Constants { .. } => Ok(()),
            Self::Bounds { low, high, centre, .. } => {
                check_bounds("normalise.bounds", low, high)?;
                let Some(centre) = centre else { return Ok(()) };
                let inside = low.get() <= centre.get() && centre.get() <= high.get();
                check_range("normalise.bounds.centre", inside, "between low and high", centre.get())
            }
            Self::Standardised { low, high } => check_bounds("normalise.standardised", low, high),
        }
    }

    /// How far apart two targets can be, in their own units; none if nothing bounds them.
    pub fn target_width(&self) -> Option<f64> {
        match *self {
            Self::Bounds { low, high, .. } | Self::Standardised { low, high } => Some(high.get() - low.get()),
            Self::None | Self::Private { .. } | Self::Constants { .. } => None,
        }
    }

    /// The same width, if it exceeds a change by more than the rounding of a difference.
    pub fn target_width_if_above(&self, change: f64) -> Option<f64> {
        self.target_width().filter(|width| change < width * (1.0 - 1e-12))
    }

    /// The same width, if it exceeds a change for the bounds as they were written. Each bound is rounded to a double, whose steps are
    /// hundreds for time stamps in nanoseconds.
    pub(super) fn written_target_width_if_above(&self, change: f64) -> Option<f64> {
        let (Self::Bounds { low, high, .. } | Self::Standardised { low, high }) = *self else { return None };
        let largest = low.get().abs().max(high.get().abs());
        self.target_width_if_above(change).filter(|width| change < width - (largest.next_up() - largest))
    }

    /// Whether targets are scaled by their own statistics, which are private.
    pub fn uses_private_statistics(&self) -> bool {
        matches!(self, Self::Private { .. } | Self::Standardised { .. })
    }
}

/// The offset that public bounds subtract from targets: the given mean of the prior, or else the middle of the bounds, as
/// the specification says.
pub fn prior_mean(low: Finite, high: Finite, centre: Option<Finite>) -> f64 {
    centre.map_or(0.5 * (low.get() + high.get()), Finite::get)
}

fn unit() -> Positive {
    Positive::ONE
}

fn is_unit(number: &Positive) -> bool {
    *number == Positive::ONE
}

fn nought() -> Finite {
    Finite::ZERO
}

fn is_nought(number: &Finite) -> bool {
    *number == Finite::ZERO
}

/// A private statistic that is subtracted from the targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PrivateCentreSetting {
    /// The mean of the targets.
    Mean,
    /// The number halfway between the smallest and the largest target.
    Midrange,
}
