//! What all members with one lengthscale share.

use nalgebra::{DMatrix, DVector};

use super::{NoisyFeatures, SiteFeatures, SiteInputs, SiteKernel};
use crate::linalg::product;

/// What was released, and what it says of the inputs.
pub(super) struct Seen<'a> {
    pub features: &'a SiteFeatures,
    pub released: &'a NoisyFeatures,
    pub inputs: &'a SiteInputs,
    /// The variance of the mean of the process.
    pub bias: f64,
    /// L (m x G, or m x m where weights are seen).
    pub map: DMatrix<f64>,
    /// What is seen of the process that is 1 everywhere.
    pub one: DVector<f64>,
    /// `L 1` (m).
    pub total: DVector<f64>,
    /// The covariance of b by noise of variance 1 on targets (m x m).
    pub noise: DMatrix<f64>,
}

impl<'a> Seen<'a> {
    pub fn new(
        features: &'a SiteFeatures,
        released: &'a NoisyFeatures,
        inputs: &'a SiteInputs,
        bias: f64,
    ) -> Self {
        let map = inputs.map(features);
        let one = inputs.one(features.len());
        let noise = inputs.noise(&map, features);
        // Of counts the sum in the order of the sites, which keeps its bits.
        let total = match inputs {
            SiteInputs::Counts(_) => map.column_sum(),
            SiteInputs::Gram(_) => &map * &one,
        };
        Self { features, released, inputs, bias, total, one, map, noise }
    }
}

/// Correlations of what b sees of the process: of its values at the sites, or of its weights.
pub(super) struct Correlated {
    /// C (G x G, or m x m).
    pub correlations: DMatrix<f64>,
    /// `L C` (m x G, or m x m).
    pub cross: DMatrix<f64>,
    /// `L C L'` (m x m).
    pub seen: DMatrix<f64>,
    /// `p' (C o C) p / n^2`: the mean square of the correlation of two rows; zero where weights are seen.
    pub square: f64,
}

impl Correlated {
    pub fn new(kernel: &SiteKernel, seen: &Seen<'_>) -> Self {
        let sites = kernel.correlations.matrix(&seen.features.sites, &seen.features.sites);
        let correlations = seen.inputs.covariance(sites);
        let cross = product(&seen.map, &correlations);
        let rows = seen.released.sums.rows as f64;
        let square = match seen.inputs {
            SiteInputs::Counts(counts) => {
                quadratic(&correlations.component_mul(&correlations), &counts.mean) / (rows * rows)
            }
            SiteInputs::Gram(_) => 0.0,
        };
        Self { seen: product(&cross, &seen.map.transpose()), cross, correlations, square }
    }

    /// The covariance K of what b sees: `variance C + bias 1 1'`.
    pub fn covariance(&self, variance: f64, seen: &Seen<'_>) -> DMatrix<f64> {
        let mut covariance = &self.correlations * variance;
        covariance.ger(seen.bias, &seen.one, &seen.one, 1.0);
        covariance
    }

    /// `L K` (m x G, or m x m).
    pub fn crossed(&self, variance: f64, seen: &Seen<'_>) -> DMatrix<f64> {
        let mut crossed = &self.cross * variance;
        for (mut column, one) in crossed.column_iter_mut().zip(seen.one.iter()) {
            column.axpy(seen.bias * one, &seen.total, 1.0);
        }
        crossed
    }
}

/// `x' A x`.
pub(super) fn quadratic(a: &DMatrix<f64>, x: &DVector<f64>) -> f64 {
    x.dot(&(a * x))
}
