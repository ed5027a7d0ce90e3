//! Bounds on the norm of the covariances of any input with the inducing inputs: `R_k` of Honkela 2021,
//! Section 3.2. They bound the contribution of one record to the sums.

use nalgebra::{DMatrix, DVector};

use crate::kernel::Interval;

/// Bounds on `|k(Z, x)|^2` over `sigma_f^4`, for a stationary kernel `sigma_f^2 r(distance)` with r falling
/// from 1, m inducing inputs and inputs x anywhere.
///
/// ```
/// use dpgp_gp::variational::FeatureNormBound;
/// // Three points on a line, a distance of 1 apart, with r(1)^2 = 1/4 and r(2)^2 = 1/16.
/// let r = |distance: f64| 0.5f64.powf(distance);
/// assert_eq!(FeatureNormBound::Trivial.squared_norm_bound(3, 1.0, r), 3.0);
/// assert_eq!(FeatureNormBound::Line.squared_norm_bound(3, 1.0, r), 2.0 + 0.25);
/// assert_eq!(FeatureNormBound::PrintedLine.squared_norm_bound(3, 1.0, r), 2.0 + 2.0 * 0.25 + 0.0625);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FeatureNormBound {
    /// `m`: Honkela 2021, Eq. 4.
    Trivial,
    /// On a line, spacing at least d: `sum_{j=0}^{floor(m/2)} 2 r(j d)^2 + (ceil(m/2) - floor(m/2)) r(ceil(m/2)
    /// d)^2`: Eq. 7 as printed, m + 2 terms.
    PrintedLine,
    /// On a line, spacing at least d: the m largest terms of two rows that begin at x, `sum_{j<floor(m/2)} 2
    /// r(j d)^2`, and `r(floor(m/2) d)^2` for odd m. On each side of x the j-th point is at least j d away, and
    /// two sides of equal length are worst.
    Line,
    /// In any dimension, distances at least d: `1 + (m - 1) r(d / 2)^2`, since only one point can be nearer
    /// than d/2: Eq. 8.
    Separated,
}

impl FeatureNormBound {
    /// The bound for m points `spacing` apart, with `r` the correlation by distance.
    pub fn squared_norm_bound(self, m: usize, spacing: f64, r: impl Fn(f64) -> f64) -> f64 {
        let (half, odd) = (m / 2, m % 2);
        // The j-th point on one side of x.
        let terms: Vec<f64> = (0..=half + odd).map(|j| r(j as f64 * spacing).powi(2)).collect();
        match self {
            Self::Trivial => m as f64,
            // As printed, the sum goes one point too far on both sides: kept to reproduce the paper.
            Self::PrintedLine => terms[..=half].iter().map(|t| 2.0 * t).sum::<f64>() + odd as f64 * terms[half + odd],
            Self::Line => terms[..half].iter().map(|t| 2.0 * t).sum::<f64>() + odd as f64 * terms[half],
            Self::Separated => 1.0 + (m as f64 - 1.0) * r(0.5 * spacing).powi(2),
        }
    }
}

/// `s_k exp(-|x - c_k|^2 / (2 w^2))` for the points `c_k` of a product grid, the last input fastest: the covariances of the exponentiated
/// quadratic kernel with inducing inputs on a grid, and the products of two of them
/// ([`InducingGrid`](super::InducingGrid)).
///
/// ```
/// use dpgp_gp::variational::GaussianBumpGrid;
/// use nalgebra::DMatrix;
/// let bumps = GaussianBumpGrid::new(vec![vec![0.0, 2.0]], 1.0, 3.0);
/// let features = bumps.features(&DMatrix::from_element(1, 1, 2.0));
/// assert_eq!(features[(0, 1)], 3.0);
/// assert!((features[(0, 0)] - 3.0 * (-2.0f64).exp()).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GaussianBumpGrid {
    axes: Vec<Vec<f64>>,
    width: f64,
    scales: DVector<f64>,
}

impl GaussianBumpGrid {
    /// Around the points of the product of the axes, all of one width and scale.
    pub fn new(axes: Vec<Vec<f64>>, width: f64, scale: f64) -> Self {
        let size = axes.iter().map(Vec::len).product();
        Self { axes, width, scales: DVector::from_element(size, scale) }
    }

    /// Multiplies each function by its factor (k).
    pub fn scaled(mut self, scales: &DVector<f64>) -> Self {
        self.scales.component_mul_assign(scales);
        self
    }

