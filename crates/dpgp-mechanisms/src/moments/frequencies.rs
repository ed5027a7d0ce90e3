//! Frequencies of cosines and sines, their sums and differences, and tables of their values in whole numbers.

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::{DMatrix, DVector};

use dpgp_gp::sites::Lattice;
use dpgp_number::OutOfRangeError;

/// Vectors j of whole numbers, of j and -j only the one whose first entry that is not zero is positive. They come in the order of
/// their norms, then in that of their entries: the zero, if there is one, comes first.
///
/// Frequency j stands for `cos(2 pi j.x / P)` and `sin(2 pi j.x / P)`, the zero for the constant 1 alone.
///
/// ```
/// use dpgp_mechanisms::Frequencies;
/// let disc = Frequencies::ball(1, 1, 2);
/// assert_eq!(disc.vectors(), [vec![0, 0], vec![0, 1], vec![1, 0]]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frequencies {
    pub(super) vectors: Vec<Vec<i64>>,
}

impl Frequencies {
    /// Of some vectors; of a pair j, -j one is kept, and each once.
    pub fn from_vectors(vectors: impl IntoIterator<Item = Vec<i64>>) -> Self {
        let distinct: BTreeSet<Vec<i64>> = vectors.into_iter().map(canonical_half_space_vector).collect();
        let mut vectors: Vec<Vec<i64>> = distinct.into_iter().collect();
        // The sort keeps the order of entries among equal norms.
        vectors.sort_by_key(|vector| squared_norm(vector));
        Self { vectors }
    }

    /// All with entries from `-side` to `side` and a squared norm of at most `squared_radius`.
    pub fn ball(side: i64, squared_radius: i64, dimensions: usize) -> Self {
        let mut vectors = vec![Vec::new()];
        for _ in 0..dimensions {
            vectors = vectors.iter().flat_map(|start| append_entries(start, side)).collect();
        }
        Self::from_vectors(vectors.into_iter().filter(|vector| squared_norm(vector) <= squared_radius))
    }

    /// The vectors.
    pub fn vectors(&self) -> &[Vec<i64>] {
        &self.vectors
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.vectors.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.vectors.is_empty()
    }

    /// Those whose flag is set.
    pub fn filter_flagged(&self, flags: &[bool]) -> Self {
        let vectors = self.vectors.iter().zip(flags).filter(|(_, kept)| **kept);
        Self { vectors: vectors.map(|(vector, _)| vector.clone()).collect() }
    }

    /// The cosine and the sine of each frequency at each input, side by side; one column of ones for the zero (n x columns).
    pub fn features(&self, inputs: &DMatrix<f64>, period: f64) -> DMatrix<f64> {
        let axes = AxisWaves::new(self.vectors.iter().map(Vec::as_slice), inputs, period);
        let mut features = Vec::with_capacity(inputs.nrows() * self.column_count());
        for vector in &self.vectors {
            let mut waves = axes.waves_of_vector(vector);
            features.append(&mut waves.cosines);
            if !is_zero(vector) {
                features.append(&mut waves.sines);
            }
        }
        DMatrix::from_vec(inputs.nrows(), self.column_count(), features)
    }

    /// How many columns [`Frequencies::features`] has: two for each frequency, and one for the zero.
    pub fn column_count(&self) -> usize {
        self.vectors.iter().map(|vector| if is_zero(vector) { 1 } else { 2 }).sum()
    }

    /// A value of each frequency for each of its columns.
    pub fn repeat_per_column(&self, values: &[f64]) -> DVector<f64> {
        let mut spread = Vec::new();
        for (vector, value) in self.vectors.iter().zip(values) {
            spread.push(*value);
            spread.extend((!is_zero(vector)).then_some(*value));
        }
        DVector::from_vec(spread)
    }

    /// The sum of the values of the columns of each frequency.
    pub fn sum_per_frequency(&self, columns: &[f64]) -> Vec<f64> {
        let (mut gathered, mut place) = (Vec::with_capacity(self.len()), 0);
        for vector in &self.vectors {
            let width = if is_zero(vector) { 1 } else { 2 };
            gathered.push(columns[place..place + width].iter().sum());
            place += width;
        }
        gathered
    }
}

/// A cosine and a sine of an angle at each input (n).
#[derive(Debug, Clone)]
pub(super) struct Waves {
    pub cosines: Vec<f64>,
    pub sines: Vec<f64>,
}

