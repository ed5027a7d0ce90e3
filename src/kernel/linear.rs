//! The linear kernel.

use super::Kernel;

/// `k(x, x') = variance * x'x`: a linear function through the origin whose slopes have this prior variance (squared units
/// of the target over those of the inputs).
///
/// Source: Rasmussen and Williams 2006, Section 4.2.2.
#[derive(Debug, Clone)]
pub struct Linear {
    variance: f64,
}

impl Linear {
    /// A linear function whose slopes have this prior variance.
    pub fn new(variance: f64) -> Self {
        Self { variance }
    }
}

impl Kernel for Linear {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        self.variance * x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>()
    }
}
