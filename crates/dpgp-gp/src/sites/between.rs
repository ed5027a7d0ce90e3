//! The error from rows that lie between sites, and the state shared by all members with one lengthscale.

use nalgebra::{DMatrix, DVector};

use super::mixture::SiteGridHyperparameters;
use super::{CountingSites, InputPosterior, KernelWithLogPrior, NoisyFeatureSums, SiteFeatures};
use dpgp_linalg::product;

/// The mean square of a cosine over unknown places.
const OF_NOTHING: f64 = 0.5;

/// Error of counts at sites for rows between them, for sites on a grid.
///
/// A row between sites is represented by positive weights on its neighbours that keep its mean place, as linear interpolation has them.
/// Where rows gather at places between sites, such errors are the same for all rows of a place and do not average out, however many
/// rows there are.
#[derive(Debug, Clone, PartialEq)]
pub struct SiteInterpolationVariance {
    /// The distance h of neighbouring sites.
    pub spacing: f64,
    /// The mean square of that error of each of the functions e (k).
    pub plain: DVector<f64>,
}

impl SiteInterpolationVariance {
    /// The mean square error of `cos(t.u)`, for the angles `t_d` between neighbouring sites.
    ///
    /// At the share u of the way between two sites the error is at most `u (1 - u) t^2 / 2` of an amplitude of 1. Its square has the mean
    /// `t^4 / 120` over u, of which a cosine has half; errors along several inputs add up. Sites tell waves with more than half a turn
    /// between them from no others.
    ///
    /// ```
    /// use dpgp_gp::sites::SiteInterpolationVariance;
    /// assert_eq!(SiteInterpolationVariance::cosine_mean_square_error(&[0.0, 0.0]), 0.0);
    /// assert!((SiteInterpolationVariance::cosine_mean_square_error(&[0.4]) - 0.4f64.powi(4) / 240.0).abs() < 1e-18);
    /// assert_eq!(SiteInterpolationVariance::cosine_mean_square_error(&[3.2]), 0.5);
    /// ```
    pub fn cosine_mean_square_error(angles: &[f64]) -> f64 {
        if angles.iter().any(|angle| angle.abs() > std::f64::consts::PI) {
            return OF_NOTHING;
        }
        let square: f64 = angles.iter().map(|angle| angle * angle).sum();
        (square * square / 240.0).min(OF_NOTHING)
    }

    /// For other functions e than waves: their mean square errors over the cells between sites, by two nodes of Gauss and Legendre along each
    /// input. `features` are the values of e (t x k) at some places (t x d) of the unit box.
    ///
    /// # Panics
    /// For sites that are no grid of [`CountingSites::grid_with_boundary`].
    pub fn from_features(sites: &CountingSites, features: impl Fn(&DMatrix<f64>) -> DMatrix<f64>) -> Self {
        let (inputs, at_sites) = (sites.places.ncols(), features(&sites.places));
        let cells = CellsBetweenSites::new(sites);
        let (nodes, corners) = unit_cell_nodes_and_corners(inputs);
        let mut squares = DVector::zeros(at_sites.ncols());
        for node in nodes.row_iter() {
            let mut places = sites.places.select_rows(&cells.lower);
            places.row_iter_mut().for_each(|mut place| place += node * sites.spacing);
            let mut missed = features(&places);
            for (corner, ends) in corners.row_iter().enumerate() {
                let weight: f64 =
                    node.iter().zip(ends.iter()).map(|(at, end)| interpolation_weight(*at, *end)).product();
                missed -= at_sites.select_rows(&cells.corner_sites(corner)) * weight;
            }
            squares += missed.map(|error| error * error).row_sum_tr();
        }
        let all = (cells.lower.len() * nodes.nrows()) as f64;
        Self { spacing: sites.spacing, plain: squares / all }
    }

    /// The variance of each T by rows between sites (k): `c n^2` of its mean square error, where c is the chance that two rows lie at one
    /// place; all of it where the sites tell nothing of a wave.
    pub(super) fn plain_sum_interpolation_variances(&self, clumping: f64, rows: f64) -> DVector<f64> {
        self.plain.map(|error| rows * rows * error * if error < OF_NOTHING { clumping } else { 1.0 })
    }

