//! A process on the public box, given noisy sums.

use std::sync::Arc;

use nalgebra::DMatrix;

use super::ReleasedMaps;
use crate::model::noise_variance;
use crate::{Job, TaskError};
use dpgp_gp::kernel::ExponentiatedQuadratic;
use dpgp_gp::sites::{
    BetweenSites, CountSites, Graded, HyperGrid, MixturePrediction, NoisyFeatures, SiteFeatures, SiteInputs,
    SiteKernel, SiteMixture, site_mixture,
};
use dpgp_linalg::LinalgError;

/// What is known of a process before any release.
#[derive(Debug, Clone)]
pub struct BoxModel {
    /// The ends of the public box along each input.
    pub domain: Vec<[f64; 2]>,
    /// Of an exponentiated quadratic kernel.
    pub variance: f64,
    pub lengthscale: f64,
    pub noise_variance: f64,
}

/// The posterior for any release of some sums.
pub struct SitePosterior {
    model: BoxModel,
    features: SiteFeatures,
    hyperparameters: HyperGrid,
}

impl BoxModel {
    /// Of a job with noisy sums on a public box.
    ///
    /// # Errors
    /// [`TaskError::Missing`], which the checks of a spec rule out.
    pub fn new(job: &Job<'_>) -> Result<Self, TaskError> {
        let (variance, lengthscale) = job.exponentiated_quadratic()?;
        let domain = job.sums()?.domain().map_err(|_| TaskError::Missing { needed: "a public box" })?;
        Ok(Self {
            domain: domain.to_vec(),
            variance,
            lengthscale,
            noise_variance: noise_variance(job.model()?)?,
        })
    }

    /// Inputs (n x d) at their nearest place in the box.
    pub fn clipped(&self, inputs: &DMatrix<f64>) -> DMatrix<f64> {
        let mut clipped = inputs.clone();
        for (mut column, [low, high]) in clipped.column_iter_mut().zip(&self.domain) {
            column.iter_mut().for_each(|x| *x = x.clamp(*low, *high));
        }
        clipped
    }

    /// Inputs (n x d) in units of the box.
    fn units(&self, inputs: &DMatrix<f64>) -> DMatrix<f64> {
        let mut units = inputs.clone();
        for (mut column, [low, high]) in units.column_iter_mut().zip(&self.domain) {
            column.iter_mut().for_each(|x| *x = (*x - low) / (high - low));
        }
        units
    }

    /// Places of the unit box (n x d) in units of the inputs.
    fn inputs(&self, units: &DMatrix<f64>) -> DMatrix<f64> {
        let mut inputs = units.clone();
        for (mut column, [low, high]) in inputs.column_iter_mut().zip(&self.domain) {
            column.iter_mut().for_each(|x| *x = low + (high - low) * *x);
        }
        inputs
    }

    /// The one choice of hyperparameters, which are known.
    fn hyperparameters(&self) -> HyperGrid {
        let lengthscales = self.domain.iter().map(|[low, high]| self.lengthscale / (high - low)).collect();
        let correlations = Arc::new(ExponentiatedQuadratic::ard(1.0, lengthscales));
        HyperGrid {
            kernels: vec![SiteKernel { correlations, log_prior: 0.0 }],
            variances: vec![Graded { value: self.variance, log_prior: 0.0 }],
            noises: vec![Graded { value: self.noise_variance, log_prior: 0.0 }],
            steps: 1,
            bias: 0.0,
            first: self.variance,
        }
    }
}

impl SitePosterior {
    /// From sums of these features.
    pub fn new(model: BoxModel, maps: &ReleasedMaps) -> Self {
        let sites = CountSites::to_the_ends(model.domain.len());
        let inputs = model.inputs(&sites.places);
        let features = SiteFeatures {
            weighted: maps.weighted.features(&inputs),
            plain: maps.plain.features(&inputs),
            between: Some(BetweenSites::of_features(&sites, |places| {
                maps.plain.features(&model.inputs(places))
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
    pub fn given(&self, released: &NoisyFeatures) -> Result<SiteMixture, LinalgError> {
        let inputs = SiteInputs::new(&self.features, released)?;
        site_mixture(&self.features, released, &inputs, &self.hyperparameters)
    }

    /// At inputs (t x d).
    pub fn predict(&self, mixture: &SiteMixture, inputs: &DMatrix<f64>) -> MixturePrediction {
        mixture.predict(&self.model.units(inputs))
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DVector;
    use rand::SeedableRng;

    use super::*;
    use crate::site_sums::ReleasedMap;
    use dpgp_gp::Predictive;
    use dpgp_gp::variational::InducingGrid;
    use dpgp_mechanisms::NoiseAxes;

    fn model() -> BoxModel {
        BoxModel { domain: vec![[10.0, 14.0]], variance: 1.0, lengthscale: 1.0, noise_variance: 0.01 }
    }

    fn maps(variance: f64) -> ReleasedMaps {
        let sides = vec![(0..9).map(|place| 10.0 + 0.5 * f64::from(place)).collect()];
        let grid = InducingGrid { sides, variance: 1.0, lengthscale: 1.0 };
        let [weighted, plain] = [grid.covariances(), grid.midpoints()]
            .map(|bumps| ReleasedMap { noise: NoiseAxes::spherical(bumps.len(), variance), bumps });
        ReleasedMaps { weighted, plain }
    }

    /// Of 4000 rows of a sine, with noise of a standard deviation on every sum.
    fn prediction(sd: f64) -> (Predictive, DVector<f64>) {
        let inputs = DMatrix::from_fn(4000, 1, |i, _| 10.0 + 4.0 * (0.618 * i as f64).fract());
        let targets: Vec<f64> = inputs.iter().map(|x| (1.5 * x).sin()).collect();
        let maps = maps(sd * sd);
        let posterior = SitePosterior::new(model(), &maps);
        let mut stream = rand_pcg::Pcg64::seed_from_u64(11);
        let released = maps.released(&maps.sums(&inputs, &targets, 1.0), 1.0, &mut stream);
        let at = DMatrix::from_fn(33, 1, |i, _| 10.0 + 0.125 * i as f64);
        let mixture = posterior.given(&released).unwrap();
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
        let clipped = model().clipped(&DMatrix::from_column_slice(3, 1, &[9.0, 11.0, 20.0]));
        assert_eq!(clipped.as_slice(), [10.0, 11.0, 14.0]);
        assert_eq!(model().inputs(&model().units(&clipped)), clipped);
    }
}
