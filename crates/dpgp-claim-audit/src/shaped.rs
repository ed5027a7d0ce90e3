//! Noise of any covariance on sums at inducing inputs: bounds from both sides for the worst pair of records.
//!
//! Everything is recomputed from the covariances that noise was drawn with: features from the kernel, and
//! distances from triangular factors.

use nalgebra::DMatrix;

use crate::finding::{AuditCheck, AuditVerdict, ROUNDING, RecomputedBound};
use crate::gaussian::isotropic_squared_shift_bound;
use dpgp_accounting::Guarantee;
use dpgp_audit::{exact_gaussian_delta, format_four_significant};
use dpgp_linalg::{Cholesky, largest_or_nan, transposed_product};
use dpgp_spec::setting::RangeSetting;
use dpgp_task::AuditedAnisotropicSumsNoise;

/// Places to a side, for one input and two: more than shapes are certified with.
const SIDES: [usize; 2] = [1201, 61];
/// For more inputs, where nothing but a search is tried.
const SIDE: usize = 7;

/// The delta of the worst pair of records: at most what a grid and the curvature between its places allow, at least what pairs of its places
/// have.
pub(super) fn check_shaped_noise(release: &AuditedAnisotropicSumsNoise, claim: Guarantee) -> AuditCheck {
    let Some(records) = WhitenedGridRecords::from_release(release) else {
        let note = "the covariance of the noise has no Cholesky factor".to_owned();
        return AuditCheck { verdict: AuditVerdict::Broken, found: RecomputedBound::DeltaAtLeast(1.0), note };
    };
    let mut worst = records.worst_shift();
    if let Some(squared) = isotropic_squared_shift_bound(release) {
        worst.bound = worst.bound.min(squared.sqrt());
    }
    let least = exact_gaussian_delta(worst.shift, claim.epsilon);
    let most = exact_gaussian_delta(worst.bound, claim.epsilon);
    if most <= claim.delta * (1.0 + ROUNDING) {
        let note = format!("a search finds {}", RecomputedBound::DeltaAtLeast(least).text());
        return AuditCheck { verdict: AuditVerdict::Holds, found: RecomputedBound::DeltaAtMost(most), note };
    }
    // Between the two bounds the audit does not know.
    let broken = least > claim.delta * (1.0 + ROUNDING);
    let verdict = if broken { AuditVerdict::Broken } else { AuditVerdict::NotAudited };
    let note = format!("from pairs of records on a grid; upper bound: delta <= {}", format_four_significant(most));
    AuditCheck { verdict, found: RecomputedBound::DeltaAtLeast(least), note }
}

/// What records at places of a grid add, in standard deviations of the noise, for a target at the bound.
struct WhitenedGridRecords {
    /// Of `y k(x)` (m x n), and of `p(x)` (k x n).
    weighted: DMatrix<f64>,
    plain: DMatrix<f64>,
    /// How far a record between places may be from the mean of its corners, near each place (n).
    missed: Vec<f64>,
}

/// Shifts, not squared.
struct WorstShift {
    shift: f64,
    bound: f64,
}

impl WhitenedGridRecords {
    /// None if a covariance has no factor.
    fn from_release(release: &AuditedAnisotropicSumsNoise) -> Option<Self> {
        let side = SIDES.get(release.domain.len() - 1).copied().unwrap_or(SIDE);
        let grid = BoxGrid { domain: &release.domain, side };
        let features = RecordFeatures::from_release(release);
        let factors = NoiseFactors {
            weighted: Cholesky::without_jitter("the noise on A", &release.weighted).ok()?,
            plain: Cholesky::without_jitter("the noise on M", &release.plain).ok()?,
            bound: release.bound,
        };
        let at = factors.whitened(features.features_on_grid(&grid, None));
        let missed = interpolation_error_bounds(&grid, &features, &factors);
        Some(Self { weighted: at.weighted, plain: at.plain, missed })
    }

    /// A record at x is a mean of records at the corners of its cell and a rest r(x), and distances are convex: the shift of two
    /// records is at most the greatest of the shifts of their corners, and both rests.
    fn worst_shift(&self) -> WorstShift {
        let weighted = transposed_product(&self.weighted, &self.weighted);
        let plain = transposed_product(&self.plain, &self.plain);
        let mut worst = WorstShift { shift: 0.0, bound: 0.0 };
        for j in 0..self.missed.len() {
            for i in 0..=j {
                let norms = weighted[(i, i)] + weighted[(j, j)] + plain[(i, i)] + plain[(j, j)];
                let squared = norms + 2.0 * weighted[(i, j)].abs() - 2.0 * plain[(i, j)];
                let shift = largest_or_nan([squared]).sqrt();
                worst.shift = largest_or_nan([worst.shift, shift]);
                worst.bound = largest_or_nan([worst.bound, shift + self.missed[i] + self.missed[j]]);
            }
        }
        worst
    }
}

