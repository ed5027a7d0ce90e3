//! Gaussian process regression on observations of bins, and limits on the effect of jitter on predictions.

use nalgebra::{DMatrix, DVector};

use super::CovarianceFamily;
use crate::kernel::{BinKernel, BinObservation, Bins};
use dpgp_linalg::{Cholesky, LinalgError};

/// Covariances of noisy observations of bins: `variance K(l) + noise I + diag(known)`.
///
/// The parameters are the logarithms of the kernel's variance, of the noise variance and of each lengthscale, unless
/// the lengthscales are fixed. What is observed may bring known noise variances of its own.
pub struct BinnedCovarianceFamily {
    bins: Bins,
    observed: BinObservation,
    fixed: Option<Vec<f64>>,
    known: Option<Vec<f64>>,
}

impl BinnedCovarianceFamily {
    /// For these bins; `lengthscales` fixes them.
    pub fn new(bins: Bins, observed: BinObservation, lengthscales: Option<Vec<f64>>) -> Self {
        Self { bins, observed, fixed: lengthscales, known: None }
    }

    /// With a known noise variance for each bin, in squared units of the observations.
    #[must_use]
    pub fn with_known_noise(mut self, variances: Vec<f64>) -> Self {
        self.known = Some(variances);
        self
    }

    /// The kernel at given parameters.
    pub fn kernel(&self, logs: &[f64]) -> BinKernel {
        let lengthscales = match &self.fixed {
            Some(fixed) => fixed.clone(),
            None => logs[2..].iter().map(|l| l.exp()).collect(),
        };
        BinKernel { variance: logs[0].exp(), lengthscales, observed: self.observed }
    }

    /// The mean of the latent function at points (t x D), given observations of the bins with a prior mean of zero.
    ///
    /// # Errors
    /// [`LinalgError`] if the covariance cannot be factorised.
    pub fn predict(
        &self,
        logs: &[f64],
        observations: &DVector<f64>,
        points: &DMatrix<f64>,
    ) -> Result<DVector<f64>, LinalgError> {
        let cholesky = Cholesky::new("K + sigma^2 I", &self.covariance(logs))?;
        let y = DMatrix::from_column_slice(observations.len(), 1, observations.as_slice());
        let mean = self.kernel(logs).cross_covariance(points, &self.bins) * cholesky.solve(&y);
        Ok(mean.column(0).into_owned())
    }

    /// The variance of the latent function at points (t x D), given observations of the bins.
    ///
    /// # Errors
    /// [`LinalgError`] if the covariance cannot be factorised.
    pub fn variance(&self, logs: &[f64], points: &DMatrix<f64>) -> Result<DVector<f64>, LinalgError> {
        let cholesky = Cholesky::new("K + sigma^2 I", &self.covariance(logs))?;
        let kernel = self.kernel(logs);
        let explained = cholesky.lower_solve(&kernel.cross_covariance(points, &self.bins).transpose());
        // Close to the bins the difference may round to less than zero.
        let left = explained.column_iter().map(|column| (kernel.variance - column.norm_squared()).max(0.0));
        Ok(DVector::from_iterator(points.nrows(), left))
    }
}

impl CovarianceFamily for BinnedCovarianceFamily {
    fn parameter_count(&self) -> usize {
        2 + if self.fixed.is_some() { 0 } else { self.bins.dimensions() }
    }

    fn covariance(&self, logs: &[f64]) -> DMatrix<f64> {
        let mut covariance = self.kernel(logs).matrix(&self.bins);
        for i in 0..covariance.nrows() {
            covariance[(i, i)] += logs[1].exp() + self.known.as_ref().map_or(0.0, |known| known[i]);
        }
        covariance
    }

    fn covariance_gradients(&self, logs: &[f64]) -> Vec<DMatrix<f64>> {
        let kernel = self.kernel(logs);
        let n = self.bins.len();
        // The variance v and the noise s stand as factors, so that `d / d ln v` of `v K` is `v K` itself.
        let mut covariance_gradients = vec![kernel.matrix(&self.bins), DMatrix::identity(n, n) * logs[1].exp()];
        if self.fixed.is_none() {
            covariance_gradients.extend(kernel.log_lengthscale_gradients(&self.bins));
        }
        covariance_gradients
    }
}

/// The most that jitter on `K + sigma^2 I` moves the map from targets to predictions, relative to its norm: `j / (sigma^2 + j)`.
///
/// *Proof.* With `A = K + sigma^2 I`, the map `C = K_* A^-1` becomes `C_j = K_* (A + j I)^-1`, and
/// `C - C_j = K_* A^-1 (j I) (A + j I)^-1 = j C (A + j I)^-1`. The eigenvalues of `A + j I` are at least `sigma^2 + j`, since K is positive
/// semidefinite; so `|C - C_j| <= j / (sigma^2 + j) |C|`.
///
/// ```
/// assert_eq!(dpgp_gp::jitter_effect_bound(1.0, 3.0), 0.25);
/// assert_eq!(dpgp_gp::jitter_effect_bound(0.0, 1e-14), 0.0);
/// ```
pub fn jitter_effect_bound(jitter: f64, noise_variance: f64) -> f64 {
    if jitter > 0.0 { jitter / (noise_variance + jitter) } else { 0.0 }
}

/// Above this share most of the noise of the model that is computed is jitter: it is another model than the one that was asked for.
const MOST: f64 = 0.5;

