//! The exact delta of the Gaussian mechanism, in arithmetic of several hundred bits.
//!
//! If epsilon or the noise is large, the two terms of delta agree in more digits than a double has. This code
//! keeps enough digits and uses another formula than [`gaussian_delta`](dpgp_accounting::gaussian_delta),
//! which it checks.

use dashu_float::FBig;

type WideFloat = FBig;

/// Bits that are right in the end.
const BITS: usize = 192;
/// Beyond this the normal tail is far below any delta, and its series long.
const FARTHEST: f64 = 60.0;

/// The hockey-stick divergence at `epsilon` of `N(shift, 1)` from `N(0, 1)`: `Phi(m/2 - e/m) - e^e Phi(-m/2 - e/m)`
/// for a shift m (sensitivity over standard deviation). Source: Balle and Wang 2018, Theorem 8. One for an infinite or
/// undefined shift.
///
/// ```
/// use dpgp_audit::exact_gaussian_delta;
/// // At epsilon 0 the divergence is the total variation distance, Phi(m/2) - Phi(-m/2): 0.68269 for m = 2.
/// assert!((exact_gaussian_delta(2.0, 0.0) - 0.682_689_492_137_086).abs() < 1e-15);
/// assert_eq!(exact_gaussian_delta(f64::INFINITY, 1.0), 1.0);
/// ```
///
/// With `d = m/2 - e/m` and `s = m/2 + e/m` the second term is `phi(d) Phi(-s) / phi(s)`, whose ratio has a series for
/// large s.
pub fn exact_gaussian_delta(shift: f64, epsilon: f64) -> f64 {
    if shift == 0.0 {
        return 0.0;
    }
    let (difference, sum) = (0.5 * shift - epsilon / shift, 0.5 * shift + epsilon / shift);
    if difference.is_nan() || difference > FARTHEST {
        return 1.0;
    }
    if difference < -FARTHEST {
        return 0.0;
    }
    let largest = if sum > FARTHEST { difference } else { sum };
    let bits = BITS + 2 * (largest.powi(2) as usize) + 64;
    let (Some(shift), Some(epsilon)) = (to_wide_float(shift, bits), to_wide_float(epsilon, bits)) else {
        return 1.0;
    };
    let (half, tilt) = (&shift / wide_from_integer(2, bits), &epsilon / &shift);
    let above = &half - &tilt;
    let below = if sum > FARTHEST {
        normal_density(&above, bits) * mills_ratio(&(half + tilt), bits)
    } else {
        epsilon.exp() * normal_cdf(&(-half - tilt), bits)
    };
    (normal_cdf(&above, bits) - below).to_f64().value().clamp(0.0, 1.0)
}

/// The number in so many bits; none for one that is not finite.
fn to_wide_float(x: f64, bits: usize) -> Option<WideFloat> {
    WideFloat::try_from(x).ok().map(|x| x.with_precision(bits).value())
}

/// A whole number in so many bits.
fn wide_from_integer(n: u32, bits: usize) -> WideFloat {
    WideFloat::from(n).with_precision(bits).value()
}

/// `1/2 + phi(x) (x + x^3/3 + x^5/(3 5) + ...)`: all terms have the sign of x, so that nothing cancels within the sum. For
/// negative x the sum and 1/2 do, by `x^2 / (2 ln 2)` bits, which the precision allows for.
fn normal_cdf(x: &WideFloat, bits: usize) -> WideFloat {
    let square = x * x;
    let (mut term, mut sum) = (x.clone(), x.clone());
    let mut odd = 1;
    // Until a term is below the last bit of the sum.
    loop {
        odd += 2;
        term = &term * &square / wide_from_integer(odd, bits);
        let before = sum.clone();
        sum += &term;
        if before == sum {
            break;
        }
    }
    wide_from_integer(1, bits) / wide_from_integer(2, bits) + normal_density(x, bits) * sum
}

/// `phi(x)`.
fn normal_density(x: &WideFloat, bits: usize) -> WideFloat {
    let two = wide_from_integer(2, bits);
    (-(x * x) / &two).exp() / (&two * WideFloat::pi(bits)).sqrt()
}

