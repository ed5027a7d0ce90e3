//! Statements of Lawrence's talk of 2017 on cloaking functions.

use super::Numbers;
use dpgp_accounting::Calibration;

/// Noise that is scaled by `c' M^-1 c` = 1/4, the square of a sensitivity of 1/2: the true delta at (1, 0.01).
pub(super) fn squared_bound() -> Numbers {
    let (sensitivity, sigma) = (0.5f64, Calibration::Classic.sigma(1.0, 0.01));
    let factors = [sensitivity.powi(2), sensitivity];
    Numbers::noise(1.0, 0.01, factors.map(|factor| sigma * factor / sensitivity))
}

/// The least error of any binning in the printed table of trips (3^4 bins without privacy), against that of cloaking with the longest
/// lengthscale without privacy, which is nearly the mean of all trips (s).
pub(super) fn worse_than_none() -> Numbers {
    Numbers::at_most(490.0, BINNINGS.into_iter().flatten().fold(f64::INFINITY, f64::min), 490.0)
}

/// The printed errors of binnings: the integral kernel on 10^4, 6^4 and 3^4 bins, and the means of as many, without privacy and at
/// epsilon 1, .5 and .2.
const BINNINGS: [[f64; 4]; 6] = [
    [581.0, 586.0, 597.0, 627.0],
    [641.0, 640.0, 658.0, 736.0],
    [643.0, 649.0, 677.0, 770.0],
    [596.0, 1064.0, 1927.0, 4402.0],
    [587.0, 768.0, 1202.0, 2373.0],
    [550.0, 575.0, 629.0, 809.0],
];
