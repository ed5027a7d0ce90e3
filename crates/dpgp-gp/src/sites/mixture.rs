//! Predictions that average over hyperparameters, and the prior and the posterior for each choice of them.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};

use super::between::{ProcessCorrelations, ProcessSumCovariance, ReleaseAndInputPosterior, SharedSumCovarianceParts};
use super::squares::ProcessSquareSum;
use crate::kernel::{BoxKernel, Kernel};
use crate::{PredictiveMixture, WeightedNormals};
use dpgp_linalg::{Cholesky, LinalgError, product, transposed_product};

/// Members with less weight are left out.
const LEAST_WEIGHT: f64 = 1e-3;
/// The least variance of f.
const LEAST_VARIANCE: f64 = 1e-12;

/// A mixture of posteriors, one for each choice of hyperparameters.
pub struct SiteProcessPosterior {
    kernels: Vec<KernelWithLogPrior>,
    sites: DMatrix<f64>,
    /// How b depends on the values at the sites (m x G).
    map: DMatrix<f64>,
    sums: SharedSumCovarianceParts,
    /// Image in b of the process of each kernel.
    processes: Vec<ProcessSumCovariance>,
    /// The covariance of b by what T leaves open of the inputs without its noise (m x m).
    unresolved: DMatrix<f64>,
    members: Vec<SiteMixtureMember>,
    weights: Vec<f64>,
}

/// Predictions of the members that count at some inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionAndTargetPredictions {
    /// The function.
    pub function: PredictiveMixture,
    /// Observations of it: each member has a noise variance of its own.
    pub targets: PredictiveMixture,
}

impl SiteProcessPosterior {
    pub(super) fn new(
        seen: &ReleaseAndInputPosterior<'_>,
        correlated: Vec<ProcessCorrelations>,
        unresolved: DMatrix<f64>,
        grid: &HyperparameterGrid,
        members: Vec<SiteMixtureMember>,
        weights: Vec<f64>,
    ) -> Self {
        Self {
            kernels: grid.kernels.clone(),
            sites: seen.features.sites.clone(),
            map: seen.inputs.observation_map_on_site_values(&seen.map),
            sums: seen.sums.clone(),
            processes: correlated.into_iter().map(|correlated| correlated.process).collect(),
            unresolved,
            members,
            weights,
        }
    }

    /// The weight of each choice, by lengthscale, then by variance, then by noise.
    pub fn hyperparameter_weights(&self) -> &[f64] {
        &self.weights
    }

    /// The log density of what was released and of each choice, up to a constant.
    pub fn log_evidences(&self) -> Vec<f64> {
        self.members.iter().map(|member| member.log_evidence).collect()
    }

    /// Predicts the function and targets at inputs (t x d), in units of the box.
    pub fn predict(&self, inputs: &DMatrix<f64>) -> FunctionAndTargetPredictions {
        self.predict_from_projections(self.projected_cross_correlations(inputs))
    }

    /// The same from the matrices of the kernels between the sites and the inputs ([`HyperparameterGrid::kernel_matrices`]).
    pub fn predict_from_kernel_matrices(&self, matrices: &[DMatrix<f64>]) -> FunctionAndTargetPredictions {
        self.predict_from_projections(self.map_heavy_kernels(|kernel| product(&self.map, &matrices[kernel])))
    }

    fn predict_from_projections(&self, crosses: Vec<Option<DMatrix<f64>>>) -> FunctionAndTargetPredictions {
        let total: f64 = self.heavy_members().map(|(_, weight)| weight).sum();
        let (mut function, mut targets) = (Vec::new(), Vec::new());
        for (member, weight, cross) in self.heavy_members_with_kernel_entries(&crosses) {
            let of_function = self.predict_with_member(member, weight / total, cross);
            let mut of_targets = of_function.clone();
            of_targets.variance.add_scalar_mut(member.noise);
            function.push(of_function);
            targets.push(of_targets);
        }
        FunctionAndTargetPredictions {
            function: PredictiveMixture::from_parts(function),
            targets: PredictiveMixture::from_parts(targets),
        }
    }