/// `Phi(-x) / phi(x) = (1 - 1/x^2 + 3/x^4 - 3 5/x^6 + ...) / x`, to 30 terms, of which the last is below `10^-65` for x > 60.
fn mills_ratio(x: &WideFloat, bits: usize) -> WideFloat {
    let square = x * x;
    let (mut term, mut sum) = (wide_from_integer(1, bits), wide_from_integer(1, bits));
    for k in 1..=30 {
        term = -term * wide_from_integer(2 * k - 1, bits) / &square;
        sum += &term;
    }
    sum / x
}

/// Formats a number with four significant digits: fixed-point from 0.001 to 100,000, with an exponent beyond.
pub fn format_four_significant(x: f64) -> String {
    if x == 0.0 {
        return "0".to_owned();
    }
    if (1e-3..1e5).contains(&x.abs()) {
        let digits = 3 - (x.abs().max(1e-3).log10().floor() as i32).min(3);
        return format!("{x:.*}", usize::try_from(digits).unwrap_or(0));
    }
    format!("{x:.3e}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpgp_accounting::{Calibration, gaussian_delta};

    /// Analytic calibration inverts it, whatever the size of epsilon; the two forms of the second term agree where they meet.
    #[test]
    fn large_epsilons() {
        for epsilon in [1.0, 100.0, 1e3, 3e3, 1e4, 1e5, 1e7] {
            for delta in [1e-3, 1e-6, 1e-12] {
                let found = exact_gaussian_delta(1.0 / Calibration::Analytic.sigma(epsilon, delta), epsilon);
                assert!((found / delta - 1.0).abs() < 1e-7, "{epsilon} {delta}: {found}");
            }
        }
        let (shift, epsilon) = (FARTHEST, 0.5 * FARTHEST * FARTHEST);
        let [before, after] = [-1e-9, 1e-9].map(|by| exact_gaussian_delta(shift + by, epsilon));
        assert!((before / after - 1.0).abs() < 1e-6, "{before} {after}");
        assert_eq!(
            (exact_gaussian_delta(1e6, 1.0), exact_gaussian_delta(1e-3, 1.0), exact_gaussian_delta(f64::INFINITY, 1.0)),
            (1.0, 0.0, 1.0)
        );
    }

    /// From the table of the protocol, and the classic noise at (1, 0.01).
    #[test]
    fn known_values() {
        let classic = |epsilon: f64| exact_gaussian_delta(1.0 / Calibration::Classic.sigma(epsilon, 0.01), epsilon);
        assert!((classic(5.0) - 0.0022).abs() < 5e-5);
        assert!((classic(10.0) - 0.0245).abs() < 5e-5);
        assert!((classic(20.0) - 0.367).abs() < 5e-4);
        assert!((classic(50.0) - 0.99999).abs() < 1e-5);
        assert!((exact_gaussian_delta(1.0 / 1.877_875_560_907_386, 1.0) / 0.01 - 1.0).abs() < 1e-13);
    }

    #[test]
    fn ordinary_precision_agrees_where_it_can() {
        for (sigma, epsilon) in [(0.3, 1.0), (1.0, 0.01), (3.0, 1.0), (10.0, 0.5), (24.0, 0.33), (0.1, 8.0)] {
            let (wide, plain) = (exact_gaussian_delta(1.0 / sigma, epsilon), gaussian_delta(sigma, epsilon));
            assert!((wide - plain).abs() <= 1e-13 * wide + 1e-16, "{sigma} {epsilon}: {wide:e} {plain:e}");
        }
    }

    #[test]
    fn limits() {
        assert_eq!(exact_gaussian_delta(0.0, 1.0), 0.0);
        assert_eq!(exact_gaussian_delta(f64::INFINITY, 1.0), 1.0);
        assert_eq!(exact_gaussian_delta(f64::NAN, 1.0), 1.0);
        assert_eq!(exact_gaussian_delta(1e-3, 10.0), 0.0);
        assert_eq!(exact_gaussian_delta(1e9, 1.0), 1.0);
    }
}
