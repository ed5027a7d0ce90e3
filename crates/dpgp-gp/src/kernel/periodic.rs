//! The periodic kernel.

use std::f64::consts::PI;

use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Kernel, KernelRescaling, SpecKernel, StationarySpecKernel};
use dpgp_number::Positive;

/// `k(x, x') = variance * exp(-2 sum_l sin^2(pi (x_l - x'_l) / period) / lengthscale^2)`.
///
/// Source: Rasmussen and Williams 2006, Eq. 4.31 (there with period 2 pi).
///
/// ```
/// use dpgp_gp::kernel::{Kernel, PeriodicKernel};
/// use dpgp_number::Positive;
/// let [variance, lengthscale, period] = [2.0, 1.0, 100.0].map(Positive::new);
/// let kernel = PeriodicKernel { variance: variance?, lengthscale: lengthscale?, period: period? };
/// assert!((kernel.value(&[3.0], &[203.0]) - 2.0).abs() < 1e-12);
/// assert!((kernel.value(&[0.0], &[50.0]) - 2.0 * (-2f64).exp()).abs() < 1e-12);
/// # Ok::<(), dpgp_number::OutOfRangeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline, description = "")]
pub struct PeriodicKernel {
    /// Variance, in squared units of the target.
    pub variance: Positive,
    /// Lengthscale on the unit circle to which a period is mapped.
    pub lengthscale: Positive,
    /// Period, in units of the inputs.
    pub period: Positive,
}

impl Kernel for PeriodicKernel {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        // The chord between two points of a circle of radius 1/2 is the sine of half the angle: this is the exponentiated
        // quadratic kernel of points on circles, and so positive semidefinite.
        let (period, lengthscale) = (self.period.get(), self.lengthscale.get());
        let chords = x.iter().zip(y).map(|(a, b)| (PI * (a - b) / period).sin() / lengthscale);
        let squares: f64 = chords.map(|chord| chord * chord).sum();
        self.variance.get() * (-2.0 * squares).exp()
    }

    fn variance(&self, _: &[f64]) -> f64 {
        self.variance.get()
    }
}

impl SpecKernel for PeriodicKernel {
    const EXAMPLE: &'static str = "{ variance = 1.1, lengthscale = 0.9, period = 5.0 }";

    fn build_kernel(&self, _: &DMatrix<f64>) -> Box<dyn Kernel> {
        Box::new(self.clone())
    }

    fn as_stationary(&self) -> Option<&dyn StationarySpecKernel> {
        Some(self)
    }
}

impl StationarySpecKernel for PeriodicKernel {
    fn total_variance(&self) -> f64 {
        self.variance.get()
    }

    fn scaled_lengthscales(&self, sides: &[f64]) -> Vec<f64> {
        // exp(-2 sin^2(pi r / p) / l^2) is exp(-r^2 / (2 (p l / (2 pi))^2)) for short distances r.
        let near = self.lengthscale.get() / std::f64::consts::TAU;
        KernelRescaling { stretch: near, ..KernelRescaling::new(sides) }.scale_lengthscales(&[self.period])
    }

    fn build_scaled_kernel(&self, scaled: KernelRescaling<'_>) -> Box<dyn Kernel> {
        let KernelRescaling { sides, stretch, over } = scaled;
        Box::new(ScaledPeriodicKernel { periodic: self.clone(), sides: sides.to_vec(), stretch, over })
    }
}

/// A periodic kernel in units of a box, its variance over a number.
struct ScaledPeriodicKernel {
    periodic: PeriodicKernel,
    sides: Vec<f64>,
    stretch: f64,
    over: f64,
}

impl Kernel for ScaledPeriodicKernel {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        let lengthscale = self.stretch * self.periodic.lengthscale.get();
        let (period, mut squares) = (self.periodic.period.get(), 0.0);
        for ((a, b), side) in x.iter().zip(y).zip(&self.sides) {
            squares += ((PI * side * (a - b) / period).sin() / lengthscale).powi(2);
        }
        self.periodic.variance.get() / self.over * (-2.0 * squares).exp()
    }
}
