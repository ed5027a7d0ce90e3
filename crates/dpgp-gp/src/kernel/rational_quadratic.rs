//! The rational quadratic kernel.

use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::lengthscales::{Lengthscales, check_lengthscale_count};
use super::{BoxScale, Kernel, KernelKeyError, SpecKernel, StationaryKernel};
use dpgp_number::Positive;

/// `k(x, x') = variance (1 + r^2 / (2 alpha))^(-alpha)` with `r^2 = sum_l (x_l - x'_l)^2 / lengthscale_l^2`: a mixture of
/// exponentiated quadratic kernels whose lengthscales spread the more, the less alpha is.
///
/// Source: Rasmussen and Williams 2006, Eq. 4.19.
///
/// ```
/// use dpgp_gp::kernel::{Kernel, RationalQuadratic};
/// let kernel = RationalQuadratic::new(2.0, 0.5, vec![1.0]);
/// assert!((kernel.value(&[0.0], &[1.0]) - 2.0 / 2f64.sqrt()).abs() < 1e-15);
/// ```
#[derive(Debug, Clone)]
pub struct RationalQuadratic {
    variance: f64,
    alpha: f64,
    lengthscales: Lengthscales,
}

impl RationalQuadratic {
    /// One lengthscale for every input, or one for each.
    pub fn new(variance: f64, alpha: f64, lengthscales: Vec<f64>) -> Self {
        Self { variance, alpha, lengthscales: Lengthscales::new(lengthscales) }
    }
}

impl Kernel for RationalQuadratic {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        let half = 0.5 * self.lengthscales.squared_distance(x, y) / self.alpha;
        // The logarithm of 1 + half keeps its digits where half is tiny, as it is for a large alpha.
        self.variance * (-self.alpha * half.ln_1p()).exp()
    }

    fn variance(&self, _: &[f64]) -> f64 {
        self.variance
    }
}

/// [`RationalQuadratic`] in a spec.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline, description = "")]
pub struct RationalQuadraticSetting {
    /// Variance, in squared units of the target.
    pub variance: Positive,
    /// How similar the lengthscales of the mixture are.
    pub alpha: Positive,
    /// One lengthscale for all inputs, or one for each, in units of the inputs.
    pub lengthscales: Vec<Positive>,
}

impl SpecKernel for RationalQuadraticSetting {
    const EXAMPLE: &'static str = "{ variance = 0.6, alpha = 1.5, lengthscales = [1.3] }";

    fn check_input_count(&self, inputs: usize) -> Result<(), KernelKeyError> {
        check_lengthscale_count(&self.lengthscales, inputs)
    }

    fn covariance(&self, _: &DMatrix<f64>) -> Box<dyn Kernel> {
        let lengthscales = self.lengthscales.iter().map(|l| l.get()).collect();
        Box::new(RationalQuadratic::new(self.variance.get(), self.alpha.get(), lengthscales))
    }

    fn as_stationary(&self) -> Option<&dyn StationaryKernel> {
        Some(self)
    }
}

impl StationaryKernel for RationalQuadraticSetting {
    fn total_variance(&self) -> f64 {
        self.variance.get()
    }

    fn scaled_lengthscales(&self, sides: &[f64]) -> Vec<f64> {
        BoxScale::new(sides).scale_lengthscales(&self.lengthscales)
    }

    fn build_scaled_kernel(&self, scaled: BoxScale<'_>) -> Box<dyn Kernel> {
        let (variance, lengthscales) =
            (self.variance.get() / scaled.over, scaled.scale_lengthscales(&self.lengthscales));
        Box::new(RationalQuadratic::new(variance, self.alpha.get(), lengthscales))
    }
}
