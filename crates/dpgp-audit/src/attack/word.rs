//! Keys of outputs in a table, and the bits of a double.

use super::basis::ColumnBasis;

/// A part of an output that takes few values, or that may be impossible under one input.
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
    /// The word of an output. Two words may be taken for one with a probability of about `2^-64`, which weakens an attack
    /// and does not make it wrong.
    pub fn key_of_output(&self, output: &[f64]) -> u64 {
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
            Self::LastBit { at, .. } => format!("size and last bit of column {}", at + 1),
        }
    }
}

/// The exponent of the lowest bit that is set: `x` is an odd multiple of 2 to this power. Zero, which is a multiple of every
/// power, has the greatest number; infinities and what is no number have the least.
///
/// A sum of doubles is a multiple of the last place of the coarser one. Noise on a small number can therefore reach doubles
/// that noise on a greater one cannot. Source: Mironov 2012, "On significance of the least significant bits".
pub(super) fn lowest_bit_exponent(x: f64) -> i32 {
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

/// A mix of several numbers of 64 bits into one.
pub(super) fn mix_bits(parts: impl IntoIterator<Item = u64>) -> u64 {
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
