//! The constant kernel.

use super::Kernel;

/// `k(x, x') = variance`: an unknown constant, for sums. The variance has the units of the squared targets.
#[derive(Debug, Clone)]
pub struct Bias {
    variance: f64,
}

impl Bias {
    /// A constant of this prior variance.
    pub fn new(variance: f64) -> Self {
        Self { variance }
    }
}

impl Kernel for Bias {
    fn value(&self, _: &[f64], _: &[f64]) -> f64 {
        self.variance
    }
}