/// How far a factor may be from that of its matrix: its jitter, or the rounding of the diagonal where a pivot is as small as that.
///
/// The factor that is computed is that of `A + E` with `|E|` of about `n^(1/2) u max A_ii`, as roundings add up by chance (at most `n u max A_ii`,
/// Higham 2002, Theorem 10.3); where all pivots are larger, the smallest eigenvalue is not of that size, and E does not matter.
fn factorisation_error_bound(factor: &Cholesky) -> f64 {
    let (jitter, lower) = (factor.jitter(), factor.factor());
    let size = lower.nrows();
    // No pivot is above the diagonal of A, and the first is on it: with a stationary kernel it is the largest.
    let pivots = || (0..size).map(|i| lower[(i, i)].powi(2));
    let rounding = (size as f64).sqrt() * f64::EPSILON * pivots().fold(0.0, f64::max);
    let smallest = pivots().fold(f64::INFINITY, f64::min);
    if smallest <= rounding { jitter.max(rounding) } else { jitter }
}

/// The factor, if neither its jitter nor rounding makes it that of another model.
///
/// # Errors
/// [`LinalgError::MuchJitter`].
pub(super) fn ensure_negligible_jitter(
    matrix: &'static str,
    factor: Cholesky,
    noise_variance: f64,
) -> Result<Cholesky, LinalgError> {
    let (jitter, size) = (factorisation_error_bound(&factor), factor.factor().nrows());
    if jitter_effect_bound(jitter, noise_variance) > MOST {
        return Err(LinalgError::MuchJitter { matrix, size, jitter, noise_variance });
    }
    Ok(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With averages, little noise and a fitted bin, the area below the curve is that of the bin; with values at the
    /// centres it is not: Figure 1(d) of Smith et al. 2016.
    #[test]
    fn the_integral_kernel_keeps_the_area_of_each_bin() {
        let bins = Bins::grid(&[(0.0, 30.0, 3)]);
        let y = DVector::from_column_slice(&[1.0, 5.0, 0.5]);
        let fine = Bins::grid(&[(0.0, 30.0, 3000)]).centres();
        let logs = [2.0, -20.0];
        let areas = |observed: BinObservation| -> Vec<f64> {
            let family = BinnedCovarianceFamily::new(bins.clone(), observed, Some(vec![8.0]));
            let curve = family.predict(&logs, &y, &fine).unwrap();
            (0..3).map(|bin| curve.rows(1000 * bin, 1000).mean()).collect()
        };
        let (kept, lost) = (areas(BinObservation::Average), areas(BinObservation::Centre));
        for bin in 0..3 {
            assert!((kept[bin] - y[bin]).abs() < 1e-4, "{kept:?}");
        }
        assert!((lost[1] - y[1]).abs() > 0.3, "{lost:?}");
    }

    #[test]
    fn the_variance_falls_where_bins_are() {
        let bins = Bins::grid(&[(0.0, 10.0, 10)]);
        let family = BinnedCovarianceFamily::new(bins, BinObservation::Centre, Some(vec![1.0]));
        let points = DMatrix::from_column_slice(2, 1, &[5.5, 60.0]);
        let variance = family.variance(&[0.0, -3.0], &points).unwrap();
        assert!(variance[0] < 0.06 && (variance[1] - 1.0).abs() < 1e-12);
    }
}

#[cfg(test)]
mod jitter_tests {
    use nalgebra::DMatrix;

    use super::*;
    use crate::ExactRegression;
    use crate::kernel::ExponentiatedQuadratic;

    /// On twelve inputs as near as these the matrix is numerically singular.
    #[test]
    fn more_jitter_than_noise_is_refused() {
        let kernel = ExponentiatedQuadratic::isotropic(100.0, 1.5);
        let inputs = DMatrix::from_fn(40, 1, |i, _| 0.05 * i as f64);
        let refused = ExactRegression::new(&kernel, 1e-14, &inputs).err().unwrap();
        assert!(matches!(refused, LinalgError::MuchJitter { noise_variance: 1e-14, .. }), "{refused}");
        assert!(ExactRegression::new(&kernel, 1e-6, &inputs).is_ok());
    }

    /// Two inputs so near that the noise is lost beside the variance, though no pivot fails; inputs apart need no noise.
    #[test]
    fn noise_that_is_lost_to_rounding_is_refused() {
        let kernel = ExponentiatedQuadratic::isotropic(100.0, 1.5);
        let near = DMatrix::from_column_slice(2, 1, &[0.0, 1e-8]);
        let refused = ExactRegression::new(&kernel, 1e-14, &near).err().unwrap();
        assert!(matches!(refused, LinalgError::MuchJitter { .. }), "{refused}");
        let apart = DMatrix::from_column_slice(2, 1, &[0.0, 3.0]);
        assert!(
            ExactRegression::new(&kernel, 0.0, &apart).is_ok() && ExactRegression::new(&kernel, 1e-14, &apart).is_ok()
        );
    }

    /// The map of the model with jitter, by the bound.
    #[test]
    fn a_map_moves_by_at_most_the_share() {
        let kernel = ExponentiatedQuadratic::isotropic(2.0, 1.5);
        let inputs = DMatrix::from_fn(20, 1, |i, _| 0.3 * i as f64);
        let test = DMatrix::from_fn(7, 1, |i, _| 0.2 + 0.9 * i as f64);
        for (noise, jitter) in [(0.1, 0.01), (0.1, 0.1), (0.01, 0.03)] {
            let [plain, jittered] = [noise, noise + jitter].map(|noise| {
                ExactRegression::new(&kernel, noise, &inputs).unwrap().prediction_map(&test).to_full_matrix()
            });
            let norm = |matrix: &DMatrix<f64>| matrix.singular_values().max();
            let moved = norm(&(&plain - &jittered)) / norm(&plain);
            assert!(moved > 0.0 && moved <= jitter_effect_bound(jitter, noise), "{noise} {jitter}: {moved}");
        }
    }
}