    /// The mean variance of a process of variance 1 about its linear interpolation from the sites, over places between 2^d of them: by two
    /// nodes of Gauss and Legendre along each input.
    pub(super) fn process_interpolation_variance(&self, kernel: &KernelWithLogPrior, inputs: usize) -> f64 {
        let (places, corners) = unit_cell_nodes_and_corners(inputs);
        let weights = DMatrix::from_fn(places.nrows(), corners.nrows(), |place, corner| {
            (0..inputs).map(|input| interpolation_weight(places[(place, input)], corners[(corner, input)])).product()
        });
        let (corners, places) = (corners * self.spacing, places * self.spacing);
        let between = kernel.correlations.matrix(&corners, &corners);
        let across = kernel.correlations.matrix(&places, &corners);
        let mut total = 0.0;
        for (weights, across) in weights.row_iter().zip(across.row_iter()) {
            total += 1.0 - 2.0 * weights.dot(&across) + (weights * &between).dot(&weights);
        }
        (total / weights.nrows() as f64).max(0.0)
    }
}

/// Places of a unit cell by the nodes of Gauss and Legendre, and its corners (2^d x d each).
fn unit_cell_nodes_and_corners(inputs: usize) -> (DMatrix<f64>, DMatrix<f64>) {
    let node = 0.5 - 0.5 / 3f64.sqrt();
    let corners = DMatrix::from_fn(1 << inputs, inputs, |corner, input| f64::from(is_upper_corner(corner, input)));
    (corners.map(|end| if end == 1.0 { 1.0 - node } else { node }), corners)
}

/// The cells between the sites of a grid.
struct CellsBetweenSites {
    /// The sites at their lowest corners.
    lower: Vec<usize>,
    /// How far the next site along each input is, in the order of the sites.
    strides: Vec<usize>,
}

impl CellsBetweenSites {
    fn new(sites: &CountingSites) -> Self {
        let inputs = sites.places.ncols();
        // The last input moves fastest, from its first site to its last.
        let last = sites.places.column(inputs - 1).max();
        let side = 1 + sites.places.column(inputs - 1).iter().take_while(|place| **place < last).count();
        let strides: Vec<usize> = (0..inputs).map(|input| side.pow((inputs - 1 - input) as u32)).collect();
        let sites = 0..sites.places.nrows();
        let lower = sites.filter(|site| strides.iter().all(|stride| site / stride % side + 1 < side));
        Self { lower: lower.collect(), strides }
    }

    /// The sites at one of their corners.
    fn corner_sites(&self, corner: usize) -> Vec<usize> {
        let upper = self.strides.iter().enumerate().filter(|(input, _)| is_upper_corner(corner, *input));
        let step: usize = upper.map(|(_, stride)| stride).sum();
        self.lower.iter().map(|site| site + step).collect()
    }
}

/// Whether a corner of a unit cell lies at the upper end of an input.
fn is_upper_corner(corner: usize, input: usize) -> bool {
    corner >> input & 1 == 1
}

/// The weight of an end, 0 or 1, for a place between both.
fn interpolation_weight(place: f64, end: f64) -> f64 {
    if end == 1.0 { place } else { 1.0 - place }
}

/// The release, and its information on the inputs.
pub(super) struct ReleaseAndInputPosterior<'a> {
    pub features: &'a SiteFeatures,
    pub released: &'a NoisyFeatureSums,
    pub inputs: &'a InputPosterior,
    /// L (m x G, or m x m where weights are seen).
    pub map: DMatrix<f64>,
    /// Image of the process that is 1 everywhere.
    pub one: DVector<f64>,
    /// Parts of b under every choice.
    pub sums: SharedSumCovarianceParts,
}

