//! Gaussian noise in the shape of an ellipsoid that covers every change by one record.
//!
//! One record (x, y) adds `(y phi(x), e(x))` to the sums `(b, T)`, for features phi and e that are known ([`SumFeatureMaps`]) and `|y| <= R`. Noise of the
//! covariance `sigma^2 S` is a Gaussian mechanism with `mu = 1 / sigma` if the *difference* of any two records of the public box has
//!
//! ```text
//! D' S^-1 D <= 1.
//! ```
//!
//! Spherical noise takes for S a multiple of the identity, the ball around all differences. They are thin: features of one input lie on a curve, of
//! two on a surface. The S of least trace is the least ellipsoid around them:
//!
//! 1. *Blocks*. With (x, y) and (x', y') also (x, -y) and (x', -y') are records, so that with `(D_b, D_T)` also `(-D_b, D_T)` is a difference.
//!    The mean of S and its mirror image has the same trace and holds both, as `D' S^-1 D` is convex in S: the best S has no covariance between b and T.
//! 2. *Duality*. For weights w on differences, `M(w) = sum w_i D_i D_i'` with `sum w_i = 1`, and any S that holds them,
//!    `tr(S^-1 M) <= 1`, and `(tr M^(1/2))^2 <= tr S tr(S^-1 M) <= tr S` by Cauchy and Schwarz: a lower bound for every w. It is reached by
//!    `S = tr(M^(1/2)) M^(1/2)` for the best w. For any w the S so made holds all differences when it is scaled by `g = max D' S^-1 D`,
//!    so that g - 1 is the gap: what its trace is above the least ([`least_trace`]).
//! 3. *All of the box*. g is a supremum over pairs of inputs, of which a grid sees some; the features between them are within a margin of
//!    their interpolation ([`reach`]).
//!
//! Source: Pukelsheim, Optimal Design of Experiments (1993), Chapters 6 and 7, for the duality; Edmonds, Nikolov and Ullman 2020 for
//! noise in the shape of an ellipsoid.

mod least_trace;

use nalgebra::DMatrix;

use dpgp_gp::variational::GaussianBumpGrid;
use dpgp_linalg::{LinalgError, largest_or_nan};
use least_trace::{RecordContributions, SquaredPairDistances, fit_least_trace_ellipsoid};

pub use least_trace::NoiseAxes;

/// Points to a side of the grid that a shape is found on, and of the one that it is certified on, for one and two inputs.
const FOUND: [usize; 2] = [97, 17];
const CERTIFIED: [usize; 2] = [801, 45];

/// Contribution of a record (x, y) to sums: `(y phi(x), e(x))`, with `|y| <= R`.
#[derive(Debug, Clone, PartialEq)]
pub struct SumFeatureMaps {
    /// phi (m).
    pub weighted: GaussianBumpGrid,
    /// e (k).
    pub plain: GaussianBumpGrid,
    /// R.
    pub bound: f64,
}

impl SumFeatureMaps {
    /// At the bound of targets, for inputs (n x d).
    fn contributions(&self, inputs: &DMatrix<f64>) -> RecordContributions {
        RecordContributions {
            weighted: self.weighted.features(inputs) * self.bound,
            plain: self.plain.features(inputs),
        }
    }
}

/// Noise at the multiplier 1.
///
/// Obligation: the difference D of any two records of the box has `D' S^-1 D <= 1`, so that this noise times sigma is a Gaussian mechanism
/// with `mu = 1 / sigma` for neighbours that differ in one record.
#[derive(Debug, Clone, PartialEq)]
pub struct NoiseEllipsoid {
    /// On `b = sum y phi(x)`.
    pub weighted: NoiseAxes,
    /// On `T = sum e(x)`.
    pub plain: NoiseAxes,
    /// How far its trace is above a lower bound on the trace of every such noise, as a part of the bound: by the ascent and by the margin
    /// for inputs between the places of a grid.
    pub gap: f64,
}

impl NoiseEllipsoid {
    /// The shape of least trace, but for the gap, for a box of one or two inputs.
    ///
    /// ```
    /// use dpgp_gp::variational::InducingGrid;
    /// use dpgp_mechanisms::{NoiseEllipsoid, SumFeatureMaps};
    /// let sides = vec![(0..7).map(|place| 15.0 * f64::from(place)).collect()];
    /// let grid = InducingGrid { sides, variance: 1.0, lengthscale: 25.0 };
    /// let plain = grid.covariance_product_bumps().scaled(&grid.midpoint_weights().map(f64::sqrt));
    /// let maps = SumFeatureMaps { weighted: grid.covariance_bumps(), plain, bound: 2.0 };
    /// let shape = NoiseEllipsoid::with_least_trace(&maps, &[[0.0, 90.0]])?;
    /// // The ball around all differences takes 4 R^2 K = 47 of each number: 330 on A alone.
    /// assert!(shape.gap < 0.03 && shape.weighted.variances.sum() < 0.4 * 330.0);
    /// # Ok::<(), dpgp_linalg::LinalgError>(())
    /// ```
    ///
    /// # Errors
    /// [`LinalgError`] if features are not finite.
    ///
    /// # Panics
    /// For another number of inputs.
    pub fn with_least_trace(maps: &SumFeatureMaps, domain: &[[f64; 2]]) -> Result<Self, LinalgError> {
        let inputs = domain.len() - 1;
        let found = fit_least_trace_ellipsoid(&maps.contributions(&box_grid_points(domain, FOUND[inputs])))?;
        let reach = bound_squared_shift(maps, &found.weighted, &found.plain, domain, CERTIFIED[inputs]);
        let held = found.scaled(reach);
        Ok(Self { gap: held.trace() / held.bound - 1.0, weighted: held.weighted, plain: held.plain })
    }
}

