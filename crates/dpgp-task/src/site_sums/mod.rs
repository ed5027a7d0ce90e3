//! Noisy sums at inducing inputs on a grid, and predictions from them for a process on the public box. `A =
//! sum y_i k(x_i)` and `B = sum k(x_i) k(x_i)'` are sums of features, and [`dpgp_gp::sites`] has a posterior
//! for them. This posterior uses that counts of rows are not negative. B enters as the sums at the midpoints,
//! which determine it.

mod summed;

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};
use rand::Rng;

use crate::model::noise_variance;
use crate::{ReplicateJob, TaskError, noisy_sums};
use dpgp_gp::kernel::ExponentiatedQuadratic;
use dpgp_gp::sites::{
    CountingSites, FeatureSums, FunctionAndTargetPredictions, HyperparameterGrid, InputPosterior, KernelWithLogPrior,
    NoisyFeatureSums, SiteFeatures, SiteInterpolationVariance, SiteProcessPosterior, ValueWithLogPrior,
    fit_site_mixture,
};
use dpgp_gp::variational::GaussianBumpGrid;
use dpgp_linalg::{LinalgError, largest_or_nan};
use dpgp_mechanisms::{CellSections, NoiseAxes, SummedValueKind, SumsSetting};
use dpgp_spec::setting::rules::check_range;
use dpgp_spec::setting::{CheckResult, RangeSetting};

pub(super) use summed::{EllipsoidKey, InducingSums, InputTargetRows};

/// Prior knowledge of a process, before any release.
#[derive(Debug, Clone)]
pub struct GpPriorOnBox {
    /// The ends of the public box along each input.
    pub domain: Vec<[f64; 2]>,
    /// Of an exponentiated quadratic kernel.
    pub variance: f64,
    pub lengthscale: f64,
    pub noise_variance: f64,
}

/// The posterior for any release of some sums.
pub struct SitePosteriorModel {
    model: GpPriorOnBox,
    features: SiteFeatures,
    hyperparameters: HyperparameterGrid,
}

impl GpPriorOnBox {
    /// Of a job with noisy sums on a public box.
    ///
    /// # Errors
    /// [`TaskError::Missing`], which the checks of a spec rule out.
    pub fn new(job: &ReplicateJob<'_>) -> Result<Self, TaskError> {
        let (variance, lengthscale) = job.eq_kernel_parameters()?;
        let domain = job.sums()?.domain().map_err(|_| TaskError::Missing { needed: "a public box" })?;
        Ok(Self { domain: domain.to_vec(), variance, lengthscale, noise_variance: noise_variance(job.model()?)? })
    }

    /// Inputs (n x d) at their nearest place in the box.
    pub fn clip_inputs(&self, inputs: &DMatrix<f64>) -> DMatrix<f64> {
        let mut clipped = inputs.clone();
        for (mut column, [low, high]) in clipped.column_iter_mut().zip(&self.domain) {
            column.iter_mut().for_each(|x| *x = x.clamp(*low, *high));
        }
        clipped
    }

    /// Inputs (n x d) in units of the box.
    fn to_box_units(&self, inputs: &DMatrix<f64>) -> DMatrix<f64> {
        let mut units = inputs.clone();
        for (mut column, [low, high]) in units.column_iter_mut().zip(&self.domain) {
            column.iter_mut().for_each(|x| *x = (*x - low) / (high - low));
        }
        units
    }

    /// Places of the unit box (n x d) in units of the inputs.
    fn to_input_units(&self, units: &DMatrix<f64>) -> DMatrix<f64> {
        let mut inputs = units.clone();
        for (mut column, [low, high]) in inputs.column_iter_mut().zip(&self.domain) {
            column.iter_mut().for_each(|x| *x = low + (high - low) * *x);
        }
        inputs
    }

    /// The one choice of hyperparameters, which are known.
    fn hyperparameters(&self) -> HyperparameterGrid {
        let lengthscales = self.domain.iter().map(|[low, high]| self.lengthscale / (high - low)).collect();
        let correlations = Arc::new(ExponentiatedQuadratic::ard(1.0, lengthscales));
        HyperparameterGrid {
            kernels: vec![KernelWithLogPrior { correlations, log_prior: 0.0 }],
            variances: vec![ValueWithLogPrior { value: self.variance, log_prior: 0.0 }],
            noises: vec![ValueWithLogPrior { value: self.noise_variance, log_prior: 0.0 }],
            steps: 1,
            bias: 0.0,
            first: self.variance,
        }
    }
}