    /// The variances of f at the inputs if b and T were known without noise, averaged over hyperparameters: what the model and so few
    /// sums leave open, in the variance of [`SiteProcessPosterior::predict`].
    ///
    /// # Errors
    /// [`LinalgError`] if a covariance cannot be factorised.
    pub fn variance_under_noiseless_sums(&self, inputs: &DMatrix<f64>) -> Result<DVector<f64>, LinalgError> {
        let crosses = self.projected_cross_correlations(inputs);
        let (mut variances, mut total) = (DVector::zeros(inputs.nrows()), 0.0);
        for (member, weight, cross) in self.heavy_members_with_kernel_entries(&crosses) {
            let chosen = &member.chosen;
            let covariance = self.processes[chosen.kernel].sum_covariance_without_privacy_noise(*chosen, &self.sums)
                + &self.unresolved;
            let factor = Cholesky::new("the covariance of sums without noise", &covariance)?;
            let half = factor.lower_solve(&self.covariance_of_sums_with_function(member, cross));
            let prior = chosen.variance + self.sums.bias;
            for (variance, column) in variances.iter_mut().zip(half.column_iter()) {
                *variance += weight * (prior - column.norm_squared()).max(LEAST_VARIANCE);
            }
            total += weight;
        }
        Ok(variances / total)
    }

