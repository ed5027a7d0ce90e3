//! The quadratic kernel.

use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Kernel, SpecKernel};
use dpgp_number::Positive;

/// `k(x, x') = variance (1 + x . x' / lengthscale^2)^2`.
///
/// Source: Rasmussen and Williams 2006, Table 4.1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline, description = "")]
pub struct Quadratic {
    /// Variance at the origin, in squared units of the target.
    pub variance: Positive,
    /// Distance from the origin at which the variance is four times as large, in units of the inputs.
    pub lengthscale: Positive,
}

impl Kernel for Quadratic {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        let product: f64 = x.iter().zip(y).map(|(a, b)| a * b).sum();
        self.variance.get() * (1.0 + product / self.lengthscale.get().powi(2)).powi(2)
    }
}

impl SpecKernel for Quadratic {
    const EXAMPLE: &'static str = "{ variance = 2.0, lengthscale = 1.5 }";

    fn build_kernel(&self, _: &DMatrix<f64>) -> Box<dyn Kernel> {
        Box::new(self.clone())
    }
}
