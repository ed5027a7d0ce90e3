//! The posterior over a grid of hyperparameters, with interpolation between noise variances.

use nalgebra::DMatrix;
use rayon::prelude::*;

use super::between::{ProcessCorrelations, ReleaseAndInputPosterior};
use super::mixture::{PartialEvidenceMember, SiteGridHyperparameters, SiteMixtureMember};
use super::squares::add_quadratic_variance_terms;
use super::{HyperparameterGrid, InputPosterior, NoisyFeatureSums, SiteFeatures, SiteProcessPosterior};
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
pub fn fit_site_mixture(
    features: &SiteFeatures,
    released: &NoisyFeatureSums,
    inputs: &InputPosterior,
    grid: &HyperparameterGrid,
) -> Result<SiteProcessPosterior, LinalgError> {
    fit_mixture_from_kernel_matrices(
        &grid.kernel_matrices(&features.sites, &features.sites),
        features,
        released,
        inputs,
        grid,
    )
}

/// The same where the matrices of the kernels among the sites are known ([`HyperparameterGrid::kernel_matrices`]).
///
/// # Errors
/// As for [`fit_site_mixture`].
pub fn fit_mixture_from_kernel_matrices(
    sites: &[DMatrix<f64>],
    features: &SiteFeatures,
    released: &NoisyFeatureSums,
    inputs: &InputPosterior,
    grid: &HyperparameterGrid,
) -> Result<SiteProcessPosterior, LinalgError> {
    let seen = ReleaseAndInputPosterior::new(features, released, inputs, grid.bias);
    let kernels = grid.kernels.iter().zip(sites);
    let correlated: Vec<ProcessCorrelations> =
        kernels.map(|(kernel, sites)| ProcessCorrelations::new(kernel, sites, &seen)).collect();
    let mut second = correlated[correlated.len() / 2].covariance(grid.first, &seen);
    let mut mixed = WeightedMembers::new(grid, &seen, &correlated, &second)?;
    for _ in 1..PASSES {
        second = mixed.second_moment(&seen, &correlated);
        mixed = WeightedMembers::new(grid, &seen, &correlated, &second)?;
    }
    let unresolved = inputs.input_error_under_noiseless_sums(features, &second);
    Ok(SiteProcessPosterior::new(&seen, correlated, unresolved, grid, mixed.members, mixed.weights))
}

/// The members of one pass with their weights, which add up to 1.
struct WeightedMembers {
    members: Vec<SiteMixtureMember>,
    weights: Vec<f64>,
}

impl WeightedMembers {
    fn new(
        grid: &HyperparameterGrid,
        seen: &ReleaseAndInputPosterior<'_>,
        correlated: &[ProcessCorrelations],
        second: &DMatrix<f64>,
    ) -> Result<Self, LinalgError> {
        let error = seen.inputs.input_error_covariance(seen.features, second);
        let mut members: Vec<PartialEvidenceMember> = site_grid_hyperparameters(grid)
            .collect::<Vec<SiteGridHyperparameters>>()
            .into_par_iter()
            .map(|chosen| PartialEvidenceMember::new(chosen, seen, &correlated[chosen.kernel], &error))
            .collect::<Result<_, _>>()?;
        if let InputPosterior::Counts(counts) = seen.inputs {
            let of_kernels = members.par_chunk_by_mut(|one, other| one.kernel_index() == other.kernel_index());
            of_kernels
                .for_each(|of_one| add_quadratic_variance_terms(of_one, counts, &correlated[of_one[0].kernel_index()]));
        }
        let members = complete_member_evidences(members, seen, grid);
        let most = members.iter().map(|member| member.log_evidence).fold(f64::NEG_INFINITY, f64::max);
        let shares: Vec<f64> = members.iter().map(|member| (member.log_evidence - most).exp()).collect();
        let total: f64 = shares.iter().sum();
        Ok(Self { members, weights: shares.iter().map(|share| share / total).collect() })
    }

