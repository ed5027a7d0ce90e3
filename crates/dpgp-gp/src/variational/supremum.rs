//! The supremum of the norm of covariances over an interval, and the posterior from noisy sums with B
//! projected onto the matrices that data can have.

use nalgebra::DMatrix;

use super::{InducingInputs, NoisySufficientStatistics, WeightPosterior};
use crate::kernel::Interval;
use dpgp_linalg::{Cholesky, LinalgError, minimise_quadratic_on_simplex};

/// Steps per lengthscale of the search for a supremum.
const STEPS_PER_LENGTHSCALE: f64 = 200.0;

/// As far as this from zero, in lengthscales, the places of the grid are exact to 1e-9 lengthscales.
const MOST_LENGTHSCALES: f64 = 1e6;

/// An upper bound on `sup_x sum_j exp(-(x - z_j)^2 / l^2)`, the squared norm of the covariances over
/// `sigma_f^4` for the exponentiated quadratic kernel with lengthscale l, over a public interval; it exceeds
/// the supremum by at most `m / 160 000`.
///
/// The largest value on a grid of width h that holds both ends, plus `m h^2 / (4 l^2)`: at a maximum inside the
/// interval the derivative is zero and changes by at most `2 m / l^2` per unit, and a grid point lies within
/// h/2. For inducing inputs on a product grid the supremum over a box is the product of those of its sides.
///
/// The cost grows with m alone, not with the interval over the lengthscale. Only the places within `rho = 1 + sqrt(ln m)`
/// lengthscales of a point are seen, of a point outside the interval those near the end c that is next to it. That finds
/// the largest value: with `b_j = |c_j - z_j|`, zero for a point inside, `(x - z_j)^2 >= (x - c_j)^2 + b_j^2` in the
/// interval, so that the sum at a place passed over is at most `m exp(-rho^2) max_j exp(-b_j^2 / l^2)`, and
/// `m exp(-rho^2) <= 1 / e`. A place seen within h/2 of c_j has more than `0.99 exp(-b_j^2 / l^2)`.
///
/// An interval that reaches further than a million lengthscales from zero is cut to the points: from beyond all of them a
/// step towards them raises every term. Where they reach as far themselves the bound is m, as no term is above 1.
///
/// ```
/// use dpgp_gp::variational::covariance_norm_bound;
/// use dpgp_gp::kernel::Interval;
/// // Two points that are far apart: the supremum is 1, at each of them.
/// let bound = covariance_norm_bound(&[0.0, 1e5], 1.0, Interval { low: 0.0, high: 1e5 });
/// assert!((1.0..1.0 + 2.1 / 160_000.0).contains(&bound));
/// ```
pub fn covariance_norm_bound(points: &[f64], lengthscale: f64, interval: Interval) -> f64 {
    let mut points = points.to_vec();
    points.sort_by(f64::total_cmp);
    let bumps = SquaredExponentialSum { points: &points, lengthscale };
    let near = if bumps.is_grid_accurate(interval) { interval } else { bumps.clamp_to_points(interval) };
    if bumps.is_grid_accurate(near) { bumps.supremum(near) } else { points.len() as f64 }
}

/// The sum `sum_j exp(-(x - z_j)^2 / l^2)` over rising points.
struct SquaredExponentialSum<'a> {
    points: &'a [f64],
    lengthscale: f64,
}

impl SquaredExponentialSum<'_> {
    /// Whether the places of a grid on the interval are exact enough.
    fn is_grid_accurate(&self, Interval { low, high }: Interval) -> bool {
        low.abs().max(high.abs()) <= MOST_LENGTHSCALES * self.lengthscale
    }

    /// The part of the interval that lies between the first point and the last, or else the end that is nearest to them.
    fn clamp_to_points(&self, Interval { low, high }: Interval) -> Interval {
        let [first, last] = [self.points.first(), self.points.last()].map(|z| z.copied().unwrap_or(low));
        Interval { low: first.clamp(low, high), high: last.clamp(low, high) }
    }

    fn supremum(&self, Interval { low, high }: Interval) -> f64 {
        let steps = ((high - low) / self.lengthscale * STEPS_PER_LENGTHSCALE).ceil().max(1.0);
        let width = (high - low) / steps;
        let reach = (1.0 + (self.points.len() as f64).ln().max(0.0).sqrt()) * self.lengthscale;
        // The last place of the grid may miss the end by rounding, and the maximum may lie there.
        let (mut largest, mut next) = (self.value_at(high), 0);
        for z in self.points {
            let from = (z.clamp(low, high) - reach - low) / width - 1.0;
            let to = (z.clamp(low, high) + reach - low) / width + 1.0;
            // A conversion takes what is negative for 0. Places before `next` were seen with the point before.
            for place in next.max(from as usize)..=to.min(steps) as usize {
                largest = largest.max(self.value_at(low + place as f64 * width));
                next = place + 1;
            }
        }
        // The derivative of `exp(-r^2 / l^2)` changes by at most `2 / l^2` per unit, m times that in the sum: from the maximum
        // to a place h/2 away the sum falls by at most `(m / l^2) (h/2)^2`.
        largest + self.points.len() as f64 * (width / self.lengthscale).powi(2) / 4.0
    }

    fn value_at(&self, x: f64) -> f64 {
        // Further away a term is zero: exp(-28^2) is below the least number that there is.
        let from = self.points.partition_point(|z| *z < x - 28.0 * self.lengthscale);
        let to = self.points.partition_point(|z| *z <= x + 28.0 * self.lengthscale);
        self.points[from..to].iter().map(|z| (-((x - z) / self.lengthscale).powi(2)).exp()).sum()
    }
}