    /// The number k of functions.
    pub fn len(&self) -> usize {
        self.scales.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Factor of each (k).
    pub fn scales(&self) -> &DVector<f64> {
        &self.scales
    }

    /// Their values at the inputs (n x d), (n x k).
    pub fn features(&self, inputs: &DMatrix<f64>) -> DMatrix<f64> {
        self.values_or_second_derivatives(inputs, None)
    }

    /// Their second derivatives along one input, at the inputs (n x d), (n x k).
    pub fn curvatures(&self, inputs: &DMatrix<f64>, along: usize) -> DMatrix<f64> {
        self.values_or_second_derivatives(inputs, Some(along))
    }

    /// A bound on the norm of all fourth derivatives `d^2/dx_i^2 d^2/dx_j^2`, at any input: `3 |s| / w^4`.
    ///
    /// Along one input that is `|r^4 - 6 r^2 + 3| exp(-r^2 / 2) <= 3` over `w^4`, along two the square of
    /// `|r^2 - 1| exp(-r^2 / 2) <= 1`.
    pub fn fourth_derivative_bound(&self) -> f64 {
        3.0 * self.scales.norm() / self.width.powi(4)
    }

    fn values_or_second_derivatives(&self, inputs: &DMatrix<f64>, curved: Option<usize>) -> DMatrix<f64> {
        let mut features = DMatrix::zeros(inputs.nrows(), self.len());
        for row in 0..inputs.nrows() {
            let mut values = vec![1.0];
            for (input, axis) in self.axes.iter().enumerate() {
                let along = self.evaluate_along_axis(axis, inputs[(row, input)], curved == Some(input));
                values = values.iter().flat_map(|value| along.iter().map(move |bump| value * bump)).collect();
            }
            for (place, value) in values.into_iter().enumerate() {
                features[(row, place)] = self.scales[place] * value;
            }
        }
        features
    }

    /// Of one input, or the second derivatives.
    fn evaluate_along_axis(&self, axis: &[f64], x: f64, curved: bool) -> Vec<f64> {
        let bumps = axis.iter().map(|centre| {
            let square = ((x - centre) / self.width).powi(2);
            let slope = if curved { (square - 1.0) / self.width.powi(2) } else { 1.0 };
            slope * (-0.5 * square).exp()
        });
        bumps.collect()
    }
}

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
/// use dpgp_gp::variational::squared_kernel_vector_norm_bound;
/// use dpgp_gp::kernel::Interval;
/// // Two points that are far apart: the supremum is 1, at each of them.
/// let bound = squared_kernel_vector_norm_bound(&[0.0, 1e5], 1.0, Interval { low: 0.0, high: 1e5 });
/// assert!((1.0..1.0 + 2.1 / 160_000.0).contains(&bound));
/// ```
pub fn squared_kernel_vector_norm_bound(points: &[f64], lengthscale: f64, interval: Interval) -> f64 {
    let mut points = points.to_vec();
    points.sort_by(f64::total_cmp);
    let bumps = SquaredKernelSum { points: &points, lengthscale };
    let near = if bumps.is_rounding_negligible(interval) { interval } else { bumps.clamp_to_points(interval) };
    if bumps.is_rounding_negligible(near) { bumps.supremum(near) } else { points.len() as f64 }
}

/// The sum `sum_j exp(-(x - z_j)^2 / l^2)` over rising points.
struct SquaredKernelSum<'a> {
    points: &'a [f64],
    lengthscale: f64,
}