    /// `E[f f']` of the heaviest members.
    fn second_moment(&self, seen: &ReleaseAndInputPosterior<'_>, correlated: &[ProcessCorrelations]) -> DMatrix<f64> {
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
fn complete_member_evidences(
    members: Vec<PartialEvidenceMember>,
    seen: &ReleaseAndInputPosterior<'_>,
    grid: &HyperparameterGrid,
) -> Vec<SiteMixtureMember> {
    let mut rest = members.into_iter().peekable();
    let mut all = Vec::with_capacity(rest.len());
    while rest.peek().is_some() {
        let of_one = rest.by_ref().take(grid.noises.len()).collect();
        all.extend(NoiseVariancePosterior::complete_evidences(seen, of_one, grid.steps));
    }
    all
}

/// Every choice, by lengthscale, then by variance, then by noise.
fn site_grid_hyperparameters(grid: &HyperparameterGrid) -> impl Iterator<Item = SiteGridHyperparameters> {
    grid.kernels.iter().enumerate().flat_map(move |(kernel, correlations)| {
        grid.variances.iter().flat_map(move |variance| {
            grid.noises.iter().map(move |noise| SiteGridHyperparameters {
                kernel,
                variance: variance.value,
                noise: noise.value,
                log_prior: correlations.log_prior + variance.log_prior + noise.log_prior,
            })
        })
    })
}

/// The posterior over the noise variance s^2, for one lengthscale and variance of the process.
///
/// With many rows the sum of squares q tells s^2 far better than to a factor of two, and intervals that take the nearest node of a coarse
/// grid are off by its distance. What b and the process have to do with s^2 changes slowly, however: the evidence of b, the expected
/// energy E of the process and the variance A of q by all but the noise of targets are parabolas in `ln s^2` through the three nearest nodes. So
/// only `q ~ N(E + n s^2, A + 2 n s^4 + 4 s^2 E)` is computed for each s^2.
pub(super) struct NoiseVariancePosterior<'a> {
    seen: &'a ReleaseAndInputPosterior<'a>,
    nodes: Vec<NoiseVarianceNode>,
    /// The noise variances between a node and the next, and one.
    steps: usize,
}

/// State at a noise variance that a posterior was computed for.
#[derive(Debug, Clone, Copy)]
struct NoiseVarianceNode {
    /// `ln s^2`.
    place: f64,
    /// The log density of b and of the choice.
    of_sums: f64,
    /// E.
    energy: f64,
    /// `ln A`.
    spread: f64,
}

impl NoiseVarianceNode {
    fn new(unsquared: &PartialEvidenceMember, seen: &ReleaseAndInputPosterior<'_>) -> Self {
        Self {
            place: unsquared.member.chosen.noise.ln(),
            of_sums: unsquared.member.log_evidence,
            energy: unsquared.energy.expected_sum(),
            spread: unsquared.energy.variance_besides_target_noise(seen).ln(),
        }
    }
}

/// The share of the noise variances nearest to one node.
struct NodeEvidenceAndMeanNoise {
    log_evidence: f64,
    noise: f64,
}

impl<'a> NoiseVariancePosterior<'a> {
    /// Of members that differ in their noise variances alone, which rise.
    fn new(seen: &'a ReleaseAndInputPosterior<'a>, members: &[PartialEvidenceMember], steps: usize) -> Self {
        Self { seen, nodes: members.iter().map(|each| NoiseVarianceNode::new(each, seen)).collect(), steps }
    }

    /// The members with all of their evidence, each for the noise variances that it is nearest to: `steps` of them lie between a node and the
    /// next, evenly in the logarithm.
    pub fn complete_evidences(
        seen: &ReleaseAndInputPosterior<'_>,
        members: Vec<PartialEvidenceMember>,
        steps: usize,
    ) -> Vec<SiteMixtureMember> {
        let curve = NoiseVariancePosterior::new(seen, &members, steps);
        let nearest: Vec<NodeEvidenceAndMeanNoise> = (0..members.len()).map(|node| curve.node_evidence(node)).collect();
        let resolved = members.into_iter().zip(nearest);
        resolved
            .map(|(each, NodeEvidenceAndMeanNoise { log_evidence, noise })| SiteMixtureMember {
                log_evidence,
                noise,
                ..each.member
            })
            .collect()
    }

    fn node_evidence(&self, node: usize) -> NodeEvidenceAndMeanNoise {
        let half = self.steps as i64 / 2;
        let places: Vec<f64> = (-half..=half).filter_map(|step| self.log_noise_variance_at_step(node, step)).collect();
        let logs: Vec<f64> = places.iter().map(|place| self.log_evidence(node, *place)).collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (mut total, mut noise) = (0.0, 0.0);
        for (place, log) in places.iter().zip(logs) {
            let weight = (log - most).exp();
            total += weight;
            noise += weight * place.exp();
        }
        NodeEvidenceAndMeanNoise { log_evidence: most + total.ln(), noise: noise / total }
    }

    /// So many steps from a node, in the logarithm; none beyond the last node.
    fn log_noise_variance_at_step(&self, node: usize, step: i64) -> Option<f64> {
        let here = self.nodes[node].place;
        if step == 0 {
            return Some(here);
        }
        let next = if step > 0 { self.nodes.get(node + 1) } else { self.nodes.get(node.checked_sub(1)?) };
        Some(here + (next?.place - here) * step.abs() as f64 / self.steps as f64)
    }

    /// Three nodes, or as many as there are; where nothing lies between nodes, one.
    fn neighbouring_nodes(&self, node: usize) -> &[NoiseVarianceNode] {
        if self.steps == 1 {
            return &self.nodes[node..=node];
        }
        let first = node.saturating_sub(1).min(self.nodes.len().saturating_sub(3));
        &self.nodes[first..self.nodes.len().min(first + 3)]
    }

