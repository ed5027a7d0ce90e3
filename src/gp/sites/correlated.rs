//! What all members with one lengthscale share.

use nalgebra::{DMatrix, DVector};

use super::{NoisyFeatures, SiteCounts, SiteFeatures, SiteKernel};
use crate::linalg::{product, transposed_product};

/// What was released, and what it says of the inputs.
pub(super) struct Seen<'a> {
    pub features: &'a SiteFeatures,
    pub released: &'a NoisyFeatures,
    pub counts: &'a SiteCounts,
    /// The variance of the mean of the process.
    pub bias: f64,
    /// `L = Phi' diag(p)` (m x G).
    pub map: DMatrix<f64>,
    /// `L 1` (m).
    pub total: DVector<f64>,
    /// `L Phi` (m x m): the covariance of b by noise of variance 1 on targets.
    pub noise: DMatrix<f64>,
}

impl<'a> Seen<'a> {
    pub fn new(
        features: &'a SiteFeatures,
        released: &'a NoisyFeatures,
        counts: &'a SiteCounts,
        bias: f64,
    ) -> Self {
        let mut map = features.weighted.transpose();
        for (mut column, count) in map.column_iter_mut().zip(counts.mean.iter()) {
            column *= *count;
        }
        let noise = product(&map, &features.weighted);
        Self { features, released, counts, bias, total: map.column_sum(), map, noise }
    }

    /// `Phi' (V o M) Phi` (m x m): the covariance of b by the error of the counts, for `M = E[f f']` at the sites.
    pub fn error(&self, second: &DMatrix<f64>) -> DMatrix<f64> {
        self.error_of(&self.counts.covariance, second)
    }

    /// The same by what T leaves open of the counts without its noise.
    pub fn unresolved_error(&self, second: &DMatrix<f64>) -> DMatrix<f64> {
        self.error_of(&self.counts.unresolved, second)
    }

    fn error_of(&self, covariance: &DMatrix<f64>, second: &DMatrix<f64>) -> DMatrix<f64> {
        let weighted = &self.features.weighted;
        let error = transposed_product(weighted, &product(&covariance.component_mul(second), weighted));
        0.5 * (&error + error.transpose())
    }
}

/// Correlations at the sites, as b sees them.
pub(super) struct Correlated {
    /// Among the sites (G x G).
    pub sites: DMatrix<f64>,
    /// `L C` (m x G).
    pub cross: DMatrix<f64>,
    /// `L C L'` (m x m).
    pub seen: DMatrix<f64>,
    /// `p' (C o C) p / n^2`: the mean square of the correlation of two rows.
    pub square: f64,
}

impl Correlated {
    pub fn new(kernel: &SiteKernel, seen: &Seen<'_>) -> Self {
        let sites = kernel.correlations.matrix(&seen.features.sites, &seen.features.sites);
        let cross = product(&seen.map, &sites);
        let counts = &seen.counts.mean;
        let rows = seen.released.sums.rows as f64;
        let square = quadratic(&sites.component_mul(&sites), counts) / (rows * rows);
        Self { seen: product(&cross, &seen.map.transpose()), cross, sites, square }
    }

    /// The covariance of the sites (G x G): `variance C + bias`.
    pub fn covariance(&self, variance: f64, bias: f64) -> DMatrix<f64> {
        (&self.sites * variance).add_scalar(bias)
    }

    /// `L K` (m x G).
    pub fn crossed(&self, variance: f64, seen: &Seen<'_>) -> DMatrix<f64> {
        let mut crossed = &self.cross * variance;
        for mut column in crossed.column_iter_mut() {
            column.axpy(seen.bias, &seen.total, 1.0);
        }
        crossed
    }
}

/// `x' A x`.
pub(super) fn quadratic(a: &DMatrix<f64>, x: &DVector<f64>) -> f64 {
    x.dot(&(a * x))
}