impl SquaredKernelSum<'_> {
    /// Whether the places of a grid on the interval are exact enough.
    fn is_rounding_negligible(&self, Interval { low, high }: Interval) -> bool {
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

#[cfg(test)]
mod tests {
    use crate::kernel::Interval;
    use crate::variational::FeatureNormBound::{Line, PrintedLine, Separated, Trivial};
    use crate::variational::squared_kernel_vector_norm_bound;
    use proptest::prelude::*;

    fn grid(m: usize, low: f64, high: f64) -> Vec<f64> {
        (0..m).map(|j| low + (high - low) * j as f64 / (m - 1) as f64).collect()
    }

    fn eq(lengthscale: f64) -> impl Fn(f64) -> f64 {
        move |distance| (-0.5 * (distance / lengthscale).powi(2)).exp()
    }

    /// Three terms by hand: `2 + 2 e^-1 + 1 e^-4` has m + 2 = 5 of them, `2 + e^-1` has 3.
    #[test]
    fn small_cases_by_hand() {
        let e = |x: f64| (-x).exp();
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-14, "{a} {b}");
        near(Trivial.squared_norm_bound(3, 1.0, eq(1.0)), 3.0);
        near(PrintedLine.squared_norm_bound(3, 1.0, eq(1.0)), 2.0 + 2.0 * e(1.0) + e(4.0));
        near(PrintedLine.squared_norm_bound(4, 1.0, eq(1.0)), 2.0 + 2.0 * e(1.0) + 2.0 * e(4.0));
        near(Line.squared_norm_bound(3, 1.0, eq(1.0)), 2.0 + e(1.0));
        near(Line.squared_norm_bound(4, 1.0, eq(1.0)), 2.0 + 2.0 * e(1.0));
        near(Line.squared_norm_bound(1, 1.0, eq(1.0)), 1.0);
        near(Separated.squared_norm_bound(3, 1.0, eq(1.0)), 1.0 + 2.0 * e(0.25));
    }

    /// The figures of the protocol: 38.4 and 3.142 (to these digits pi) for a 7 x 7 grid whose spacing is the
    /// lengthscale; Eq. 7 is the supremum plus 1.
    #[test]
    fn figures_of_the_protocol() {
        let seven = grid(7, -1.2, 1.2);
        assert!((Separated.squared_norm_bound(49, 0.4, eq(0.4)) - 38.4).abs() < 0.05);
        let square = Interval { low: -2.0, high: 2.0 };
        assert!((squared_kernel_vector_norm_bound(&seven, 0.4, square).powi(2) - std::f64::consts::PI).abs() < 1e-3);
        let nine = grid(9, -3.0, 3.0);
        let supremum = squared_kernel_vector_norm_bound(&nine, 1.0, Interval { low: -4.0, high: 4.0 });
        assert!((PrintedLine.squared_norm_bound(9, 0.75, eq(1.0)) - supremum - 1.0).abs() < 9.0 / 160_000.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_bound_holds(
            m in 1usize..12,
            spacing in 0.1..2.0f64,
            x in -6.0..6.0f64,
            gaps in prop::collection::vec(0.0..0.7f64, 12),
        ) {
            let mut z = -4.0;
            let points: Vec<f64> = gaps.iter().take(m).map(|gap| { z += spacing + gap; z }).collect();
            let squared: f64 = points.iter().map(|z| eq(0.8)(x - z).powi(2)).sum();
            for bound in [Trivial, PrintedLine, Line, Separated] {
                prop_assert!(squared <= bound.squared_norm_bound(m, spacing, eq(0.8)) + 1e-12, "{:?}", bound);
            }
            let everywhere = Interval { low: -6.0, high: 6.0 };
            prop_assert!(squared <= squared_kernel_vector_norm_bound(&points, 0.8, everywhere));
        }
    }
}

#[cfg(test)]
mod bumps_tests {
    use super::*;

    fn bumps() -> GaussianBumpGrid {
        let scales = DVector::from_fn(6, |place, _| 1.0 + place as f64);
        GaussianBumpGrid::new(vec![vec![0.0, 1.0], vec![-1.0, 0.5, 2.0]], 0.7, 1.0).scaled(&scales)
    }

    fn difference(inputs: [f64; 2], along: usize, of: impl Fn(&DMatrix<f64>) -> DMatrix<f64>) -> DMatrix<f64> {
        let step = 1e-3;
        let [less, at, more] = [-step, 0.0, step].map(|moved| {
            let mut inputs = inputs;
            inputs[along] += moved;
            of(&DMatrix::from_row_slice(1, 2, &inputs))
        });
        (less + more - at * 2.0) / (step * step)
    }

    #[test]
    fn curvatures_are_second_differences() {
        let bumps = bumps();
        for along in 0..2 {
            let found = bumps.curvatures(&DMatrix::from_row_slice(1, 2, &[0.3, 0.9]), along);
            let expected = difference([0.3, 0.9], along, |x| bumps.features(x));
            assert!((found - &expected).amax() < 1e-4 * expected.amax());
        }
    }

    #[test]
    fn fourth_derivatives_are_within_their_bound() {
        let bumps = bumps();
        let mut most = 0.0f64;
        for place in 0..400 {
            let x = [-1.0 + 0.15 * f64::from(place % 20), -2.0 + 0.25 * f64::from(place / 20)];
            for (one, other) in [(0, 0), (0, 1), (1, 1)] {
                most = most.max(difference(x, one, |x| bumps.curvatures(x, other)).norm());
            }
        }
        let bound = bumps.fourth_derivative_bound();
        assert!(most <= bound && most > 0.3 * bound, "{most} {bound}");
    }
}

#[cfg(test)]
mod supremum_tests {
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
            prop_assert_eq!(squared_kernel_vector_norm_bound(&points, lengthscale, interval), expected);
        }
    }

    /// Boxes of any size are searched at once, and the bound is at least the sum at each point and at most m.
    #[test]
    fn far_intervals_cost_no_more() {
        let points = [0.0, 17.5, 35.0, 52.5, 70.0];
        for (lengthscale, high) in
            [(1.0, 1e7), (1.0, 1e300), (1e-6, 70.0), (1e-300, 70.0), (15.0, f64::MAX), (1e300, 1e301)]
        {
            let bound = squared_kernel_vector_norm_bound(&points, lengthscale, Interval { low: -high, high });
            let most = points.iter().map(|x| by_hand(&points, lengthscale, *x)).fold(0.0, f64::max);
            assert!(bound >= most && bound <= 5.0 + 5.0 / 160_000.0, "{lengthscale} {high} {bound}");
        }
        // The box beyond the points adds nothing.
        let [near, far] =
            [70.0, 1e9].map(|high| squared_kernel_vector_norm_bound(&points, 15.0, Interval { low: 0.0, high }));
        assert!((near - far).abs() < 2.0 * 5.0 / 160_000.0, "{near} {far}");
    }

    fn by_hand(points: &[f64], lengthscale: f64, x: f64) -> f64 {
        points.iter().map(|z| (-((x - z) / lengthscale).powi(2)).exp()).sum()
    }
}
