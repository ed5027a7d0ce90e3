//! Safe sampling recipes: every direction of what is released is covered by the noise.

use nalgebra::{DMatrix, DVector};

use super::design::ReleaseRecipe;
use crate::linalg::{Cholesky, LinalgError};

/// Relative margin by which the noise is widened beyond the largest leverage, for rounding.
const MARGIN: f64 = 1e-12;
/// Relative jitter of the jitter recipe.
const JITTER: f64 = 1e-8;

/// Noise for predictions at t test inputs, at sensitivity 1 (one target changes by at most 1).
///
/// Obligation: the mechanism releases `q + s L xi` with `q = B y`, xi standard normal, and then maps it by
/// the public `basis`, which is post-processing. `max_i |L^-1 b_i| <= 1` over **all** columns and directions, so
/// its sensitivity in the metric of the noise is 1. `B` and `L` here are the very matrices used.
#[derive(Debug, Clone)]
pub struct Cloak {
    basis: DMatrix<f64>,
    columns: DMatrix<f64>,
    factor: DMatrix<f64>,
    /// Directions that carry noise.
    pub rank: usize,
    /// The certified gap of the objective: nats of log-volume, or relative excess of the trace.
    pub gap: f64,
    /// `max_i |L^-1 b_i|` of the factor used, at most 1.
    pub sensitivity: f64,
    /// Steps that the solver took.
    pub steps: usize,
}

impl Cloak {
    /// From the reduced columns `B` (r x k), the orthonormal `basis` (t x r), the whole columns (t x k)
    /// and a factor of the unscaled covariance in the reduced coordinates.
    pub(super) fn new(
        recipe: ReleaseRecipe,
        basis: DMatrix<f64>,
        reduced: DMatrix<f64>,
        whole: &DMatrix<f64>,
        factor: Cholesky,
        (gap, steps): (f64, usize),
    ) -> Result<Self, LinalgError> {
        let rank = reduced.nrows();
        let (basis, columns, factor) = match recipe {
            ReleaseRecipe::Projection => (basis, reduced, factor),
            ReleaseRecipe::Jitter => {
                let tests = whole.nrows();
                let factor = jittered(&(basis * factor.factor()))?;
                (DMatrix::identity(tests, tests), whole.clone(), factor)
            }
        };
        let scaled = factor.scaled(largest_norm(&factor, &columns) * (1.0 + MARGIN));
        let sensitivity = largest_norm(&scaled, &columns);
        Ok(Self { basis, columns, factor: scaled.factor().clone(), rank, gap, sensitivity, steps })
    }

    /// The released mean map (t x k): equal to C up to the directions that the rank rule drops.
    pub fn mean_columns(&self) -> DMatrix<f64> {
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

    /// The lower triangular `L` that scales the noise of the mechanism (before post-processing).
    pub fn noise_factor(&self) -> &DMatrix<f64> {
        &self.factor
    }
}

/// The Cholesky factor of `F F' + JITTER tr(F F') / t I`.
fn jittered(noise: &DMatrix<f64>) -> Result<Cholesky, LinalgError> {
    let mut covariance = noise * noise.transpose();
    let jitter = JITTER * covariance.trace() / covariance.nrows() as f64;
    for i in 0..covariance.nrows() {
        covariance[(i, i)] += jitter;
    }
    Cholesky::new("the jittered noise covariance", &covariance)
}

/// `max_i |L^-1 c_i|`.
fn largest_norm(factor: &Cholesky, columns: &DMatrix<f64>) -> f64 {
    factor.half_solve(columns).column_iter().map(|z| z.norm()).fold(0.0, f64::max)
}