/// Allowance for rounding in a distance: far more than it needs.
const ROUNDING: f64 = 1e-9;

/// Points of a product grid over a box that holds its corners (side^d x d), the last input fastest.
fn box_grid_points(domain: &[[f64; 2]], side: usize) -> DMatrix<f64> {
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
fn bound_squared_shift(
    maps: &SumFeatureMaps,
    weighted: &NoiseAxes,
    plain: &NoiseAxes,
    domain: &[[f64; 2]],
    side: usize,
) -> f64 {
    let places = box_grid_points(domain, side);
    let at = WhitenedFeatureMaps { maps, weighted, plain };
    let longest = SquaredPairDistances::new(&at.contributions(&places)).greatest().sqrt();
    let steps: Vec<f64> = domain.iter().map(|[low, high]| ((high - low) / (side - 1) as f64).powi(2) / 8.0).collect();
    let fourth = steps.iter().sum::<f64>() * at.fourth_derivative_bound();
    let missed = steps.iter().enumerate().map(|(input, step)| step * (at.largest_curvature(&places, input) + fourth));
    (longest + 2.0 * missed.sum::<f64>()).powi(2) * (1.0 + ROUNDING)
}

/// g.
struct WhitenedFeatureMaps<'a> {
    maps: &'a SumFeatureMaps,
    weighted: &'a NoiseAxes,
    plain: &'a NoiseAxes,
}

impl WhitenedFeatureMaps<'_> {
    fn contributions(&self, places: &DMatrix<f64>) -> RecordContributions {
        let contributions = self.maps.contributions(places);
        RecordContributions {
            weighted: self.weighted.whitened(&contributions.weighted),
            plain: self.plain.whitened(&contributions.plain),
        }
    }

    /// The greatest length of the second derivative along an input, over the places.
    fn largest_curvature(&self, places: &DMatrix<f64>, input: usize) -> f64 {
        let weighted = self.weighted.whitened(&self.maps.weighted.curvatures(places, input)) * self.maps.bound;
        let plain = self.plain.whitened(&self.maps.plain.curvatures(places, input));
        let squares = weighted.row_iter().zip(plain.row_iter());
        largest_or_nan(squares.map(|(b, t)| b.norm_squared() + t.norm_squared())).sqrt()
    }

    /// A bound on the length of every fourth derivative, anywhere.
    fn fourth_derivative_bound(&self) -> f64 {
        let weighted = self.maps.bound * whitened_fourth_derivative_bound(&self.maps.weighted, self.weighted);
        weighted.hypot(whitened_fourth_derivative_bound(&self.maps.plain, self.plain))
    }
}

/// The bound on fourth derivatives over the least standard deviation.
fn whitened_fourth_derivative_bound(bumps: &GaussianBumpGrid, axes: &NoiseAxes) -> f64 {
    bumps.fourth_derivative_bound() / axes.variances.min().sqrt()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::*;
    use dpgp_gp::variational::InducingGrid;

    fn maps(inputs: usize) -> SumFeatureMaps {
        let side = [-4.0, -2.0, 0.0, 2.0, 4.0].to_vec();
        let grid = InducingGrid { sides: vec![side; inputs], variance: 1.3, lengthscale: 2.0 };
        let plain = grid.covariance_product_bumps().scaled(&grid.midpoint_weights().map(|w| (4.5 * w).sqrt()));
        SumFeatureMaps { weighted: grid.covariance_bumps(), plain, bound: 3.0 }
    }

    fn squared(maps: &SumFeatureMaps, shape: &NoiseEllipsoid, pair: &[f64], sign: f64) -> f64 {
        let inputs = DMatrix::from_row_slice(2, pair.len() / 2, pair);
        let u = shape.weighted.whitened(&maps.weighted.features(&inputs)) * maps.bound;
        let w = shape.plain.whitened(&maps.plain.features(&inputs));
        (u.row(0) - u.row(1) * sign).norm_squared() + (w.row(0) - w.row(1)).norm_squared()
    }

    /// Random pairs pushed uphill: no difference reaches out, and some touch but for the margin.
    #[test]
    fn no_difference_reaches_out() {
        let mut stream = rand_pcg::Pcg64::seed_from_u64(3);
        for (inputs, gap) in [(1, 0.02), (2, 0.06)] {
            let maps = maps(inputs);
            let shape = NoiseEllipsoid::with_least_trace(&maps, &vec![[-4.0, 4.0]; inputs]).unwrap();
            assert!(shape.gap > 0.0 && shape.gap < gap, "{}", shape.gap);
            let mut worst = 0.0f64;
            for climb in 0..30 {
                let mut pair = vec![0.0; 2 * inputs];
                let (mut far, sign) = (0.0, if climb % 3 == 0 { 1.0 } else { -1.0 });
                for step in 0..300 {
                    let reach = 8.0 * 0.98f64.powi(step);
                    let moved: Vec<f64> =
                        pair.iter().map(|x| (x + reach * stream.random_range(-1.0..1.0f64)).clamp(-4.0, 4.0)).collect();
                    let found = squared(&maps, &shape, &moved, sign);
                    if found > far {
                        (far, pair) = (found, moved);
                    }
                }
                worst = worst.max(far);
            }
            assert!(worst <= 1.0 && worst > 0.93, "{inputs}: {worst}");
        }
    }
}