/// Parts of the covariance of b under every choice of hyperparameters.
#[derive(Clone)]
pub(super) struct SharedSumCovarianceParts {
    /// The variance of the mean of the process.
    pub bias: f64,
    /// `L 1` (m).
    pub total: DVector<f64>,
    /// The covariance of b by noise of variance 1 on targets (m x m).
    pub noise: DMatrix<f64>,
    /// `L L'`, the same by an error of variance 1 for all rows near a site; none if no row lies between sites (m x m).
    pub common: Option<DMatrix<f64>>,
}

impl<'a> ReleaseAndInputPosterior<'a> {
    pub fn new(
        features: &'a SiteFeatures,
        released: &'a NoisyFeatureSums,
        inputs: &'a InputPosterior,
        bias: f64,
    ) -> Self {
        let map = inputs.observation_map(features);
        let one = inputs.constant_process_image(features.len());
        let noise = inputs.target_noise_covariance(&map, features);
        // Of counts the sum in the order of the sites, which keeps its bits.
        let total = match inputs {
            InputPosterior::Counts(_) => map.column_sum(),
            InputPosterior::Gram(_) => &map * &one,
        };
        let common = features.between.as_ref().map(|_| product(&map, &map.transpose()));
        Self { features, released, inputs, one, map, sums: SharedSumCovarianceParts { bias, total, noise, common } }
    }
}

/// Image in b of a process of variance 1.
pub(super) struct ProcessSumCovariance {
    /// `L C L'` (m x m).
    pub seen: DMatrix<f64>,
    /// The variance of the process between sites about its interpolation.
    pub between: f64,
}

impl ProcessSumCovariance {
    /// The covariance of b under a choice, if the inputs were known and no noise were added: `L K L' + s^2 L Phi + v L L'` (m x m).
    pub fn sum_covariance_without_privacy_noise(
        &self,
        chosen: SiteGridHyperparameters,
        sums: &SharedSumCovarianceParts,
    ) -> DMatrix<f64> {
        let mut covariance = &self.seen * chosen.variance + &sums.noise * chosen.noise;
        if let Some(common) = &sums.common {
            covariance += common * (chosen.variance * self.between);
        }
        covariance.ger(sums.bias, &sums.total, &sums.total, 1.0);
        covariance
    }
}

/// Correlations of what b sees of the process: of its values at the sites, or of its weights.
pub(super) struct ProcessCorrelations {
    /// C (G x G, or m x m).
    pub correlations: DMatrix<f64>,
    /// `L C` (m x G, or m x m).
    pub cross: DMatrix<f64>,
    /// Its image in b.
    pub process: ProcessSumCovariance,
    /// `p' (C o C) p / n^2`: the mean square of the correlation of two rows; zero where weights are seen.
    pub square: f64,
}

impl ProcessCorrelations {
    /// Of a kernel with these values among the sites (G x G).
    pub fn new(kernel: &KernelWithLogPrior, sites: &DMatrix<f64>, seen: &ReleaseAndInputPosterior<'_>) -> Self {
        let between = seen.features.between.as_ref();
        let between =
            between.map_or(0.0, |between| between.process_interpolation_variance(kernel, seen.features.sites.ncols()));
        let correlations = seen.inputs.project_covariance(sites);
        let cross = product(&seen.map, &correlations);
        let rows = seen.released.sums.rows as f64;
        let square = match seen.inputs {
            InputPosterior::Counts(counts) => {
                quadratic_form(&correlations.component_mul(&correlations), &counts.mean) / (rows * rows)
            }
            InputPosterior::Gram(_) => 0.0,
        };
        let process = ProcessSumCovariance { seen: product(&cross, &seen.map.transpose()), between };
        Self { process, cross, correlations, square }
    }

    /// The covariance K of what b sees: `variance C + bias 1 1'`.
    pub fn covariance(&self, variance: f64, seen: &ReleaseAndInputPosterior<'_>) -> DMatrix<f64> {
        let mut covariance = &self.correlations * variance;
        covariance.ger(seen.sums.bias, &seen.one, &seen.one, 1.0);
        covariance
    }

