//! Outputs of a mechanism, and what tells them apart: frequent values of a column, straight lines between quantiles of the
//! rest, keys of outputs in a table, and the bits of a double.

use std::fmt::Debug;

/// The share of outputs that makes a value frequent.
const FREQUENT: f64 = 0.002;
/// The name of sets of floating-point numbers that the arithmetic behind them can or cannot give.
pub(super) const LAST_BITS: &str = "size and last bit";

/// The frequent values of a column, and quantiles of all other numbers in it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ColumnBasis {
    /// In the total order of doubles.
    atoms: Vec<f64>,
    /// Rising, and finite.
    knots: Vec<f64>,
}

/// A weight of a curve, and how much of it counts at a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FeatureValue {
    pub at: usize,
    pub value: f64,
}

impl ColumnBasis {
    /// The basis of a column, with at most `pieces` pieces between quantiles.
    pub fn from_column(at: usize, outputs: [&MechanismOutputs; 2], pieces: usize) -> Self {
        let mut numbers: Vec<f64> = outputs.into_iter().flat_map(|outputs| outputs.column(at)).collect();
        numbers.sort_unstable_by(f64::total_cmp);
        let (mut atoms, mut rest) = (Vec::new(), Vec::new());
        for same in numbers.chunk_by(|a, b| a.to_bits() == b.to_bits()) {
            if same.len() as f64 > FREQUENT * numbers.len() as f64 {
                atoms.push(same[0]);
            } else if same[0].is_finite() {
                rest.extend_from_slice(same);
            }
        }
        Self { atoms, knots: quantiles(&rest, pieces) }
    }

    /// How many weights a curve has: one for each frequent value, one for each knot, one for what is neither.
    pub fn len(&self) -> usize {
        self.atoms.len() + self.knots.len() + 1
    }

    /// Whether some value is frequent.
    pub fn has_atoms(&self) -> bool {
        !self.atoms.is_empty()
    }

    /// Whether there is more than frequent values.
    pub fn has_knots(&self) -> bool {
        !self.knots.is_empty()
    }

    /// Which frequent value a number is; their number for any other.
    pub fn atom_index(&self, x: f64) -> usize {
        self.atoms.binary_search_by(|atom| atom.total_cmp(&x)).unwrap_or(self.atoms.len())
    }

    /// Between which knots a number lies, counted from zero below the first.
    pub fn knot_interval(&self, x: f64) -> usize {
        self.knots.partition_point(|knot| *knot <= x)
    }

    /// Features of a number: its frequent value, or the two knots around it, weighted by distance.
    pub fn features(&self, x: f64) -> [FeatureValue; 2] {
        let (atom, first) = (self.atom_index(x), self.atoms.len());
        let whole = FeatureValue { at: atom, value: 1.0 };
        let none = FeatureValue { at: 0, value: 0.0 };
        if atom < first {
            return [whole, none];
        }
        if x.is_nan() || self.knots.is_empty() {
            return [FeatureValue { at: self.len() - 1, ..whole }, none];
        }
        match self.knot_interval(x) {
            0 => [FeatureValue { at: first, ..whole }, none],
            above if above == self.knots.len() => [FeatureValue { at: first + above - 1, ..whole }, none],
            above => {
                let (low, high) = (self.knots[above - 1], self.knots[above]);
                let part = (x - low) / (high - low);
                [
                    FeatureValue { at: first + above - 1, value: 1.0 - part },
                    FeatureValue { at: first + above, value: part },
                ]
            }
        }
    }
}

/// Quantiles of sorted numbers at equal shares, the ends among them, each once.
fn quantiles(sorted: &[f64], pieces: usize) -> Vec<f64> {
    let Some(last) = sorted.len().checked_sub(1) else { return Vec::new() };
    let mut knots: Vec<f64> = (0..=pieces).map(|piece| sorted[last * piece / pieces]).collect();
    knots.dedup();
    knots
}

/// A number for each output: the greater it is, the likelier the output came from one of the inputs.
pub(super) trait OutputScore: Debug + Send + Sync {
    /// The number of an output. It may be no number: half-lines are of the total order of all doubles.
    fn score(&self, output: &[f64]) -> f64;

    /// Words for the part of an output that it uses.
    fn name(&self) -> String;
}

/// Outputs of a mechanism on one input: rows of numbers, all of one width.
///
/// A symbol is a number like another. Numbers are told apart by their bits, so that there may be several that are no number.
///
/// ```
/// use dpgp_audit::MechanismOutputs;
/// let outputs = MechanismOutputs::new(2, vec![1.0, 2.0, 3.0, 4.0]);
/// assert_eq!((outputs.len(), outputs.rows().next_back()), (2, Some([3.0, 4.0].as_slice())));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct MechanismOutputs {
    width: usize,
    numbers: Vec<f64>,
}

impl MechanismOutputs {
    /// Rows of `width` numbers, at least 1, one after the other; what is left over at the end is no row.
    pub fn new(width: usize, numbers: Vec<f64>) -> Self {
        Self { width: width.max(1), numbers }
    }

    /// Numbers of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.numbers.len() / self.width
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows, in their order.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = &[f64]> {
        self.numbers.chunks_exact(self.width)
    }

    /// The numbers of a column.
    pub(super) fn column(&self, at: usize) -> impl Iterator<Item = f64> {
        self.rows().map(move |row| row[at])
    }

    /// The first half of the rows and the rest.
    pub(super) fn halves(&self) -> [Self; 2] {
        let (first, rest) = self.numbers.split_at(self.len() / 2 * self.width);
        [first, rest].map(|numbers| Self::new(self.width, numbers.to_vec()))
    }
}

