//! Linear maps of targets in whole numbers, and their release.
//!
//! Floating-point arithmetic rounds, and its rounding depends on private data. Here only step 1 rounds private numbers:
//!
//! 1. A target becomes a whole number before it is used. [`TargetLattice`] bounds the distance of two targets after it.
//! 2. Targets are multiplied with whole numbers that depend on public data alone ([`FixedPointMap`]). Products and sums
//!    have no rounding.
//! 3. The noise is rounded exactly ([`crate::RoundedGaussian`]).
//!
//! The sensitivity is computed from the same whole numbers, in whole numbers. No condition number and no solution of a
//! linear system enters the proof. Any arithmetic may follow the release.

use nalgebra::DMatrix;
use rand::Rng;

use crate::{PrivacyError, RoundedGaussian, RoundedNoiseParameters};
use dpgp_number::{OutOfRangeError, Positive};

/// Bits after the binary point of an entry of a map: `2^40` stands for 1.
const BITS: i32 = 40;
/// The largest entry. Sums over as many targets as memory holds must fit into 128 bits.
const MOST: f64 = 16.0;

/// The entries `W` (r x k) of a map, in whole numbers of `2^-40`, rounded away from zero.
///
/// With `W = L^-1 B` for the factor L of a noise covariance and the columns B of what is released, the release `B y + L
/// xi` is `L (W y + xi)`: independent noise on `W y`, mapped by L, which is public.
#[derive(Debug, Clone, PartialEq)]
pub struct FixedPointMap {
    /// Column by column.
    entries: Vec<i64>,
    rows: usize,
}

impl FixedPointMap {
    /// Rounds these entries to whole numbers of `2^-40`. They may depend on public data alone.
    ///
    /// # Errors
    /// [`PrivacyError::NotCovered`] for an entry that is not finite or above 16: no column of a covered map is that
    /// long.
    pub fn new(entries: &DMatrix<f64>) -> Result<Self, PrivacyError> {
        let largest = entries.amax();
        // `amax` may pass over an entry that is no number.
        if largest > MOST || entries.iter().any(|entry| !entry.is_finite()) {
            return Err(PrivacyError::NotCovered { sensitivity: largest });
        }
        let scale = f64::from(BITS).exp2();
        // Away from zero, so that no column becomes shorter.
        let whole = entries.iter().map(|entry| ((entry.abs() * scale).ceil().copysign(*entry)) as i64);
        Ok(Self { entries: whole.collect(), rows: entries.nrows() })
    }

    /// The length of the longest column in whole numbers, rounded up: `ceil(sqrt(max_j sum_i W_ij^2))`.
    pub fn longest_column_norm(&self) -> u128 {
        let columns = self.entries.chunks_exact(self.rows.max(1));
        let squares = columns.map(|column| column.iter().map(|entry| square(*entry)).sum::<u128>());
        let largest = squares.max().unwrap_or_default();
        let root = largest.isqrt();
        if root * root == largest { root } else { root + 1 }
    }

    /// The whole number that stands for 1: `2^40`.
    pub fn fixed_point_one() -> u128 {
        1 << BITS
    }

    /// Multiplies W with the sums of the targets of each column (k whole numbers), without rounding.
    pub fn apply(&self, sums: &[i128]) -> Vec<i128> {
        let mut product = vec![0i128; self.rows];
        for (column, sum) in self.entries.chunks_exact(self.rows.max(1)).zip(sums) {
            for (entry, out) in column.iter().zip(&mut product) {
                *out += i128::from(*entry) * sum;
            }
        }
        product
    }
}

fn square(entry: i64) -> u128 {
    u128::from(entry.unsigned_abs()).pow(2)
}

