//! The exponentiated quadratic kernel.

use super::Kernel;

/// `k(x, x') = variance * exp(-sum_l (x_l - x'_l)^2 / (2 lengthscale_l^2))`.
///
/// One lengthscale is shared by all dimensions (isotropic), several are one per dimension (ARD).
/// The lengthscale has the units of the inputs, the variance those of the squared targets.
/// Source: Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), Eq. 4.9.
///
/// ```
/// use dpgp::kernel::{ExponentiatedQuadratic, Kernel};
/// let kernel = ExponentiatedQuadratic::isotropic(2.0, 1.0);
/// assert!((kernel.value(&[0.0], &[1.0]) - 2.0 * (-0.5f64).exp()).abs() < 1e-15);
/// ```
#[derive(Debug, Clone)]
pub struct ExponentiatedQuadratic {
    variance: f64,
    lengthscales: Vec<f64>,
}

impl ExponentiatedQuadratic {
    /// One lengthscale for every dimension.
    pub fn isotropic(variance: f64, lengthscale: f64) -> Self {
        Self { variance, lengthscales: vec![lengthscale] }
    }

    /// One lengthscale per dimension (automatic relevance determination).
    pub fn ard(variance: f64, lengthscales: Vec<f64>) -> Self {
        Self { variance, lengthscales }
    }

    fn lengthscale(&self, dimension: usize) -> f64 {
        let shared = self.lengthscales.len() == 1;
        self.lengthscales[if shared { 0 } else { dimension }]
    }
}

impl Kernel for ExponentiatedQuadratic {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        let scaled = x.iter().zip(y).enumerate().map(|(l, (a, b))| (a - b) / self.lengthscale(l));
        self.variance * (-0.5 * scaled.map(|r| r * r).sum::<f64>()).exp()
    }

    fn variance(&self, _: &[f64]) -> f64 {
        self.variance
    }
}
