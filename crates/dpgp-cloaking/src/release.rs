//! Safe sampling recipes: noise covers every released direction.

use nalgebra::{DMatrix, DVector};

use super::options::{DroppedDirectionRule, Objective};
use dpgp_linalg::{Cholesky, LinalgError, largest_or_nan};
use dpgp_noise::PrivacyError;

/// Relative margin by which the noise is widened beyond the largest leverage, for rounding.
const MARGIN: f64 = 1e-12;
/// Relative jitter of the jitter recipe.
const JITTER: f64 = 1e-8;

/// The solver's result, for the map divided by `unit`.
pub(super) struct SolvedDesign {
    pub basis: DMatrix<f64>,
    pub columns: DMatrix<f64>,
    pub factor: Cholesky,
    pub unit: f64,
    pub gap: OptimalityGap,
    pub steps: usize,
}

/// The certified gap of an objective before the recipe.
#[derive(Debug, Clone, Copy)]
pub(super) struct OptimalityGap {
    pub objective: Objective,
    pub before: f64,
}

impl OptimalityGap {
    fn value(self) -> Option<f64> {
        Some(self.before.max(0.0))
    }

    /// The gap when jitter makes the trace grow by a factor. The lower bound stays one: whatever is feasible in all
    /// directions is feasible, with no larger trace, in the directions kept.
    fn after_jitter(self, growth: f64) -> Option<f64> {
        match self.objective {
            Objective::LogDet => None,
            Objective::Trace => Some((1.0 + self.before) * growth - 1.0),
        }
    }
}

/// Noise for predictions at t test inputs, at sensitivity 1 (one target changes by at most 1).
///
/// Obligation: the mechanism releases `q + s L xi` with `q = B y`, xi standard normal, and then maps it by
/// the public `basis`, which is post-processing. `max_i |L^-1 b_i| <= 1` over **all** columns and directions, so
/// its sensitivity in the metric of the noise is 1. `B` and `L` here are the very matrices used.
#[derive(Debug, Clone)]
pub struct CloakingNoise {
    basis: DMatrix<f64>,
    columns: DMatrix<f64>,
    factor: DMatrix<f64>,
    whitened: DMatrix<f64>,
    /// Directions that carry noise.
    pub rank: usize,
    /// The certified gap of the noise actually used: nats of `log det M`, or relative excess of the trace; none for
    /// the log-det objective with jitter, which has no optimum to compare with.
    pub gap: Option<f64>,
    /// `max_i |L^-1 b_i|` of the factor used, at most 1.
    pub sensitivity: f64,
    /// Steps that the solver took.
    pub steps: usize,
    /// Scale of the covariance of the solver that covers every column, as a factor of the standard deviations: the
    /// root of its largest leverage, 1 at the optimum.
    pub widened: f64,
}

impl CloakingNoise {
    /// From the reduced columns `B` (r x k), the orthonormal `basis` (t x r), the whole columns (t x k) and a
    /// factor of the covariance in the reduced coordinates, all for the map divided by `unit`, so that neither very
    /// small nor very large maps under- or overflow.
    ///
    /// # Errors
    /// [`PrivacyError::NotCovered`] unless the final matrices bear out the obligation of [`CloakingNoise`].
    pub(super) fn new(
        recipe: DroppedDirectionRule,
        design: SolvedDesign,
        whole: &DMatrix<f64>,
    ) -> Result<Self, PrivacyError> {
        let SolvedDesign { basis, columns, factor, unit, gap, steps } = design;
        let rank = columns.nrows();
        let widened = largest_whitened_norm(&factor, &columns);
        let projection = scale_to_unit_leverage(&factor, &columns);
        let (basis, columns, factor, gap) = match recipe {
            DroppedDirectionRule::Projection => (basis, columns, projection, gap.value()),
            DroppedDirectionRule::Jitter => {
                let whole = whole / unit;
                let jittered = scale_to_unit_leverage(&factorise_with_jitter(&(basis * projection.factor()))?, &whole);
                // Squared norms of factors are traces of covariances.
                let growth = jittered.factor().norm_squared() / projection.factor().norm_squared();
                let tests = whole.nrows();
                (DMatrix::identity(tests, tests), whole, jittered, gap.after_jitter(growth))
            }
        };
        // The last check is on the very matrices that will be sampled with, after all scaling: whatever went wrong before, a
        // design that does not cover its columns is refused here.
        let (columns, factor) = (columns * unit, factor.scaled(unit));
        let whitened = factor.lower_solve(&columns);
        let sensitivity = largest_column_norm(&whitened);
        if !is_sensitivity_at_most_one(sensitivity) || factor.factor().diagonal().iter().any(|d| !d.is_normal()) {
            return Err(PrivacyError::NotCovered { sensitivity });
        }
        let factor = factor.factor().clone();
        Ok(Self { basis, columns, factor, whitened, rank, gap, sensitivity, steps, widened })
    }