impl SitePosteriorModel {
    /// From sums of these features.
    pub fn new(model: GpPriorOnBox, maps: &FeatureMapsWithSumNoise) -> Self {
        let sites = CountingSites::grid_with_boundary(model.domain.len());
        let inputs = model.to_input_units(&sites.places);
        let features = SiteFeatures {
            weighted: maps.weighted.features_along_noise_axes(&inputs),
            plain: maps.plain.features_along_noise_axes(&inputs),
            between: Some(SiteInterpolationVariance::from_features(&sites, |places| {
                maps.plain.features_along_noise_axes(&model.to_input_units(places))
            })),
            gram: None,
            shares: sites.shares,
            sites: sites.places,
        };
        Self { hyperparameters: model.hyperparameters(), features, model }
    }

    /// The posterior given a release.
    ///
    /// # Errors
    /// [`LinalgError`] if a factorisation fails.
    pub fn condition_on_release(&self, released: &NoisyFeatureSums) -> Result<SiteProcessPosterior, LinalgError> {
        let inputs = InputPosterior::new(&self.features, released)?;
        fit_site_mixture(&self.features, released, &inputs, &self.hyperparameters)
    }

    /// Predicts at inputs (t x d), in units of the inputs.
    pub fn predict(&self, mixture: &SiteProcessPosterior, inputs: &DMatrix<f64>) -> FunctionAndTargetPredictions {
        mixture.predict(&self.model.to_box_units(inputs))
    }
}

/// The variance that stands for no knowledge of the sum of squares, which is not released.
const UNKNOWN: f64 = 1e300;

/// Rows whose features are computed at a time.
const BLOCK: usize = 1024;

/// Features, and the noise on their sums at the multiplier 1.
#[derive(Debug, Clone)]
pub struct FeatureMapWithSumNoise {
    pub bumps: GaussianBumpGrid,
    pub noise: NoiseAxes,
}

/// The features of both sums: `k(x)`, which targets weigh, and the plain ones at the midpoints.
#[derive(Debug, Clone)]
pub struct FeatureMapsWithSumNoise {
    pub weighted: FeatureMapWithSumNoise,
    pub plain: FeatureMapWithSumNoise,
}

impl FeatureMapWithSumNoise {
    /// The features (n x k) at inputs (n x d), along the axes of the noise.
    pub fn features_along_noise_axes(&self, inputs: &DMatrix<f64>) -> DMatrix<f64> {
        self.noise.project_onto_axes(&self.bumps.features(inputs))
    }
}

impl FeatureMapsWithSumNoise {
    /// The sums of rows with inputs (n x d) in the box, their targets clipped to a bound. No array grows with n.
    pub fn sums(&self, inputs: &DMatrix<f64>, targets: &[f64], bound: f64) -> FeatureSums {
        let mut weighted = DVector::zeros(self.weighted.bumps.len());
        let mut plain = DVector::zeros(self.plain.bumps.len());
        for start in (0..targets.len()).step_by(BLOCK) {
            let here = BLOCK.min(targets.len() - start);
            let rows = inputs.rows(start, here).into_owned();
            let clipped = targets[start..start + here].iter().map(|y| y.clamp(-bound, bound));
            let clipped = DVector::from_iterator(here, clipped);
            weighted += self.weighted.features_along_noise_axes(&rows).tr_mul(&clipped);
            plain += self.plain.features_along_noise_axes(&rows).row_sum_tr();
        }
        FeatureSums { rows: targets.len(), weighted, plain, squares: 0.0 }
    }

    /// A simulation of a release with `sigma` times the noise.
    pub fn simulate_release(&self, sums: &FeatureSums, sigma: f64, stream: &mut impl Rng) -> NoisyFeatureSums {
        self.attach_noise_variances(
            FeatureSums {
                weighted: self.weighted.noise.simulate_release(&sums.weighted, sigma, stream),
                plain: self.plain.noise.simulate_release(&sums.plain, sigma, stream),
                ..sums.clone()
            },
            sigma,
        )
    }