    /// `L K` (m x G, or m x m).
    pub fn cross_covariance(&self, variance: f64, seen: &ReleaseAndInputPosterior<'_>) -> DMatrix<f64> {
        let mut crossed = &self.cross * variance;
        for (mut column, one) in crossed.column_iter_mut().zip(seen.one.iter()) {
            column.axpy(seen.sums.bias * one, &seen.sums.total, 1.0);
        }
        crossed
    }
}

/// `x' A x`.
pub(super) fn quadratic_form(a: &DMatrix<f64>, x: &DVector<f64>) -> f64 {
    x.dot(&(a * x))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::kernel::ExponentiatedQuadratic;

    fn of_process(lengthscale: f64, inputs: usize) -> f64 {
        let correlations = Arc::new(ExponentiatedQuadratic::isotropic(1.0, lengthscale));
        let between = SiteInterpolationVariance { spacing: 0.1, plain: DVector::zeros(0) };
        between.process_interpolation_variance(&KernelWithLogPrior { correlations, log_prior: 0.0 }, inputs)
    }

    /// To leading order `u (1 - u) h^2 f'' / 2`: f'' has the variance `3 / l^4`, `(u (1 - u))^2` the mean 1 / 36 at the two nodes.
    /// Inputs add up, and f'' along two of them has the covariance `1 / l^4`.
    #[test]
    fn interpolation_errs_by_the_second_derivative() {
        let order = (0.1f64 / 0.8).powi(4) / (4.0 * 36.0);
        assert!((of_process(0.8, 1) / (3.0 * order) - 1.0).abs() < 0.02, "{:e}", of_process(0.8, 1));
        assert!((of_process(0.8, 2) / (8.0 * order) - 1.0).abs() < 0.02, "{:e}", of_process(0.8, 2));
        // Far shorter than the grid is wide: nothing at the sites tells of places between them.
        assert!(of_process(0.001, 1) > 1.0);
    }

    /// The mean square over u of what the chord of a cosine misses, by a sum over places and phases.
    #[test]
    fn a_wave_errs_by_its_chord() {
        for angle in [0.2, 0.5, 1.0] {
            let mut total = 0.0;
            for step in 0..100 * 100 {
                let (u, phase) = (f64::from(step % 100) / 100.0, f64::from(step / 100) * 0.01 * std::f64::consts::TAU);
                let chord = (1.0 - u) * phase.cos() + u * (phase + angle).cos();
                total += ((phase + u * angle).cos() - chord).powi(2);
            }
            let found = SiteInterpolationVariance::cosine_mean_square_error(&[angle]);
            assert!((total / 1e4 / found - 1.0).abs() < 0.05, "{angle}: {}", total / 1e4 / found);
        }
    }

    /// What is linear in each input is met, and a square misses `u (1 - u) h^2`, whose square has the mean `h^4 / 36` at the nodes.
    #[test]
    fn functions_err_by_their_curvature() {
        for inputs in 1..=3 {
            let sites = CountingSites::grid_with_boundary(inputs);
            let between = SiteInterpolationVariance::from_features(&sites, |places| {
                let values = places.row_iter().flat_map(|x| [x.product() + 2.0 * x[0], x[inputs - 1].powi(2)]);
                DMatrix::from_row_iterator(places.nrows(), 2, values)
            });
            let expected = sites.spacing.powi(4) / 36.0;
            assert!(between.plain[0] < 1e-20, "{}", between.plain[0]);
            assert!((between.plain[1] / expected - 1.0).abs() < 1e-6, "{inputs}: {}", between.plain[1]);
        }
    }

    #[test]
    fn what_tells_nothing_counts_in_full() {
        let between = SiteInterpolationVariance { spacing: 0.1, plain: DVector::from_vec(vec![0.1, OF_NOTHING]) };
        assert_eq!(between.plain_sum_interpolation_variances(0.0, 10.0).as_slice(), [0.0, 50.0]);
        assert_eq!(between.plain_sum_interpolation_variances(0.01, 10.0).as_slice(), [0.1, 50.0]);
    }
}
