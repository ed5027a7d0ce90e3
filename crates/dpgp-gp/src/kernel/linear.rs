//! The linear kernel.

use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Kernel, SpecKernel};
use dpgp_number::Positive;

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
    /// Prior variance of the slopes, in squared units of the target over those of the inputs.
    pub variance: Positive,
}

impl Kernel for LinearKernel {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        self.variance.get() * x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>()
    }
}

impl SpecKernel for LinearKernel {
    const EXAMPLE: &'static str = "{ variance = 0.4 }";

    fn covariance(&self, _: &DMatrix<f64>) -> Box<dyn Kernel> {
        Box::new(self.clone())
    }
}
