//! The surface that follows from noisy moments.

use nalgebra::DMatrix;

use super::reference::within_box;
use super::{MomentsModel, ReleasedMoments};
use crate::MechanismError;
use dpgp_gp::sites::{HyperGrid, MixturePrediction, SiteInputs, SiteMixture, site_mixture};

/// The surface at some points, in units of the target.
#[derive(Debug, Clone, PartialEq)]
pub struct SurfacePrediction {
    /// Means.
    pub mean: Vec<f64>,
    /// Standard deviations of the function under the model, if sums and counts were known without noise.
    pub model_sd: Vec<f64>,
    /// What the noise adds to them, in the root of a sum of squares.
    pub noise_sd: Vec<f64>,
}

impl MomentsModel {
    /// The processes that follow from released moments.
    ///
    /// # Errors
    /// [`MechanismError::Linalg`] if a covariance cannot be factorised.
    pub fn posterior(&self, released: &ReleasedMoments) -> Result<SiteMixture, MechanismError> {
        let rows = usize::try_from(released.rows).unwrap_or(usize::MAX);
        self.mixture(released, &HyperGrid::around(&self.reference(rows)?))
    }

    /// The weight of each choice of a grid by the evidence of released moments, by lengthscale, then by variance, then by noise.
    ///
    /// # Errors
    /// [`MechanismError::Linalg`] if a covariance cannot be factorised.
    pub fn weights(&self, released: &ReleasedMoments, grid: &HyperGrid) -> Result<Vec<f64>, MechanismError> {
        Ok(self.mixture(released, grid)?.weights().to_vec())
    }

    fn mixture(&self, released: &ReleasedMoments, grid: &HyperGrid) -> Result<SiteMixture, MechanismError> {
        let (features, noisy) = released.seen(self.is_additive());
        let inputs = SiteInputs::new(&features, &noisy)?;
        Ok(site_mixture(&features, &noisy, &inputs, grid)?)
    }

    /// The surface at points (t x d), in units of the inputs.
    ///
    /// # Errors
    /// [`MechanismError::Linalg`] if a covariance cannot be factorised.
    pub fn predict(
        &self,
        posterior: &SiteMixture,
        points: &DMatrix<f64>,
    ) -> Result<SurfacePrediction, MechanismError> {
        let points = within_box(points, &self.mechanism().domain);
        let function = posterior.predict(&points).function;
        let of_model = posterior.variance_without_noise(&points)?;
        let scale = self.summand().targets.scale;
        let (mut model_sd, mut noise_sd) = (Vec::new(), Vec::new());
        for (variance, of_model) in function.variance().iter().zip(of_model.iter()) {
            let of_model = of_model.min(*variance);
            model_sd.push(scale * of_model.sqrt());
            noise_sd.push(scale * (variance - of_model).sqrt());
        }
        let mean = function.mean().iter().map(|mean| self.in_units(*mean)).collect();
        Ok(SurfacePrediction { mean, model_sd, noise_sd })
    }

    /// The function and targets at points (t x d), in units of the model.
    pub fn predicted(&self, posterior: &SiteMixture, points: &DMatrix<f64>) -> MixturePrediction {
        posterior.predict(&within_box(points, &self.mechanism().domain))
    }

    /// The means alone, at as many points as there are.
    pub fn means(&self, posterior: &SiteMixture, points: &DMatrix<f64>) -> Vec<f64> {
        let points = within_box(points, &self.mechanism().domain);
        posterior.means(&points).iter().map(|mean| self.in_units(*mean)).collect()
    }

    /// A value of the model in units of the target.
    pub fn in_units(&self, value: f64) -> f64 {
        self.summand().targets.centre + self.summand().targets.scale * value
    }
}
