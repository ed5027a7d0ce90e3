//! Gaussian process regression on observations of bins.

use nalgebra::{DMatrix, DVector};

use super::CovarianceFamily;
use crate::kernel::{BinKernel, Bins, Observed};
use dpgp_linalg::{Cholesky, LinalgError};

/// Covariances of noisy observations of bins: `variance K(l) + noise I + diag(known)`.
///
/// The parameters are the logarithms of the kernel's variance, of the noise variance and of each lengthscale, unless
/// the lengthscales are fixed. What is observed may bring known noise variances of its own.
pub struct BinnedFamily {
    bins: Bins,
    observed: Observed,
    fixed: Option<Vec<f64>>,
    known: Option<Vec<f64>>,
}

impl BinnedFamily {
    /// For these bins; `lengthscales` fixes them.
    pub fn new(bins: Bins, observed: Observed, lengthscales: Option<Vec<f64>>) -> Self {
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
        let mean = self.kernel(logs).cross(points, &self.bins) * cholesky.solve(&y);
        Ok(mean.column(0).into_owned())
    }

    /// The variance of the latent function at points (t x D), given observations of the bins.
    ///
    /// # Errors
    /// [`LinalgError`] if the covariance cannot be factorised.
    pub fn variance(&self, logs: &[f64], points: &DMatrix<f64>) -> Result<DVector<f64>, LinalgError> {
        let cholesky = Cholesky::new("K + sigma^2 I", &self.covariance(logs))?;
        let kernel = self.kernel(logs);
        let explained = cholesky.half_solve(&kernel.cross(points, &self.bins).transpose());
        // Close to the bins the difference may round to less than zero.
        let left = explained.column_iter().map(|column| (kernel.variance - column.norm_squared()).max(0.0));
        Ok(DVector::from_iterator(points.nrows(), left))
    }
}

impl CovarianceFamily for BinnedFamily {
    fn parameters(&self) -> usize {
        2 + if self.fixed.is_some() { 0 } else { self.bins.dimensions() }
    }

    fn covariance(&self, logs: &[f64]) -> DMatrix<f64> {
        let mut covariance = self.kernel(logs).matrix(&self.bins);
        for i in 0..covariance.nrows() {
            covariance[(i, i)] += logs[1].exp() + self.known.as_ref().map_or(0.0, |known| known[i]);
        }
        covariance
    }

    fn slopes(&self, logs: &[f64]) -> Vec<DMatrix<f64>> {
        let kernel = self.kernel(logs);
        let n = self.bins.len();
        // The variance v and the noise s stand as factors, so that `d / d ln v` of `v K` is `v K` itself.
        let mut slopes = vec![kernel.matrix(&self.bins), DMatrix::identity(n, n) * logs[1].exp()];
        if self.fixed.is_none() {
            slopes.extend(kernel.slopes(&self.bins));
        }
        slopes
    }
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
        let areas = |observed: Observed| -> Vec<f64> {
            let family = BinnedFamily::new(bins.clone(), observed, Some(vec![8.0]));
            let curve = family.predict(&logs, &y, &fine).unwrap();
            (0..3).map(|bin| curve.rows(1000 * bin, 1000).mean()).collect()
        };
        let (kept, lost) = (areas(Observed::Average), areas(Observed::Centre));
        for bin in 0..3 {
            assert!((kept[bin] - y[bin]).abs() < 1e-4, "{kept:?}");
        }
        assert!((lost[1] - y[1]).abs() > 0.3, "{lost:?}");
    }

    #[test]
    fn the_variance_falls_where_bins_are() {
        let bins = Bins::grid(&[(0.0, 10.0, 10)]);
        let family = BinnedFamily::new(bins, Observed::Centre, Some(vec![1.0]));
        let points = DMatrix::from_column_slice(2, 1, &[5.5, 60.0]);
        let variance = family.variance(&[0.0, -3.0], &points).unwrap();
        assert!(variance[0] < 0.06 && (variance[1] - 1.0).abs() < 1e-12);
    }
}
