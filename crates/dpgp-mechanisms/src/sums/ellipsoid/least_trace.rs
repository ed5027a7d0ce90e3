//! The axes of the ellipsoid with the least trace around the differences of records on a grid.

use nalgebra::{DMatrix, DVector};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use dpgp_linalg::{LinalgError, largest_or_nan, product, right_svd, transposed_product};

/// Steps of the ascent, after which the gap is a percent or less.
const STEPS: usize = 120;

/// Contribution of records at n inputs, for targets at their bound: `R phi` (n x m) and e (n x k).
pub(super) struct RecordContributions {
    pub weighted: DMatrix<f64>,
    pub plain: DMatrix<f64>,
}

/// Squared distances of all pairs of records, for targets at opposite bounds and for equal ones (n x n each).
pub(super) struct SquaredPairDistances {
    pub opposite: DMatrix<f64>,
    pub equal: DMatrix<f64>,
}

impl SquaredPairDistances {
    /// Of contributions in standard deviations.
    pub fn new(whitened: &RecordContributions) -> Self {
        let weighted = product(&whitened.weighted, &whitened.weighted.transpose());
        let plain = product(&whitened.plain, &whitened.plain.transpose());
        let (along, beside) = (weighted.diagonal(), plain.diagonal());
        let mut shifts = Self { opposite: DMatrix::zeros(along.len(), along.len()), equal: plain };
        for j in 0..along.len() {
            for i in 0..along.len() {
                let norms = along[i] + along[j] + beside[i] + beside[j] - 2.0 * shifts.equal[(i, j)];
                // Rounding may take the distance of a record from itself below zero, which no maximum and no square minds.
                shifts.opposite[(i, j)] = norms + 2.0 * weighted[(i, j)];
                shifts.equal[(i, j)] = norms - 2.0 * weighted[(i, j)];
            }
        }
        shifts
    }

    /// The greatest; NaN if any of them is.
    pub fn greatest(&self) -> f64 {
        largest_or_nan(self.opposite.iter().chain(self.equal.iter()).copied())
    }
}

/// An ellipsoid that holds all differences on the grid, and a lower bound on the trace of every other one.
pub(super) struct LeastTraceEllipsoid {
    pub weighted: NoiseAxes,
    pub plain: NoiseAxes,
    pub bound: f64,
}

/// The ellipsoid of least trace around the differences of the contributions, but for a small gap.
///
/// The weights on pairs are multiplied by the squares of `D' S^-1 D`, which are 1 where the best weights are positive: the multiplicative
/// ascent of the theory of design (Silvey, Titterington and Torsney 1978) with twice its step. The best shape found on the way is
/// used, so the result does not rely on convergence. Each second moment is a Laplacian form: with `r = W 1`,
/// `sum W_ij (e_i - e_j) (e_i - e_j)' = 2 E' (diag(r) - W) E`.
///
/// # Errors
/// [`LinalgError`] if features are not finite, or the axes of a second moment are not found.
pub(super) fn fit_least_trace_ellipsoid(
    contributions: &RecordContributions,
) -> Result<LeastTraceEllipsoid, LinalgError> {
    let mut weights = PairWeights::even(contributions.plain.nrows());
    let mut best: Option<LeastTraceEllipsoid> = None;
    let mut bound = 0.0f64;
    for _ in 0..STEPS {
        let step = weights.build_ellipsoid(contributions)?;
        bound = bound.max(step.bound);
        let shifts = SquaredPairDistances::new(&step.whitened(contributions));
        let held = step.scaled(shifts.greatest());
        weights.reweight_pairs(&shifts);
        if best.as_ref().is_none_or(|best| held.trace() < best.trace()) {
            best = Some(held);
        }
    }
    match best {
        Some(best) => Ok(LeastTraceEllipsoid { bound, ..best }),
        None => weights.build_ellipsoid(contributions),
    }
}

impl LeastTraceEllipsoid {
    /// `tr S`.
    pub fn trace(&self) -> f64 {
        self.weighted.variances.sum() + self.plain.variances.sum()
    }

    pub fn whitened(&self, contributions: &RecordContributions) -> RecordContributions {
        RecordContributions {
            weighted: self.weighted.whitened(&contributions.weighted),
            plain: self.plain.whitened(&contributions.plain),
        }
    }

    pub fn scaled(&self, factor: f64) -> Self {
        Self { weighted: self.weighted.scaled(factor), plain: self.plain.scaled(factor), bound: self.bound }
    }
}

