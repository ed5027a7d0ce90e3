//! Gaussian noise, recomputed from the matrices that it was sampled with.
//!
//! Each check bounds the shift of the worst pair of neighbours in standard deviations of the noise. It then
//! compares the exact delta at the claimed epsilon with the claim. Norms are computed in 106 bits, because
//! the factors are graded.

use std::cell::RefCell;
use std::sync::Arc;

use nalgebra::DMatrix;

use crate::finding::{AuditCheck, RecomputedBound};
use dpgp_accounting::{Guarantee, NeighbourRelation};
use dpgp_audit::{exact_gaussian_delta, format_four_significant};
use dpgp_linalg::{largest_or_nan, largest_quadratic_norm, largest_triangular_solve_norm};
use dpgp_mechanisms::{BinStatistic, LinearReleaseMatrices};
use dpgp_task::AuditedAnisotropicSumsNoise;

/// Columns whose norm is computed in higher precision where there are many: those with the largest in ordinary one.
const WORST: usize = 8;

/// How noise and private targets were scaled: a shift is a change over the noise, so that the units cancel.
#[derive(Debug, Clone, Copy)]
pub(super) struct NoiseScaling {
    /// The factor of the noise, `sigma change`, in units of the targets.
    pub noise: f64,
    /// The most that a target moves.
    pub change: f64,
}

/// Releases of linear maps of the targets one after the other.
///
/// Obligation: a target that moves by `change` shifts release i by `change |L^-1 b|` standard deviations, b its column;
/// the shift of the worst neighbour is the root of the sum of squares of the largest at each place, which bounds any
/// adaptive sequence (Dong, Roth and Su 2022, Corollary 3.3).
pub(super) fn check_linear_releases(
    places: &[Vec<LinearReleaseMatrices>],
    scaling: NoiseScaling,
    claim: Guarantee,
) -> AuditCheck {
    let squares = places.iter().map(|place| largest_or_nan(place.iter().map(largest_whitened_norm)).powi(2));
    let leverage = squares.sum::<f64>().sqrt();
    let releases: usize = places.iter().map(Vec::len).sum();
    let columns = largest_or_nan(places.iter().flatten().map(|release| release.columns.ncols() as f64));
    let note = format!(
        "|L^-1 b| <= {} for all columns of {releases} releases (at most {columns} columns each), in 106-bit arithmetic",
        format_four_significant(leverage)
    );
    AuditCheck::from_gaussian_shift(scaling.change * leverage / scaling.noise, claim, note)
}

/// The greatest `|L^-1 b|` over the columns of a release.
fn largest_whitened_norm(release: &LinearReleaseMatrices) -> f64 {
    // A factor that is not square leaves a direction without noise.
    if release.factor.nrows() != release.columns.nrows() || !release.factor.is_square() {
        return f64::INFINITY;
    }
    largest_triangular_solve_norm(&release.factor, &release.columns)
}

/// Cache of the largest change of each mean function, in the norm of its Hilbert space, when one target moves by 1. Cells that share a
/// design share the entry.
#[derive(Debug, Default)]
pub(super) struct FunctionNormCache {
    known: RefCell<Vec<(Arc<WeightsAndGram>, f64)>>,
}

/// The weights of a mean function (m x n), and the covariance of its basis (m x m).
type WeightsAndGram = (DMatrix<f64>, DMatrix<f64>);

impl FunctionNormCache {
    fn norm(&self, mean: &Arc<WeightsAndGram>) -> f64 {
        let known = self.known.borrow().iter().find(|(of, _)| Arc::ptr_eq(of, mean)).map(|known| known.1);
        known.unwrap_or_else(|| {
            let norm = largest_mean_function_norm(&mean.0, &mean.1);
            self.known.borrow_mut().push((Arc::clone(mean), norm));
            norm
        })
    }
}

/// `max_j sqrt([A' K A]_jj)`, in higher precision for the columns with the largest norms.
fn largest_mean_function_norm(weights: &DMatrix<f64>, gram: &DMatrix<f64>) -> f64 {
    let moved = gram * weights;
    let squares = (0..weights.ncols()).map(|j| (moved.column(j).dot(&weights.column(j)), j));
    let mut order: Vec<(f64, usize)> = squares.collect();
    // Ordinary precision orders well enough: columns that rounding swaps have norms that agree to rounding.
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    let worst: Vec<usize> = order.iter().take(WORST).map(|(_, j)| *j).collect();
    largest_quadratic_norm(gram, &weights.select_columns(&worst))
}