/// The cosines and sines of each whole number along each axis. Those of a vector are products of these, so each is computed once for each
/// input and number.
pub(super) struct AxisWaves {
    /// By the absolute number, which is not zero.
    axes: Vec<BTreeMap<u64, Waves>>,
    inputs: usize,
}

impl AxisWaves {
    /// For these vectors, at some inputs (n x d).
    pub fn new<'a>(vectors: impl Iterator<Item = &'a [i64]>, inputs: &DMatrix<f64>, period: f64) -> Self {
        let mut numbers = vec![BTreeSet::new(); inputs.ncols()];
        for vector in vectors {
            assert_eq!(vector.len(), inputs.ncols(), "a frequency needs one entry for each input");
            let entries = numbers.iter_mut().zip(vector).filter(|(_, entry)| **entry != 0);
            entries.for_each(|(numbers, entry)| {
                numbers.insert(entry.unsigned_abs());
            });
        }
        let axes = inputs.column_iter().zip(numbers).map(|(column, numbers)| {
            let of_number = |number: u64| {
                let angles = column.iter().map(|x| x * number as f64 * (std::f64::consts::TAU / period));
                let (sines, cosines) = angles.map(f64::sin_cos).unzip();
                (number, Waves { cosines, sines })
            };
            numbers.into_iter().map(of_number).collect()
        });
        Self { axes: axes.collect(), inputs: inputs.nrows() }
    }

    /// The waves of one of the vectors that this was built for.
    pub fn waves_of_vector(&self, vector: &[i64]) -> Waves {
        let mut product = Waves { cosines: vec![1.0; self.inputs], sines: vec![0.0; self.inputs] };
        for (axis, entry) in self.axes.iter().zip(vector).filter(|(_, entry)| **entry != 0) {
            let (along, sign) = (&axis[&entry.unsigned_abs()], entry.signum() as f64);
            let waves = product.cosines.iter_mut().zip(&mut product.sines);
            for ((cosine, sine), (c, s)) in waves.zip(along.cosines.iter().zip(&along.sines)) {
                let s = sign * s;
                (*cosine, *sine) = (*cosine * c - *sine * s, *sine * c + *cosine * s);
            }
        }
        product
    }
}

/// Of a vector and its negative the one that is kept.
pub(super) fn canonical_half_space_vector(mut vector: Vec<i64>) -> Vec<i64> {
    let first = vector.iter().copied().find(|entry| *entry != 0);
    if first.is_some_and(i64::is_negative) {
        vector.iter_mut().for_each(|entry| *entry = -*entry);
    }
    vector
}

pub(super) fn is_zero(vector: &[i64]) -> bool {
    vector.iter().all(|entry| *entry == 0)
}

fn squared_norm(vector: &[i64]) -> i64 {
    vector.iter().map(|entry| entry * entry).sum()
}

/// A vector with each entry from `-side` to `side` behind it.
fn append_entries(start: &[i64], side: i64) -> impl Iterator<Item = Vec<i64>> {
    (-side..=side).map(move |entry| [start, &[entry]].concat())
}

/// The frequencies `k = +-(i - j)` and `+-(i + j)` of all pairs of some frequencies, but for the zero, and where each pair has its
/// own.
#[derive(Debug, Clone)]
pub struct FrequencyPairTable {
    /// All k.
    pub frequencies: Frequencies,
    /// For each pair, row by row, the places of its difference and of its sum; none for the zero.
    places: Vec<[Option<usize>; 2]>,
}

impl FrequencyPairTable {
    /// Of all pairs of these frequencies.
    pub fn new(frequencies: &Frequencies) -> Self {
        let vectors = frequencies.vectors();
        let pairs =
            vectors.iter().flat_map(|i| vectors.iter().map(move |j| [-1, 1].map(|s| canonical_signed_sum(i, j, s))));
        let pairs: Vec<[Vec<i64>; 2]> = pairs.collect();
        let all = pairs.iter().flatten().filter(|vector| !is_zero(vector)).cloned();
        let all = Frequencies::from_vectors(all);
        let known: BTreeMap<&[i64], usize> =
            all.vectors().iter().enumerate().map(|(place, vector)| (vector.as_slice(), place)).collect();
        let places = pairs.iter().map(|pair| [0, 1].map(|which| known.get(pair[which].as_slice()).copied()));
        Self { places: places.collect(), frequencies: all }
    }