/// Weights on all pairs of records, symmetric, which add up to 1.
struct PairWeights {
    opposite: DMatrix<f64>,
    equal: DMatrix<f64>,
}

impl PairWeights {
    fn even(points: usize) -> Self {
        let each = DMatrix::from_element(points, points, 0.5 / (points * points) as f64);
        Self { opposite: each.clone(), equal: each }
    }

    /// `tr(M^(1/2)) M^(1/2)`.
    fn build_ellipsoid(&self, contributions: &RecordContributions) -> Result<LeastTraceEllipsoid, LinalgError> {
        let both = &self.opposite + &self.equal;
        let rows = both.column_sum();
        let difference = &self.equal - &self.opposite;
        let weighted =
            EigenvalueSquareRoots::new(&laplacian_second_moment(&contributions.weighted, &rows, &difference))?;
        let plain = EigenvalueSquareRoots::new(&laplacian_second_moment(&contributions.plain, &rows, &both))?;
        let raised = weighted.raised.sum() + plain.raised.sum();
        Ok(LeastTraceEllipsoid {
            bound: (weighted.trace + plain.trace).powi(2),
            weighted: NoiseAxes { variances: weighted.raised * raised, axes: weighted.axes },
            plain: NoiseAxes { variances: plain.raised * raised, axes: plain.axes },
        })
    }

    fn reweight_pairs(&mut self, shifts: &SquaredPairDistances) {
        self.opposite.zip_apply(&shifts.opposite, |weight, shift| *weight *= shift * shift);
        self.equal.zip_apply(&shifts.equal, |weight, shift| *weight *= shift * shift);
        let total = self.opposite.sum() + self.equal.sum();
        self.opposite /= total;
        self.equal /= total;
    }
}

/// `2 E' (diag(r) - W) E`, symmetric (k x k).
fn laplacian_second_moment(features: &DMatrix<f64>, rows: &DVector<f64>, weights: &DMatrix<f64>) -> DMatrix<f64> {
    let mut weighed = -product(weights, features);
    for (mut column, of_feature) in weighed.column_iter_mut().zip(features.column_iter()) {
        column += rows.component_mul(&of_feature);
    }
    let moment = transposed_product(features, &weighed);
    &moment + moment.transpose()
}

/// The least eigenvalue of a second moment, over its greatest: less counts as this much. It keeps the noise along each axis within three orders of
/// magnitude, so that rounding is far below all of it, and adds next to nothing to the trace.
const FLOOR: f64 = 1e-6;

/// Noise that is independent along orthogonal axes: its covariance is `U diag(variances) U'`.
#[derive(Debug, Clone, PartialEq)]
pub struct NoiseAxes {
    /// U, an axis a column (k x k).
    pub axes: DMatrix<f64>,
    /// The variances along them (k).
    pub variances: DVector<f64>,
}

/// The roots of the eigenvalues of a second moment, with its axes.
pub(super) struct EigenvalueSquareRoots {
    pub axes: DMatrix<f64>,
    /// None is less than a floor (k).
    pub raised: DVector<f64>,
    /// `tr M^(1/2)`, without any floor.
    pub trace: f64,
}

impl EigenvalueSquareRoots {
    /// Of a positive semidefinite matrix.
    ///
    /// # Errors
    /// [`LinalgError`] if it is not finite, or its axes are not found.
    pub fn new(moment: &DMatrix<f64>) -> Result<Self, LinalgError> {
        // The singular values of such a matrix are its eigenvalues, and the right singular vectors its axes.
        let found = right_svd("the second moment of the differences between records", moment)?;
        let floor = FLOOR * found.s[0];
        Ok(Self {
            trace: found.s.iter().map(|value| value.sqrt()).sum(),
            raised: found.s.map(|value| value.max(floor).sqrt()),
            axes: found.v,
        })
    }
}

impl NoiseAxes {
    /// The same variance along every coordinate.
    pub fn spherical(size: usize, variance: f64) -> Self {
        Self { axes: DMatrix::identity(size, size), variances: DVector::from_element(size, variance) }
    }

    /// Features (n x k) along the axes.
    pub fn project_onto_axes(&self, features: &DMatrix<f64>) -> DMatrix<f64> {
        product(features, &self.axes)
    }

    /// Features (n x k) along the axes, in standard deviations: their squared lengths are `D' S^-1 D`.
    pub fn whitened(&self, features: &DMatrix<f64>) -> DMatrix<f64> {
        let mut along = self.project_onto_axes(features);
        for (mut column, variance) in along.column_iter_mut().zip(self.variances.iter()) {
            column /= variance.sqrt();
        }
        along
    }