/// A sample of a process on a mean function.
///
/// Obligation: the shift is the change of the function in the norm of its Hilbert space over the scale of the process, at
/// any finite set of inputs (Hall, Rinaldo and Wasserman 2013, Corollary 9).
pub(super) fn check_function_noise(
    mean: &Arc<WeightsAndGram>,
    norms: &FunctionNormCache,
    scaling: NoiseScaling,
    claim: Guarantee,
) -> AuditCheck {
    let (norm, columns) = (norms.norm(mean), mean.0.ncols());
    let note = format!(
        "one target changes the function by {} in its Hilbert-space norm, in 106-bit arithmetic for the worst {} of \
         {columns} columns",
        format_four_significant(scaling.change * norm),
        WORST.min(columns)
    );
    AuditCheck::from_gaussian_shift(scaling.change * norm / scaling.noise, claim, note)
}

/// Noise on counts: a record moves one bin by 1, a replaced one two bins, where there are two. Several records of one row or
/// person move them furthest if all are in one bin.
pub(super) fn check_count_noise(
    sd: f64,
    bins: usize,
    relation: NeighbourRelation,
    records: u64,
    claim: Guarantee,
) -> AuditCheck {
    let moved = match relation {
        NeighbourRelation::AddRemove => 1.0,
        NeighbourRelation::ReplaceOne => bins.min(2) as f64,
    };
    let note = format!("{moved} of {bins} bins change by {records}; noise sd {}", format_four_significant(sd));
    AuditCheck::from_gaussian_shift(f64::sqrt(moved) * records as f64 / sd, claim, note)
}

/// Noise on a statistic of each bin, for bins with so many records and this standard deviation: the shift of the worst
/// corner of the targets. A target lies in one bin, so shifts of several bins do not add up.
pub(super) fn check_bin_statistic_noise(
    statistic: BinStatistic,
    bins: &[(usize, f64)],
    change: f64,
    claim: Guarantee,
) -> AuditCheck {
    let shift = largest_or_nan(bins.iter().map(|&(records, sd)| max_statistic_change(statistic, records, change) / sd));
    AuditCheck::from_gaussian_shift(
        shift,
        claim,
        format!("worst of {} bins, with its targets at their bounds", bins.len()),
    )
}

/// How far the statistic of so many records moves, when one of them goes from one end to the other while the rest are at
/// the ends. Mean and median are monotone in every target, so no other targets move them further.
pub(super) fn max_statistic_change(statistic: BinStatistic, records: usize, change: f64) -> f64 {
    let middle = records / 2;
    let ends = [0, middle.saturating_sub(1), middle, records.saturating_sub(1)];
    let moves = ends.into_iter().filter(|high| *high < records).filter_map(|high| {
        let before = statistic.compute(&extreme_targets(records, high, change))?;
        Some((statistic.compute(&extreme_targets(records, high + 1, change))? - before).abs())
    });
    largest_or_nan(moves)
}

/// So many targets, of which the first `high` are at the upper end of `[0, change]`.
fn extreme_targets(records: usize, high: usize, change: f64) -> Vec<f64> {
    (0..records).map(|i| if i < high { change } else { 0.0 }).collect()
}

/// Means of values that one record moves by `range / rows` each, all at once: `sqrt(means)` times as far in all. The
/// values of a record need not all be at their ends together, so this is a bound.
pub(super) fn check_mean_noise(sd: f64, means: usize, range: f64, rows: usize, claim: Guarantee) -> AuditCheck {
    let shift = (means as f64).sqrt() * range / rows as f64 / sd;
    let note =
        format!("one validation record changes {means} means by {} each", format_four_significant(range / rows as f64));
    AuditCheck {
        found: RecomputedBound::DeltaAtMost(exact_gaussian_delta(shift, claim.epsilon)),
        ..AuditCheck::from_gaussian_shift(shift, claim, note)
    }
}

/// Steps to a lengthscale where peaks are looked for.
const STEPS: f64 = 500.0;

