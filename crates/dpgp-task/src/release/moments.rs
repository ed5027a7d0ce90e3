//! Predictions from Fourier moments with noise on them: inputs and target of every record are private.

use nalgebra::DMatrix;
use rand::Rng;

use super::{BeforeNoise, Predictions, PreparedRelease};
use crate::{MomentsModel, Sample, Setting, SurfacePrediction, TaskError};
use dpgp_mechanisms::PrivacySetting;
use dpgp_stream::LatticeSums;

/// The rows before their moments are taken.
///
/// Obligation: all of [`Predictions`] is computed from the noisy moments, the points and the settings, so that what is
/// guaranteed of the moments holds for it.
#[derive(Debug, Clone)]
pub(super) struct BareMoments {
    model: MomentsModel,
    points: DMatrix<f64>,
    sums: LatticeSums,
    privacy: PrivacySetting,
}

impl BareMoments {
    /// Of all rows.
    pub fn prepared(
        setting: &Setting,
        sample: &Sample,
        points: &DMatrix<f64>,
    ) -> Result<PreparedRelease, TaskError> {
        let Some(model) = MomentsModel::new(setting) else {
            return Err(TaskError::NotReleasable { reason: "it has no model of moments" });
        };
        let (sums, privacy) = (model.sums(sample)?, (*setting.privacy).clone());
        let guarantee = model.guarantee(&sums, &privacy)?;
        let moments = Self { model, points: points.clone(), sums, privacy };
        Ok(PreparedRelease {
            form: BeforeNoise::Moments(Box::new(moments)),
            certificate: guarantee.certificate,
            noise: guarantee.record,
        })
    }

    pub fn draw(&self, random: &mut impl Rng) -> Result<Predictions, TaskError> {
        let released = self.model.release(&self.sums, &self.privacy, random)?;
        let posterior = self.model.posterior(&released)?;
        let SurfacePrediction { mean, model_sd, noise_sd } = self.model.predict(&posterior, &self.points)?;
        Ok(Predictions { mean, gp_sd: model_sd, noise_sd })
    }
}