    /// The coefficients `t_k` of `V^2 = t_0 + sum_k t_k cos(2 pi k.d / P)` for `V = sum_j u_j cos(2 pi j.d / P)`: a product of two
    /// cosines is half the cosine of the difference and half that of the sum, so that each ordered pair adds `u_i u_j / 2` to
    /// both.
    ///
    /// ```
    /// use dpgp_mechanisms::{Frequencies, FrequencyPairTable};
    /// // (1/2 + 1/2 cos a)^2 = 3/8 + 1/2 cos a + 1/8 cos 2a.
    /// let table = FrequencyPairTable::new(&Frequencies::ball(1, 1, 1));
    /// assert_eq!(table.autoconvolution(&[0.5, 0.5]), [0.5, 0.125]);
    /// ```
    pub fn autoconvolution(&self, weights: &[f64]) -> Vec<f64> {
        let mut squared = vec![0.0; self.frequencies.len()];
        for (pair, places) in self.places.iter().enumerate() {
            let half = 0.5 * weights[pair / weights.len()] * weights[pair % weights.len()];
            places.iter().flatten().for_each(|place| squared[*place] += half);
        }
        squared
    }
}

/// `i + sign j`, or its negative.
fn canonical_signed_sum(i: &[i64], j: &[i64], sign: i64) -> Vec<i64> {
    canonical_half_space_vector(i.iter().zip(j).map(|(a, b)| a + sign * b).collect())
}

/// Bits of a cosine.
pub(super) const BITS: i32 = 40;

/// The most points of a lattice along a side.
const MOST: usize = 1 << 20;

/// Cosines and sines at the midpoints of `points` cells to a side of the box, for a period of `turn` cells: for cell i and frequency j
/// the phase `2 pi j.(i + 1/2) / turn` is a whole multiple of `pi / turn`, so that a table holds all of them, times `2^40` and rounded
/// down.
///
/// Obligation: an entry is less than 2 units from the real number: 1 by rounding down, and the cosine of the library times `2^40` errs
/// by far less than another.
///
/// ```
/// use dpgp_mechanisms::PhaseTable;
/// let table = PhaseTable::new(4, 6)?;
/// assert_eq!(table.period(), 1.5);
/// # Ok::<(), dpgp_number::OutOfRangeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct PhaseTable {
    points: i64,
    turn: i64,
    cosines: Vec<i64>,
    sines: Vec<i64>,
}

/// A cosine and a sine times `2^40`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FixedPointCosineSine {
    pub cosine: i64,
    pub sine: i64,
}

impl PhaseTable {
    /// # Errors
    /// [`OutOfRangeError`] unless there is a cell, at most 2^20, and the period is no shorter than the box.
    pub fn new(points: usize, turn: usize) -> Result<Self, OutOfRangeError> {
        if points == 0 || turn < points || turn > MOST {
            return Err(OutOfRangeError::new(
                "at least the number of cells along a side, and at most 2^20",
                turn as f64,
            ));
        }
        let angles = (0..2 * turn).map(|phase| std::f64::consts::PI * phase as f64 / turn as f64);
        Ok(Self {
            points: points as i64,
            turn: turn as i64,
            cosines: angles.clone().map(|angle| to_fixed_point(angle.cos())).collect(),
            sines: angles.map(|angle| to_fixed_point(angle.sin())).collect(),
        })
    }

    /// For the cells of a box, and the period of whole cells that is nearest to one, in sides of the box.
    ///
    /// # Errors
    /// [`OutOfRangeError`] for a period that is no number, or longer than a table.
    pub fn for_lattice(lattice: Lattice, period: f64) -> Result<Self, OutOfRangeError> {
        Self::new(lattice.cells_per_side(), lattice.period_in_cells(period))
    }

    /// P, in sides of the box.
    pub fn period(&self) -> f64 {
        self.turn as f64 / self.points as f64
    }

    /// The phases of one entry of a frequency at the midpoints of all cells along an input, each less than a whole turn.
    pub(super) fn phases_along_input(&self, entry: i64) -> Vec<usize> {
        (0..self.points).map(|cell| (entry * (2 * cell + 1)).rem_euclid(2 * self.turn) as usize).collect()
    }

    /// The cosine and sine of a sum of phases.
    pub(super) fn cosine_and_sine_at_phase(&self, phase: usize) -> FixedPointCosineSine {
        let place = phase % (2 * self.turn as usize);
        FixedPointCosineSine { cosine: self.cosines[place], sine: self.sines[place] }
    }
}

