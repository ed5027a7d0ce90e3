//! Decimal numbers as the doubles next to them.

/// Powers of ten that are exact.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// The double next to `unscaled * 10^-scale`, as of the same number in text.
pub(super) fn decimal(unscaled: i128, scale: u32) -> f64 {
    match POWERS.get(scale as usize) {
        // Both are exact, so that their quotient is rounded once.
        Some(power) if unscaled.unsigned_abs() <= 1 << 53 => unscaled as f64 / power,
        _ => format!("{unscaled}e-{scale}").parse().unwrap_or(f64::NAN),
    }
}

/// A whole number whose first byte is the most significant and has the sign.
pub(super) fn big_endian(bytes: &[u8]) -> i128 {
    let sign = if bytes.first().is_some_and(|byte| *byte >= 0x80) { -1 } else { 0 };
    bytes.iter().fold(sign, |number, byte| number << 8 | i128::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_the_numbers_that_they_stand_for() {
        for (unscaled, scale, text) in [
            (12_345, 2, "123.45"),
            (-1, 3, "-0.001"),
            (7, 0, "7"),
            (0, 38, "0"),
            (123_456_789_012_345_678, 9, "123456789.012345678"),
            (9_007_199_254_740_993, 1, "900719925474099.3"),
            (
                -99_999_999_999_999_999_999_999_999_999_999_999_999,
                38,
                "-0.99999999999999999999999999999999999999",
            ),
            (1, 30, "1e-30"),
        ] {
            assert_eq!(
                decimal(unscaled, scale).to_string(),
                text.parse::<f64>().unwrap().to_string(),
                "{text}"
            );
        }
    }

    #[test]
    fn bytes_of_whole_numbers() {
        for number in [0, 1, -1, 127, 128, -128, -129, 12_345, i64::MAX, i64::MIN] {
            assert_eq!(big_endian(&number.to_be_bytes()), i128::from(number));
        }
        assert_eq!((big_endian(&[0xff]), big_endian(&[0x00, 0x80]), big_endian(&[])), (-1, 128, 0));
        assert_eq!(big_endian(&i128::MIN.to_be_bytes()), i128::MIN);
    }
}
