//! The posterior from noisy sums, with B projected on the matrices that data can have.

use nalgebra::DMatrix;

use super::{Inducing, NoisyStatistics, WeightPosterior};
use dpgp_linalg::{Cholesky, LinalgError, nearest_in_simplex};

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
pub fn moment(
    inducing: &Inducing<'_>,
    statistics: &NoisyStatistics,
    noise_variance: f64,
    grid: &DMatrix<f64>,
    rows: usize,
) -> Result<WeightPosterior, LinalgError> {
    let size = inducing.size();
    let b = project(&statistics.b, grid, rows as f64)?;
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
fn project(b: &DMatrix<f64>, grid: &DMatrix<f64>, rows: f64) -> Result<DMatrix<f64>, LinalgError> {
    // The Gram matrix of the vertices `k(g) k(g)' - B~ / rows`, without forming them: `<k k', h h'> = (k' h)^2` and
    // `<k k', B> = k' B k`.
    let inner = grid * grid.transpose();
    let image = grid * b;
    let with_b: Vec<f64> = (0..grid.nrows()).map(|g| image.row(g).dot(&grid.row(g)) / rows).collect();
    let square = b.norm_squared() / (rows * rows);
    let gram = DMatrix::from_fn(grid.nrows(), grid.nrows(), |g, h| {
        inner[(g, h)] * inner[(g, h)] - with_b[g] - with_b[h] + square
    });
    let q = nearest_in_simplex(&gram, TOLERANCE)?;
    let mut weighted = grid.clone();
    weighted.row_iter_mut().zip(&q).for_each(|(mut row, q)| row *= rows * q);
    Ok(grid.transpose() * weighted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::ExponentiatedQuadratic;
    use crate::variational::{Correction, Regularisation, Statistics, noise_aware};

    /// Inputs on the grid and hardly any noise: the projection changes nothing, and the posterior is that of
    /// exact sums.
    #[test]
    fn without_noise_it_is_the_exact_posterior() {
        let kernel = ExponentiatedQuadratic::isotropic(1.0, 1.0);
        let z = DMatrix::from_column_slice(4, 1, &[-1.5, -0.5, 0.5, 1.5]);
        let inducing = Inducing::new(&kernel, &z).unwrap();
        let x = DMatrix::from_fn(60, 1, |i, _| -2.0 + 0.5 * (i % 9) as f64);
        let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
        let statistics = Statistics::new(&inducing, &x, &y, 2.0);
        let mut noisy = statistics.exact();
        noisy.sd_a = 1e-5;
        let grid = inducing.features(&DMatrix::from_fn(17, 1, |g, _| -2.0 + 0.25 * g as f64));
        let projected = moment(&inducing, &noisy, 0.04, &grid, 60).unwrap();
        let unit = statistics.exact().scaled(25.0);
        let exact = noise_aware(&inducing, &unit, Regularisation::Tight, Correction::None).unwrap();
        assert!((projected.mean - &exact.mean).amax() < 1e-3 * exact.mean.amax());
        assert!((projected.covariance - &exact.covariance).amax() < 1e-3 * exact.covariance.amax());
    }

    /// A noisy matrix far outside the cone gives a positive semidefinite one whose diagonal is that of as many
    /// rows.
    #[test]
    fn the_projection_is_in_the_cone() {
        let grid =
            DMatrix::from_fn(33, 3, |g, j| (-0.5 * (g as f64 / 8.0 - 2.0 - (j as f64 - 1.0)).powi(2)).exp());
        let b = DMatrix::from_row_slice(3, 3, &[-5.0, 40.0, 3.0, 40.0, 20.0, -9.0, 3.0, -9.0, 30.0]);
        let projected = project(&b, &grid, 50.0).unwrap();
        assert!(projected.clone().symmetric_eigenvalues().min() > -1e-12);
        assert!(projected.diagonal().max() <= 50.0 + 1e-9);
        let again = project(&projected, &grid, 50.0).unwrap();
        assert!((again - &projected).amax() < 1e-3 * projected.amax());
    }
}