/// The rest near each place: `sum_l h_l^2 / 8 sup |d^2 g / dx_l^2|` over the cells around it.
fn interpolation_error_bounds(grid: &BoxGrid<'_>, features: &RecordFeatures<'_>, factors: &NoiseFactors) -> Vec<f64> {
    let inputs = grid.domain.len();
    if inputs > SIDES.len() {
        // No bound is claimed where the grid is coarse.
        return vec![f64::INFINITY; grid.point_count()];
    }
    let steps: Vec<f64> = (0..inputs).map(|input| grid.step(input).powi(2) / 8.0).collect();
    let mut missed = vec![0.0; grid.point_count()];
    for (input, step) in steps.iter().enumerate() {
        let curvatures = factors.whitened(features.features_on_grid(grid, Some(input))).norms();
        let fourth: f64 = steps.iter().map(|other| other * factors.fourth_derivative_bound(features)).sum();
        for (place, missed) in missed.iter_mut().enumerate() {
            let around =
                largest_or_nan(grid.point_and_adjacent_points(place).into_iter().map(|other| curvatures[other]));
            *missed += step * (around + fourth);
        }
    }
    missed
}

/// Places that are evenly spread over a box and hold its corners, the first input fastest.
struct BoxGrid<'a> {
    domain: &'a [[f64; 2]],
    side: usize,
}

impl BoxGrid<'_> {
    fn point_count(&self) -> usize {
        self.side.pow(self.domain.len() as u32)
    }

    fn step(&self, input: usize) -> f64 {
        let [low, high] = self.domain[input];
        (high - low) / (self.side - 1) as f64
    }

    fn input_index(&self, place: usize, input: usize) -> usize {
        place / self.side.pow(input as u32) % self.side
    }

    fn coordinate(&self, place: usize, input: usize) -> f64 {
        self.domain[input][0] + self.step(input) * self.input_index(place, input) as f64
    }

    /// A place and its neighbours, also along diagonals.
    fn point_and_adjacent_points(&self, place: usize) -> Vec<usize> {
        let mut around = vec![place];
        for input in 0..self.domain.len() {
            let (order, stride) = (self.input_index(place, input), self.side.pow(input as u32));
            let before = around.iter().filter(|_| order > 0).map(|place| place - stride);
            let after = around.iter().filter(|_| order + 1 < self.side).map(|place| place + stride);
            let beside: Vec<usize> = before.chain(after).collect();
            around.extend(beside);
        }
        around
    }
}

/// `k` and `p` at many places, one a column.
struct FeatureColumns {
    weighted: DMatrix<f64>,
    plain: DMatrix<f64>,
}

impl FeatureColumns {
    fn norms(&self) -> Vec<f64> {
        let columns = self.weighted.column_iter().zip(self.plain.column_iter());
        columns.map(|(k, p)| k.norm().hypot(p.norm())).collect()
    }
}

/// What a record adds without its target, by the kernel.
struct RecordFeatures<'a> {
    release: &'a AuditedAnisotropicSumsNoise,
    /// The points of each side, and their midpoints.
    sides: Vec<[Vec<f64>; 2]>,
}

impl<'a> RecordFeatures<'a> {
    fn from_release(release: &'a AuditedAnisotropicSumsNoise) -> Self {
        Self { release, sides: release.inducing.iter().map(points_and_midpoints).collect() }
    }

    /// With second derivatives along one input, if there is one.
    fn features_on_grid(&self, grid: &BoxGrid<'_>, curved: Option<usize>) -> FeatureColumns {
        let (variance, lengthscale) = self.release.kernel;
        let places = grid.point_count();
        let mut columns = [0, 1].map(|kind| {
            let size = self.sides.iter().map(|side| side[kind].len()).product();
            DMatrix::zeros(size, places)
        });
        // exp(-x^2 / 2 l^2), and its square for the product of two.
        for (kind, power) in [1.0, 2.0].into_iter().enumerate() {
            for place in 0..places {
                let mut values = vec![if kind == 0 { variance } else { 1.0 }];
                for (input, side) in self.sides.iter().enumerate() {
                    let bump =
                        KernelFactorAlongInput { rate: power / lengthscale.powi(2), curved: curved == Some(input) };
                    let x = grid.coordinate(place, input);
                    let along: Vec<f64> = side[kind].iter().map(|centre| bump.value_at(x - centre)).collect();
                    values = values.iter().flat_map(|v| along.iter().map(move |b| v * b)).collect();
                }
                columns[kind].column_mut(place).copy_from_slice(&values);
            }
        }
        let [weighted, plain] = columns;
        FeatureColumns { weighted, plain }
    }
}