    /// From a strategy W (r x k) that is released with independent noise, and the `estimator` L (t x r) that turns
    /// the release into predictions, `L W y`. The gap is left open.
    ///
    /// # Errors
    /// [`PrivacyError::NotCovered`] unless the final matrices bear out the obligation of [`CloakingNoise`].
    pub(super) fn from_strategy(
        estimator: &DMatrix<f64>,
        strategy: &DMatrix<f64>,
        steps: usize,
    ) -> Result<Self, PrivacyError> {
        // The longest column gets length 1 less a margin for rounding; the predictions stay the same.
        let widened = largest_column_norm(strategy);
        let scale = widened * (1.0 + MARGIN);
        let (basis, columns) = (estimator * scale, strategy / scale);
        let sensitivity = largest_column_norm(&columns);
        if !is_sensitivity_at_most_one(sensitivity) {
            return Err(PrivacyError::NotCovered { sensitivity });
        }
        let rank = columns.nrows();
        let factor = DMatrix::identity(rank, rank);
        let whitened = columns.clone();
        Ok(Self { basis, columns, factor, whitened, rank, gap: None, sensitivity, steps, widened })
    }

    /// The released mean map (t x k): equal to C up to the directions that the rank rule drops.
    pub fn released_mean_map(&self) -> DMatrix<f64> {
        &self.basis * &self.columns
    }

    /// The matrix that turns standard normal draws into noise over the test inputs (t x r).
    pub fn noise_map(&self) -> DMatrix<f64> {
        &self.basis * &self.factor
    }

    /// Standard deviation of the noise at each test input, at noise multiplier 1.
    pub fn standard_deviations(&self) -> DVector<f64> {
        let map = self.noise_map();
        DVector::from_iterator(map.nrows(), map.row_iter().map(|row| row.norm()))
    }

    /// The columns `b_i` of what the mechanism releases (before post-processing).
    pub fn released_columns(&self) -> &DMatrix<f64> {
        &self.columns
    }

    /// `L^-1 B` (r x k), of which each column is at most [`CloakingNoise::sensitivity`] long.
    pub fn whitened_columns(&self) -> &DMatrix<f64> {
        &self.whitened
    }

    /// The lower triangular `L` that scales the noise of the mechanism (before post-processing).
    pub fn noise_factor(&self) -> &DMatrix<f64> {
        &self.factor
    }
}

/// Whether columns are covered whose longest is so long; one that is no number is not.
fn is_sensitivity_at_most_one(sensitivity: f64) -> bool {
    sensitivity > 0.0 && sensitivity <= 1.0
}

/// The Cholesky factor of `F F' + JITTER tr(F F') / t I`.
fn factorise_with_jitter(noise: &DMatrix<f64>) -> Result<Cholesky, LinalgError> {
    let mut covariance = noise * noise.transpose();
    // Relative to the mean variance, so that the units of the map do not matter.
    let jitter = JITTER * covariance.trace() / covariance.nrows() as f64;
    for i in 0..covariance.nrows() {
        covariance[(i, i)] += jitter;
    }
    Cholesky::new("the jittered noise covariance", &covariance)
}

