//! Targets as whole numbers.

use dpgp_number::OutOfRangeError;

/// The width of the bounds is between `2^39` and `2^40` steps of the lattice.
const BITS: i32 = 40;

/// The lattice of targets with the public bounds [low, high]: a target y becomes `round((clip(y) - centre) / unit)`.
/// The centre is the middle of the bounds, and the unit (the step of the lattice, in units of the target) is a power of
/// two.
///
/// Obligation: each target, infinite ones included, becomes a whole number between those of the two bounds. *Proof.*
/// Clipping, subtraction, division by a power of two and rounding are each non-decreasing in y, in floating point too.
/// So two targets are at most [`TargetLattice::width`] steps apart, however each operation rounds.
///
/// ```
/// use dpgp_noise::TargetLattice;
/// let lattice = TargetLattice::new(0.0, 10.0)?;
/// assert_eq!(lattice.round_target(5.0), 0);
/// assert_eq!(lattice.round_target(f64::INFINITY), lattice.round_target(10.0));
/// assert_eq!(lattice.width(), lattice.round_target(10.0) - lattice.round_target(0.0));
/// assert!((lattice.round_target(7.0) as f64 * lattice.step_size() - 2.0).abs() < 1e-10);
/// # Ok::<(), dpgp_number::OutOfRangeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TargetLattice {
    low: f64,
    high: f64,
    centre: f64,
    unit: f64,
}

impl TargetLattice {
    /// Makes the lattice of public bounds.
    ///
    /// # Errors
    /// [`OutOfRangeError`] unless `low < high`, and `2^-40` times the width is a normal floating-point number.
    pub fn new(low: f64, high: f64) -> Result<Self, OutOfRangeError> {
        let width = high - low;
        let unit = (width.log2().ceil() - f64::from(BITS)).exp2();
        if !(width > 0.0 && width.is_finite() && unit.is_normal()) {
            return Err(OutOfRangeError::new("bounds that are neither too close nor too far apart", width));
        }
        Ok(Self { low, high, centre: 0.5 * low + 0.5 * high, unit })
    }

    /// Clips a target and rounds it to a whole number of steps, at most `2^41` in size. NaN becomes 0.
    pub fn round_target(&self, target: f64) -> i64 {
        // The cast saturates and takes NaN to 0.
        ((target.clamp(self.low, self.high) - self.centre) / self.unit).round() as i64
    }

    /// The step of the lattice, in units of the target.
    pub fn step_size(&self) -> f64 {
        self.unit
    }

    /// The middle of the bounds, in units of the target: the whole number 0 stands for it.
    pub fn centre(&self) -> f64 {
        self.centre
    }

    /// The largest difference of two whole targets, in steps.
    pub fn width(&self) -> i64 {
        self.round_target(self.high) - self.round_target(self.low)
    }

    /// The largest difference, in steps, of the whole numbers of two targets that are at most `change` apart (units of
    /// the target).
    ///
    /// *Proof.* With `d = (y - centre) / unit`, each of the two has an error of at most `2^-53 |d| <= 2^-12` before
    /// rounding. Rounding changes their difference by at most 1. The difference is a whole number of at most `change /
    /// unit + 1 + 2^-11`, so at most `ceil(change / unit) + 1`.
    pub fn max_step_difference(&self, change: f64) -> i64 {
        // The width is at most 2^41, so a double holds it exactly.
        ((change / self.unit).ceil() + 1.0).min(self.width() as f64) as i64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, prop_assert, proptest};

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn no_two_targets_are_further_apart_than_said(
            centre in -1e18f64..1e18, width in 1e-3f64..1e9, place in 0.0f64..1.0, change in 0.0f64..1.2, sign in proptest::bool::ANY,
        ) {
            let (low, high) = (centre, centre + width);
            if let Ok(lattice) = TargetLattice::new(low, high) {
                let y = low + place * width;
                // The difference of the two doubles: exact if they are close, else rounded up.
                let other = if sign { y + change * width } else { y - change * width };
                let apart = (other - y).abs() * (1.0 + f64::EPSILON);
                prop_assert!((lattice.round_target(y) - lattice.round_target(other)).abs() <= lattice.max_step_difference(apart));
                prop_assert!(lattice.width() <= 1 << 41);
                prop_assert!(lattice.round_target(y).abs() <= 1 << 41);
            }
        }
    }

    /// Guards against bounds around time stamps in nanoseconds, where neighbouring doubles are 256 apart.
    #[test]
    fn time_stamps_keep_their_distance() {
        let lattice = TargetLattice::new(1.7e18, 1.7e18 + 1e9).unwrap();
        assert_eq!(
            lattice.round_target(1.7e18 + 512.0) - lattice.round_target(1.7e18 + 256.0),
            (256.0 / lattice.step_size()) as i64
        );
        assert_eq!(lattice.round_target(-1e300), lattice.round_target(1.7e18));
        assert_eq!(lattice.round_target(f64::NAN), 0);
    }

    #[test]
    fn bounds_that_leave_no_lattice_are_refused() {
        for (low, high) in
            [(0.0, 0.0), (1.0, 0.0), (-1e308, 1e308), (0.0, 1e-300), (f64::NAN, 1.0), (0.0, f64::INFINITY)]
        {
            assert!(TargetLattice::new(low, high).is_err(), "{low} {high}");
        }
        assert!(TargetLattice::new(0.0, 1e-290).is_ok());
    }
}