fn to_fixed_point(value: f64) -> i64 {
    (value * f64::from(BITS).exp2()).floor() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the thirteen vectors in a disc of radius 2 seven, by their norms, then by their entries.
    #[test]
    fn half_of_a_disc_comes_in_order() {
        let disc = Frequencies::ball(2, 4, 2);
        let expected = [[0, 0], [0, 1], [1, 0], [1, -1], [1, 1], [0, 2], [2, 0]];
        assert_eq!(disc.vectors(), expected.map(Vec::from));
        assert_eq!((disc.len(), disc.column_count(), disc.is_empty()), (7, 13, false));
        assert_eq!(canonical_half_space_vector(vec![0, -3, 2]), [0, 3, -2]);
    }

    #[test]
    fn features_are_cosines_and_sines_of_the_angles() {
        let frequencies = Frequencies::ball(7, 60, 3);
        let inputs = DMatrix::from_fn(11, 3, |i, d| ((i * 5 + d * 3) as f64 * 0.37).fract());
        let features = frequencies.features(&inputs, 1.3);
        let mut columns = features.column_iter();
        for vector in frequencies.vectors() {
            let turns = |i: usize| (0..3).map(|d| inputs[(i, d)] * vector[d] as f64).sum::<f64>();
            let angle = |i: usize| std::f64::consts::TAU / 1.3 * turns(i);
            for wave in [f64::cos, f64::sin].iter().take(if is_zero(vector) { 1 } else { 2 }) {
                let column = columns.next().unwrap();
                assert!(
                    column.iter().enumerate().all(|(i, value)| (value - wave(angle(i))).abs() < 1e-13),
                    "{vector:?}"
                );
            }
        }
        assert!(columns.next().is_none());
        assert_eq!(Frequencies::from_vectors([]).features(&inputs, 1.3).shape(), (11, 0));
        // A number that a damaged file may hold takes no table of all smaller ones.
        let features = Frequencies::from_vectors([vec![1 << 60, 0, 1]]).features(&inputs, 1.3);
        assert_eq!(features.shape(), (11, 2));
    }

    /// The zero has one column, each other two.
    #[test]
    fn values_are_spread_over_columns_and_gathered() {
        let three = Frequencies::ball(2, 4, 1);
        assert_eq!(three.repeat_per_column(&[5.0, 6.0, 7.0]).as_slice(), [5.0, 6.0, 6.0, 7.0, 7.0]);
        assert_eq!(three.sum_per_frequency(&[1.0, 2.0, 3.0, 4.0, 5.0]), [1.0, 5.0, 9.0]);
        assert_eq!(three.filter_flagged(&[true, false, true]).sum_per_frequency(&[1.0, 4.0, 5.0]), [1.0, 9.0]);
    }
}

#[cfg(test)]
mod phases_tests {
    use super::*;

    /// Four cells in a turn of six: the phases of frequency 1 at their midpoints are 1, 3, 5 and 7 of twelve.
    #[test]
    fn phases_are_counted_in_half_cells() {
        let table = PhaseTable::new(4, 6).unwrap();
        assert_eq!(table.period(), 1.5);
        assert_eq!(table.phases_along_input(1), [1, 3, 5, 7]);
        assert_eq!(table.phases_along_input(2), [2, 6, 10, 2]);
        assert_eq!(table.phases_along_input(-1), [11, 9, 7, 5]);
        let unit = f64::from(BITS).exp2();
        for phase in 0..30 {
            let FixedPointCosineSine { cosine, sine } = table.cosine_and_sine_at_phase(phase);
            let angle = std::f64::consts::PI * phase as f64 / 6.0;
            let below = [unit * angle.cos() - cosine as f64, unit * angle.sin() - sine as f64];
            // Rounded down, and the library's cosine of a whole turn more errs by less than the rest.
            assert!(below.iter().all(|below| (-0.01..1.01).contains(below)), "{phase}: {below:?}");
        }
    }

    #[test]
    fn tables_have_a_size() {
        assert!(PhaseTable::new(4, 4).is_ok() && PhaseTable::new(1, MOST).is_ok());
        for (points, turn) in [(0, 4), (5, 4), (4, MOST + 1)] {
            assert!(PhaseTable::new(points, turn).is_err(), "{points} {turn}");
        }
    }
}
