//! The linear kernel.

use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Kernel, NamedKernel};
use dpgp_number::Positive;

/// `k(x, x') = variance * x'x`: a linear function through the origin.
///
/// Source: Rasmussen and Williams 2006, Section 4.2.2.
///
/// ```
/// use dpgp_gp::kernel::{Kernel, Linear};
/// use dpgp_number::Positive;
/// let kernel = Linear { variance: Positive::new(2.0)? };
/// assert_eq!(kernel.value(&[1.0, 3.0], &[4.0, -1.0]), 2.0 * (4.0 - 3.0));
/// # Ok::<(), dpgp_number::OutOfRange>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline, description = "")]
pub struct Linear {
    /// Prior variance of the slopes, in squared units of the target over those of the inputs.
    pub variance: Positive,
}

impl Kernel for Linear {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        self.variance.get() * x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>()
    }
}

impl NamedKernel for Linear {
    const EXAMPLE: &'static str = "{ variance = 0.4 }";

    fn covariance(&self, _: &DMatrix<f64>) -> Box<dyn Kernel> {
        Box::new(self.clone())
    }
}
