//! Integrals of the exponentiated quadratic kernel over intervals: the factors, one dimension each.
//!
//! With `e(r) = exp(-r^2 / l^2)` (no factor 2) and `g(z) = sqrt(pi) z erf z + exp(-z^2)`, the double integral over
//! `[s, t] x [s', t']` is `l^2/2 [g((t - s')/l) + g((t' - s)/l) - g((t - t')/l) - g((s - s')/l)]`.
//! Far from the origin `g(z)` grows as `sqrt(pi) |z|`, and the four terms cancel. That part is summed in closed
//! form: `|t - s'| + |t' - s| - |t - t'| - |s - s'|` is twice the length of the overlap of the two intervals. The
//! rest, `h(z) = exp(-z^2) - sqrt(pi) |z| erfc |z|`, falls to zero. So distant intervals get small covariances
//! instead of the rounding errors of large terms.
//!
//! Source: Smith, Zwiessele and Lawrence 2016, Eq. 1, with alpha once.

use std::f64::consts::PI;

use super::Interval;

/// `int_a int_b exp(-(u - v)^2 / l^2) du dv`, in squared units of the input.
///
/// ```
/// use dpgp_gp::kernel::{Interval, kernel_double_integral};
/// let unit = Interval { low: 0.0, high: 1.0 };
/// let long = kernel_double_integral(1e6, unit, unit);
/// assert!((long - 1.0).abs() < 1e-12, "a constant integrates to the area");
/// ```
pub fn kernel_double_integral(lengthscale: f64, a: Interval, b: Interval) -> f64 {
    if is_lengthscale_long(lengthscale, a, b) {
        return quadrature_integral(lengthscale, a, b, |squared| (-squared).exp());
    }
    // The overlap is what the growing parts of the four terms add up to; the corners, `h` above, hold the rest.
    let near = 0.5
        * lengthscale
        * interval_second_difference(lengthscale, a, b, |z| (-z * z).exp() - PI.sqrt() * z * libm::erfc(z));
    lengthscale * (PI.sqrt() * overlap(a, b) + near)
}

/// `d / d ln l` of [`kernel_double_integral`].
///
/// Since `g' = sqrt(pi) erf`, `d/dl (l^2 g(D/l) / 2) = l [sqrt(pi) z erf z / 2 + exp(-z^2)]` at `z = D/l`.
pub fn kernel_double_integral_log_slope(lengthscale: f64, a: Interval, b: Interval) -> f64 {
    if is_lengthscale_long(lengthscale, a, b) {
        return quadrature_integral(lengthscale, a, b, |squared| 2.0 * squared * (-squared).exp());
    }
    let near = interval_second_difference(lengthscale, a, b, |z| (-z * z).exp() - 0.5 * PI.sqrt() * z * libm::erfc(z));
    lengthscale * (PI.sqrt() * overlap(a, b) + lengthscale * near)
}

/// `int_a exp(-(u - x)^2 / l^2) du = sqrt(pi)/2 l [erf((t - x)/l) - erf((s - x)/l)]`, in units of the input.
///
/// ```
/// use dpgp_gp::kernel::{Interval, kernel_single_integral};
/// // The whole line: sqrt(pi) l.
/// let all = kernel_single_integral(2.0, Interval { low: -1e3, high: 1e3 }, 0.0);
/// assert!((all - 2.0 * std::f64::consts::PI.sqrt()).abs() < 1e-14);
/// ```
pub fn kernel_single_integral(lengthscale: f64, a: Interval, x: f64) -> f64 {
    let (s, t) = ((a.low - x) / lengthscale, (a.high - x) / lengthscale);
    if is_lengthscale_long(lengthscale, a, Interval { low: x, high: x }) {
        let nodes = gauss_legendre_nodes(Interval { low: s, high: t });
        return a.width() * nodes.iter().map(|node| node.weight * (-node.x.powi(2)).exp()).sum::<f64>();
    }
    // To one side of x, erf is all but 1 at both ends and its difference nothing but rounding: there the complements differ.
    let difference = if s > 0.0 {
        libm::erfc(s) - libm::erfc(t)
    } else if t < 0.0 {
        libm::erfc(-t) - libm::erfc(-s)
    } else {
        libm::erf(t) - libm::erf(s)
    };
    0.5 * PI.sqrt() * lengthscale * difference
}