/// How close the projection comes to the nearest matrix, relative to the largest vertex.
const TOLERANCE: f64 = 1e-10;

/// The posterior of the weights without a regularisation, which noise-aware inference needs only since noise takes B out
/// of the cone. It goes beyond the paper, on the same release.
///
/// 1. `B^ = sum_g p_g k(g) k(g)'` with `p >= 0`, `sum p = rows` over a public grid of inputs, the nearest such
///    matrix to the noisy `B~` in the Frobenius norm, in which its noise is isotropic.
/// 2. `A~ = B^ v + eta`, `eta ~ N(0, noise_variance B^ + sd_a^2 I)`, `v ~ N(0, K_ZZ^-1)`.
///
/// Needs a public number of rows and a public domain of the inputs; `grid` (g x m) holds the covariances of its
/// points with the inducing inputs. The projection looks at nothing but what is released.
///
/// # Errors
/// [`LinalgError`] if a factorisation fails.
pub fn projected_moment_posterior(
    inducing: &InducingInputs<'_>,
    statistics: &NoisySufficientStatistics,
    noise_variance: f64,
    grid: &DMatrix<f64>,
    rows: usize,
) -> Result<WeightPosterior, LinalgError> {
    let size = inducing.size();
    let b = project_onto_moment_cone(&statistics.b, grid, rows as f64)?;
    let mut spread = &b * noise_variance;
    (0..size).for_each(|i| spread[(i, i)] += statistics.sd_a * statistics.sd_a);
    let spread = Cholesky::new("sigma^2 B + sd^2 I", &spread)?;
    // `B (sigma^2 B + sd^2 I)^-1 B` as a product with its own transpose: symmetric and positive semidefinite by construction.
    let half = spread.half_solve(&b);
    let precision = inducing.k_zz() + half.transpose() * &half;
    let precision = Cholesky::new("K_ZZ + B (sigma^2 B + sd^2 I)^-1 B", &precision)?;
    let covariance = precision.solve(&DMatrix::identity(size, size));
    let a = DMatrix::from_column_slice(size, 1, statistics.a.as_slice());
    let mean = precision.solve(&(half.transpose() * spread.half_solve(&a)));
    let jitter = spread.jitter().max(precision.jitter());
    Ok(WeightPosterior { mean: mean.column(0).into_owned(), covariance, jitter })
}

