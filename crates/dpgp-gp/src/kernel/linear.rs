//! Constants and linear functions.

use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::in_box::ConstantKernel;
use super::{Kernel, KernelRescaling, SpecKernel, StationarySpecKernel};
use dpgp_number::Positive;

/// `k(x, x') = variance`: an unknown constant, for sums.
///
/// ```
/// use dpgp_gp::kernel::{BiasKernel, Kernel};
/// use dpgp_number::Positive;
/// let kernel = BiasKernel { variance: Positive::new(4.0)? };
/// assert_eq!(kernel.value(&[1.0], &[-7.0]), 4.0);
/// # Ok::<(), dpgp_number::OutOfRangeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline, description = "")]
pub struct BiasKernel {
    /// Prior variance of the constant, in squared units of the target.
    pub variance: Positive,
}

impl Kernel for BiasKernel {
    fn value(&self, _: &[f64], _: &[f64]) -> f64 {
        self.variance.get()
    }
}

impl SpecKernel for BiasKernel {
    const EXAMPLE: &'static str = "{ variance = 0.7 }";

    fn build_kernel(&self, _: &DMatrix<f64>) -> Box<dyn Kernel> {
        Box::new(self.clone())
    }

    fn as_stationary(&self) -> Option<&dyn StationarySpecKernel> {
        Some(self)
    }
}

impl StationarySpecKernel for BiasKernel {
    fn total_variance(&self) -> f64 {
        self.variance.get()
    }

    fn scaled_lengthscales(&self, _: &[f64]) -> Vec<f64> {
        Vec::new()
    }

    fn build_scaled_kernel(&self, scaled: KernelRescaling<'_>) -> Box<dyn Kernel> {
        Box::new(ConstantKernel(self.variance.get() / scaled.over))
    }
}

/// `k(x, x') = variance * x'x`: a linear function through the origin.
///
/// Source: Rasmussen and Williams 2006, Section 4.2.2.
///
/// ```
/// use dpgp_gp::kernel::{Kernel, LinearKernel};
/// use dpgp_number::Positive;
/// let kernel = LinearKernel { variance: Positive::new(2.0)? };
/// assert_eq!(kernel.value(&[1.0, 3.0], &[4.0, -1.0]), 2.0 * (4.0 - 3.0));
/// # Ok::<(), dpgp_number::OutOfRangeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline, description = "")]
pub struct LinearKernel {
    /// Prior variance of the slopes, in squared units of the target divided by squared units of the inputs.
    pub variance: Positive,
}

impl Kernel for LinearKernel {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        self.variance.get() * x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>()
    }
}

impl SpecKernel for LinearKernel {
    const EXAMPLE: &'static str = "{ variance = 0.4 }";

    fn build_kernel(&self, _: &DMatrix<f64>) -> Box<dyn Kernel> {
        Box::new(self.clone())
    }
}
