//! Predictions that average over hyperparameters.

use nalgebra::{DMatrix, DVector};

use super::correlated::Seen;
use super::member::SiteMember;
use super::{HyperGrid, SiteKernel};
use crate::kernel::Kernel;
use crate::linalg::product;

/// Members with less weight are left out.
const LEAST_WEIGHT: f64 = 1e-3;
/// The least variance of f.
const LEAST_VARIANCE: f64 = 1e-12;

/// A mixture of posteriors, one for each choice of hyperparameters.
pub struct SiteMixture {
    kernels: Vec<SiteKernel>,
    bias: f64,
    sites: DMatrix<f64>,
    /// `L` (m x G).
    map: DMatrix<f64>,
    /// `L 1` (m).
    total: DVector<f64>,
    members: Vec<SiteMember>,
    weights: Vec<f64>,
}

/// The first two moments of an observation at some inputs, its noise included.
#[derive(Debug, Clone, PartialEq)]
pub struct MixturePrediction {
    /// Means.
    pub mean: DVector<f64>,
    /// Variances: those of the members and of their noise, and of the members' means about the mean of all.
    pub variance: DVector<f64>,
}

impl SiteMixture {
    pub(super) fn new(
        seen: &Seen<'_>,
        grid: &HyperGrid,
        members: Vec<SiteMember>,
        weights: Vec<f64>,
    ) -> Self {
        Self {
            kernels: grid.kernels.clone(),
            bias: grid.bias,
            sites: seen.features.sites.clone(),
            map: seen.map.clone(),
            total: seen.total.clone(),
            members,
            weights,
        }
    }

    /// The weight of each choice, by lengthscale, then by variance, then by noise.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The log density of what was released and of each choice, up to a constant.
    pub fn log_evidences(&self) -> Vec<f64> {
        self.members.iter().map(|member| member.log_evidence).collect()
    }

    /// Of observations at the inputs (t x d), in units of the box.
    pub fn predict(&self, inputs: &DMatrix<f64>) -> MixturePrediction {
        let crosses = self.kernels.iter().map(|kernel| kernel.correlations.matrix(&self.sites, inputs));
        let crosses: Vec<DMatrix<f64>> = crosses.map(|cross| product(&self.map, &cross)).collect();
        let mut mean = DVector::zeros(inputs.nrows());
        let (mut square, mut total) = (mean.clone(), 0.0);
        for (member, weight) in self.members.iter().zip(&self.weights).filter(|(_, w)| **w >= LEAST_WEIGHT) {
            let of_member = self.predict_with(member, &crosses[member.chosen.kernel]);
            let squares = of_member.mean.component_mul(&of_member.mean) + &of_member.variance;
            mean.axpy(*weight, &of_member.mean, 1.0);
            square.axpy(*weight, &squares, 1.0);
            total += weight;
        }
        mean /= total;
        MixturePrediction { variance: square / total - mean.component_mul(&mean), mean }
    }

    /// By one member; `cross` is `L k(sites, inputs)` without its variance (m x t).
    fn predict_with(&self, member: &SiteMember, cross: &DMatrix<f64>) -> MixturePrediction {
        let mut covariance = cross * member.chosen.variance;
        for mut column in covariance.column_iter_mut() {
            column.axpy(self.bias, &self.total, 1.0);
        }
        let half = member.factor.half_solve(&covariance);
        let prior = member.chosen.variance + self.bias;
        let variances = half.column_iter().map(|column| (prior - column.norm_squared()).max(LEAST_VARIANCE));
        let variances = variances.map(|variance| variance + member.chosen.noise);
        MixturePrediction {
            mean: covariance.tr_mul(&member.weights).column(0).into_owned(),
            variance: DVector::from_iterator(cross.ncols(), variances),
        }
    }
}
