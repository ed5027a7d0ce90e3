//! How far the differences of all records reach out of an ellipsoid.

use nalgebra::DMatrix;

use super::least_trace::{Contributions, Shifts};
use super::{NoiseAxes, SumMaps};
use dpgp_gp::variational::Bumps;
use dpgp_linalg::largest;

/// What rounding may take from a distance: far more than it does.
const ROUNDING: f64 = 1e-9;

/// Points of a product grid over a box that holds its corners (side^d x d), the last input fastest.
pub(super) fn places(domain: &[[f64; 2]], side: usize) -> DMatrix<f64> {
    let count = domain.iter().fold(1, |count, _| count * side);
    DMatrix::from_fn(count, domain.len(), |place, input| {
        let inner = (input + 1..domain.len()).fold(1, |inner, _| inner * side);
        let [low, high] = domain[input];
        low + (high - low) * (place / inner % side) as f64 / (side - 1) as f64
    })
}

/// An upper bound on `sup D' S^-1 D` over all pairs of records of the box.
///
/// Obligation. Let `g(x) = (R S_b^(-1/2) phi(x), S_T^(-1/2) e(x))`. For records at x and x' with targets at their bounds, in which the
/// distance is convex, a difference in standard deviations is `(g_b(x) +- g_b(x'), g_T(x) - g_T(x'))`. On a grid of the steps h_j let
/// I be the interpolation of g that is linear in each input: its weights on the corners of a cell are positive and add up to 1, so that the
/// interpolated difference is a mean of differences at corners and no longer than the longest of them. What I misses has at most the
/// length
///
/// ```text
/// r = sum_j h_j^2 / 8 s_j,   s_j = sup |d^2 g / dx_j^2|
/// ```
///
/// at x, and as much at x': one input after the other is interpolated, by Peano's kernel, and means of values are no longer than the
/// values. So the supremum is at most `(max over the grid + 2 r)^2`. The same argument bounds `s_j` by its greatest value on the
/// grid and `sum_i h_i^2 / 8` times a bound on all fourth derivatives.
pub(super) fn reach(
    maps: &SumMaps,
    weighted: &NoiseAxes,
    plain: &NoiseAxes,
    domain: &[[f64; 2]],
    side: usize,
) -> f64 {
    let places = places(domain, side);
    let at = Whitened { maps, weighted, plain };
    let longest = Shifts::of(&at.contributions(&places)).greatest().sqrt();
    let steps: Vec<f64> =
        domain.iter().map(|[low, high]| ((high - low) / (side - 1) as f64).powi(2) / 8.0).collect();
    let fourth = steps.iter().sum::<f64>() * at.fourth_derivatives();
    let missed = steps.iter().enumerate().map(|(input, step)| step * (at.curvature(&places, input) + fourth));
    (longest + 2.0 * missed.sum::<f64>()).powi(2) * (1.0 + ROUNDING)
}

/// g.
struct Whitened<'a> {
    maps: &'a SumMaps,
    weighted: &'a NoiseAxes,
    plain: &'a NoiseAxes,
}

impl Whitened<'_> {
    fn contributions(&self, places: &DMatrix<f64>) -> Contributions {
        let contributions = self.maps.contributions(places);
        Contributions {
            weighted: self.weighted.whitened(&contributions.weighted),
            plain: self.plain.whitened(&contributions.plain),
        }
    }

    /// The greatest length of the second derivative along an input, over the places.
    fn curvature(&self, places: &DMatrix<f64>, input: usize) -> f64 {
        let weighted =
            self.weighted.whitened(&self.maps.weighted.curvatures(places, input)) * self.maps.bound;
        let plain = self.plain.whitened(&self.maps.plain.curvatures(places, input));
        let squares = weighted.row_iter().zip(plain.row_iter());
        largest(squares.map(|(b, t)| b.norm_squared() + t.norm_squared())).sqrt()
    }

    /// A bound on the length of every fourth derivative, anywhere.
    fn fourth_derivatives(&self) -> f64 {
        let weighted = self.maps.bound * stretched(&self.maps.weighted, self.weighted);
        weighted.hypot(stretched(&self.maps.plain, self.plain))
    }
}