    /// The means of [`SiteProcessPosterior::predict`] alone, which cost G for each input and kernel.
    pub fn means(&self, inputs: &DMatrix<f64>) -> DVector<f64> {
        let mut constant = 0.0;
        let mut at_sites = vec![DVector::zeros(self.sites.nrows()); self.kernels.len()];
        let total: f64 = self.heavy_members().map(|(_, weight)| weight).sum();
        for (member, weight) in self.heavy_members() {
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
    fn heavy_members(&self) -> impl Iterator<Item = (&SiteMixtureMember, f64)> {
        let all = self.members.iter().zip(self.weights.iter().copied());
        all.filter(|(_, weight)| *weight >= LEAST_WEIGHT)
    }

    /// The members that count, with their weights and the entry of `of_kernels` for the kernel of each.
    fn heavy_members_with_kernel_entries<'a>(
        &'a self,
        of_kernels: &'a [Option<DMatrix<f64>>],
    ) -> impl Iterator<Item = (&'a SiteMixtureMember, f64, &'a DMatrix<f64>)> {
        self.heavy_members().filter_map(|(member, weight)| {
            of_kernels[member.chosen.kernel].as_ref().map(|of_kernel| (member, weight, of_kernel))
        })
    }

    /// `L k(sites, inputs)` of each kernel that counts, without its variance (m x t).
    fn projected_cross_correlations(&self, inputs: &DMatrix<f64>) -> Vec<Option<DMatrix<f64>>> {
        self.map_heavy_kernels(|kernel| {
            product(&self.map, &self.kernels[kernel].correlations.matrix(&self.sites, inputs))
        })
    }

    /// Calls `of_kernel` for each kernel of a member that counts; `None` for the others.
    fn map_heavy_kernels<T>(&self, of_kernel: impl Fn(usize) -> T) -> Vec<Option<T>> {
        let mut counts = vec![false; self.kernels.len()];
        self.heavy_members().for_each(|(member, _)| counts[member.chosen.kernel] = true);
        counts.iter().enumerate().map(|(kernel, counts)| counts.then(|| of_kernel(kernel))).collect()
    }

    /// The covariance of the sums with f at some inputs (m x t).
    fn covariance_of_sums_with_function(&self, member: &SiteMixtureMember, cross: &DMatrix<f64>) -> DMatrix<f64> {
        let mut covariance = cross * member.chosen.variance;
        for mut column in covariance.column_iter_mut() {
            column.axpy(self.sums.bias, &self.sums.total, 1.0);
        }
        covariance
    }

    /// The function by one member; `cross` is `L k(sites, inputs)` without its variance (m x t).
    fn predict_with_member(&self, member: &SiteMixtureMember, weight: f64, cross: &DMatrix<f64>) -> WeightedNormals {
        let covariance = self.covariance_of_sums_with_function(member, cross);
        let half = member.factor.lower_solve(&covariance);
        let prior = member.chosen.variance + self.sums.bias;
        let variances = half.column_iter().map(|column| (prior - column.norm_squared()).max(LEAST_VARIANCE));
        WeightedNormals {
            weight,
            mean: covariance.tr_mul(&member.weights).column(0).into_owned(),
            variance: DVector::from_iterator(cross.ncols(), variances),
        }
    }
}

/// One choice of hyperparameters; the kernel by its place in the grid.
#[derive(Debug, Clone, Copy)]
pub(super) struct SiteGridHyperparameters {
    pub kernel: usize,
    pub variance: f64,
    pub noise: f64,
    /// The log density a priori.
    pub log_prior: f64,
}

/// The posterior of what b sees of the process under one choice.
pub(super) struct SiteMixtureMember {
    pub chosen: SiteGridHyperparameters,
    /// Of Q.
    pub factor: Cholesky,
    /// `Q^-1 b` (m x 1).
    pub weights: DMatrix<f64>,
    /// The mean of what b sees (G, or m).
    pub mean: DVector<f64>,
    /// The log density of what was released and of the choice, up to a constant.
    pub log_evidence: f64,
    /// The mean of the noise variances that it stands for, in the variance of targets.
    pub noise: f64,
}

/// A member whose evidence is that of b alone so far, and what the sum of squares will add to it.
pub(super) struct PartialEvidenceMember {
    pub member: SiteMixtureMember,
    pub energy: ProcessSquareSum,
}

impl PartialEvidenceMember {
    /// With the covariance of b by the error of the counts.
    pub fn new(
        chosen: SiteGridHyperparameters,
        seen: &ReleaseAndInputPosterior<'_>,
        correlated: &ProcessCorrelations,
        error: &DMatrix<f64>,
    ) -> Result<Self, LinalgError> {
        let covariance = correlated.process.sum_covariance_without_privacy_noise(chosen, &seen.sums)
            + error
            + DMatrix::from_diagonal(&seen.released.weighted);
        let factor = Cholesky::without_jitter("the covariance of the weighted sums", &covariance)?;
        let b = &seen.released.sums.weighted;
        let weights = factor.solve(&DMatrix::from_column_slice(b.len(), 1, b.as_slice()));
        let cross = correlated.cross_covariance(chosen.variance, seen);
        let mean = transposed_product(&cross, &weights).column(0).into_owned();
        let logs: f64 = factor.factor().diagonal().iter().map(|pivot| pivot.ln()).sum();
        let energy = ProcessSquareSum::new(chosen, seen, correlated, &mean, &factor.lower_solve(&cross));
        let log_evidence = chosen.log_prior - 0.5 * b.dot(&weights.column(0)) - logs;
        Ok(Self {
            member: SiteMixtureMember { noise: chosen.noise, chosen, factor, weights, mean, log_evidence },
            energy,
        })
    }

    /// The place of its kernel in the grid.
    pub fn kernel_index(&self) -> usize {
        self.member.chosen.kernel
    }
}

impl SiteMixtureMember {
    /// `E[f f']` of what b sees (G x G, or m x m): `K - K L' Q^-1 L K + m m'`.
    pub fn second_moment(&self, seen: &ReleaseAndInputPosterior<'_>, correlated: &ProcessCorrelations) -> DMatrix<f64> {
        let half = self.factor.lower_solve(&correlated.cross_covariance(self.chosen.variance, seen));
        let mut second = correlated.covariance(self.chosen.variance, seen);
        second -= transposed_product(&half, &half);
        second.ger(1.0, &self.mean, &self.mean, 1.0);
        second
    }
}

/// A public belief about the data, in units of the box and of the targets: what a release is designed for, and what
/// hyperparameters are averaged around. It moves errors, never the guarantee.
#[derive(Debug, Clone, PartialEq)]
pub struct PublicReferenceModel {
    /// The number of rows n, which is public.
    pub rows: usize,
    /// The bound R on targets, on either side of zero.
    pub bound: f64,
    /// The variance of the mean of the process.
    pub bias: f64,
    /// The kernel of the process about its mean.
    pub kernel: BoxKernel,
    /// The variance of targets about the process.
    pub noise_variance: f64,
    /// How close the density of inputs is to the uniform one: that of a Dirichlet process.
    pub concentration: f64,
}

/// A value with its log density a priori, up to a constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValueWithLogPrior {
    /// The value.
    pub value: f64,
    /// Its log density.
    pub log_prior: f64,
}