#[cfg(test)]
mod reach_tests {
    use super::*;
    use dpgp_gp::variational::InducingGrid;

    /// Coarse grids miss the worst pair, and the margin makes up for it; a fine grid is believed.
    #[test]
    fn the_margin_covers_what_a_coarse_grid_misses() {
        for inputs in [1, 2] {
            let sides = vec![vec![-2.0, -0.7, 0.6]; inputs];
            let grid = InducingGrid { sides, variance: 1.0, lengthscale: 1.0 };
            let maps = SumFeatureMaps {
                weighted: grid.covariance_bumps(),
                plain: grid.covariance_product_bumps(),
                bound: 2.0,
            };
            let [weighted, plain] = [&maps.weighted, &maps.plain].map(|bumps| NoiseAxes::spherical(bumps.len(), 1.0));
            let (domain, mut missed) = (vec![[-2.3, 1.0]; inputs], 0);
            let fine = SquaredPairDistances::new(&maps.contributions(&box_grid_points(&domain, 41))).greatest();
            for side in [3, 4, 6, 9] {
                let coarse = SquaredPairDistances::new(&maps.contributions(&box_grid_points(&domain, side))).greatest();
                missed += usize::from(coarse < 0.999 * fine);
                assert!(bound_squared_shift(&maps, &weighted, &plain, &domain, side) >= fine, "{inputs} {side}");
            }
            assert!(missed > 0);
            let close = bound_squared_shift(&maps, &weighted, &plain, &domain, 41);
            assert!(close >= fine && close < 1.05 * fine, "{close} {fine}");
        }
    }

    fn axes(bumps: &GaussianBumpGrid, variance: f64) -> NoiseAxes {
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
        let maps =
            SumFeatureMaps { weighted: grid.covariance_bumps(), plain: grid.covariance_product_bumps(), bound: 2.0 };
        let (weighted, plain) = (axes(&maps.weighted, 9.0), axes(&maps.plain, 0.25));
        let at = WhitenedFeatureMaps { maps: &maps, weighted: &weighted, plain: &plain };
        let fourth = at.fourth_derivative_bound();
        let parts = [maps.weighted.fourth_derivative_bound() * 2.0 / 3.0, maps.plain.fourth_derivative_bound() * 2.0];
        assert!((fourth / parts[0].hypot(parts[1]) - 1.0).abs() < 1e-12, "{fourth} {parts:?}");
        let places = box_grid_points(&[[-2.0, 1.0]], 3);
        let longest = SquaredPairDistances::new(&at.contributions(&places)).greatest().sqrt();
        let step = 1.5f64.powi(2) / 8.0;
        let margin = 2.0 * step * (at.largest_curvature(&places, 0) + step * fourth);
        let found = bound_squared_shift(&maps, &weighted, &plain, &[[-2.0, 1.0]], 3) / (longest + margin).powi(2);
        assert!((found - 1.0 - ROUNDING).abs() < 1e-3 * ROUNDING, "{found} {longest} {margin}");
        // Second differences of what one record adds.
        let moved = [-1e-3, 0.0, 1e-3].map(|h| at.contributions(&places.add_scalar(h)));
        let (b, t) = (second(moved.each_ref().map(|at| &at.weighted)), second(moved.each_ref().map(|at| &at.plain)));
        let lengths = b.row_iter().zip(t.row_iter()).map(|(b, t)| b.norm_squared() + t.norm_squared());
        let curvature = largest_or_nan(lengths).sqrt();
        assert!((at.largest_curvature(&places, 0) / curvature - 1.0).abs() < 1e-4, "{curvature}");
    }
}