/// The factor, widened or narrowed so that its largest leverage is 1 less a margin for rounding.
///
/// Obligation: `|(s L)^-1 b| = |L^-1 b| / s`, so for s the largest norm times `1 + MARGIN` no column is above
/// `1 / (1 + MARGIN)`.
fn scale_to_unit_leverage(factor: &Cholesky, columns: &DMatrix<f64>) -> Cholesky {
    factor.scaled(largest_whitened_norm(factor, columns) * (1.0 + MARGIN))
}

/// `max_i |L^-1 c_i|`.
fn largest_whitened_norm(factor: &Cholesky, columns: &DMatrix<f64>) -> f64 {
    largest_column_norm(&factor.lower_solve(columns))
}

/// The length of the longest column.
fn largest_column_norm(columns: &DMatrix<f64>) -> f64 {
    largest_or_nan(columns.column_iter().map(|column| column.norm()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The strategy is scaled to length 1, its noise stays what it is, and what is predicted stays the same.
    #[test]
    fn a_strategy_is_scaled_and_its_predictions_are_not() {
        let strategy = DMatrix::from_row_slice(2, 2, &[3.0, 0.0, 4.0, 1.0]);
        let estimator = DMatrix::from_row_slice(1, 2, &[1.0, 2.0]);
        let cloak = CloakingNoise::from_strategy(&estimator, &strategy, 7).unwrap();
        assert!((cloak.released_mean_map() - DMatrix::from_row_slice(1, 2, &[11.0, 2.0])).amax() < 1e-12);
        assert!(cloak.sensitivity <= 1.0 && cloak.sensitivity > 1.0 - 2.0 * MARGIN);
        // The longest column was 5 long.
        assert!((cloak.noise_map() - 5.0 * &estimator).amax() < 1e-10, "{}", cloak.noise_map());
        assert!((cloak.standard_deviations()[0] - 125f64.sqrt()).abs() < 1e-9 && cloak.steps == 7);
        assert!(CloakingNoise::from_strategy(&estimator, &DMatrix::zeros(2, 2), 0).is_err());
    }

    /// A diagonal factor of 2 and 1: the mean variance is 5/2.
    #[test]
    fn jitter_is_relative_to_the_mean_variance() {
        let factor = factorise_with_jitter(&DMatrix::from_diagonal(&DVector::from_column_slice(&[2.0, 1.0]))).unwrap();
        for (pivot, variance) in factor.factor().diagonal().iter().zip([4.0, 1.0]) {
            let more = pivot.powi(2) - variance;
            assert!((more / (2.5 * JITTER) - 1.0).abs() < 1e-5, "{more:e}");
        }
    }

    #[test]
    fn nothing_longer_than_one_is_covered() {
        assert!(is_sensitivity_at_most_one(1.0) && is_sensitivity_at_most_one(1e-300));
        assert!(![0.0, -0.5, 1.0f64.next_up(), f64::INFINITY, f64::NAN].into_iter().any(is_sensitivity_at_most_one));
    }

    /// A tenth above the bound and jitter that doubles the trace are 1.2 above it; volumes have no such bound.
    #[test]
    fn jitter_widens_the_gap_of_a_trace() {
        let [volume, trace] =
            [Objective::LogDet, Objective::Trace].map(|objective| OptimalityGap { objective, before: 0.1 });
        assert_eq!((volume.value(), trace.value()), (Some(0.1), Some(0.1)));
        assert_eq!(OptimalityGap { before: -1e-17, ..trace }.value(), Some(0.0));
        assert!(volume.after_jitter(2.0).is_none());
        assert!((trace.after_jitter(2.0).unwrap() - 1.2).abs() < 1e-15);
    }
}