/// Correlations of the process with the log density of their lengthscale.
#[derive(Clone)]
pub struct KernelWithLogPrior {
    /// A kernel of variance 1.
    pub correlations: Arc<dyn Kernel>,
    /// The log density of its lengthscale, up to a constant.
    pub log_prior: f64,
}

/// A grid of lengthscales, variances and noise variances, each with a public prior.
#[derive(Clone)]
pub struct HyperparameterGrid {
    /// By lengthscale.
    pub kernels: Vec<KernelWithLogPrior>,
    /// Variances of the process about its mean.
    pub variances: Vec<ValueWithLogPrior>,
    /// Variances of targets about the process; they rise.
    pub noises: Vec<ValueWithLogPrior>,
    /// How finely noise variances from one of these to the next are told apart, an odd number: with 1 there are no others.
    pub steps: usize,
    /// The variance of the mean of the process.
    pub bias: f64,
    /// The variance that the error of the counts is first computed with.
    pub first: f64,
}

/// Lengthscales, over that of the reference.
const STRETCHES: [f64; 4] = [0.5, 1.0, 2.0, 4.0];
/// Variances of the process, over the square of the bound on targets.
const VARIANCES: [f64; 5] = [0.005, 0.02, 0.08, 0.3, 1.0];
/// Noise variances, over the same.
const NOISES: [f64; 8] = [0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32];
/// The steps from one noise variance to the next: 8 % each.
const STEPS_OF_NOISE: usize = 9;
/// Less noise is none.
const LEAST_NOISE: f64 = 1e-6;
/// Standard deviations of the logarithms a priori: nineteen in twenty lie within a factor of 2.7 for a lengthscale, 7 for a variance of the process,
/// and 2.7 for a noise variance. Where a release tells little, wider ones make intervals that hold more than they say whenever the reference
/// is near the truth; where it tells much, they do not matter. The price: with a reference whose noise standard deviation is half of the truth, and
/// so few rows that the sum of squares cannot tell, intervals of 90 % hold up to .09 less of the targets than under wide priors.
const SPREAD_OF_STRETCH: f64 = 0.5;
const SPREAD_OF_VARIANCE: f64 = 1.0;
const SPREAD_OF_NOISE: f64 = 0.5;

impl HyperparameterGrid {
    /// The grid around a reference: lengthscales from a half to four times its own, variances from 0.005 to 1 and noise variances
    /// from 0.0025 (or half of the reference, if that is less) to 0.32 of the square of the bound, each log-normal around the
    /// reference.
    pub fn around_reference(reference: &PublicReferenceModel) -> Self {
        let square = reference.bound * reference.bound;
        let kernels = STRETCHES.iter().map(|stretch| KernelWithLogPrior {
            correlations: Arc::from(reference.kernel.correlation_kernel(*stretch)),
            log_prior: log_normal_log_prior(*stretch, SPREAD_OF_STRETCH),
        });
        Self {
            kernels: kernels.collect(),
            variances: log_normal_grid(&VARIANCES, square, reference.kernel.variance(), SPREAD_OF_VARIANCE),
            noises: log_normal_grid(
                &noise_variance_grid(reference.noise_variance / square),
                square,
                reference.noise_variance,
                SPREAD_OF_NOISE,
            ),
            steps: STEPS_OF_NOISE,
            bias: reference.bias,
            first: reference.kernel.variance(),
        }
    }

    /// `k(sites, inputs)` of each kernel, without its variance, for sites (G x d) and inputs (t x d): G x t numbers each. Releases with the
    /// same sites share them.
    pub fn kernel_matrices(&self, sites: &DMatrix<f64>, inputs: &DMatrix<f64>) -> Vec<DMatrix<f64>> {
        self.kernels.iter().map(|kernel| kernel.correlations.matrix(sites, inputs)).collect()
    }
}