    /// The log density of what was released and of the choice at a place near a node.
    fn log_evidence(&self, node: usize, place: f64) -> f64 {
        let nodes = self.neighbouring_nodes(node);
        let (mut of_sums, mut energy, mut spread) = (0.0, 0.0, 0.0);
        for (order, node) in nodes.iter().enumerate() {
            let share = lagrange_basis(nodes, order, place);
            of_sums += share * node.of_sums;
            energy += share * node.energy;
            spread += share * node.spread;
        }
        let (n, noise) = (self.seen.released.sums.rows as f64, place.exp());
        let variance = spread.exp() + 2.0 * n * noise * noise + 4.0 * noise * energy;
        let residual = self.seen.released.sums.squares - energy - n * noise;
        of_sums - 0.5 * residual * residual / variance - 0.5 * variance.ln()
    }
}

/// The polynomial of Lagrange that is 1 at one of the nodes and 0 at the others.
fn lagrange_basis(nodes: &[NoiseVarianceNode], order: usize, place: f64) -> f64 {
    let others = nodes.iter().enumerate().filter(|(other, _)| *other != order);
    others.map(|(_, other)| (place - other.place) / (nodes[order].place - other.place)).product()
}

#[cfg(test)]
mod tests {
    use super::super::InputPosterior;
    use super::super::dense::{example_noisy_sums, example_site_counts, example_site_features};
    use super::*;

    /// At 2 the polynomials of the nodes 0, 1 and 3 are -1/3, 1 and 1/3; at a node they are 0 and 1.
    #[test]
    fn polynomials_of_lagrange() {
        let nodes = [0.0, 1.0, 3.0].map(|place| NoiseVarianceNode { place, of_sums: 0.0, energy: 0.0, spread: 0.0 });
        for (order, expected) in [-1.0 / 3.0, 1.0, 1.0 / 3.0].into_iter().enumerate() {
            assert!((lagrange_basis(&nodes, order, 2.0) - expected).abs() < 1e-15);
            let at_nodes = nodes.map(|node| lagrange_basis(&nodes, order, node.place));
            assert_eq!(at_nodes, std::array::from_fn(|other| if other == order { 1.0 } else { 0.0 }));
        }
    }

    fn node(place: f64) -> NoiseVarianceNode {
        NoiseVarianceNode { place, of_sums: place * place, energy: 2.0, spread: 0.5f64.ln() }
    }

    fn evidence(noise: f64) -> f64 {
        let residual = 7.0 - 2.0 - 10.0 * noise;
        let variance: f64 = 0.5 + 20.0 * noise * noise + 8.0 * noise;
        noise.ln().powi(2) - 0.5 * residual * residual / variance - 0.5 * variance.ln()
    }

    /// Nodes at 0, 1 and 3 whose evidence of sums is the square of their place, with an energy of 2 and a variance of 1/2.
    fn with_curve(test: fn(&NoiseVariancePosterior<'_>)) {
        let (features, released, inputs) =
            (example_site_features(), example_noisy_sums(), InputPosterior::Counts(example_site_counts()));
        let seen = ReleaseAndInputPosterior::new(&features, &released, &inputs, 0.25);
        test(&NoiseVariancePosterior { seen: &seen, nodes: [0.0, 1.0, 3.0].map(node).to_vec(), steps: 5 });
    }

    #[test]
    fn places_lie_evenly_between_nodes() {
        with_curve(|curve| {
            for (node, step, expected) in [
                (1, 0, Some(1.0)),
                (1, 1, Some(1.4)),
                (1, -2, Some(0.6)),
                (0, -1, None),
                (2, 1, None),
                (2, -1, Some(2.6)),
            ] {
                let found = curve.log_noise_variance_at_step(node, step);
                let close = found.zip(expected).is_none_or(|(one, other)| (one - other).abs() < 1e-14);
                assert!(found.is_some() == expected.is_some() && close, "{node} {step}: {found:?}");
            }
        });
    }

    /// Ten rows with a sum of squares of 7: at a noise variance of .3 the residual is 2 and its variance `1/2 + 20 * .09 + 8 * .3`.
    #[test]
    fn the_sum_of_squares_tells_the_noise() {
        with_curve(|curve| {
            for node in 0..3 {
                assert!((curve.log_evidence(node, 0.3f64.ln()) - evidence(0.3)).abs() < 1e-12, "{node}");
            }
            // The second node stands for five noise variances, from e^.6 to e^1.8.
            let noises = [0.6f64, 0.8, 1.0, 1.4, 1.8].map(f64::exp);
            let total: f64 = noises.iter().map(|noise| evidence(*noise).exp()).sum();
            let mean: f64 = noises.iter().map(|noise| noise * evidence(*noise).exp()).sum::<f64>() / total;
            let NodeEvidenceAndMeanNoise { log_evidence, noise } = curve.node_evidence(1);
            assert!(
                (log_evidence - total.ln()).abs() < 1e-12 && (noise - mean).abs() < 1e-12,
                "{log_evidence} {noise}"
            );
        });
    }
}
