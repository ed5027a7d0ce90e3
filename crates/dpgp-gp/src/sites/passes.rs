//! The posterior over all hyperparameters of a grid.

use nalgebra::DMatrix;
use rayon::prelude::*;

use super::correlated::{Correlated, Seen};
use super::member::{Chosen, SiteMember, Unsquared};
use super::noises::NoiseCurve;
use super::squares::add_quadratics;
use super::{HyperGrid, NoisyFeatures, SiteFeatures, SiteInputs, SiteMixture};
use dpgp_linalg::LinalgError;

/// How often the error of the inputs is computed anew.
const PASSES: usize = 3;
/// The members that say what the process is like at the sites.
const HEAVIEST: usize = 4;

/// The mixture of the posteriors under every choice of a grid, each weighed by its evidence and prior.
///
/// The error of the inputs needs `E[f f']` of what b sees, which is that of the reference at first and that of the heaviest members
/// after a pass; all members share it. All of it is computed from what was released: it costs no budget.
///
/// # Errors
/// [`LinalgError`] if a variance of the noise is not positive.
pub fn site_mixture(
    features: &SiteFeatures,
    released: &NoisyFeatures,
    inputs: &SiteInputs,
    grid: &HyperGrid,
) -> Result<SiteMixture, LinalgError> {
    site_mixture_among(&grid.matrices(&features.sites, &features.sites), features, released, inputs, grid)
}

/// The same where the matrices of the kernels among the sites are known ([`HyperGrid::matrices`]).
///
/// # Errors
/// As for [`site_mixture`].
pub fn site_mixture_among(
    sites: &[DMatrix<f64>],
    features: &SiteFeatures,
    released: &NoisyFeatures,
    inputs: &SiteInputs,
    grid: &HyperGrid,
) -> Result<SiteMixture, LinalgError> {
    let seen = Seen::new(features, released, inputs, grid.bias);
    let kernels = grid.kernels.iter().zip(sites);
    let correlated: Vec<Correlated> =
        kernels.map(|(kernel, sites)| Correlated::new(kernel, sites, &seen)).collect();
    let mut second = correlated[correlated.len() / 2].covariance(grid.first, &seen);
    let mut mixed = Mixed::new(grid, &seen, &correlated, &second)?;
    for _ in 1..PASSES {
        second = mixed.second_moment(&seen, &correlated);
        mixed = Mixed::new(grid, &seen, &correlated, &second)?;
    }
    let unresolved = inputs.unresolved_error(features, &second);
    Ok(SiteMixture::new(&seen, correlated, unresolved, grid, mixed.members, mixed.weights))
}

/// The members of one pass with their weights, which add up to 1.
struct Mixed {
    members: Vec<SiteMember>,
    weights: Vec<f64>,
}

impl Mixed {
    fn new(
        grid: &HyperGrid,
        seen: &Seen<'_>,
        correlated: &[Correlated],
        second: &DMatrix<f64>,
    ) -> Result<Self, LinalgError> {
        let error = seen.inputs.error(seen.features, second);
        let mut members: Vec<Unsquared> = choices(grid)
            .collect::<Vec<Chosen>>()
            .into_par_iter()
            .map(|chosen| Unsquared::new(chosen, seen, &correlated[chosen.kernel], &error))
            .collect::<Result<_, _>>()?;
        if let SiteInputs::Counts(counts) = seen.inputs {
            let of_kernels = members.par_chunk_by_mut(|one, other| one.kernel() == other.kernel());
            of_kernels.for_each(|of_one| add_quadratics(of_one, counts, &correlated[of_one[0].kernel()]));
        }
        let members = resolved(members, seen, grid);
        let most = members.iter().map(|member| member.log_evidence).fold(f64::NEG_INFINITY, f64::max);
        let shares: Vec<f64> = members.iter().map(|member| (member.log_evidence - most).exp()).collect();
        let total: f64 = shares.iter().sum();
        Ok(Self { members, weights: shares.iter().map(|share| share / total).collect() })
    }

    /// `E[f f']` of the heaviest members.
    fn second_moment(&self, seen: &Seen<'_>, correlated: &[Correlated]) -> DMatrix<f64> {
        let mut order: Vec<usize> = (0..self.weights.len()).collect();
        order.sort_by(|i, j| self.weights[*j].total_cmp(&self.weights[*i]));
        order.truncate(HEAVIEST);
        let size = seen.one.len();
        let (mut second, mut total) = (DMatrix::zeros(size, size), 0.0);
        for place in order {
            let member = &self.members[place];
            second += member.second_moment(seen, &correlated[member.chosen.kernel]) * self.weights[place];
            total += self.weights[place];
        }
        second / total
    }
}

/// The members with all of their evidence, which come by lengthscale, then by variance, then by noise.
fn resolved(members: Vec<Unsquared>, seen: &Seen<'_>, grid: &HyperGrid) -> Vec<SiteMember> {
    let mut rest = members.into_iter().peekable();
    let mut all = Vec::with_capacity(rest.len());
    while rest.peek().is_some() {
        let of_one = rest.by_ref().take(grid.noises.len()).collect();
        all.extend(NoiseCurve::resolved(seen, of_one, grid.steps));
    }
    all
}

/// Every choice, by lengthscale, then by variance, then by noise.
fn choices(grid: &HyperGrid) -> impl Iterator<Item = Chosen> {
    grid.kernels.iter().enumerate().flat_map(move |(kernel, correlations)| {
        grid.variances.iter().flat_map(move |variance| {
            grid.noises.iter().map(move |noise| Chosen {
                kernel,
                variance: variance.value,
                noise: noise.value,
                log_prior: correlations.log_prior + variance.log_prior + noise.log_prior,
            })
        })
    })
}
