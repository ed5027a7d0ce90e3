//! The sensitivity of sums at the midpoints of inducing inputs.

use crate::RecordBounds;
use dpgp_gp::kernel::Interval;
use dpgp_gp::variational::{InducingGrid, squared_kernel_vector_norm_bound};

/// Steps along one input of the search for the least overlap.
const STEPS: usize = 20_000;

/// Bounds of `k` and `p` ([`InducingGrid`]) for all inputs in a box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MidpointFeatureBounds {
    /// `R_k` and `R_y`.
    pub record: RecordBounds,
    /// P, on `|p|^2`.
    pub plain: f64,
    /// a: `p.p' >= a (k.k')^2` for any two inputs.
    pub overlap: f64,
}

impl MidpointFeatureBounds {
    /// For inputs in a box, by its ends along each input, and targets within a bound.
    pub fn new(grid: &InducingGrid, record: RecordBounds, domain: &[[f64; 2]]) -> Self {
        let width = grid.lengthscale * std::f64::consts::FRAC_1_SQRT_2;
        let (mut plain, mut overlap) = (1.0, grid.variance.powi(-4));
        for ((side, middles), &[low, high]) in grid.sides.iter().zip(grid.midpoint_axes()).zip(domain) {
            plain *= squared_kernel_vector_norm_bound(&middles, width, Interval { low, high });
            let ratio = MidpointOverlapRatio { side, middles, lengthscale: grid.lengthscale };
            overlap *= ratio.lower_bound(Interval { low, high });
        }
        Self { record, plain, overlap }
    }

    /// The L2 sensitivity of `(A, sqrt(c) M)` when one record is replaced, `M = sum_i p(x_i)`, in units of the noise on A.
    ///
    /// Obligation. For records (x, y) and (x', y') with `t = k.k'`, `q = p.p'`, `K = R_k^2` and `|y|, |y'| <= R` the squared distance is
    ///
    /// ```text
    /// |y k - y' k'|^2 + c |p - p'|^2 <= 2 R^2 (K + t) + 2 c (P - q),
    /// ```
    ///
    /// as it is convex in each target, t is not negative and opposite targets at the bound are worst. With `e = exp(-|x - x'|^2 / (4 l^2))` and the mean u
    /// of both inputs, `-(x - z)^2 - (x' - z)^2 = -2 (u - z)^2 - (x - x')^2 / 2` for each z gives
    ///
    /// ```text
    /// t = e v^2 T(u),  T(u) = sum_z exp(-|u - z|^2 / l^2),      q = e^2 Q(u),  Q(u) = sum_s exp(-2 |u - m_s|^2 / l^2):
    /// ```
    ///
    /// `q >= a t^2` with `a = inf Q / (v^2 T)^2` over the box, which holds u as it holds both inputs; a is a product over the inputs. What
    /// is left, `2 R^2 (K + t) + 2 c (P - a t^2)`, is greatest over `0 <= t <= K` at `t = R^2 / (2 c a)`, or at K if that is less.
    ///
    /// ```
    /// use dpgp_mechanisms::{MidpointFeatureBounds, RecordBounds};
    /// let record = RecordBounds { features: 1.0, target: 3.0 };
    /// // Where p is k k', as for one inducing input, the bound is that of the sums of k k': 2 R_y R_k.
    /// assert_eq!(MidpointFeatureBounds { record, plain: 1.0, overlap: 1.0 }.sensitivity(1.0), 6.0);
    /// ```
    pub fn sensitivity(&self, c: f64) -> f64 {
        let (k, y) = (self.record.features.powi(2), self.record.target.powi(2));
        let t = (y / (2.0 * c * self.overlap)).min(k);
        (2.0 * y * (k + t) + 2.0 * c * (self.plain - self.overlap * t * t)).sqrt()
    }
}

/// `Q / T^2` along one input, where v is 1.
struct MidpointOverlapRatio<'a> {
    side: &'a [f64],
    middles: Vec<f64>,
    lengthscale: f64,
}