/// `exp(-rate r^2 / 2)`, or its second derivative.
struct KernelFactorAlongInput {
    rate: f64,
    curved: bool,
}

impl KernelFactorAlongInput {
    fn value_at(&self, r: f64) -> f64 {
        let square = self.rate * r * r;
        let slope = if self.curved { self.rate * (square - 1.0) } else { 1.0 };
        slope * (-0.5 * square).exp()
    }
}

/// Points and midpoints of a side.
fn points_and_midpoints(range: &RangeSetting) -> [Vec<f64>; 2] {
    let half = (range.to - range.from) / (2 * (range.points - 1)) as f64;
    let all = 2 * range.points - 1;
    let middles: Vec<f64> = (0..all).map(|place| range.from + half * place as f64).collect();
    [middles.iter().copied().step_by(2).collect(), middles]
}

/// The triangular factors of the noise.
struct NoiseFactors {
    weighted: Cholesky,
    plain: Cholesky,
    bound: f64,
}

impl NoiseFactors {
    fn whitened(&self, mut columns: FeatureColumns) -> FeatureColumns {
        columns.weighted *= self.bound;
        self.weighted.lower_solve_mut(&mut columns.weighted);
        self.plain.lower_solve_mut(&mut columns.plain);
        columns
    }

    /// A bound on the length of any fourth derivative `d^4 / dx_l^2 dx_m^2`: each feature has at most three times its rate squared,
    /// and a factor F of the noise makes it at most `|F^-1|` (Frobenius) times as long.
    fn fourth_derivative_bound(&self, features: &RecordFeatures<'_>) -> f64 {
        let (variance, lengthscale) = features.release.kernel;
        let sizes = [&self.weighted, &self.plain].map(|factor| factor.factor().nrows());
        let [k, p] = [&self.weighted, &self.plain].map(inverse_factor_norm);
        let k = self.bound * k * 3.0 * variance * lengthscale.powi(-4) * (sizes[0] as f64).sqrt();
        k.hypot(p * 12.0 * lengthscale.powi(-4) * (sizes[1] as f64).sqrt())
    }
}

