//! The expected clipped square of a Gaussian error.

use dpgp_number::{normal_cdf, normal_pdf};

/// `E[clip(X, -T, T)^2]` for `X ~ N(mean, sd^2)`. With `a = (-T - mean)/sd`, `b = (T - mean)/sd` and `P = Phi(b) - Phi(a)`:
/// `mean^2 P + 2 mean sd (phi(a) - phi(b)) + sd^2 (P + a phi(a) - b phi(b)) + T^2 (1 - P)`. Where sd is not small
/// beside T these terms cancel; there it is `T^2` less a smooth integral.
pub(crate) fn expected_square(mean: f64, sd: f64, threshold: f64) -> f64 {
    if threshold.is_infinite() {
        return mean * mean + sd * sd;
    }
    if sd == 0.0 {
        return mean.abs().min(threshold).powi(2);
    }
    if sd > 0.5 * threshold {
        return threshold * threshold - lost_to_the_clip(mean, sd, threshold);
    }
    let (a, b) = ((-threshold - mean) / sd, (threshold - mean) / sd);
    let (at_a, at_b) = (normal_pdf(a), normal_pdf(b));
    let outside = normal_cdf(a) + normal_cdf(-b);
    let inside = 1.0 - outside;
    mean * mean * inside
        + 2.0 * mean * sd * (at_a - at_b)
        + sd * sd * (inside + a * at_a - b * at_b)
        + threshold * threshold * outside
}

/// `E[(T^2 - X^2)+]`, the integral of `(T^2 - x^2) phi((x - mean)/sd)/sd` over [-T, T] by the five-point Gauss-Legendre
/// rule on [`PANELS`] panels of width `h = T/12`. The rule's error term `h^11 (5!)^4 f^(10) / (11 (10!)^3)` is far below the
/// rounding of `T^2` where `sd > T/2`, so `h / sd < 1/6`.
fn lost_to_the_clip(mean: f64, sd: f64, threshold: f64) -> f64 {
    let (near, far) = ((10.0f64 / 7.0).sqrt() * 2.0, 13.0 * 70f64.sqrt());
    let nodes = [
        (0.0, 128.0 / 225.0),
        ((5.0 - near).sqrt() / 3.0, (322.0 + far) / 900.0),
        ((5.0 + near).sqrt() / 3.0, (322.0 - far) / 900.0),
    ];
    let half = threshold / PANELS as f64;
    let panels = (0..PANELS).map(|p| {
        let middle = -threshold + half * (2 * p + 1) as f64;
        let pairs = nodes[1..].iter().map(|(node, weight)| {
            let (left, right) = (middle - half * node, middle + half * node);
            weight * (lost_density(left, mean, sd, threshold) + lost_density(right, mean, sd, threshold))
        });
        nodes[0].1 * lost_density(middle, mean, sd, threshold) + pairs.sum::<f64>()
    });
    half * panels.sum::<f64>()
}

fn lost_density(x: f64, mean: f64, sd: f64, threshold: f64) -> f64 {
    (threshold - x) * (threshold + x) * normal_pdf((x - mean) / sd) / sd
}

/// Panels of the quadrature.
const PANELS: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the trapezoidal rule.
    #[test]
    fn the_clipped_square_is_its_integral() {
        let cases = [
            (0.3, 1.0, 2.1),
            (0.3, 1.0, 1.9),
            (-5.0, 2.0, 3.0),
            (1.0, 30.0, 8.0),
            (2.0, 0.1, 8.0),
            (0.0, 4.001, 8.0),
        ];
        for (mean, sd, threshold) in cases {
            let steps = 400_000;
            let width = 24.0 / f64::from(steps);
            let integrand = |i: i32| {
                let z = -12.0 + width * f64::from(i);
                (mean + sd * z).clamp(-threshold, threshold).powi(2) * normal_pdf(z)
            };
            let integral: f64 = (0..=steps).map(integrand).sum::<f64>() * width;
            let closed = expected_square(mean, sd, threshold);
            assert!((closed / integral - 1.0).abs() < 1e-8, "{closed} {integral}");
        }
        // Where the noise drowns everything, every error is clipped.
        for sd in [1e6, 1e12, 1e200] {
            assert!((expected_square(3.0, sd, 8.0) / 64.0 - 1.0).abs() < 1e-5, "{sd}");
        }
        assert_eq!(expected_square(3.0, 0.0, 2.0), 4.0);
        assert_eq!(expected_square(3.0, 4.0, f64::INFINITY), 25.0);
    }
}