/// The bound on fourth derivatives over the least standard deviation.
fn stretched(bumps: &Bumps, axes: &NoiseAxes) -> f64 {
    bumps.fourth_derivatives() / axes.variances.min().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpgp_gp::variational::InducingGrid;

    /// Coarse grids miss the worst pair, and the margin makes up for it; a fine grid is believed.
    #[test]
    fn the_margin_covers_what_a_coarse_grid_misses() {
        for inputs in [1, 2] {
            let sides = vec![vec![-2.0, -0.7, 0.6]; inputs];
            let grid = InducingGrid { sides, variance: 1.0, lengthscale: 1.0 };
            let maps = SumMaps { weighted: grid.covariances(), plain: grid.midpoints(), bound: 2.0 };
            let [weighted, plain] =
                [&maps.weighted, &maps.plain].map(|bumps| NoiseAxes::spherical(bumps.len(), 1.0));
            let (domain, mut missed) = (vec![[-2.3, 1.0]; inputs], 0);
            let fine = Shifts::of(&maps.contributions(&places(&domain, 41))).greatest();
            for side in [3, 4, 6, 9] {
                let coarse = Shifts::of(&maps.contributions(&places(&domain, side))).greatest();
                missed += usize::from(coarse < 0.999 * fine);
                assert!(reach(&maps, &weighted, &plain, &domain, side) >= fine, "{inputs} {side}");
            }
            assert!(missed > 0);
            let close = reach(&maps, &weighted, &plain, &domain, 41);
            assert!(close >= fine && close < 1.05 * fine, "{close} {fine}");
        }
    }

    fn axes(bumps: &Bumps, variance: f64) -> NoiseAxes {
        NoiseAxes::spherical(bumps.len(), variance)
    }

    /// The second difference at steps of a thousandth.
    fn second([before, at, after]: [&DMatrix<f64>; 3]) -> DMatrix<f64> {
        (before - at * 2.0 + after) * 1e6
    }

    /// Fourth derivatives of targets of 2 under the standard deviations 3 and 1/2; what three places miss is bounded by the curvature at
    /// them and a step times the fourth derivatives, of both records.
    #[test]
    fn the_margin_holds_curvatures_and_fourth_derivatives() {
        let grid = InducingGrid { sides: vec![vec![-2.0, -0.7, 0.6]], variance: 1.0, lengthscale: 1.0 };
        let maps = SumMaps { weighted: grid.covariances(), plain: grid.midpoints(), bound: 2.0 };
        let (weighted, plain) = (axes(&maps.weighted, 9.0), axes(&maps.plain, 0.25));
        let at = Whitened { maps: &maps, weighted: &weighted, plain: &plain };
        let fourth = at.fourth_derivatives();
        let parts = [maps.weighted.fourth_derivatives() * 2.0 / 3.0, maps.plain.fourth_derivatives() * 2.0];
        assert!((fourth / parts[0].hypot(parts[1]) - 1.0).abs() < 1e-12, "{fourth} {parts:?}");
        let places = places(&[[-2.0, 1.0]], 3);
        let longest = Shifts::of(&at.contributions(&places)).greatest().sqrt();
        let step = 1.5f64.powi(2) / 8.0;
        let margin = 2.0 * step * (at.curvature(&places, 0) + step * fourth);
        let found = reach(&maps, &weighted, &plain, &[[-2.0, 1.0]], 3) / (longest + margin).powi(2);
        assert!((found - 1.0 - ROUNDING).abs() < 1e-3 * ROUNDING, "{found} {longest} {margin}");
        // Second differences of what one record adds.
        let moved = [-1e-3, 0.0, 1e-3].map(|h| at.contributions(&places.add_scalar(h)));
        let (b, t) =
            (second(moved.each_ref().map(|at| &at.weighted)), second(moved.each_ref().map(|at| &at.plain)));
        let lengths = b.row_iter().zip(t.row_iter()).map(|(b, t)| b.norm_squared() + t.norm_squared());
        let curvature = largest(lengths).sqrt();
        assert!((at.curvature(&places, 0) / curvature - 1.0).abs() < 1e-4, "{curvature}");
    }
}
