//! Distances in units of lengthscales.

use super::{KernelError, KernelKeyError};
use dpgp_number::Positive;

/// One lengthscale for every input, or one for each.
#[derive(Debug, Clone)]
pub(super) struct Lengthscales(Vec<f64>);

impl Lengthscales {
    pub fn new(lengthscales: Vec<f64>) -> Self {
        Self(lengthscales)
    }

    /// `sum_l (x_l - y_l)^2 / lengthscale_l^2`.
    pub fn squared_distance(&self, x: &[f64], y: &[f64]) -> f64 {
        let differences = x.iter().zip(y).zip(self.0.iter().cycle());
        differences.map(|((a, b), lengthscale)| ((a - b) / lengthscale).powi(2)).sum()
    }
}

/// Whether there is one lengthscale, or one for each of so many inputs.
pub(super) fn check_lengthscale_count(lengthscales: &[Positive], inputs: usize) -> Result<(), KernelKeyError> {
    let reason = match lengthscales.len() {
        0 => KernelError::Empty,
        1 => return Ok(()),
        found if found == inputs => return Ok(()),
        found => KernelError::Dimension(found),
    };
    Err(KernelKeyError { key: "lengthscales".to_owned(), reason })
}
