//! Private predictions from noisy Fourier moments or noisy sums. Inputs and target of every record are private.

use nalgebra::DMatrix;
use rand::Rng;

use super::{ErrorAveragingDomain, ExpectedErrors, Predictions, ReleasePreview, UnnoisedRelease, UnnoisedValues};
use crate::{CellSetting, Sample, SurfaceModel, TaskError};
use dpgp_gp::sites::site_points;
use dpgp_mechanisms::{LEAST_SIGMA, MomentsModel, PrivacySetting, SumsNoise, SurfacePrediction};
use dpgp_number::Epsilon;
use dpgp_stream::{KernelSums, LatticeSums};

/// The rows before their moments are computed.
///
/// Obligation: all of [`Predictions`] is computed from the noisy moments, the points and the settings, so that the guarantee of
/// the moments holds for it.
#[derive(Debug, Clone)]
pub(super) struct UnnoisedMoments {
    model: MomentsModel,
    points: DMatrix<f64>,
    sums: LatticeSums,
    privacy: PrivacySetting,
}

impl UnnoisedMoments {
    /// Sums all rows and computes the guarantee.
    pub fn prepare_release(
        setting: &CellSetting,
        sample: &Sample,
        points: &DMatrix<f64>,
    ) -> Result<UnnoisedRelease, TaskError> {
        let Some(model) = MomentsModel::new(setting) else {
            return Err(TaskError::NotReleasable { reason: "its mechanism is not mechanism.moments" });
        };
        let (sums, privacy) = (model.sum_rows_on_lattice(sample.columns())?, (*setting.privacy).clone());
        let guarantee = model.certified_noise(&sums, &privacy)?;
        let moments = Self { model, points: points.clone(), sums, privacy };
        Ok(UnnoisedRelease {
            form: UnnoisedValues::Moments(Box::new(moments)),
            certificate: guarantee.certificate,
            noise: guarantee.record,
        })
    }

    pub fn draw(&self, random: &mut impl Rng) -> Result<Predictions, TaskError> {
        let released = self.model.release(&self.sums, &self.privacy, random)?;
        let posterior = self.model.posterior(&released)?;
        let SurfacePrediction { mean, model_sd, noise_sd } = self.model.predict(&posterior, &self.points)?;
        Ok(Predictions { mean, gp_sd: model_sd, noise_sd, least: None, combinations: None })
    }
}

/// Estimates the errors of the surface over the whole box for this number of rows, before any release.
///
/// # Errors
/// [`TaskError`] if no design can be computed.
pub fn preview_moments(
    model: &MomentsModel,
    rows: usize,
    epsilons: &[Epsilon],
    cell: &PrivacySetting,
) -> Result<ReleasePreview, TaskError> {
    let unit = model.summand().targets.scale;
    let reference = model.reference_model(model.public_row_count(rows))?;
    let exact = model.design_moments(&reference, LEAST_SIGMA)?.risk().max(0.0);
    let mut expected = Vec::with_capacity(epsilons.len());
    // The mean covariance of two random places in the box is that of one place with the mean over all.
    let sites = site_points(reference.kernel.dimensions());
    let alike = reference.kernel.correlation_kernel(1.0).matrix(&sites, &sites).mean();
    let of_mean = reference.kernel.variance() * (1.0 - alike) + reference.noise_variance / reference.rows as f64;
    for &epsilon in epsilons {
        let sigma = model.row_noise_multiplier(&PrivacySetting { epsilon, ..cell.clone() });
        // One row moves the sum of targets by at most the distance of both bounds.
        let added = sigma * 2.0 * reference.bound / reference.rows as f64;
        let design = model.design_moments(&reference, sigma)?;
        let risk = design.risk().max(exact);
        let least = model.risk_lower_bound(&reference, sigma)?.map(|least| least.min(risk));
        expected.push(ExpectedErrors {
            epsilon,
            noise: unit * (risk - exact).sqrt(),
            error: unit * risk.sqrt(),
            least: least.map(|least| unit * least.sqrt()),
            constant: unit * (of_mean + added * added).sqrt(),
            released: design.released_number_count(),
        });
    }
    let prior = unit * (reference.kernel.variance() + reference.bias).sqrt();
    Ok(ReleasePreview { over: ErrorAveragingDomain::Box, prior, expected, without_privacy: unit * exact.sqrt() })
}

/// The sums before their noise.
///
/// Obligation: all of [`Predictions`] is computed from the noisy sums, the points and the settings, so that the guarantee of the
/// sums holds for it.
#[derive(Debug, Clone)]
pub(super) struct UnnoisedSums {
    model: SurfaceModel,
    points: DMatrix<f64>,
    sums: KernelSums,
    noise: SumsNoise,
}

impl UnnoisedSums {
    /// Sums all rows and computes the guarantee.
    pub fn prepare_release(
        setting: &CellSetting,
        sample: &Sample,
        points: &DMatrix<f64>,
    ) -> Result<UnnoisedRelease, TaskError> {
        let Some(model) = SurfaceModel::new(setting) else {
            return Err(TaskError::NotReleasable { reason: "its task is not task.surface" });
        };
        let guarantee = model.certified_noise(&setting.privacy);
        let (points, sums) = (points.clone(), model.sums(sample)?);
        let sums = Self { model, points, sums, noise: guarantee.noise };
        Ok(UnnoisedRelease {
            form: UnnoisedValues::Sums(Box::new(sums)),
            certificate: guarantee.certificate,
            noise: guarantee.record,
        })
    }

    pub fn is_finite(&self) -> bool {
        self.noise.sd_a.is_finite() && self.noise.sd_b.is_finite()
    }

    /// Draws the noise and predicts. The posterior knows the noise on the sums. `noise_sd` is its additional standard
    /// deviation compared with a posterior for exact sums, as a difference of variances.
    pub fn draw(&self, random: &mut impl Rng) -> Result<Predictions, TaskError> {
        let Self { model, points, sums, noise } = self;
        let noisy = noise.release_integers(sums.as_integer_sums(model.summand().units()), random)?;
        let inducing = model.factorise_inducing()?;
        let located = inducing.covariances_with_conditional_variances(points);
        let posterior = model.posterior(&inducing, &noisy)?;
        let added = model.weight_noise_covariance(&inducing, &noisy, &posterior)?;
        let (all, added) = (posterior.predict(&located), located.quadratic_forms(&added));
        let noise_sd: Vec<f64> = added.iter().map(|v| model.sd_in_target_units(*v)).collect();
        let mean = all.mean.iter().map(|m| model.to_target_units(*m)).collect();
        let gp_sd = all.variance.iter().zip(&added).map(|(v, a)| model.sd_in_target_units(v - a.max(0.0))).collect();
        Ok(Predictions { mean, gp_sd, noise_sd, least: None, combinations: None })
    }
}