    /// Sums along the axes that have `sigma` times the noise on them. The number of rows is public; the sum of squares is not released.
    pub fn attach_noise_variances(&self, sums: FeatureSums, sigma: f64) -> NoisyFeatureSums {
        NoisyFeatureSums {
            sums,
            weighted: &self.weighted.noise.variances * (sigma * sigma),
            plain: &self.plain.noise.variances * (sigma * sigma),
            squares: UNKNOWN,
            rows: 0.0,
        }
    }
}

/// The most inputs that there is a grid of sites for.
const MOST_INPUTS: usize = 4;
/// The most sums that rows are counted by.
const MOST_MIDDLES: usize = 2000;

/// Checks noisy sums at these inducing inputs of the task at a path.
pub fn check_site_sums(path: &str, inducing: &[RangeSetting], setting: &CellSections) -> CheckResult {
    let sums = noisy_sums::require_sums_of_any_shape(setting, SummedValueKind::Targets)?;
    sums.check_domain_holds_inducing_inputs(inducing)?;
    let inputs = setting.data.dimensions();
    let few = inputs <= MOST_INPUTS;
    check_range("data.inputs", few, "at most 4 inputs for the posterior \"sites\"", inputs as f64)?;
    check_sum_count(&format!("{path}.inducing"), inducing, sums)?;
    let kernel = noisy_sums::require_eq_model(path, setting)?.eq_kernel_parameters();
    kernel.map_or(Ok(()), |(_, lengthscale)| check_lengthscale_resolved(lengthscale, sums.domain()?))
}

fn check_sum_count(path: &str, inducing: &[RangeSetting], sums: &SumsSetting) -> CheckResult {
    let points: usize = inducing.iter().map(|range| range.points).product();
    let middles: usize = inducing.iter().map(|range| 2 * range.points - 1).product();
    check_range(path, middles <= MOST_MIDDLES, "a grid with at most 2000 midpoints", middles as f64)?;
    sums.check_noise_shape(inducing.len(), points + middles)
}

/// A process that varies from site to site is not known by its values there.
fn check_lengthscale_resolved(lengthscale: f64, domain: &[[f64; 2]]) -> CheckResult {
    let spacing = CountingSites::grid_with_boundary(domain.len()).spacing;
    let longest = largest_or_nan(domain.iter().map(|[low, high]| spacing * (high - low)));
    let asked = "at least the distance between sites in the box";
    check_range("model.kernel.eq.lengthscale", lengthscale >= longest, asked, lengthscale)
}

#[cfg(test)]
mod tests {
    use nalgebra::DVector;
    use rand::SeedableRng;

    use super::*;
    use crate::site_sums::FeatureMapWithSumNoise;
    use dpgp_gp::PredictiveMixture;
    use dpgp_gp::variational::InducingGrid;
    use dpgp_mechanisms::NoiseAxes;

    fn model() -> GpPriorOnBox {
        GpPriorOnBox { domain: vec![[10.0, 14.0]], variance: 1.0, lengthscale: 1.0, noise_variance: 0.01 }
    }

    fn maps(variance: f64) -> FeatureMapsWithSumNoise {
        let sides = vec![(0..9).map(|place| 10.0 + 0.5 * f64::from(place)).collect()];
        let grid = InducingGrid { sides, variance: 1.0, lengthscale: 1.0 };
        let [weighted, plain] = [grid.covariance_bumps(), grid.covariance_product_bumps()]
            .map(|bumps| FeatureMapWithSumNoise { noise: NoiseAxes::spherical(bumps.len(), variance), bumps });
        FeatureMapsWithSumNoise { weighted, plain }
    }

    /// Of 4000 rows of a sine, with noise of a standard deviation on every sum.
    fn prediction(sd: f64) -> (PredictiveMixture, DVector<f64>) {
        let inputs = DMatrix::from_fn(4000, 1, |i, _| 10.0 + 4.0 * (0.618 * i as f64).fract());
        let targets: Vec<f64> = inputs.iter().map(|x| (1.5 * x).sin()).collect();
        let maps = maps(sd * sd);
        let posterior = SitePosteriorModel::new(model(), &maps);
        let mut stream = rand_pcg::Pcg64::seed_from_u64(11);
        let released = maps.simulate_release(&maps.sums(&inputs, &targets, 1.0), 1.0, &mut stream);
        let at = DMatrix::from_fn(33, 1, |i, _| 10.0 + 0.125 * i as f64);
        let mixture = posterior.condition_on_release(&released).unwrap();
        (posterior.predict(&mixture, &at).function, at.column(0).map(|x| (1.5 * x).sin()))
    }