impl MidpointOverlapRatio<'_> {
    /// A lower bound on the least value on an interval.
    ///
    /// The least value on a grid of step h, less what the curvature of the logarithm may hide between its places: `(ln Q)'' = -4 / l^2 + 16 V_Q / l^4` and `(ln T)'' = -2 / l^2 + 4 V_T / l^4`, where V are variances of points within a range W
    /// and so at most `W^2 / 4`. Hence `(ln Q - 2 ln T)'' <= 4 W^2 / l^4`, and from a minimum, where the slope is zero, to a place h/2
    /// away it rises by at most `W^2 h^2 / (2 l^4)`. The ends of the interval are places.
    fn lower_bound(&self, Interval { low, high }: Interval) -> f64 {
        let width = (high - low) / STEPS as f64;
        let mut least = self.logarithm(high);
        for place in 0..=STEPS {
            let value = self.logarithm(low + place as f64 * width);
            // NaN is kept: without it the least would be too great.
            if value < least || value.is_nan() {
                least = value;
            }
        }
        let reach = self.side.iter().copied().fold(f64::NEG_INFINITY, f64::max)
            - self.side.iter().copied().fold(f64::INFINITY, f64::min);
        (least - 0.5 * (reach * width / self.lengthscale.powi(2)).powi(2)).exp()
    }

    fn logarithm(&self, u: f64) -> f64 {
        let square = self.lengthscale.powi(2);
        let middle = self.middles.iter().map(|m| -2.0 * (u - m).powi(2) / square);
        let ends = self.side.iter().map(|z| -(u - z).powi(2) / square);
        log_sum_exp(middle) - 2.0 * log_sum_exp(ends)
    }
}