/// Both intervals within this many lengthscales: there the closed form is a small difference of terms of the size of
/// `l^2`, and its integrand all but a polynomial of low degree.
const LONG: f64 = 0.1;

/// Whether [`quadrature_integral`] serves: an infinite lengthscale, which a search may ask for, is always long.
fn is_lengthscale_long(lengthscale: f64, a: Interval, b: Interval) -> bool {
    a.high.max(b.high) - a.low.min(b.low) < LONG * lengthscale
}

/// `int_a int_b f((u - v)^2 / l^2) du dv` by the four-point Gauss-Legendre rule in both variables, which is exact to
/// degree 7: within [`LONG`] lengthscales what it leaves out is far below rounding.
fn quadrature_integral(lengthscale: f64, a: Interval, b: Interval, f: impl Fn(f64) -> f64) -> f64 {
    let inner = gauss_legendre_nodes(b);
    let sums = gauss_legendre_nodes(a).map(|u| {
        let terms = inner.iter().map(|v| {
            let r = (u.x - v.x) / lengthscale;
            u.weight * v.weight * f(r * r)
        });
        terms.sum::<f64>()
    });
    a.width() * b.width() * sums.iter().sum::<f64>()
}

/// A place and its weight in a quadrature rule.
struct QuadratureNode {
    x: f64,
    weight: f64,
}

/// The four-point Gauss-Legendre rule for the mean over an interval: the nodes are the roots of the Legendre polynomial
/// `P_4`, the weights add up to 1. Source: Abramowitz and Stegun, table 25.4.
fn gauss_legendre_nodes(interval: Interval) -> [QuadratureNode; 4] {
    let root = 2.0 / 7.0 * 1.2f64.sqrt();
    let (near, far) = ((3.0 / 7.0 - root).sqrt(), (3.0 / 7.0 + root).sqrt());
    let (heavy, light) = ((18.0 + 30f64.sqrt()) / 72.0, (18.0 - 30f64.sqrt()) / 72.0);
    [(-far, light), (-near, heavy), (near, heavy), (far, light)].map(|(place, weight)| QuadratureNode {
        x: 0.5 * (interval.low + interval.high + place * interval.width()),
        weight,
    })
}

/// The length that two intervals share.
fn overlap(a: Interval, b: Interval) -> f64 {
    (a.high.min(b.high) - a.low.max(b.low)).max(0.0)
}