    /// The function is close, and as close as the posterior says.
    #[test]
    fn little_noise_tells_the_function() {
        let (found, truth) = prediction(0.5);
        let errors = found.mean() - truth;
        let standardised = errors.component_div(&found.variance().map(f64::sqrt)).amax();
        assert!(errors.amax() < 0.1 && standardised < 4.0, "{errors} {standardised}");
        assert!(found.variance().max() < 0.01);
    }

    /// The posterior is the prior where noise drowns the sums.
    #[test]
    fn much_noise_tells_nothing() {
        let (found, _) = prediction(1e6);
        assert!(found.mean().amax() < 0.05 && (found.variance().min() - 1.0).abs() < 0.01);
    }

    #[test]
    fn inputs_count_at_the_edge_of_the_box() {
        let clipped = model().clip_inputs(&DMatrix::from_column_slice(3, 1, &[9.0, 11.0, 20.0]));
        assert_eq!(clipped.as_slice(), [10.0, 11.0, 14.0]);
        assert_eq!(model().to_input_units(&model().to_box_units(&clipped)), clipped);
    }
}

#[cfg(test)]
mod maps_tests {
    use rand::SeedableRng;

    use super::*;

    fn maps() -> FeatureMapsWithSumNoise {
        let [weighted, plain] =
            [vec![0.0, 1.0], vec![0.0, 0.5, 1.0]].map(|axis| GaussianBumpGrid::new(vec![axis], 0.6, 1.0));
        let turned = DMatrix::from_row_slice(2, 2, &[0.6, -0.8, 0.8, 0.6]);
        let variances = DVector::from_vec(vec![4.0, 0.25]);
        FeatureMapsWithSumNoise {
            weighted: FeatureMapWithSumNoise { noise: NoiseAxes { axes: turned, variances }, bumps: weighted },
            plain: FeatureMapWithSumNoise { noise: NoiseAxes::spherical(3, 9.0), bumps: plain },
        }
    }

    #[test]
    fn blocks_add_up_to_the_whole() {
        let maps = maps();
        for rows in [1, 1024, 2500] {
            let inputs = DMatrix::from_fn(rows, 1, |i, _| (i as f64).sin());
            let targets: Vec<f64> = (0..rows).map(|i| 3.0 * (0.7 * i as f64).cos()).collect();
            let sums = maps.sums(&inputs, &targets, 2.0);
            let clipped = DVector::from_iterator(rows, targets.iter().map(|y| y.clamp(-2.0, 2.0)));
            let [k, p] = [&maps.weighted, &maps.plain].map(|map| map.bumps.features(&inputs));
            let expected = maps.weighted.noise.axes.tr_mul(&k.tr_mul(&clipped));
            assert!((sums.weighted - expected).amax() < 1e-9 && sums.rows == rows);
            assert!((sums.plain - p.row_sum_tr()).amax() < 1e-9);
        }
    }

    /// Mean squares over 4000 releases, each of which is off by 2.2 % on average, are those that are stated.
    #[test]
    fn noise_has_the_variances_that_are_stated() {
        let (maps, mut stream) = (maps(), rand_pcg::Pcg64::seed_from_u64(2));
        let sums = maps.sums(&DMatrix::from_element(1, 1, 0.3), &[1.0], 2.0);
        let (mut weighted, mut plain) = (DVector::zeros(2), DVector::zeros(3));
        for _ in 0..4000 {
            let released = maps.simulate_release(&sums, 1.5, &mut stream);
            weighted += (&released.sums.weighted - &sums.weighted)
                .component_div(&released.weighted.map(f64::sqrt))
                .map(|z| z * z);
            plain += (&released.sums.plain - &sums.plain).map(|z| z * z / (9.0 * 2.25));
            assert_eq!(released.weighted.as_slice(), [9.0, 0.5625]);
        }
        for mean in weighted.iter().chain(plain.iter()).map(|sum| sum / 4000.0) {
            assert!((mean - 1.0).abs() < 0.1, "{mean}");
        }
    }
}
