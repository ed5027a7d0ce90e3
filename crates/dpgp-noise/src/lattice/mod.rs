//! Releases in whole numbers: nothing else ever meets a private target.
//!
//! Floats round, and what they round depends on what is private. Here a target becomes a whole number before anything else is
//! done with it ([`TargetLattice`]); what is released of the targets is a product with whole numbers that depend on public
//! things alone ([`LatticeMap`]), which has no rounding; and its noise is rounded exactly ([`crate::RoundedGaussian`]). The
//! sensitivity is that of these very whole numbers, computed in whole numbers, so that no condition number and no solve
//! enters the proof. What follows from the release afterwards may be any arithmetic.
//!
//! A linear map of targets in whole numbers, and its release.

mod targets;

use nalgebra::DMatrix;
use rand::Rng;

use crate::{PrivacyError, RoundedGaussian, RoundedNoise};
use dpgp_number::Positive;

pub use targets::TargetLattice;

/// The binary logarithm of the whole number that stands for 1 in a map.
const BITS: i32 = 40;
/// Beyond this an entry is refused: sums of as many targets as memory holds must fit into 128 bits.
const MOST: f64 = 16.0;

/// The entries `W` (r x k) of a map, in whole numbers of `2^-40`, rounded away from zero.
///
/// With `W = L^-1 B` for the factor L of a noise covariance and the columns B of what is released, the release `B y + L xi`
/// is `L (W y + xi)`: independent noise on `W y`, mapped by L, which is public.
#[derive(Debug, Clone, PartialEq)]
pub struct LatticeMap {
    /// Column by column.
    entries: Vec<i64>,
    rows: usize,
}

impl LatticeMap {
    /// The map with these entries, which may depend on public things alone.
    ///
    /// # Errors
    /// [`PrivacyError::NotCovered`] for an entry that is no number or above 16: no column of a covered map is that long.
    pub fn new(entries: &DMatrix<f64>) -> Result<Self, PrivacyError> {
        let largest = entries.amax();
        // `amax` may pass over an entry that is no number.
        if largest > MOST || entries.iter().any(|entry| !entry.is_finite()) {
            return Err(PrivacyError::NotCovered { sensitivity: largest });
        }
        let scale = f64::from(BITS).exp2();
        // Away from zero, so that no column is shorter than the real one.
        let whole = entries.iter().map(|entry| ((entry.abs() * scale).ceil().copysign(*entry)) as i64);
        Ok(Self { entries: whole.collect(), rows: entries.nrows() })
    }

    /// An upper bound on the length of the longest column, in whole numbers: `ceil(sqrt(max_j sum_i W_ij^2))`.
    pub fn longest(&self) -> u128 {
        let columns = self.entries.chunks_exact(self.rows.max(1));
        let squares = columns.map(|column| column.iter().map(|entry| square(*entry)).sum::<u128>());
        let largest = squares.max().unwrap_or_default();
        let root = largest.isqrt();
        if root * root == largest { root } else { root + 1 }
    }

    /// What stands for 1.
    pub fn one() -> u128 {
        1 << BITS
    }

    /// `W y` for the sums of the targets of each column (k whole numbers), without rounding.
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
/// Obligation: let at most `rows` targets, those of one person, move by at most `moved` units of their lattice each. A target
/// enters one column of the map, so that `W y` moves by at most `longest() moved rows` in the Euclidean norm, by the triangle
/// inequality. The noise on each entry is `round(N(0, sd^2))` with `sd >= sigma longest() moved rows`, all in whole numbers but for
/// `sd`, which is rounded up. So the release is a function of that of
/// a Gaussian mechanism with `mu <= 1 / sigma`.
#[derive(Debug, Clone)]
pub struct LatticeRelease {
    map: LatticeMap,
    noise: RoundedGaussian,
    /// `longest() moved rows`.
    sensitivity: u128,
    unit: f64,
}

impl LatticeRelease {
    /// With noise of multiplier `sigma` on targets of which at most `rows` move, each by at most `change`. The noise is never scaled by less than a
    /// column of length 1.
    ///
    /// # Errors
    /// [`PrivacyError::NotCovered`] if noise or sensitivity are beyond the arithmetic.
    pub fn new(
        map: LatticeMap,
        targets: &TargetLattice,
        change: f64,
        rows: u64,
        sigma: f64,
    ) -> Result<Self, PrivacyError> {
        let moved = u128::from(targets.moved(change).unsigned_abs()).checked_mul(rows.into());
        let sensitivity = moved.and_then(|moved| moved.checked_mul(map.longest().max(LatticeMap::one())));
        let sensitivity = sensitivity.ok_or(PrivacyError::NotCovered { sensitivity: f64::INFINITY })?;
        // A u128 becomes the nearest double, and the product is rounded once more: two steps up are enough.
        let sd = (sensitivity as f64).next_up() * sigma;
        let noise = Positive::new(sd.next_up()).and_then(RoundedGaussian::new);
        let noise = noise.map_err(|_| PrivacyError::NotCovered { sensitivity: sensitivity as f64 })?;
        let unit = targets.unit() * f64::from(-BITS).exp2();
        Ok(Self { map, noise, sensitivity, unit })
    }