/// A Gaussian release of a map of targets, in whole numbers.
///
/// Obligation: the release is a function of that of a Gaussian mechanism with `mu <= 1 / sigma`. *Proof.*
///
/// 1. Between neighbours, at most `rows` targets of one person move, each by at most `moved` steps of the lattice
///    ([`TargetLattice::max_step_difference`]).
/// 2. A target enters one column of the map. So `W y` moves by at most `longest moved rows` in the Euclidean norm, by
///    the triangle inequality. This product is computed in whole numbers.
/// 3. The noise on each entry is `round(N(0, sd^2))` with `sd >= sigma max(longest, 2^40) moved rows`. Only `sd` is a float, and
///    it is rounded up.
/// 4. `W y` is whole, so that `W y + round(N) = round(W y + N)`: the release is the rounded output of a Gaussian
///    mechanism.
#[derive(Debug, Clone)]
pub struct LatticeRelease {
    map: FixedPointMap,
    noise: RoundedGaussian,
    /// `max(longest, 2^40) moved rows`, where the longest column has that norm in whole numbers.
    sensitivity: u128,
    /// Units of the target in one whole number of `W y`: the step of the lattice times `2^-40`.
    unit: f64,
}

impl LatticeRelease {
    /// Scales noise by the multiplier `sigma` and by the sensitivity to a change of at most `rows` targets, each by at
    /// most `change` (units of the target). The noise is never less than that for a column of length 1.
    ///
    /// # Errors
    /// [`PrivacyError::NotCovered`] if noise or sensitivity exceed the range of the arithmetic.
    pub fn new(
        map: FixedPointMap,
        targets: &TargetLattice,
        change: f64,
        rows: u64,
        sigma: f64,
    ) -> Result<Self, PrivacyError> {
        // The steps that all targets of a person move together, times the length of the longest column, in whole
        // numbers.
        let moved = u128::from(targets.max_step_difference(change).unsigned_abs()).checked_mul(rows.into());
        let sensitivity =
            moved.and_then(|moved| moved.checked_mul(map.longest_column_norm().max(FixedPointMap::fixed_point_one())));
        let sensitivity = sensitivity.ok_or(PrivacyError::NotCovered { sensitivity: f64::INFINITY })?;
        // A u128 becomes the nearest double, and the product is rounded once more. One step up after each makes `sd` an
        // upper bound of the exact product.
        let sd = (sensitivity as f64).next_up() * sigma;
        let noise = Positive::new(sd.next_up()).and_then(RoundedGaussian::new);
        let noise = noise.map_err(|_| PrivacyError::NotCovered { sensitivity: sensitivity as f64 })?;
        let unit = targets.step_size() * f64::from(-BITS).exp2();
        Ok(Self { map, noise, sensitivity, unit })
    }

    /// The sensitivity that the noise is scaled by, in whole numbers.
    pub fn sensitivity(&self) -> u128 {
        self.sensitivity
    }

    /// The longest column divided by the length that the noise is scaled by: at most 1. `mu` is at most this divided by
    /// sigma.
    pub fn actual_sensitivity_ratio(&self) -> f64 {
        let longest = self.map.longest_column_norm();
        longest as f64 / longest.max(FixedPointMap::fixed_point_one()) as f64
    }

    /// The standard deviation of the noise before it is rounded, in whole numbers.
    pub fn sd(&self) -> f64 {
        self.noise.sd()
    }

    /// The noise with the sensitivity to the longest column or to one of the length `ratio`, whichever is more.
    pub fn noise_with_minimum_sensitivity_ratio(&self, ratio: f64) -> RoundedNoiseParameters {
        // The sensitivity was made with the longer of the longest column and 1.
        RoundedNoiseParameters {
            sensitivity: (self.sensitivity as f64).next_up() * ratio.max(self.actual_sensitivity_ratio()),
            sd: self.sd(),
        }
    }

    /// Units of the target in one whole number of the release: the step of the lattice times `2^-40`.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// `W y` in units of the target, without noise. Never show it.
    pub fn exact_values(&self, sums: &[i128]) -> Vec<f64> {
        self.to_target_units(&self.map.apply(sums))
    }

