//! A strategy with the estimator that is best for it.

use nalgebra::DMatrix;

use super::reduced::Reduced;
use super::sphere::released;
use dpgp_linalg::{Cholesky, product, thin_svd, transposed_product};
use dpgp_noise::PrivacyError;

/// A strategy W, turned so that `L' L` is diagonal: neither rotations of the released numbers nor of the noise change anything.
pub(super) struct Point {
    /// W with its row of slack ((r + 1) x n).
    pub strategy: DMatrix<f64>,
    /// W (r x n).
    pub rows: DMatrix<f64>,
    /// `W A` (r x n).
    pub moved: DMatrix<f64>,
    /// `S = W A W' + s^2 I` (r x r).
    pub covariance: Cholesky,
    /// `L' = S^-1 W T'` (r x p).
    pub estimator: DMatrix<f64>,
    /// The diagonal of `L' L`.
    pub spread: Vec<f64>,
    /// `E = T - L W A` (p x n).
    pub residual: DMatrix<f64>,
    /// Half the gradient, `L' E` (r x n).
    pub gradient: DMatrix<f64>,
    /// `tr(T W' L')`, what the release explains.
    pub explained: f64,
}

impl Point {
    /// # Errors
    /// [`PrivacyError::Linalg`] if a factorisation fails.
    pub fn new(problem: &Reduced, mut strategy: DMatrix<f64>) -> Result<Self, PrivacyError> {
        let mut rows = released(&strategy);
        let mut moved = problem.times_covariance(&rows);
        let seen = product(&rows, &problem.targets.transpose());
        let covariance = released_covariance(problem, &rows, &moved)?;
        let turn = thin_svd("the estimator", &covariance.solve(&seen))?.u.transpose();
        rows = product(&turn, &rows);
        moved = product(&turn, &moved);
        strategy.rows_mut(0, rows.nrows()).copy_from(&rows);
        let covariance = released_covariance(problem, &rows, &moved)?;
        let seen = turn * seen;
        let estimator = covariance.solve(&seen);
        let residual = &problem.targets - transposed_product(&estimator, &moved);
        Ok(Self {
            spread: estimator.row_iter().map(|row| row.norm_squared()).collect(),
            gradient: product(&estimator, &residual),
            explained: estimator.dot(&seen),
            strategy,
            rows,
            moved,
            covariance,
            estimator,
            residual,
        })
    }

    /// The expected error.
    pub fn error(&self, problem: &Reduced) -> f64 {
        problem.prior - self.explained
    }

    /// `lambda_u = <gradient_u, w_u>`: how much the error would fall if the column might be longer.
    pub fn pulls(&self) -> Vec<f64> {
        self.gradient.column_iter().zip(self.rows.column_iter()).map(|(g, w)| g.dot(&w)).collect()
    }
}

/// The Cholesky factor of `W A W' + s^2 I`.
fn released_covariance(
    problem: &Reduced,
    rows: &DMatrix<f64>,
    moved: &DMatrix<f64>,
) -> Result<Cholesky, PrivacyError> {
    let mut covariance = product(moved, &rows.transpose());
    (0..rows.nrows()).for_each(|i| covariance[(i, i)] += problem.noise);
    Ok(Cholesky::new("the covariance of the release", &covariance)?)
}
