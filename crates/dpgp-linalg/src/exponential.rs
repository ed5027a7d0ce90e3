//! Exponentials of many numbers at once.

/// `1.5 2^52`: adding it to a number of moderate size rounds that to an integer, which then stands in the last bits. One half
/// more than `2^52`, so that a negative integer takes nothing from the exponent.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// Below this the result is not a normal number, and zero is returned.
const LEAST: f64 = -708.0;
/// ln 2 as the sum of two numbers: the nearest double and what it leaves.
const LN_2: (f64, f64) = (std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);
/// `(e^r - 1 - r) / r^2` by its powers of r, interpolated at the Chebyshev points of `|r| <= ln 2 / 2`; the relative
/// error of `e^r` is at most 1.6e-17. The highest power comes first.
const POWERS: [f64; 10] = [
    2.510_037_592_918_593e-8,
    2.762_007_600_563_138e-7,
    2.755_726_848_010_692_6e-6,
    2.480_152_132_210_459e-5,
    1.984_126_986_304_067_5e-4,
    1.388_888_891_719_689e-3,
    8.333_333_333_330_065e-3,
    4.166_666_666_662_416_4e-2,
    1.666_666_666_666_666_9e-1,
    0.500_000_000_000_000_1,
];

/// `e^x` for `x <= 0`, accurate to 1.4 units in the last place down to -708, and zero below.
///
/// In units of the last place of a mantissa below 1: the last sum rounds by .5, the two steps of r and the fused product by .25 each,
/// `r^2` and the polynomial by less than .07 each.
///
/// There is no branch, so that a loop over it becomes vector instructions: `x = n ln 2 + r`, a polynomial in r, and n
/// added to the exponent. Every step is one IEEE operation, and so the result is the same on every processor.
/// Source: the reduction is that of Cody and Waite 1980, with a fused step in place of truncated digits.
///
/// ```
/// use dpgp_linalg::exponential_of_nonpositive;
/// assert_eq!((exponential_of_nonpositive(0.0), exponential_of_nonpositive(-1e3)), (1.0, 0.0));
/// assert!((exponential_of_nonpositive(-std::f64::consts::LN_2) - 0.5).abs() < 1e-16);
/// ```
#[inline(always)]
pub fn exponential_of_nonpositive(x: f64) -> f64 {
    // Clamped, since the shift of the exponent below wraps around for results that are not normal numbers.
    let shifted = x.max(LEAST).mul_add(std::f64::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    // Fused, `x - n ln 2` loses nothing to the cancellation; the second term restores what the first ln 2 lacks.
    let r = n.mul_add(-LN_2.1, n.mul_add(-LN_2.0, x.max(LEAST)));
    let mut tail = POWERS[0];
    for power in &POWERS[1..] {
        tail = tail.mul_add(r, *power);
    }
    // The 1 comes last: it is the largest term, and only its addition rounds at full size.
    let mantissa = (r * r).mul_add(tail, r) + 1.0;
    // The last 12 bits of `shifted` are n in two's complement; moved up they add n to the exponent.
    let value = f64::from_bits(mantissa.to_bits().wrapping_add(shifted.to_bits() << 52));
    if x < LEAST { 0.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu_float::FBig;
    use dashu_float::round::mode::HalfEven;
    use proptest::prelude::*;

    /// The error in units of the last place of the result, by arithmetic with 200 bits.
    fn ulps(x: f64) -> f64 {
        let wide = |x: f64| FBig::<HalfEven>::try_from(x).unwrap().with_precision(200).value();
        let found = exponential_of_nonpositive(x);
        let error = (wide(found) - wide(x).exp()).to_f64().value();
        error.abs() / (found.next_up() - found)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn it_is_accurate_to_the_last_place(x in prop_oneof![-708.0..0.0f64, -40.0..0.0f64, -1.0..0.0f64]) {
            prop_assert!(ulps(x) <= 1.4, "{x}: {}", ulps(x));
        }
    }

    #[test]
    fn the_ends_are_exact() {
        assert_eq!(exponential_of_nonpositive(0.0), 1.0);
        assert_eq!(exponential_of_nonpositive(-0.0), 1.0);
        assert_eq!(exponential_of_nonpositive(-1e-300), 1.0);
        assert_eq!(exponential_of_nonpositive(f64::NEG_INFINITY), 0.0);
        assert_eq!(exponential_of_nonpositive(-1e6), 0.0);
        assert!(ulps(-708.0) <= 1.0 && exponential_of_nonpositive(-708.0).is_normal());
        for k in 1..1000 {
            assert!(ulps(-f64::from(k) * std::f64::consts::LN_2 / 2.0) <= 1.0, "between two pieces: {k}");
        }
    }
}