/// The noise variances, with as many halves of the least as it takes to go below half of a reference.
fn noise_variance_grid(reference: f64) -> Vec<f64> {
    let mut noises = NOISES.to_vec();
    while noises[0] > LEAST_NOISE.max(0.5 * reference) {
        noises.insert(0, 0.5 * noises[0]);
    }
    noises
}

/// Multiples of a unit, log-normal around a centre.
fn log_normal_grid(multiples: &[f64], unit: f64, centre: f64, spread: f64) -> Vec<ValueWithLogPrior> {
    let values = multiples.iter().map(|multiple| multiple * unit);
    values.map(|value| ValueWithLogPrior { value, log_prior: log_normal_log_prior(value / centre, spread) }).collect()
}

/// `-(ln ratio)^2 / (2 spread^2)`, flat in the logarithm but for it.
fn log_normal_log_prior(ratio: f64, spread: f64) -> f64 {
    -0.5 * (ratio.ln() / spread).powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_lies_within_the_noises() {
        for reference in [0.3, 0.0051, 0.004, 1e-4] {
            let noises = noise_variance_grid(reference);
            assert!(noises[0] <= 0.5 * reference && noises.windows(2).all(|pair| pair[1] == 2.0 * pair[0]));
        }
        assert_eq!(noise_variance_grid(0.01), NOISES);
        assert!(noise_variance_grid(1e-30)[0] >= 0.5 * LEAST_NOISE);
    }

    /// Twice the centre is `ln 2` away; of a spread of 1/2 that are `(2 ln 2)^2 / 2` nats.
    #[test]
    fn priors_are_normal_in_the_logarithm() {
        assert_eq!((log_normal_log_prior(1.0, 0.5), log_normal_log_prior(2.0, 0.5)), (0.0, -2.0 * 2f64.ln().powi(2)));
        let found = log_normal_grid(&[0.5, 2.0], 4.0, 2.0, 1.0);
        assert_eq!(found[0], ValueWithLogPrior { value: 2.0, log_prior: 0.0 });
        assert_eq!(found[1], ValueWithLogPrior { value: 8.0, log_prior: -0.5 * 4f64.ln().powi(2) });
    }

    /// For targets within 2 variances and noises are multiples of 4.
    #[test]
    fn a_grid_lies_around_its_reference() {
        let kernel = toml::from_str("eq = { variance = 1.2, lengthscale = 0.5 }").unwrap();
        let reference = PublicReferenceModel {
            rows: 100,
            bound: 2.0,
            bias: 0.75,
            kernel: crate::kernel::BoxKernel::new(&kernel, vec![1.0]).unwrap(),
            noise_variance: 0.08,
            concentration: 1.0,
        };
        let grid = HyperparameterGrid::around_reference(&reference);
        assert_eq!((grid.kernels.len(), grid.bias, grid.first, grid.steps), (4, 0.75, 1.2, STEPS_OF_NOISE));
        assert_eq!(grid.variances.iter().map(|one| one.value).collect::<Vec<_>>(), VARIANCES.map(|v| 4.0 * v));
        assert_eq!(grid.noises.iter().map(|one| one.value).collect::<Vec<_>>(), NOISES.map(|v| 4.0 * v));
        let reference_is_likeliest = grid.variances.iter().map(|one| one.log_prior).fold(f64::MIN, f64::max);
        assert_eq!(reference_is_likeliest, 0.0, "0.3 of 4 is the variance of the reference");
        // A lengthscale of a half, at a distance of 1: `exp(-1 / (2 (0.5 stretch)^2))`.
        for (kernel, stretch) in grid.kernels.iter().zip(STRETCHES) {
            let found = kernel.correlations.value(&[0.0], &[1.0]);
            assert!((found - (-2.0 / (stretch * stretch)).exp()).abs() < 1e-14, "{stretch}: {found}");
            assert_eq!(kernel.log_prior, log_normal_log_prior(stretch, 0.5));
        }
    }
}
