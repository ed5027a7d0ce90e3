//! Predictions that average over hyperparameters.

use nalgebra::{DMatrix, DVector};

use super::correlated::{Correlated, Seen, SeenProcess, SumsOfRows};
use super::member::SiteMember;
use super::{HyperGrid, SiteKernel};
use crate::{Predictive, WeightedNormals};
use dpgp_linalg::{Cholesky, LinalgError, product};

/// Members with less weight are left out.
const LEAST_WEIGHT: f64 = 1e-3;
/// The least variance of f.
const LEAST_VARIANCE: f64 = 1e-12;

/// A mixture of posteriors, one for each choice of hyperparameters.
pub struct SiteMixture {
    kernels: Vec<SiteKernel>,
    sites: DMatrix<f64>,
    /// How b depends on the values at the sites (m x G).
    map: DMatrix<f64>,
    sums: SumsOfRows,
    /// What b has of the process of each kernel.
    processes: Vec<SeenProcess>,
    /// The covariance of b by what T leaves open of the inputs without its noise (m x m).
    unresolved: DMatrix<f64>,
    members: Vec<SiteMember>,
    weights: Vec<f64>,
}

/// What the members that count predict at some inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct MixturePrediction {
    /// The function.
    pub function: Predictive,
    /// Observations of it: each member has a noise variance of its own.
    pub targets: Predictive,
}

