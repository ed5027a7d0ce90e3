//! The constant kernel.

use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::in_box::Constant;
use super::{BoxScale, Kernel, NamedKernel, StationaryKernel};
use dpgp_number::Positive;

/// `k(x, x') = variance`: an unknown constant, for sums.
///
/// ```
/// use dpgp_gp::kernel::{Bias, Kernel};
/// use dpgp_number::Positive;
/// let kernel = Bias { variance: Positive::new(4.0)? };
/// assert_eq!(kernel.value(&[1.0], &[-7.0]), 4.0);
/// # Ok::<(), dpgp_number::OutOfRange>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline, description = "")]
pub struct Bias {
    /// Prior variance of the constant, in squared units of the target.
    pub variance: Positive,
}

impl Kernel for Bias {
    fn value(&self, _: &[f64], _: &[f64]) -> f64 {
        self.variance.get()
    }
}

impl NamedKernel for Bias {
    const EXAMPLE: &'static str = "{ variance = 0.7 }";

    fn covariance(&self, _: &DMatrix<f64>) -> Box<dyn Kernel> {
        Box::new(self.clone())
    }

    fn stationary(&self) -> Option<&dyn StationaryKernel> {
        Some(self)
    }
}

impl StationaryKernel for Bias {
    fn total_variance(&self) -> f64 {
        self.variance.get()
    }

    fn lengthscales_on(&self, _: &[f64]) -> Vec<f64> {
        Vec::new()
    }

    fn covariance_on(&self, scaled: BoxScale<'_>) -> Box<dyn Kernel> {
        Box::new(Constant(self.variance.get() / scaled.over))
    }
}