    /// The sensitivity that the noise is scaled by, in whole numbers.
    pub fn sensitivity(&self) -> u128 {
        self.sensitivity
    }

    /// The longest column over the length that the noise is scaled by: at most 1, and `mu` is at most this over sigma.
    pub fn ratio(&self) -> f64 {
        let longest = self.map.longest();
        longest as f64 / longest.max(LatticeMap::one()) as f64
    }

    /// The standard deviation of the noise before it is rounded, in whole numbers.
    pub fn sd(&self) -> f64 {
        self.noise.sd()
    }

    /// The noise, for the longest column or a length of `ratio`, whichever is more.
    pub fn record(&self, ratio: f64) -> RoundedNoise {
        // The sensitivity was made with the longer of the longest column and 1.
        RoundedNoise {
            sensitivity: (self.sensitivity as f64).next_up() * ratio.max(self.ratio()),
            sd: self.sd(),
        }
    }

    /// Units of the target, at a map of 1, in one whole number.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// `W y` in units of the target, without noise; never to be shown.
    pub fn exact(&self, sums: &[i128]) -> Vec<f64> {
        self.in_units(&self.map.apply(sums))
    }

    /// `W y` with noise, in units of the target.
    pub fn draw(&self, sums: &[i128], source: &mut impl Rng) -> Vec<f64> {
        self.in_units(&self.noise.added(&self.map.apply(sums), source))
    }

    fn in_units(&self, whole: &[i128]) -> Vec<f64> {
        whole.iter().map(|number| *number as f64 * self.unit).collect()
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

        /// Never below the length of the longest real column, and hardly above it.
        #[test]
        fn the_sensitivity_is_that_of_the_real_map(seed: u64, rows in 1usize..40, columns in 1usize..30) {
            let mut stream = Pcg64::seed_from_u64(seed);
            let map = DMatrix::from_fn(rows, columns, |_, _| stream.random_range(-1.0f64..1.0));
            let map = &map / map.column_iter().map(|column| column.norm()).fold(0.0, f64::max);
            let longest = LatticeMap::new(&map).unwrap().longest() as f64 / LatticeMap::one() as f64;
            prop_assert!((1.0 - 1e-15..1.0 + 1e-6).contains(&longest), "{}", longest);
        }
    }

    #[test]
    fn sums_are_exact() {
        let map = LatticeMap::new(&DMatrix::from_row_slice(2, 2, &[0.5, -0.25, 1.0, 0.0])).unwrap();
        assert_eq!(map.longest(), ((1.25f64).sqrt() * LatticeMap::one() as f64).ceil() as u128);
        // A length that is a whole number is not rounded up.
        let half = LatticeMap::new(&DMatrix::from_element(1, 1, 0.5)).unwrap();
        assert_eq!(half.longest(), LatticeMap::one() / 2);
        let one = LatticeMap::one() as i128;
        assert_eq!(map.apply(&[3, 1 << 60]), [3 * one / 2 - (one << 58), 3 * one]);
        assert!(LatticeMap::new(&DMatrix::from_element(1, 1, f64::NAN)).is_err());
        assert!(LatticeMap::new(&DMatrix::from_element(1, 1, 17.0)).is_err());
    }

    #[test]
    fn the_noise_is_never_less_than_asked_for() {
        let map = LatticeMap::new(&DMatrix::from_row_slice(1, 1, &[0.3])).unwrap();
        let targets = TargetLattice::new(0.0, 8.0).unwrap();
        let release = LatticeRelease::new(map, &targets, 8.0, 1, 2.5).unwrap();
        assert_eq!(release.sensitivity(), LatticeMap::one() * targets.width() as u128);
        let asked = 2.5 * release.sensitivity() as f64;
        // Twelve rows of a person move it twelve times as far.
        let map = LatticeMap::new(&DMatrix::from_row_slice(1, 1, &[0.3])).unwrap();
        let of_persons = LatticeRelease::new(map, &targets, 8.0, 12, 2.5).unwrap();
        assert_eq!(of_persons.sensitivity(), 12 * release.sensitivity());
        assert!(
            of_persons.sd() >= 12.0 * asked
                && of_persons.record(1.0).mu() <= release.record(1.0).mu() * (1.0 + 1e-15)
        );
        assert!(release.sd() >= asked && release.sd() < asked * (1.0 + 1e-14));
        // A map of .3 moves by three tenths of what the noise is scaled by; what is asked for may be more.
        let scaled = release.sensitivity() as f64;
        assert!((release.record(0.0).sensitivity / scaled / 0.3 - 1.0).abs() < 1e-6);
        assert!((release.record(0.5).sensitivity / scaled / 0.5 - 1.0).abs() < 1e-14);
        // A prediction of .3 (y - 4) for y = 8: the map's rounding is far below its noise.
        let exact = release.exact(&[i128::from(targets.whole(8.0))]);
        assert!((exact[0] - 1.2).abs() < 1e-9, "{exact:?}");
    }
}
