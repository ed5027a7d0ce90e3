//! The periodic kernel.

use std::f64::consts::PI;

use super::Kernel;

/// `k(x, x') = variance * exp(-2 sum_l sin^2(pi (x_l - x'_l) / period) / lengthscale^2)`.
///
/// The period has the units of the inputs; the lengthscale is relative to the unit circle. Source: Rasmussen and Williams
/// 2006, Eq. 4.31 (there with period 2 pi).
///
/// ```
/// use dpgp::kernel::{Kernel, Periodic};
/// let kernel = Periodic::new(2.0, 1.0, 100.0);
/// assert!((kernel.value(&[3.0], &[203.0]) - 2.0).abs() < 1e-12);
/// assert!((kernel.value(&[0.0], &[50.0]) - 2.0 * (-2f64).exp()).abs() < 1e-12);
/// ```
#[derive(Debug, Clone)]
pub struct Periodic {
    variance: f64,
    lengthscale: f64,
    period: f64,
}

impl Periodic {
    /// From variance, lengthscale and period.
    pub fn new(variance: f64, lengthscale: f64, period: f64) -> Self {
        Self { variance, lengthscale, period }
    }
}

impl Kernel for Periodic {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        let sine = |(a, b): (&f64, &f64)| (PI * (a - b) / self.period).sin() / self.lengthscale;
        let squares: f64 = x.iter().zip(y).map(sine).map(|s| s * s).sum();
        self.variance * (-2.0 * squares).exp()
    }

    fn variance(&self, _: &[f64]) -> f64 {
        self.variance
    }
}
