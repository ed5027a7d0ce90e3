//! Predictions from sums with noise on them: inputs and target of every record are private.

use nalgebra::DMatrix;
use rand::Rng;

use super::{BeforeNoise, Predictions, PreparedRelease};
use crate::Setting;
use crate::{Sample, SurfaceModel, TaskError};
use dpgp_mechanisms::SumsNoise;
use dpgp_stream::Sums;

/// The sums before their noise.
///
/// Obligation: all of [`Predictions`] is computed from the noisy sums, the points and the settings, so that what is
/// guaranteed of the sums holds for it.
#[derive(Debug, Clone)]
pub(super) struct BareSums {
    model: SurfaceModel,
    points: DMatrix<f64>,
    sums: Sums,
    noise: SumsNoise,
}

impl BareSums {
    /// Sums over all rows.
    pub fn prepared(
        setting: &Setting,
        sample: &Sample,
        points: &DMatrix<f64>,
    ) -> Result<PreparedRelease, TaskError> {
        let Some(model) = SurfaceModel::new(setting) else {
            return Err(TaskError::NotReleasable { reason: "it has no model of a surface" });
        };
        let guarantee = model.guarantee(&setting.privacy);
        let (points, sums) = (points.clone(), model.sums(sample)?);
        let sums = Self { model, points, sums, noise: guarantee.noise };
        Ok(PreparedRelease {
            form: BeforeNoise::Sums(Box::new(sums)),
            certificate: guarantee.certificate,
            noise: guarantee.record,
        })
    }

    pub fn is_finite(&self) -> bool {
        self.noise.sd_a.is_finite() && self.noise.sd_b.is_finite()
    }

    /// The standard deviation of the noise is what the posterior, which knows the noise on the sums, has in addition to
    /// one that takes them as exact.
    pub fn draw(&self, random: &mut impl Rng) -> Result<Predictions, TaskError> {
        let Self { model, points, sums, noise } = self;
        let noisy = noise.release_whole(sums.whole(model.summand().units()), random)?;
        let inducing = model.inducing()?;
        let located = inducing.locate(points);
        let posterior = model.posterior(&inducing, &noisy)?;
        let added = model.added(&inducing, &noisy, &posterior)?;
        let (all, added) = (posterior.predict(&located), located.forms(&added));
        let noise_sd: Vec<f64> = added.iter().map(|v| model.sd(*v)).collect();
        let mean = all.mean.iter().map(|m| model.in_units(*m)).collect();
        let gp_sd = all.variance.iter().zip(&added).map(|(v, a)| model.sd(v - a.max(0.0))).collect();
        Ok(Predictions { mean, gp_sd, noise_sd })
    }
}