    /// Every variance times a factor.
    pub fn scaled(&self, factor: f64) -> Self {
        Self { axes: self.axes.clone(), variances: &self.variances * factor }
    }

    /// `U diag(variances) U'` (k x k).
    pub fn covariance(&self) -> DMatrix<f64> {
        let mut scaled = self.axes.clone();
        for (mut column, variance) in scaled.column_iter_mut().zip(self.variances.iter()) {
            column *= *variance;
        }
        product(&scaled, &self.axes.transpose())
    }

    /// Sums along the axes with noise of `sigma` times these standard deviations: a simulation, in floating point.
    pub fn simulate_release(&self, along: &DVector<f64>, sigma: f64, stream: &mut impl Rng) -> DVector<f64> {
        along.zip_map(&self.variances, |sum, variance| {
            let normal: f64 = StandardNormal.sample(stream);
            sum + sigma * variance.sqrt() * normal
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One input with one feature of each kind, records (1, 0) and (0, 1): differences (2, 0), (1, 1), (1, -1), none longer along the second
    /// axis than 1. `tr S` for `S = diag(a, b)` with `4 / a <= 1`, `1 / a + 1 / b <= 1` is least at `a = 4, b = 4 / 3`.
    #[test]
    fn a_problem_by_hand() {
        let contributions = RecordContributions {
            weighted: DMatrix::from_column_slice(2, 1, &[1.0, 0.0]),
            plain: DMatrix::from_column_slice(2, 1, &[0.0, 1.0]),
        };
        let found = fit_least_trace_ellipsoid(&contributions).unwrap();
        assert!((found.trace() - 16.0 / 3.0).abs() < 0.02 && found.bound <= 16.0 / 3.0 + 1e-9);
        assert!(found.bound > 0.98 * 16.0 / 3.0, "{}", found.bound);
        assert!((found.weighted.variances[0] - 4.0).abs() < 1e-9 + 0.02);
    }

    /// The bound is below the trace of the least ball, and of any ellipsoid that holds the differences.
    #[test]
    fn the_bound_is_below_every_other_shape() {
        let contributions = RecordContributions {
            weighted: DMatrix::from_fn(9, 3, |i, j| ((2 * i + 5 * j) as f64).sin()),
            plain: DMatrix::from_fn(9, 4, |i, j| ((3 * i + 4 * j * j) as f64).cos()),
        };
        let found = fit_least_trace_ellipsoid(&contributions).unwrap();
        assert!(found.trace() < 1.03 * found.bound && found.trace() >= found.bound);
        let held = SquaredPairDistances::new(&found.whitened(&contributions)).greatest();
        assert!((held - 1.0).abs() < 1e-9, "{held}");
        for seed in 0..50 {
            let other = LeastTraceEllipsoid {
                weighted: NoiseAxes {
                    variances: DVector::from_fn(3, |i, _| 1.1 + ((7 * seed + 3 * i) as f64).sin()),
                    ..NoiseAxes::spherical(3, 1.0)
                },
                plain: NoiseAxes {
                    variances: DVector::from_fn(4, |i, _| 1.1 + ((5 * seed + 2 * i) as f64).cos()),
                    ..NoiseAxes::spherical(4, 1.0)
                },
                bound: 0.0,
            };
            let held = other.scaled(SquaredPairDistances::new(&other.whitened(&contributions)).greatest());
            assert!(held.trace() >= found.bound);
        }
    }
}

#[cfg(test)]
mod axes_tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use super::*;

    /// The same stream's standard normals, in order, times `sigma sqrt(variance)`.
    #[test]
    fn noise_along_an_axis_has_its_standard_deviation() {
        let axes =
            NoiseAxes { axes: DMatrix::identity(3, 3), variances: DVector::from_column_slice(&[4.0, 9.0, 0.25]) };
        let noisy = axes.simulate_release(&DVector::from_element(3, 1.0), 10.0, &mut Pcg64::seed_from_u64(3));
        let mut stream = Pcg64::seed_from_u64(3);
        for (noisy, sd) in noisy.iter().zip([20.0, 30.0, 5.0]) {
            let normal: f64 = StandardNormal.sample(&mut stream);
            assert!((noisy - 1.0 - sd * normal).abs() < 1e-12, "{noisy}");
        }
    }
}
