//! What all members with one lengthscale share.

use nalgebra::{DMatrix, DVector};

use super::member::Chosen;
use super::{NoisyFeatures, SiteFeatures, SiteInputs, SiteKernel};
use dpgp_linalg::product;

/// What was released, and what it says of the inputs.
pub(super) struct Seen<'a> {
    pub features: &'a SiteFeatures,
    pub released: &'a NoisyFeatures,
    pub inputs: &'a SiteInputs,
    /// L (m x G, or m x m where weights are seen).
    pub map: DMatrix<f64>,
    /// What is seen of the process that is 1 everywhere.
    pub one: DVector<f64>,
    /// What b is made of under every choice.
    pub sums: SumsOfRows,
}

/// What the covariance of b is made of under every choice of hyperparameters.
#[derive(Clone)]
pub(super) struct SumsOfRows {
    /// The variance of the mean of the process.
    pub bias: f64,
    /// `L 1` (m).
    pub total: DVector<f64>,
    /// The covariance of b by noise of variance 1 on targets (m x m).
    pub noise: DMatrix<f64>,
    /// `L L'`, the same by an error of variance 1 for all rows near a site; none where no row lies between sites (m x m).
    pub common: Option<DMatrix<f64>>,
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
        let common = features.between.as_ref().map(|_| product(&map, &map.transpose()));
        Self { features, released, inputs, one, map, sums: SumsOfRows { bias, total, noise, common } }
    }
}

/// What b has of a process of variance 1.
pub(super) struct SeenProcess {
    /// `L C L'` (m x m).
    pub seen: DMatrix<f64>,
    /// The variance of the process between sites about its interpolation.
    pub between: f64,
}

impl SeenProcess {
    /// The covariance of b under a choice, if the inputs were known and no noise were added: `L K L' + s^2 L Phi + v L L'` (m x m).
    pub fn of_sums(&self, chosen: Chosen, sums: &SumsOfRows) -> DMatrix<f64> {
        let mut covariance = &self.seen * chosen.variance + &sums.noise * chosen.noise;
        if let Some(common) = &sums.common {
            covariance += common * (chosen.variance * self.between);
        }
        covariance.ger(sums.bias, &sums.total, &sums.total, 1.0);
        covariance
    }
}

/// Correlations of what b sees of the process: of its values at the sites, or of its weights.
pub(super) struct Correlated {
    /// C (G x G, or m x m).
    pub correlations: DMatrix<f64>,
    /// `L C` (m x G, or m x m).
    pub cross: DMatrix<f64>,
    /// What b has of it.
    pub process: SeenProcess,
    /// `p' (C o C) p / n^2`: the mean square of the correlation of two rows; zero where weights are seen.
    pub square: f64,
}

impl Correlated {
    /// Of a kernel with these values among the sites (G x G).
    pub fn new(kernel: &SiteKernel, sites: &DMatrix<f64>, seen: &Seen<'_>) -> Self {
        let between = seen.features.between.as_ref();
        let between = between.map_or(0.0, |between| between.of_process(kernel, seen.features.sites.ncols()));
        let correlations = seen.inputs.covariance(sites);
        let cross = product(&seen.map, &correlations);
        let rows = seen.released.sums.rows as f64;
        let square = match seen.inputs {
            SiteInputs::Counts(counts) => {
                quadratic(&correlations.component_mul(&correlations), &counts.mean) / (rows * rows)
            }
            SiteInputs::Gram(_) => 0.0,
        };
        let process = SeenProcess { seen: product(&cross, &seen.map.transpose()), between };
        Self { process, cross, correlations, square }
    }

    /// The covariance K of what b sees: `variance C + bias 1 1'`.
    pub fn covariance(&self, variance: f64, seen: &Seen<'_>) -> DMatrix<f64> {
        let mut covariance = &self.correlations * variance;
        covariance.ger(seen.sums.bias, &seen.one, &seen.one, 1.0);
        covariance
    }

    /// `L K` (m x G, or m x m).
    pub fn crossed(&self, variance: f64, seen: &Seen<'_>) -> DMatrix<f64> {
        let mut crossed = &self.cross * variance;
        for (mut column, one) in crossed.column_iter_mut().zip(seen.one.iter()) {
            column.axpy(seen.sums.bias * one, &seen.sums.total, 1.0);
        }
        crossed
    }
}

/// `x' A x`.
pub(super) fn quadratic(a: &DMatrix<f64>, x: &DVector<f64>) -> f64 {
    x.dot(&(a * x))
}
