//! A reciprocal as a short sum of exponentials.

/// Step of the trapezoidal rule: its relative error is `2 |Gamma(1 + 2 pi i / step)|`, 0.014.
const STEP: f64 = 1.5;
/// The relative mass that is cut off at either end.
const CUT: f64 = 1e-2;

/// Pairs `(w, t)` with `1 / x = sum w exp(-t x)` to a relative error of 0.025 for x between `low` and `high`, both positive:
/// the trapezoidal rule for `1 / x = int exp(u - x e^u) du`. Their number is two thirds of the log of `high / low` plus about 5. With
/// that error in its Hessian each Newton step still gains a factor of 40 near the optimum.
///
/// Source: Beylkin and Monzón 2010, "Approximation by exponential sums revisited", Sec. 2.
pub(super) fn reciprocal(low: f64, high: f64) -> Vec<(f64, f64)> {
    let (first, last) = ((CUT / high).ln(), ((1.0 / CUT).ln() / low).ln());
    let nodes = ((last - first) / STEP).ceil().max(0.0) as usize;
    // At node t = e^u the integrand exp(u - x t) is t exp(-x t).
    let nodes = (0..=nodes).map(|i| (first + STEP * i as f64).exp());
    nodes.map(|t| (STEP * t, t)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_is_small_over_the_whole_range() {
        for (low, high) in [(1.0, 1.0), (0.5, 3.0), (1e-9, 1.0), (1e3, 1e11)] {
            let terms = reciprocal(low, high);
            assert!(terms.len() as f64 <= (high / low).ln() / 1.5 + 6.1);
            for i in 0..=1000 {
                let x = low * (high / low).powf(f64::from(i) / 1000.0);
                let sum: f64 = terms.iter().map(|(w, t)| w * (-t * x).exp()).sum();
                assert!((sum * x - 1.0).abs() < 0.025, "{x}: {}", sum * x - 1.0);
            }
        }
    }
}