/// The greatest squared shift, if each of the two sums has noise of one variance on all its numbers.
///
/// Obligation: with `K = sup |k|^2`, `P = sup |p|^2` and `a = inf p.p' / (k.k')^2` over the box, the squared shift of two records with `t = k.k'`
/// is at most `2 R^2 (K + t) / s_a^2 + 2 (P - a t^2) / s_m^2` with t between 0 and K. Along one input `k.k'` and `p.p'` of two inputs are those of
/// both at their mean u, times a fall with their distance that is squared in the second: the ratio depends on u alone, and is a product over the
/// inputs.
pub(super) fn isotropic_squared_shift_bound(release: &AuditedAnisotropicSumsNoise) -> Option<f64> {
    let (on_a, on_m) = (isotropic_variance(&release.weighted)?, isotropic_variance(&release.plain)?);
    let (variance, lengthscale) = release.kernel;
    let (mut k, mut p, mut a) = (variance * variance, 1.0, variance.powi(-4));
    for (range, ends) in release.inducing.iter().zip(&release.domain) {
        let points: Vec<f64> = (0..range.points).map(|place| range.value_at(place)).collect();
        let half = (range.to - range.from) / (2 * (range.points - 1)) as f64;
        let middles = (0..2 * range.points - 1).map(|place| range.from + half * place as f64).collect();
        let one = GaussianBumpSum { rate: lengthscale.powi(-2), centres: points };
        let two = GaussianBumpSum { rate: 2.0 * lengthscale.powi(-2), centres: middles };
        k *= one.curvature_bounded_search(*ends).find_maximum(|x| one.value_at(x));
        p *= two.curvature_bounded_search(*ends).find_maximum(|x| two.value_at(x));
        // The second derivative of 2 ln T - ln Q is at least -4 W^2 / l^4 for points within a range W, and T^2 / Q at most their number.
        let curvature = 4.0 * range.points as f64 * (range.to - range.from).powi(2) * lengthscale.powi(-4);
        let peaks = CurvatureBoundedSearch { curvature, ..one.curvature_bounded_search(*ends) };
        a /= peaks.find_maximum(|x| (2.0 * one.logarithm(x) - two.logarithm(x)).exp());
    }
    let square = release.bound * release.bound;
    // A parabola in t that opens downwards.
    let t = (square * on_m / (2.0 * a * on_a)).min(k);
    Some(2.0 * square * (k + t) / on_a + 2.0 * (p - a * t * t) / on_m)
}

/// The variance, where a covariance is a multiple of the identity.
fn isotropic_variance(covariance: &nalgebra::DMatrix<f64>) -> Option<f64> {
    let least = covariance.diagonal().min();
    let beside = covariance - nalgebra::DMatrix::from_diagonal(&covariance.diagonal());
    let is_one = beside.amax() == 0.0 && covariance.diagonal().max() <= least * (1.0 + 1e-12);
    (is_one && least > 0.0).then_some(least)
}

/// `sum exp(-rate (x - c)^2)`.
struct GaussianBumpSum {
    rate: f64,
    centres: Vec<f64>,
}

impl GaussianBumpSum {
    fn curvature_bounded_search(&self, [low, high]: [f64; 2]) -> CurvatureBoundedSearch {
        let curvature = 2.0 * self.rate * self.centres.len() as f64;
        CurvatureBoundedSearch { low, high, count: ((high - low) * STEPS * self.rate.sqrt()).ceil(), curvature }
    }

    fn value_at(&self, x: f64) -> f64 {
        self.centres.iter().map(|c| (-self.rate * (x - c).powi(2)).exp()).sum()
    }

    /// Of the sum; far from all centres by the nearest, as every term is too small for a number.
    fn logarithm(&self, x: f64) -> f64 {
        let squares = self.centres.iter().map(|c| (x - c).powi(2));
        let nearest = squares.clone().fold(f64::INFINITY, f64::min);
        squares.map(|square| (-self.rate * (square - nearest)).exp()).sum::<f64>().ln() - self.rate * nearest
    }
}

/// Between two ends, for a function whose second derivative is at least `-curvature`.
#[derive(Debug, Clone, Copy)]
pub(super) struct CurvatureBoundedSearch {
    pub low: f64,
    pub high: f64,
    /// Steps between the ends.
    pub count: f64,
    pub curvature: f64,
}

impl CurvatureBoundedSearch {
    /// The maximum: on a grid of step h, then refined around every point that may hide it. At a maximum inside the slope is zero, so that none is
    /// further than `curvature h^2 / 8` above the grid.
    pub fn find_maximum(self, function: impl Fn(f64) -> f64) -> f64 {
        let step = (self.high - self.low) / self.count;
        let places = (0..=self.count as usize).map(|i| self.low + step * i as f64);
        let values: Vec<f64> = places.map(&function).collect();
        let hidden = self.curvature * step * step / 8.0;
        let top = largest_or_nan(values.iter().copied());
        let near = (0..values.len()).filter(|&i| values[i] >= top - hidden);
        largest_or_nan(near.map(|i| {
            let x = self.low + step * i as f64;
            ternary_maximum(&function, (x - step).max(self.low), (x + step).min(self.high))
        }))
    }
}

