//! Noise on sums at inducing inputs and their midpoints that is the same along every direction.

use crate::peaks::Peaks;
use dpgp_task::ShapedRelease;

/// Steps to a lengthscale where peaks are looked for.
const STEPS: f64 = 500.0;

/// The greatest squared shift, if each of the two sums has noise of one variance on all its numbers.
///
/// Obligation: with `K = sup |k|^2`, `P = sup |p|^2` and `a = inf p.p' / (k.k')^2` over the box, the squared shift of two records with `t = k.k'`
/// is at most `2 R^2 (K + t) / s_a^2 + 2 (P - a t^2) / s_m^2` with t between 0 and K. Along one input `k.k'` and `p.p'` of two inputs are those of
/// both at their mean u, times a fall with their distance that is squared in the second: the ratio depends on u alone, and is a product over the
/// inputs.
pub(super) fn isotropic(release: &ShapedRelease) -> Option<f64> {
    let (on_a, on_m) = (one_variance(&release.weighted)?, one_variance(&release.plain)?);
    let (variance, lengthscale) = release.kernel;
    let (mut k, mut p, mut a) = (variance * variance, 1.0, variance.powi(-4));
    for (range, ends) in release.inducing.iter().zip(&release.domain) {
        let points: Vec<f64> = (0..range.points).map(|place| range.at(place)).collect();
        let half = (range.to - range.from) / (2 * (range.points - 1)) as f64;
        let middles = (0..2 * range.points - 1).map(|place| range.from + half * place as f64).collect();
        let one = Bumps { rate: lengthscale.powi(-2), centres: points };
        let two = Bumps { rate: 2.0 * lengthscale.powi(-2), centres: middles };
        k *= one.peaks(*ends).greatest(|x| one.at(x));
        p *= two.peaks(*ends).greatest(|x| two.at(x));
        // The second derivative of 2 ln T - ln Q is at least -4 W^2 / l^4 for points within a range W, and T^2 / Q at most their number.
        let curvature = 4.0 * range.points as f64 * (range.to - range.from).powi(2) * lengthscale.powi(-4);
        let peaks = Peaks { curvature, ..one.peaks(*ends) };
        a /= peaks.greatest(|x| (2.0 * one.logarithm(x) - two.logarithm(x)).exp());
    }
    let square = release.bound * release.bound;
    // A parabola in t that opens downwards.
    let t = (square * on_m / (2.0 * a * on_a)).min(k);
    Some(2.0 * square * (k + t) / on_a + 2.0 * (p - a * t * t) / on_m)
}

/// The variance, where a covariance is a multiple of the identity.
fn one_variance(covariance: &nalgebra::DMatrix<f64>) -> Option<f64> {
    let least = covariance.diagonal().min();
    let beside = covariance - nalgebra::DMatrix::from_diagonal(&covariance.diagonal());
    let is_one = beside.amax() == 0.0 && covariance.diagonal().max() <= least * (1.0 + 1e-12);
    (is_one && least > 0.0).then_some(least)
}

/// `sum exp(-rate (x - c)^2)`.
struct Bumps {
    rate: f64,
    centres: Vec<f64>,
}

impl Bumps {
    fn peaks(&self, [low, high]: [f64; 2]) -> Peaks {
        let curvature = 2.0 * self.rate * self.centres.len() as f64;
        Peaks { low, high, count: ((high - low) * STEPS * self.rate.sqrt()).ceil(), curvature }
    }

    fn at(&self, x: f64) -> f64 {
        self.centres.iter().map(|c| (-self.rate * (x - c).powi(2)).exp()).sum()
    }

    /// Of the sum; far from all centres by the nearest, as every term is too small for a number.
    fn logarithm(&self, x: f64) -> f64 {
        let squares = self.centres.iter().map(|c| (x - c).powi(2));
        let nearest = squares.clone().fold(f64::INFINITY, f64::min);
        squares.map(|square| (-self.rate * (square - nearest)).exp()).sum::<f64>().ln() - self.rate * nearest
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;
    use dpgp_spec::setting::RangeSetting;

    fn release(points: usize, to: f64) -> ShapedRelease {
        ShapedRelease {
            weighted: DMatrix::identity(points, points),
            plain: DMatrix::identity(2 * points - 1, 2 * points - 1) * 0.25,
            kernel: (1.3, 1.0),
            inducing: vec![RangeSetting { from: 0.0, to, points }],
            domain: vec![[-1.0, to]],
            bound: 2.0,
        }
    }

    /// Far from each other inducing inputs know nothing of each other: near one of them `K = v^2 = 1.69`, `P = 1` and `t^2 a = q`, so that t = K is worst
    /// if `R^2 / (2 c a) = 4 1.69^2 / 8 = 1.43` does not lie below it.
    #[test]
    fn the_bound_is_the_one_by_hand() {
        let found = isotropic(&release(2, 60.0)).unwrap();
        let (k, t) = (1.69f64, 1.69f64.powi(2) / 2.0);
        let expected = 8.0 * (k + t) + 8.0 * (1.0 - t * t / (k * k));
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    }

    #[test]
    fn other_shapes_have_no_such_bound() {
        let mut release = release(4, 3.0);
        assert!(isotropic(&release).is_some());
        release.plain[(0, 1)] = 0.01;
        assert!(isotropic(&release).is_none());
        release.plain[(0, 1)] = 0.0;
        release.weighted[(2, 2)] = 1.1;
        assert!(isotropic(&release).is_none());
    }
}