    /// `W y` with noise, in units of the target.
    pub fn draw(&self, sums: &[i128], source: &mut impl Rng) -> Vec<f64> {
        self.to_target_units(&self.noise.add_noise(&self.map.apply(sums), source))
    }

    fn to_target_units(&self, whole: &[i128]) -> Vec<f64> {
        whole.iter().map(|number| *number as f64 * self.unit).collect()
    }
}

/// The width of the bounds is between `2^39` and `2^40` steps of the lattice.
const WIDTH_BITS: i32 = 40;

/// The lattice of targets with the public bounds [low, high]: a target y becomes `round((clip(y) - centre) / unit)`.
/// The centre is the middle of the bounds, and the unit (the step of the lattice, in units of the target) is a power of
/// two.
///
/// Obligation: each target, infinite ones included, becomes a whole number between those of the two bounds. *Proof.*
/// Clipping, subtraction, division by a power of two and rounding are each non-decreasing in y, in floating point too.
/// So two targets are at most [`TargetLattice::width_in_steps`] steps apart, however each operation rounds.
///
/// ```
/// use dpgp_noise::TargetLattice;
/// let lattice = TargetLattice::new(0.0, 10.0)?;
/// assert_eq!(lattice.clip_and_round_target(5.0), 0);
/// assert_eq!(lattice.clip_and_round_target(f64::INFINITY), lattice.clip_and_round_target(10.0));
/// assert_eq!(lattice.width_in_steps(), lattice.clip_and_round_target(10.0) - lattice.clip_and_round_target(0.0));
/// assert!((lattice.clip_and_round_target(7.0) as f64 * lattice.step_size() - 2.0).abs() < 1e-10);
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
        let unit = (width.log2().ceil() - f64::from(WIDTH_BITS)).exp2();
        if !(width > 0.0 && width.is_finite() && unit.is_normal()) {
            return Err(OutOfRangeError::new("a distance between bounds neither too small nor too large", width));
        }
        Ok(Self { low, high, centre: 0.5 * low + 0.5 * high, unit })
    }

    /// Clips a target and rounds it to a whole number of steps, at most `2^41` in size. NaN becomes 0.
    pub fn clip_and_round_target(&self, target: f64) -> i64 {
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
    pub fn width_in_steps(&self) -> i64 {
        self.clip_and_round_target(self.high) - self.clip_and_round_target(self.low)
    }

    /// The largest difference, in steps, of the whole numbers of two targets that are at most `change` apart (units of
    /// the target).
    ///
    /// *Proof.* With `d = (y - centre) / unit`, each of the two has an error of at most `2^-53 |d| <= 2^-12` before
    /// rounding. Rounding changes their difference by at most 1. The difference is a whole number of at most `change /
    /// unit + 1 + 2^-11`, so at most `ceil(change / unit) + 1`.
    pub fn max_step_difference(&self, change: f64) -> i64 {
        // The width is at most 2^41, so a double holds it exactly.
        ((change / self.unit).ceil() + 1.0).min(self.width_in_steps() as f64) as i64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, prop_assert, proptest};
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        /// Guards against too little noise: the sensitivity is never below the length of the longest real column, and
        /// hardly above.
        #[test]
        fn the_sensitivity_is_that_of_the_real_map(seed: u64, rows in 1usize..40, columns in 1usize..30) {
            let mut stream = Pcg64::seed_from_u64(seed);
            let map = DMatrix::from_fn(rows, columns, |_, _| stream.random_range(-1.0f64..1.0));
            let map = &map / map.column_iter().map(|column| column.norm()).fold(0.0, f64::max);
            let longest = FixedPointMap::new(&map).unwrap().longest_column_norm() as f64 / FixedPointMap::fixed_point_one() as f64;
            prop_assert!((1.0 - 1e-15..1.0 + 1e-6).contains(&longest), "{}", longest);
        }
    }

    #[test]
    fn sums_are_exact() {
        let map = FixedPointMap::new(&DMatrix::from_row_slice(2, 2, &[0.5, -0.25, 1.0, 0.0])).unwrap();
        assert_eq!(
            map.longest_column_norm(),
            ((1.25f64).sqrt() * FixedPointMap::fixed_point_one() as f64).ceil() as u128
        );
        // A length that is a whole number is not rounded up.
        let half = FixedPointMap::new(&DMatrix::from_element(1, 1, 0.5)).unwrap();
        assert_eq!(half.longest_column_norm(), FixedPointMap::fixed_point_one() / 2);
        let one = FixedPointMap::fixed_point_one() as i128;
        assert_eq!(map.apply(&[3, 1 << 60]), [3 * one / 2 - (one << 58), 3 * one]);
        assert!(FixedPointMap::new(&DMatrix::from_element(1, 1, f64::NAN)).is_err());
        assert!(FixedPointMap::new(&DMatrix::from_element(1, 1, 17.0)).is_err());
    }

    #[test]
    fn the_noise_is_never_less_than_asked_for() {
        let map = FixedPointMap::new(&DMatrix::from_row_slice(1, 1, &[0.3])).unwrap();
        let targets = TargetLattice::new(0.0, 8.0).unwrap();
        let release = LatticeRelease::new(map, &targets, 8.0, 1, 2.5).unwrap();
        assert_eq!(release.sensitivity(), FixedPointMap::fixed_point_one() * targets.width_in_steps() as u128);
        let asked = 2.5 * release.sensitivity() as f64;
        // Twelve rows of a person move the release twelve times as far.
        let map = FixedPointMap::new(&DMatrix::from_row_slice(1, 1, &[0.3])).unwrap();
        let of_persons = LatticeRelease::new(map, &targets, 8.0, 12, 2.5).unwrap();
        assert_eq!(of_persons.sensitivity(), 12 * release.sensitivity());
        assert!(
            of_persons.sd() >= 12.0 * asked
                && of_persons.noise_with_minimum_sensitivity_ratio(1.0).gdp_mu()
                    <= release.noise_with_minimum_sensitivity_ratio(1.0).gdp_mu() * (1.0 + 1e-15)
        );
        assert!(release.sd() >= asked && release.sd() < asked * (1.0 + 1e-14));
        // A map of .3 has three tenths of the sensitivity that the noise is scaled by. The ratio asked for may be
        // larger.
        let scaled = release.sensitivity() as f64;
        assert!((release.noise_with_minimum_sensitivity_ratio(0.0).sensitivity / scaled / 0.3 - 1.0).abs() < 1e-6);
        assert!((release.noise_with_minimum_sensitivity_ratio(0.5).sensitivity / scaled / 0.5 - 1.0).abs() < 1e-14);
        // A prediction of .3 (y - 4) for y = 8: the rounding of the map is far below the noise.
        let exact = release.exact_values(&[i128::from(targets.clip_and_round_target(8.0))]);
        assert!((exact[0] - 1.2).abs() < 1e-9, "{exact:?}");
    }

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
                prop_assert!((lattice.clip_and_round_target(y) - lattice.clip_and_round_target(other)).abs() <= lattice.max_step_difference(apart));
                prop_assert!(lattice.width_in_steps() <= 1 << 41);
                prop_assert!(lattice.clip_and_round_target(y).abs() <= 1 << 41);
            }
        }
    }

    /// Guards against bounds around time stamps in nanoseconds, where neighbouring doubles are 256 apart.
    #[test]
    fn time_stamps_keep_their_distance() {
        let lattice = TargetLattice::new(1.7e18, 1.7e18 + 1e9).unwrap();
        assert_eq!(
            lattice.clip_and_round_target(1.7e18 + 512.0) - lattice.clip_and_round_target(1.7e18 + 256.0),
            (256.0 / lattice.step_size()) as i64
        );
        assert_eq!(lattice.clip_and_round_target(-1e300), lattice.clip_and_round_target(1.7e18));
        assert_eq!(lattice.clip_and_round_target(f64::NAN), 0);
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
