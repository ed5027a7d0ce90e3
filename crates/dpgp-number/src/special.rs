//! Special functions, built on libm's erfc (about 1 ulp, even far in the tails), and bisection down to
//! neighbouring doubles.

use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// The standard normal density `exp(-x^2 / 2) / sqrt(2 pi)`.
///
/// ```
/// assert_eq!(dpgp_number::normal_pdf(0.0), 1.0 / std::f64::consts::TAU.sqrt());
/// ```
pub fn normal_pdf(x: f64) -> f64 {
    (-0.5 * x * x).exp() / TAU.sqrt()
}

/// The standard normal distribution function `Phi(x) = erfc(-x / sqrt 2) / 2`,
/// accurate relative to its own size in the lower tail. For the upper tail, ask for `Phi(-x)`.
///
/// ```
/// use dpgp_number::normal_cdf;
/// assert_eq!(normal_cdf(0.0), 0.5);
/// assert!((normal_cdf(1.3) + normal_cdf(-1.3) - 1.0).abs() < 1e-15);
/// ```
pub fn normal_cdf(x: f64) -> f64 {
    // Not `(1 + erf) / 2`, which cancels in the lower tail.
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// Where a condition that holds from some point on begins: `high` is the least number found at which it holds, `low` the
/// greatest at which it does not. Calibrations return the end on the safe side of the two.
pub struct ThresholdBracket {
    /// Where it does not hold.
    pub low: f64,
    /// Where it holds.
    pub high: f64,
}

/// Halves `[low, high]` until nothing lies between its ends; `beyond` is not asked at the ends themselves.
pub fn bisect(mut low: f64, mut high: f64, beyond: impl Fn(f64) -> bool) -> ThresholdBracket {
    loop {
        let middle = 0.5 * (low + high);
        // The mean of neighbouring numbers rounds to one of them, so the loop ends.
        if middle <= low || middle >= high {
            return ThresholdBracket { low, high };
        }
        if beyond(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from tables of the normal distribution to 16 digits.
    #[test]
    fn certified_values() {
        for (x, expected) in [
            (0.0, 0.5),
            (1.0, 0.841_344_746_068_542_9),
            (-1.0, 0.158_655_253_931_457_05),
            (-5.0, 2.866_515_718_791_939e-7),
            (-10.0, 7.619_853_024_160_527e-24),
        ] {
            let relative = normal_cdf(x) / expected - 1.0;
            assert!(relative.abs() < 4e-15, "Phi({x}): {relative:e}");
        }
        assert!((normal_pdf(0.0) - 0.398_942_280_401_432_7).abs() < 1e-16);
    }
}
