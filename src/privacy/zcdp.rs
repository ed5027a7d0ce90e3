//! Zero-concentrated differential privacy and what it says about (epsilon, delta).

use super::Calibration;

/// `rho + 2 sqrt(rho ln(1/delta))`: an epsilon that rho-zCDP gives. Source: Bun and Steinke 2016, Proposition
/// 1.3.
pub fn zcdp_epsilon_classic(rho: f64, delta: f64) -> f64 {
    rho + 2.0 * (-rho * delta.ln()).sqrt()
}

/// The smallest `rho alpha + ln(1/(alpha delta)) / (alpha - 1) + ln(1 - 1/alpha)` over `alpha > 1`, at least
/// zero: the smallest epsilon known to follow from rho-zCDP. The derivative is zero where `rho (alpha - 1)^2 =
/// -ln(alpha delta)`, whose left side rises and whose right side falls. Source: Canonne, Kamath and Steinke
/// 2020, Proposition 12.
pub fn zcdp_epsilon(rho: f64, delta: f64) -> f64 {
    let rises = |alpha: f64| rho * (alpha - 1.0).powi(2) + (alpha * delta).ln() > 0.0;
    let alpha = bisect(1.0, 1.0 / delta, rises);
    let epsilon = rho * alpha - (alpha * delta).ln() / (alpha - 1.0) + (-1.0 / alpha).ln_1p();
    epsilon.max(0.0)
}

/// `(sqrt(epsilon + ln(1/delta)) - sqrt(ln(1/delta)))^2`, the inverse of [`zcdp_epsilon_classic`] in rho.
/// Source: Honkela 2021, Eq. 19.
///
/// ```
/// use dpgp::privacy::{zcdp_epsilon_classic, zcdp_rho_classic};
/// let rho = zcdp_rho_classic(3.0, 1e-5);
/// assert!((zcdp_epsilon_classic(rho, 1e-5) - 3.0).abs() < 1e-12);
/// ```
pub fn zcdp_rho_classic(epsilon: f64, delta: f64) -> f64 {
    let log = -delta.ln();
    // The difference of the roots as a quotient, which does not cancel.
    (epsilon / ((epsilon + log).sqrt() + log.sqrt())).powi(2)
}

/// The inverse of [`zcdp_epsilon`] in rho, from below: what it gives is (epsilon, delta)-DP.
pub fn zcdp_rho(epsilon: f64, delta: f64) -> f64 {
    let low = zcdp_rho_classic(epsilon, delta);
    let mut high = 2.0 * low;
    while zcdp_epsilon(high, delta) <= epsilon {
        high *= 2.0;
    }
    let beyond = bisect(low, high, |rho| zcdp_epsilon(rho, delta) > epsilon);
    beyond.next_down()
}

/// The rho of a pure epsilon, `epsilon^2 / 2`. Source: Bun and Steinke 2016, Proposition 1.4.
pub fn zcdp_rho_of_pure(epsilon: f64) -> f64 {
    0.5 * epsilon * epsilon
}

/// The rho that Gaussian mechanisms may spend together, each on what the former have released, to be (epsilon,
/// delta)-DP: `1 / (2 s^2)` with s the exact Gaussian noise per unit of sensitivity. It is 1.15 to 1.9 times
/// what zCDP alone allows. Source: Dong, Roth and Su 2022, Corollary 3.3.
pub fn gaussian_rho(epsilon: f64, delta: f64) -> f64 {
    0.5 / Calibration::Analytic.sigma(epsilon, delta).powi(2)
}

/// The least number, to rounding, from which on `beyond` holds.
fn bisect(mut low: f64, mut high: f64, beyond: impl Fn(f64) -> bool) -> f64 {
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return high;
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
    use crate::privacy::gaussian_delta;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn inverses_and_order(epsilon in 0.05..20.0f64, exponent in -12.0..-1.0f64) {
            let delta = 10f64.powf(exponent);
            let (classic, tight, exact) =
                (zcdp_rho_classic(epsilon, delta), zcdp_rho(epsilon, delta), gaussian_rho(epsilon, delta));
            prop_assert!(classic <= tight && tight <= exact * (1.0 + 1e-9));
            prop_assert!((zcdp_epsilon(tight, delta) / epsilon - 1.0).abs() < 1e-9);
            prop_assert!(zcdp_epsilon(tight, delta) <= epsilon);
            let spent = gaussian_delta(1.0 / (2.0 * exact).sqrt(), epsilon);
            prop_assert!(spent <= delta * (1.0 + 1e-9) && spent > 0.99 * delta);
        }
    }
}