/// The part of an output that a frequency table counts: one that takes few values, or that may be impossible under one input.
#[derive(Debug)]
pub(super) enum OutputKey {
    /// All its bits.
    Whole,
    /// Which columns hold which of their frequent values.
    Frequent(Vec<ColumnBasis>),
    /// The size of the number in a column, and the place of its last bit.
    LastBit { at: usize, basis: ColumnBasis },
}

impl OutputKey {
    /// Hashes this part of an output. Two values collide with a probability of about `2^-64`, which weakens an attack but cannot make it
    /// wrong.
    pub fn hash_output_part(&self, output: &[f64]) -> u64 {
        match self {
            Self::Whole => mix_bits(output.iter().map(|x| x.to_bits())),
            Self::Frequent(bases) => mix_bits(bases.iter().zip(output).map(|(basis, x)| basis.atom_index(*x) as u64)),
            Self::LastBit { at, basis } => {
                let x = output[*at];
                mix_bits([basis.knot_interval(x) as u64, u64::from(lowest_bit_exponent(x) as u32)])
            }
        }
    }

    /// The part of an output that it uses.
    pub fn name(&self) -> String {
        match self {
            Self::Whole => "whole outputs".to_owned(),
            Self::Frequent(_) => "frequent values".to_owned(),
            Self::LastBit { at, .. } => format!("{LAST_BITS} of column {}", at + 1),
        }
    }
}

/// The exponent of the lowest bit that is set: `x` is an odd multiple of 2 to this power. Zero, which is a multiple of every
/// power, has the greatest number; infinities and what is no number have the least.
///
/// A sum of doubles is a multiple of the last place of the coarser one. Noise on a small number can therefore reach doubles
/// that noise on a greater one cannot. Source: Mironov 2012, "On significance of the least significant bits".
fn lowest_bit_exponent(x: f64) -> i32 {
    if x == 0.0 {
        return i32::MAX;
    }
    if !x.is_finite() {
        return i32::MIN;
    }
    let (exponent, fraction) = ((x.to_bits() >> 52) & 0x7ff, x.to_bits() & ((1 << 52) - 1));
    // Subnormal numbers have no leading one and the exponent of the least normal ones.
    let (exponent, significand) = if exponent == 0 { (1, fraction) } else { (exponent, fraction | 1 << 52) };
    exponent as i32 - 1075 + significand.trailing_zeros() as i32
}

/// Hashes several 64-bit numbers into one.
fn mix_bits(parts: impl IntoIterator<Item = u64>) -> u64 {
    let mut mixed = 0x243f_6a88_85a3_08d3_u64;
    for part in parts {
        // The multiplier is 2^64 over the golden ratio; the rotation brings high bits down.
        mixed = (mixed ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
    mixed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn basis() -> ColumnBasis {
        let numbers = [vec![-7.0; 50], vec![f64::NAN; 50], (0..=1000).map(f64::from).collect()].concat();
        let outputs = MechanismOutputs::new(1, numbers);
        ColumnBasis::from_column(0, [&outputs, &outputs], 4)
    }

    #[test]
    fn frequent_values_and_quantiles() {
        let basis = basis();
        assert_eq!((basis.knots.clone(), basis.len()), (vec![0.0, 250.0, 500.0, 750.0, 1000.0], 8));
        assert_eq!([-7.0, f64::NAN, 3.0].map(|x| basis.atom_index(x)), [0, 1, 2]);
        assert_eq!([-1.0, 0.0, 600.0, 1e9].map(|x| basis.knot_interval(x)), [0, 1, 3, 5]);
    }

    /// Between knots a curve is the straight line through its weights, and its shares add up to one everywhere.
    #[test]
    fn curves_are_straight_between_knots() {
        let basis = basis();
        let at = |at, value| FeatureValue { at, value };
        assert_eq!(basis.features(300.0), [at(3, 0.8), at(4, 0.2)]);
        assert_eq!(basis.features(-7.0)[0], at(0, 1.0));
        for x in [-1e9, -7.0, 0.0, 1.0, 999.5, 1e9, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN] {
            let features = basis.features(x);
            assert!((features.iter().map(|f| f.value).sum::<f64>() - 1.0).abs() < 1e-12, "{x}: {features:?}");
            assert!(features.iter().all(|f| f.at < basis.len()), "{x}: {features:?}");
        }
    }

    #[test]
    fn lowest_bits_of_known_numbers() {
        let known = [(1.0, 0), (-3.0, 0), (6.0, 1), (0.75, -2), (1.0 + f64::EPSILON, -52), (5e-324, -1074)];
        for (x, expected) in known {
            assert_eq!(lowest_bit_exponent(x), expected, "{x:e}");
        }
        assert_eq!(
            [0.0, -0.0, f64::NAN, f64::INFINITY].map(lowest_bit_exponent),
            [i32::MAX, i32::MAX, i32::MIN, i32::MIN]
        );
    }

    /// Each number is its significand times 2 to that power, and that significand is odd.
    #[test]
    fn numbers_are_odd_multiples() {
        for x in [0.1, 1.0 / 3.0, 1e300, -7.25, 1e-200] {
            let multiple = x / 2f64.powi(lowest_bit_exponent(x));
            assert_eq!((multiple.fract(), multiple.rem_euclid(2.0)), (0.0, 1.0), "{x}");
        }
    }

    #[test]
    fn the_order_of_parts_counts() {
        assert_ne!(mix_bits([1, 2]), mix_bits([2, 1]));
        assert_ne!(mix_bits([0]), mix_bits([0, 0]));
    }
}