/// Far from all points every term is too small for a number.
fn log_sum_exp(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    largest + terms.map(|term| (term - largest).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;
    use rand::{RngExt, SeedableRng};

    use super::*;

    fn grid(dimensions: usize, lengthscale: f64) -> InducingGrid {
        let side = [-3.0, -1.5, 0.0, 1.5, 3.0].to_vec();
        InducingGrid { sides: vec![side; dimensions], variance: 1.2, lengthscale }
    }

    fn bounds(grid: &InducingGrid, target: f64) -> MidpointFeatureBounds {
        let domain = vec![[-3.5, 3.0]; grid.sides.len()];
        let ends = Interval { low: -3.5, high: 3.0 };
        let squared =
            squared_kernel_vector_norm_bound(&grid.sides[0], grid.lengthscale, ends).powi(grid.sides.len() as i32);
        let features = grid.variance * squared.sqrt();
        MidpointFeatureBounds::new(grid, RecordBounds { features, target }, &domain)
    }

    /// The squared distance of two records, by the features themselves.
    fn distance(grid: &InducingGrid, c: f64, one: (&[f64], f64), other: (&[f64], f64)) -> f64 {
        let inputs = DMatrix::from_row_slice(2, one.0.len(), &[one.0, other.0].concat());
        let (k, p) = (grid.covariance_bumps().features(&inputs), grid.covariance_product_bumps().features(&inputs));
        let (a, m) = (k.row(0) * one.1 - k.row(1) * other.1, p.row(0) - p.row(1));
        a.norm_squared() + c * m.norm_squared()
    }

    /// Random pairs, then the worst of them pushed uphill: none is further apart, and some come near.
    #[test]
    fn no_pair_is_further_apart() {
        let mut stream = rand_pcg::Pcg64::seed_from_u64(7);
        for (dimensions, lengthscale, c) in [(1, 1.0, 2.0), (1, 2.5, 0.5), (2, 1.5, 1.0), (1, 0.6, 20.0)] {
            let grid = grid(dimensions, lengthscale);
            let most = bounds(&grid, 2.0).sensitivity(c).powi(2);
            let mut worst = 0.0f64;
            for _ in 0..40 {
                let mut pair: Vec<f64> = (0..2 * dimensions).map(|_| stream.random_range(-3.5..3.0)).collect();
                let mut far = 0.0;
                for step in 0..400 {
                    let reach = 2.0 * 0.985f64.powi(step);
                    let moved: Vec<f64> =
                        pair.iter().map(|x| (x + reach * stream.random_range(-1.0..1.0)).clamp(-3.5, 3.0)).collect();
                    let (one, other) = moved.split_at(dimensions);
                    let sign = if stream.random() { 2.0 } else { -2.0 };
                    let found = distance(&grid, c, (one, 2.0), (other, sign));
                    if found > far {
                        (far, pair) = (found, moved);
                    }
                }
                worst = worst.max(far);
            }
            assert!(worst <= most && worst > 0.8 * most, "{dimensions} {lengthscale} {c}: {worst} of {most}");
        }
    }

    #[test]
    fn the_overlap_is_reached_and_never_missed() {
        let grid = grid(1, 1.0);
        let overlap = bounds(&grid, 1.0).overlap;
        let mut least = f64::INFINITY;
        for place in 0..2000 {
            let (u, apart) = (-3.5 + 6.5 * f64::from(place) / 1999.0, 0.3);
            let x = DMatrix::from_column_slice(2, 1, &[u - apart, u + apart]);
            let (k, p) = (grid.covariance_bumps().features(&x), grid.covariance_product_bumps().features(&x));
            least = least.min(p.row(0).dot(&p.row(1)) / k.row(0).dot(&k.row(1)).powi(2));
        }
        assert!(overlap <= least && overlap > 0.999 * least, "{overlap} {least}");
    }

    /// Far from all points each term is less than the least number, and their sum is known all the same.
    #[test]
    fn sums_of_tiny_terms_have_logarithms() {
        let found = log_sum_exp([-1000.0, -1000.0, -1e9].into_iter());
        assert!((found - (2f64.ln() - 1000.0)).abs() < 1e-12, "{found}");
    }

    /// One point at 0 and one middle at 0: the logarithm is `-2 u^2 / l^2 + 2 u^2 / l^2 = 0` everywhere. With points at -1 and 1 and the
    /// middles -1, 0, 0 and 1, at u = 0 and l = 1: `ln(2 + 2 e^-2) - 2 ln(2 e^-1)`.
    #[test]
    fn the_ratio_of_squares_is_that_of_its_sums() {
        let one = MidpointOverlapRatio { side: &[0.0], middles: vec![0.0], lengthscale: 2.0 };
        assert!(
            one.logarithm(0.7).abs() < 1e-14
                && (one.lower_bound(Interval { low: -3.0, high: 3.0 }) - 1.0).abs() < 1e-14
        );
        let two = MidpointOverlapRatio { side: &[-1.0, 1.0], middles: vec![-1.0, 0.0, 0.0, 1.0], lengthscale: 1.0 };
        let expected = (2.0 + 2.0 * (-2f64).exp()).ln() - 2.0 * (2.0 * (-1f64).exp()).ln();
        assert!((two.logarithm(0.0) - expected).abs() < 1e-13, "{}", two.logarithm(0.0));
        // A bound is below the least that a finer grid finds, by the curvature that it may miss.
        let interval = Interval { low: -2.0, high: 2.0 };
        let least = (0..=4000).map(|i| two.logarithm(-2.0 + 1e-3 * f64::from(i)).exp()).fold(f64::INFINITY, f64::min);
        let missed = 0.5 * (2.0 * 4.0 / STEPS as f64).powi(2);
        let found = two.lower_bound(interval);
        assert!(found <= least && found >= least * (-missed).exp() * 0.999, "{found} {least}");
    }

    /// One point at 1 and its middle at 1 leave nothing at any input. From 2 to 4 the ratio of the points 0 and 1 with lengthscale 2 moves one
    /// way, so that its least is at an end; steps of 1e-4 may miss `(1e-4 / 4)^2 / 2` of its logarithm.
    #[test]
    fn the_least_is_lowered_by_what_steps_may_miss() {
        let one = MidpointOverlapRatio { side: &[1.0], middles: vec![1.0], lengthscale: 2.0 };
        assert!(one.logarithm(3.0).abs() < 1e-14, "{}", one.logarithm(3.0));
        let two = MidpointOverlapRatio { side: &[0.0, 1.0], middles: vec![0.0, 0.5, 0.5, 1.0], lengthscale: 2.0 };
        let ends = two.logarithm(2.0).min(two.logarithm(4.0));
        let missed = ends - two.lower_bound(Interval { low: 2.0, high: 4.0 }).ln();
        assert!((missed / 3.125e-10 - 1.0).abs() < 1e-3, "{missed:e}");
    }
}
