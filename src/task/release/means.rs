//! Predictions that get noise of their own.

use nalgebra::{DMatrix, DVector};
use rand::Rng;

use super::{BeforeNoise, Predictions, PreparedRelease, rounded};
use crate::setting::Sections;
use crate::task::model::Process;
use crate::task::noise::Noise;
use crate::task::normalise::{caveats, normalise};
use crate::task::streams::normal_vector;
use crate::task::{OneTarget, Sample, Streams, TaskError};

/// The stream of the inducing inputs, which depend on public inputs alone.
const PURPOSE: &str = "release";

/// Predictions before their noise.
///
/// Obligation: the released mean, as a function of the targets, is covered by the noise of `map` as the certificate
/// says; everything else in [`Predictions`] depends on public inputs and settings alone.
#[derive(Debug, Clone)]
pub(super) struct Means {
    pub mean: DVector<f64>,
    gp_sd: Vec<f64>,
    /// Turns standard normal draws into noise, in units of the target (t x r).
    pub map: DMatrix<f64>,
}

impl Means {
    /// Fits the model to all rows.
    pub fn prepared(
        setting: &Sections,
        sample: &Sample,
        points: &DMatrix<f64>,
        streams: &Streams,
    ) -> Result<PreparedRelease, TaskError> {
        let Some(model) = setting.model.as_deref() else {
            return Err(TaskError::NotReleasable { reason: "it has no model" });
        };
        let normalised = normalise(&sample.targets, &setting.normalise);
        let kernel = model.kernel.covariance(&sample.inputs);
        let process = Process::new(model, kernel.as_ref(), &sample.inputs, streams, PURPOSE);
        let map = process.map(points)?;
        let noise = Noise::new(&setting.privacy.mechanism, &process, points, &map)?;
        let mean = noise.released_columns(&map) * map.sum_groups(&normalised.targets);
        let target = OneTarget::of(&setting.privacy)?;
        let means = Self {
            mean: mean.map(|m| normalised.in_units(m)),
            gp_sd: process.variance(points)?.iter().map(|v| v.sqrt() * normalised.scale).collect(),
            map: &noise.map * target.scale(),
        };
        Ok(PreparedRelease {
            form: BeforeNoise::Means(means),
            certificate: noise.certificate(target, &caveats(setting, &normalised)),
            mu: noise.ratio / target.sigma(),
        })
    }

    pub fn is_finite(&self) -> bool {
        self.mean.iter().chain(&self.gp_sd).chain(&self.map).all(|x| x.is_finite())
    }

    pub fn draw(&self, random: &mut impl Rng) -> Predictions {
        let noisy = &self.mean + &self.map * normal_vector(self.map.ncols(), random);
        let noise_sd: Vec<f64> = self.map.row_iter().map(|row| row.norm()).collect();
        let mean = noisy.iter().zip(&noise_sd).map(|(mean, sd)| rounded(*mean, *sd)).collect();
        Predictions { mean, gp_sd: self.gp_sd.clone(), noise_sd }
    }
}
