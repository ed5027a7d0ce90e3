//! Statements of Lawrence's talk of 2017 on cloaking functions.

use super::Numbers;
use crate::privacy::Calibration;

/// Noise that is scaled by `c' M^-1 c` = 1/4, the square of a sensitivity of 1/2: the true delta at (1, 0.01).
pub(super) fn squared_bound() -> Numbers {
    let (sensitivity, sigma) = (0.5f64, Calibration::Classic.sigma(1.0, 0.01));
    let factors = [sensitivity.powi(2), sensitivity];
    Numbers::noise(1.0, 0.01, factors.map(|factor| sigma * factor / sensitivity))
}