/// The nearest matrix of the cone. With `p = rows q` it is `rows^2 |sum_g q_g (k(g) k(g)' - B~ / rows)|^2` that
/// is least.
fn project_onto_moment_cone(b: &DMatrix<f64>, grid: &DMatrix<f64>, rows: f64) -> Result<DMatrix<f64>, LinalgError> {
    // The Gram matrix of the vertices `k(g) k(g)' - B~ / rows`, without forming them: `<k k', h h'> = (k' h)^2` and
    // `<k k', B> = k' B k`.
    let inner = grid * grid.transpose();
    let image = grid * b;
    let with_b: Vec<f64> = (0..grid.nrows()).map(|g| image.row(g).dot(&grid.row(g)) / rows).collect();
    let square = b.norm_squared() / (rows * rows);
    let gram = DMatrix::from_fn(grid.nrows(), grid.nrows(), |g, h| {
        inner[(g, h)] * inner[(g, h)] - with_b[g] - with_b[h] + square
    });
    let q = minimise_quadratic_on_simplex(&gram, TOLERANCE)?;
    let mut weighted = grid.clone();
    weighted.row_iter_mut().zip(&q).for_each(|(mut row, q)| row *= rows * q);
    Ok(grid.transpose() * weighted)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The bound by all places of the grid.
    fn by_all_places(points: &[f64], l: f64, Interval { low, high }: Interval) -> f64 {
        let steps = ((high - low) / l * 200.0).ceil().max(1.0);
        let width = (high - low) / steps;
        let places = (0..=steps as usize).map(|i| low + i as f64 * width).chain([high]);
        let sums = places.map(|x| points.iter().map(|z| (-((x - z) / l).powi(2)).exp()).sum());
        sums.fold(0.0, f64::max) + points.len() as f64 * (width / l).powi(2) / 4.0
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// To the last bit, for points inside the interval and outside, near each other and far apart.
        #[test]
        fn passing_over_places_changes_nothing(
            gaps in prop::collection::vec((0.0..1.0f64).prop_map(|u| 20.0 * u.powi(4)), 1..12),
            first in -30.0..30.0f64,
            low in -30.0..20.0f64,
            long in 0.001..40.0f64,
            lengthscale in 0.3..3.0f64,
        ) {
            let mut z = first;
            let points: Vec<f64> = gaps.iter().map(|gap| { z += gap; z }).collect();
            let interval = Interval { low, high: low + long };
            let expected = by_all_places(&points, lengthscale, interval);
            prop_assert_eq!(covariance_norm_bound(&points, lengthscale, interval), expected);
        }
    }

    /// Boxes of any size are searched at once, and the bound is at least the sum at each point and at most m.
    #[test]
    fn far_intervals_cost_no_more() {
        let points = [0.0, 17.5, 35.0, 52.5, 70.0];
        for (lengthscale, high) in
            [(1.0, 1e7), (1.0, 1e300), (1e-6, 70.0), (1e-300, 70.0), (15.0, f64::MAX), (1e300, 1e301)]
        {
            let bound = covariance_norm_bound(&points, lengthscale, Interval { low: -high, high });
            let most = points.iter().map(|x| by_hand(&points, lengthscale, *x)).fold(0.0, f64::max);
            assert!(bound >= most && bound <= 5.0 + 5.0 / 160_000.0, "{lengthscale} {high} {bound}");
        }
        // The box beyond the points adds nothing.
        let [near, far] = [70.0, 1e9].map(|high| covariance_norm_bound(&points, 15.0, Interval { low: 0.0, high }));
        assert!((near - far).abs() < 2.0 * 5.0 / 160_000.0, "{near} {far}");
    }

    fn by_hand(points: &[f64], lengthscale: f64, x: f64) -> f64 {
        points.iter().map(|z| (-((x - z) / lengthscale).powi(2)).exp()).sum()
    }
}

#[cfg(test)]
mod moment_tests {
    use super::*;
    use crate::kernel::ExponentiatedQuadratic;
    use crate::variational::{NoiseCorrection, Regularisation, SufficientStatistics, noise_aware_posterior};

    /// Inputs on the grid and hardly any noise: the projection changes nothing, and the posterior is that of
    /// exact sums.
    #[test]
    fn without_noise_it_is_the_exact_posterior() {
        let kernel = ExponentiatedQuadratic::isotropic(1.0, 1.0);
        let z = DMatrix::from_column_slice(4, 1, &[-1.5, -0.5, 0.5, 1.5]);
        let inducing = InducingInputs::new(&kernel, &z).unwrap();
        let x = DMatrix::from_fn(60, 1, |i, _| -2.0 + 0.5 * (i % 9) as f64);
        let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
        let statistics = SufficientStatistics::new(&inducing, &x, &y, 2.0);
        let mut noisy = statistics.to_noise_free();
        noisy.sd_a = 1e-5;
        let grid = inducing.features(&DMatrix::from_fn(17, 1, |g, _| -2.0 + 0.25 * g as f64));
        let projected = projected_moment_posterior(&inducing, &noisy, 0.04, &grid, 60).unwrap();
        let unit = statistics.to_noise_free().scaled(25.0);
        let exact = noise_aware_posterior(&inducing, &unit, Regularisation::Tight, NoiseCorrection::None).unwrap();
        assert!((projected.mean - &exact.mean).amax() < 1e-3 * exact.mean.amax());
        assert!((projected.covariance - &exact.covariance).amax() < 1e-3 * exact.covariance.amax());
    }

    /// A noisy matrix far outside the cone gives a positive semidefinite one whose diagonal is that of as many
    /// rows.
    #[test]
    fn the_projection_is_in_the_cone() {
        let grid = DMatrix::from_fn(33, 3, |g, j| (-0.5 * (g as f64 / 8.0 - 2.0 - (j as f64 - 1.0)).powi(2)).exp());
        let b = DMatrix::from_row_slice(3, 3, &[-5.0, 40.0, 3.0, 40.0, 20.0, -9.0, 3.0, -9.0, 30.0]);
        let projected = project_onto_moment_cone(&b, &grid, 50.0).unwrap();
        assert!(projected.clone().symmetric_eigenvalues().min() > -1e-12);
        assert!(projected.diagonal().max() <= 50.0 + 1e-9);
        let again = project_onto_moment_cone(&projected, &grid, 50.0).unwrap();
        assert!((again - &projected).amax() < 1e-3 * projected.amax());
    }
}