/// `f(|t - s'|/l) + f(|t' - s|/l) - f(|t - t'|/l) - f(|s - s'|/l)`.
fn interval_second_difference(lengthscale: f64, a: Interval, b: Interval, f: impl Fn(f64) -> f64) -> f64 {
    let differences = [a.high - b.low, a.high - b.high, b.high - a.low, a.low - b.low];
    let [right, upper, left, lower] = differences.map(|difference| f(difference.abs() / lengthscale));
    // Neighbours of opposite signs first: their differences are as small as b is narrow.
    (right - upper) + (left - lower)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Nodes and weights of the 16-point Gauss-Legendre rule on [-1, 1] (Abramowitz and Stegun, table 25.4), one half.
    const RULE: [(f64, f64); 8] = [
        (0.095_012_509_837_637_44, 0.189_450_610_455_068_5),
        (0.281_603_550_779_258_9, 0.182_603_415_044_923_58),
        (0.458_016_777_657_227_37, 0.169_156_519_395_002_54),
        (0.617_876_244_402_643_7, 0.149_595_988_816_576_73),
        (0.755_404_408_355_003, 0.124_628_971_255_533_88),
        (0.865_631_202_387_831_7, 0.095_158_511_682_492_78),
        (0.944_575_023_073_232_6, 0.062_253_523_938_647_89),
        (0.989_400_934_991_649_9, 0.027_152_459_411_754_096),
    ];

    fn quadrature(a: Interval, f: impl Fn(f64) -> f64) -> f64 {
        let panels = 40;
        let half = 0.5 * a.width() / f64::from(panels);
        let panel = |p: i32| {
            let middle = a.low + half * f64::from(2 * p + 1);
            RULE.iter().map(|(x, w)| w * (f(middle - half * x) + f(middle + half * x))).sum::<f64>()
        };
        half * (0..panels).map(panel).sum::<f64>()
    }

    /// What a search for hyperparameters may ask for.
    #[test]
    fn an_infinite_lengthscale_integrates_a_constant() {
        let (a, b) = (interval(1.0, 3.0), interval(5.0, 2.0));
        assert!((kernel_double_integral(f64::INFINITY, a, b) - 6.0).abs() < 1e-14);
        assert_eq!(kernel_double_integral_log_slope(f64::INFINITY, a, b), 0.0);
        assert!((kernel_single_integral(f64::INFINITY, a, 100.0) - 3.0).abs() < 1e-14);
    }

    fn reach(a: Interval, b: Interval) -> f64 {
        a.high.max(b.high) - a.low.min(b.low)
    }

    fn interval(low: f64, width: f64) -> Interval {
        Interval { low, high: low + width }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn integrals_are_those_of_quadrature(
            (s, w) in (-6.0..6.0f64, 0.1..6.0f64),
            (r, v) in (-6.0..6.0f64, 0.1..6.0f64),
            l in 0.5..8.0f64,
        ) {
            let (a, b) = (interval(s, w), interval(r, v));
            let (far, near) = (1.001 * reach(a, b) / LONG, 0.999 * reach(a, b) / LONG);
            let jump = kernel_double_integral(far, a, b) / kernel_double_integral(near, a, b) - 1.0;
            prop_assert!((0.0..1e-3).contains(&jump), "the two forms meet: {}", jump);
            let e = |u: f64, x: f64| (-(u - x) * (u - x) / (l * l)).exp();
            let single = quadrature(a, |u| e(u, r));
            prop_assert!((kernel_single_integral(l, a, r) - single).abs() < 1e-12);
            let double = quadrature(a, |u| quadrature(b, |x| e(u, x)));
            prop_assert!((kernel_double_integral(l, a, b) - double).abs() < 1e-12 * (1.0 + double));
            prop_assert!((kernel_double_integral(l, a, b) - kernel_double_integral(l, b, a)).abs() <= 1e-14 * (1.0 + double));
        }

        #[test]
        fn the_slope_is_that_of_differences((s, w) in (-6.0..6.0f64, 0.1..6.0f64), l in 0.5..8.0f64) {
            let (a, b) = (interval(s, w), interval(0.5, 2.0));
            let h = 1e-5;
            let above = kernel_double_integral(l * f64::exp(h), a, b);
            let below = kernel_double_integral(l * f64::exp(-h), a, b);
            let slope = (above - below) / (2.0 * h);
            prop_assert!((kernel_double_integral_log_slope(l, a, b) - slope).abs() < 1e-8 * (1.0 + slope.abs()));
        }
    }

    /// Eq. 1 as printed, with alpha once.
    #[test]
    fn agrees_with_the_printed_form() {
        let g = |z: f64| z * PI.sqrt() * libm::erf(z) + (-z * z).exp();
        let (s, t, r, v, l) = (0.0, 10.0, 7.0, 12.0, 4.0);
        let printed = 0.5 * l * l * (g((t - r) / l) + g((v - s) / l) - g((t - v) / l) - g((s - r) / l));
        let ours = kernel_double_integral(l, Interval { low: s, high: t }, Interval { low: r, high: v });
        assert!((ours / printed - 1.0).abs() < 1e-14);
    }

    /// Far intervals: `w v e(D)` times a bounded factor, down to the smallest numbers, where the printed form is rounding.
    #[test]
    fn far_intervals_have_tiny_covariances() {
        let (a, b) = (interval(0.0, 1e-3), interval(20.0, 1e-3));
        let expected = 1e-6 * (-400.0f64).exp();
        assert!((kernel_double_integral(1.0, a, b) / expected - 1.0).abs() < 0.05);
        assert!((kernel_single_integral(1.0, a, 20.0) / (1e-3 * (-400.0f64).exp()) - 1.0).abs() < 0.05);
        assert!(kernel_double_integral(1.0, a, interval(100.0, 1.0)).abs() < 1e-300);
    }
}