/// The maximum between two ends, if there is one peak: by thirds.
fn ternary_maximum(function: &impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    for _ in 0..100 {
        let third = (high - low) / 3.0;
        if function(low + third) < function(high - third) {
            low += third;
        } else {
            high -= third;
        }
    }
    largest_or_nan([function(low), function(high)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AuditVerdict;

    const CLAIM: Guarantee = Guarantee { epsilon: 1.0, delta: 0.01 };

    #[test]
    fn statistics_move_as_far_as_they_can() {
        assert_eq!(max_statistic_change(BinStatistic::Mean, 4, 2.0), 0.5);
        assert_eq!(max_statistic_change(BinStatistic::Median, 5, 2.0), 2.0);
        assert_eq!(max_statistic_change(BinStatistic::Median, 4, 2.0), 1.0);
        assert_eq!(max_statistic_change(BinStatistic::Median, 1, 2.0), 2.0);
    }

    /// Noise in one of two directions only is no protection of the other.
    #[test]
    fn a_direction_without_noise_is_a_break() {
        let columns = DMatrix::from_column_slice(2, 1, &[1.0, 1.0]);
        let with = |second: f64| LinearReleaseMatrices {
            columns: columns.clone(),
            factor: DMatrix::from_row_slice(2, 2, &[1.0, 0.0, 0.0, second]),
        };
        let flat = LinearReleaseMatrices { columns: columns.clone(), factor: DMatrix::from_row_slice(1, 1, &[1.0]) };
        let scaling = NoiseScaling { noise: 4.0, change: 1.0 };
        let [covered, open, flat] =
            [with(1.0), with(0.0), flat].map(|release| check_linear_releases(&[vec![release]], scaling, CLAIM));
        assert_eq!(covered.verdict, AuditVerdict::Holds);
        assert_eq!(open.found, RecomputedBound::Delta(1.0));
        assert_eq!(flat.verdict, AuditVerdict::Broken);
    }

    #[test]
    fn a_second_release_adds_up() {
        let release = LinearReleaseMatrices { columns: DMatrix::identity(1, 1), factor: DMatrix::identity(1, 1) };
        let places = [vec![release.clone()], vec![release]];
        let check = check_linear_releases(&places, NoiseScaling { noise: 2.0, change: 1.0 }, CLAIM);
        assert_eq!(check.found, RecomputedBound::Delta(exact_gaussian_delta(0.5f64.sqrt(), 1.0)));
    }
}

#[cfg(test)]
mod isotropic_tests {
    use nalgebra::DMatrix;

    use super::*;
    use dpgp_spec::setting::RangeSetting;

    fn release(points: usize, to: f64) -> AuditedAnisotropicSumsNoise {
        AuditedAnisotropicSumsNoise {
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
        let found = isotropic_squared_shift_bound(&release(2, 60.0)).unwrap();
        let (k, t) = (1.69f64, 1.69f64.powi(2) / 2.0);
        let expected = 8.0 * (k + t) + 8.0 * (1.0 - t * t / (k * k));
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    }

    #[test]
    fn other_shapes_have_no_such_bound() {
        let mut release = release(4, 3.0);
        assert!(isotropic_squared_shift_bound(&release).is_some());
        release.plain[(0, 1)] = 0.01;
        assert!(isotropic_squared_shift_bound(&release).is_none());
        release.plain[(0, 1)] = 0.0;
        release.weighted[(2, 2)] = 1.1;
        assert!(isotropic_squared_shift_bound(&release).is_none());
    }
}

#[cfg(test)]
mod peaks_tests {
    use super::*;

    /// Of two peaks the higher one, which lies between places of the grid, where all are below the lower one.
    #[test]
    fn the_higher_peak_is_found() {
        let peaks = CurvatureBoundedSearch { low: -1.0, high: 4.0, count: 50.0, curvature: 2.0 };
        let found = peaks.find_maximum(|x| largest_or_nan([1.0 - (x - 0.3).powi(2), 1.0001 - (x - 3.25).powi(2)]));
        assert!((found - 1.0001).abs() < 1e-12, "{found}");
        // At an end.
        assert_eq!(CurvatureBoundedSearch { low: 1.0, ..peaks }.find_maximum(|x| 5.0 - x), 4.0);
    }
}