fn inverse_factor_norm(factor: &Cholesky) -> f64 {
    let size = factor.factor().nrows();
    factor.lower_solve(&DMatrix::identity(size, size)).norm()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpgp_accounting::Calibration;
    use dpgp_gp::kernel::Interval;
    use dpgp_gp::variational::{InducingGrid, squared_kernel_vector_norm_bound};
    use dpgp_mechanisms::{MidpointFeatureBounds, NoiseEllipsoid, RecordBounds, SumFeatureMaps};

    const CLAIM: Guarantee = Guarantee { epsilon: 1.0, delta: 1e-5 };

    /// One inducing input far from a corner of the box: `k` and `p` are the bumps themselves. Two points are needed for a range.
    fn release(inputs: usize, scale: f64) -> AuditedAnisotropicSumsNoise {
        let sigma = Calibration::Analytic.sigma(CLAIM.epsilon, CLAIM.delta);
        let inducing = vec![RangeSetting { from: 0.0, to: 8.0, points: 2 }; inputs];
        let (m, k) = (1 << inputs, 3usize.pow(inputs as u32));
        // With the noise of the sphere: 2 R for opposite targets near one of the far points, and the plain sums move less than they cost.
        let square = scale * (2.0 * 1.5 * sigma).powi(2);
        AuditedAnisotropicSumsNoise {
            weighted: DMatrix::identity(m, m) * square,
            plain: DMatrix::identity(k, k) * (1e6 * square),
            kernel: (1.0, 1.0),
            inducing,
            domain: vec![[0.0, 8.0]; inputs],
            bound: 1.5,
        }
    }

    /// The worst pair is two records at one inducing input with opposite targets: 2 R apart.
    #[test]
    fn the_worst_pair_is_the_one_by_hand() {
        for inputs in [1, 2] {
            let release = release(inputs, 1.0);
            let sigma = Calibration::Analytic.sigma(CLAIM.epsilon, CLAIM.delta);
            let worst = WhitenedGridRecords::from_release(&release).unwrap().worst_shift();
            assert!((worst.shift * sigma - 1.0).abs() < 1e-6, "{}", worst.shift * sigma);
            assert!(worst.bound > worst.shift && worst.bound < 1.02 * worst.shift);
        }
    }

    /// The noise of a claim for five inducing inputs along each input, with what `plain` multiplies the sums at the midpoints by.
    fn claimed(inputs: usize, noise: impl Fn(&InducingGrid) -> [DMatrix<f64>; 2]) -> AuditedAnisotropicSumsNoise {
        let range = RangeSetting { from: -4.0, to: 4.0, points: 5 };
        let sides = vec![(0..5).map(|place| range.value_at(place)).collect(); inputs];
        let grid = InducingGrid { sides, variance: 1.2, lengthscale: 2.0 };
        let square = Calibration::Analytic.sigma(CLAIM.epsilon, CLAIM.delta).powi(2);
        let [weighted, plain] = noise(&grid).map(|covariance| covariance * square);
        let domain = vec![[-4.0, 4.5]; inputs];
        AuditedAnisotropicSumsNoise {
            weighted,
            plain,
            kernel: (1.2, 2.0),
            inducing: vec![range; inputs],
            domain,
            bound: 2.5,
        }
    }

    /// Neither claim is made by code of this room, and both hold without being far from broken.
    #[test]
    fn claims_hold_and_less_noise_breaks_them() {
        for inputs in [1, 2] {
            let domain = vec![[-4.0, 4.5]; inputs];
            let ellipsoid = claimed(inputs, |grid| {
                let maps = SumFeatureMaps {
                    weighted: grid.covariance_bumps(),
                    plain: grid.covariance_product_bumps(),
                    bound: 2.5,
                };
                let shape = NoiseEllipsoid::with_least_trace(&maps, &domain).unwrap();
                [shape.weighted.covariance(), shape.plain.covariance()]
            });
            let midpoints = claimed(inputs, |grid| {
                let ends = Interval { low: -4.0, high: 4.5 };
                let square = squared_kernel_vector_norm_bound(&grid.sides[0], 2.0, ends).powi(inputs as i32);
                let record = RecordBounds { features: 1.2 * square.sqrt(), target: 2.5 };
                let square = MidpointFeatureBounds::new(grid, record, &domain).sensitivity(3.0).powi(2);
                let sizes = [grid.covariance_bumps().len(), grid.covariance_product_bumps().len()];
                [DMatrix::identity(sizes[0], sizes[0]) * square, DMatrix::identity(sizes[1], sizes[1]) * (square / 3.0)]
            });
            for mut release in [ellipsoid, midpoints] {
                let check = check_shaped_noise(&release, CLAIM);
                assert_eq!(check.verdict, AuditVerdict::Holds, "{inputs} {check:?}");
                release.plain *= 0.9;
                release.weighted *= 0.9;
                assert_eq!(check_shaped_noise(&release, CLAIM).verdict, AuditVerdict::Broken, "{inputs}");
            }
        }
    }

    #[test]
    fn too_little_noise_is_found_out() {
        for inputs in [1, 2] {
            assert_eq!(check_shaped_noise(&release(inputs, 1.1), CLAIM).verdict, AuditVerdict::Holds);
            // Between the shift that is found and the one that is possible, where no product of bounds along each input helps.
            let mut between = release(inputs, 1.0 + 1e-7);
            between.plain[(0, 0)] *= 2.0;
            assert_eq!(check_shaped_noise(&between, CLAIM).verdict, AuditVerdict::NotAudited);
            assert_eq!(check_shaped_noise(&release(inputs, 0.9), CLAIM).verdict, AuditVerdict::Broken);
            let mut thin = release(inputs, 1.1);
            // A thin direction: the noise on the first sum and that on the second cancel.
            thin.weighted[(0, 1)] = -0.9 * thin.weighted[(0, 0)];
            thin.weighted[(1, 0)] = thin.weighted[(0, 1)];
            assert_eq!(check_shaped_noise(&thin, CLAIM).verdict, AuditVerdict::Broken);
            let mut none = release(inputs, 1.1);
            none.plain[(0, 0)] = 0.0;
            assert_eq!(check_shaped_noise(&none, CLAIM).verdict, AuditVerdict::Broken);
        }
    }
}