impl SiteMixture {
    pub(super) fn new(
        seen: &Seen<'_>,
        correlated: Vec<Correlated>,
        unresolved: DMatrix<f64>,
        grid: &HyperGrid,
        members: Vec<SiteMember>,
        weights: Vec<f64>,
    ) -> Self {
        Self {
            kernels: grid.kernels.clone(),
            sites: seen.features.sites.clone(),
            map: seen.inputs.reach(&seen.map),
            sums: seen.sums.clone(),
            processes: correlated.into_iter().map(|correlated| correlated.process).collect(),
            unresolved,
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

    /// At the inputs (t x d), in units of the box.
    pub fn predict(&self, inputs: &DMatrix<f64>) -> MixturePrediction {
        self.predict_by(self.crosses(inputs))
    }

    /// The same from the matrices of the kernels between the sites and the inputs ([`HyperGrid::matrices`]).
    pub fn predict_from(&self, matrices: &[DMatrix<f64>]) -> MixturePrediction {
        self.predict_by(self.kernel_wise(|kernel| product(&self.map, &matrices[kernel])))
    }

    fn predict_by(&self, crosses: Vec<Option<DMatrix<f64>>>) -> MixturePrediction {
        let total: f64 = self.heavy().map(|(_, weight)| weight).sum();
        let (mut function, mut targets) = (Vec::new(), Vec::new());
        for (member, weight, cross) in self.heavy_with(&crosses) {
            let of_function = self.predict_with(member, weight / total, cross);
            let mut of_targets = of_function.clone();
            of_targets.variance.add_scalar_mut(member.noise);
            function.push(of_function);
            targets.push(of_targets);
        }
        MixturePrediction { function: Predictive::of(function), targets: Predictive::of(targets) }
    }

    /// The variances of f at the inputs if b and T were known without noise, averaged over hyperparameters: what the model and so few
    /// sums leave open, in the variance of [`SiteMixture::predict`].
    ///
    /// # Errors
    /// [`LinalgError`] if a covariance cannot be factorised.
    pub fn variance_without_noise(&self, inputs: &DMatrix<f64>) -> Result<DVector<f64>, LinalgError> {
        let crosses = self.crosses(inputs);
        let (mut variances, mut total) = (DVector::zeros(inputs.nrows()), 0.0);
        for (member, weight, cross) in self.heavy_with(&crosses) {
            let chosen = &member.chosen;
            let covariance = self.processes[chosen.kernel].of_sums(*chosen, &self.sums) + &self.unresolved;
            let factor = Cholesky::new("the covariance of sums without noise", &covariance)?;
            let half = factor.half_solve(&self.covariance(member, cross));
            let prior = chosen.variance + self.sums.bias;
            for (variance, column) in variances.iter_mut().zip(half.column_iter()) {
                *variance += weight * (prior - column.norm_squared()).max(LEAST_VARIANCE);
            }
            total += weight;
        }
        Ok(variances / total)
    }

    /// The means of [`SiteMixture::predict`] alone, which cost G for each input and kernel.
    pub fn means(&self, inputs: &DMatrix<f64>) -> DVector<f64> {
        let mut constant = 0.0;
        let mut at_sites = vec![DVector::zeros(self.sites.nrows()); self.kernels.len()];
        let total: f64 = self.heavy().map(|(_, weight)| weight).sum();
        for (member, weight) in self.heavy() {
            let share = weight / total;
            let weights = member.weights.column(0);
            at_sites[member.chosen.kernel] += self.map.tr_mul(&weights) * (share * member.chosen.variance);
            constant += share * self.sums.bias * self.sums.total.dot(&weights);
        }
        let mut means = DVector::from_element(inputs.nrows(), constant);
        for (kernel, at_sites) in self.kernels.iter().zip(&at_sites).filter(|(_, at)| at.amax() > 0.0) {
            means += kernel.correlations.matrix(inputs, &self.sites) * at_sites;
        }
        means
    }

    /// The members that count, with their weights.
    fn heavy(&self) -> impl Iterator<Item = (&SiteMember, f64)> {
        let all = self.members.iter().zip(self.weights.iter().copied());
        all.filter(|(_, weight)| *weight >= LEAST_WEIGHT)
    }

    /// The same, with what there is of the kernel of each.
    fn heavy_with<'a>(
        &'a self,
        of_kernels: &'a [Option<DMatrix<f64>>],
    ) -> impl Iterator<Item = (&'a SiteMember, f64, &'a DMatrix<f64>)> {
        self.heavy().filter_map(|(member, weight)| {
            of_kernels[member.chosen.kernel].as_ref().map(|of_kernel| (member, weight, of_kernel))
        })
    }

    /// `L k(sites, inputs)` of each kernel that counts, without its variance (m x t).
    fn crosses(&self, inputs: &DMatrix<f64>) -> Vec<Option<DMatrix<f64>>> {
        self.kernel_wise(|kernel| {
            product(&self.map, &self.kernels[kernel].correlations.matrix(&self.sites, inputs))
        })
    }

    /// Something of each kernel that a member which counts has.
    fn kernel_wise<T>(&self, of_kernel: impl Fn(usize) -> T) -> Vec<Option<T>> {
        let mut counts = vec![false; self.kernels.len()];
        self.heavy().for_each(|(member, _)| counts[member.chosen.kernel] = true);
        counts.iter().enumerate().map(|(kernel, counts)| counts.then(|| of_kernel(kernel))).collect()
    }

    /// The covariance of the sums with f at some inputs (m x t).
    fn covariance(&self, member: &SiteMember, cross: &DMatrix<f64>) -> DMatrix<f64> {
        let mut covariance = cross * member.chosen.variance;
        for mut column in covariance.column_iter_mut() {
            column.axpy(self.sums.bias, &self.sums.total, 1.0);
        }
        covariance
    }

    /// The function by one member; `cross` is `L k(sites, inputs)` without its variance (m x t).
    fn predict_with(&self, member: &SiteMember, weight: f64, cross: &DMatrix<f64>) -> WeightedNormals {
        let covariance = self.covariance(member, cross);
        let half = member.factor.half_solve(&covariance);
        let prior = member.chosen.variance + self.sums.bias;
        let variances = half.column_iter().map(|column| (prior - column.norm_squared()).max(LEAST_VARIANCE));
        WeightedNormals {
            weight,
            mean: covariance.tr_mul(&member.weights).column(0).into_owned(),
            variance: DVector::from_iterator(cross.ncols(), variances),
        }
    }
}
