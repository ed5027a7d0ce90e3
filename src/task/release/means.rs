//! Predictions that get noise of their own.

use nalgebra::{DMatrix, DVector};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use super::{Form, Predictions, PreparedRelease, rounded};
use crate::spec::Setting;
use crate::task::noise::Noise;
use crate::task::normalise::{caveats, normalise};
use crate::task::{Sample, Streams, TaskError, model};

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
        setting: &Setting,
        sample: &Sample,
        points: &DMatrix<f64>,
        streams: &Streams,
    ) -> Result<PreparedRelease, TaskError> {
        let Some(model) = setting.model.as_deref() else {
            return Err(TaskError::NotReleasable { reason: "it has no model" });
        };
        let normalised = normalise(&sample.targets, &setting.normalise);
        let kernel = model::kernel(&model.kernel, &sample.inputs);
        let pair = (&sample.inputs, points);
        let map = model::map(model, kernel.as_ref(), pair, streams, PURPOSE)?;
        let variance = model::variance(model, kernel.as_ref(), pair, streams, PURPOSE)?;
        let noise = Noise::new(setting, (model, kernel.as_ref()), pair, &map, (streams, PURPOSE))?;
        let mean = noise.released_columns(&map) * map.sum_groups(&normalised.targets);
        let sigma = setting.privacy.calibration.sigma(setting.privacy.epsilon, setting.privacy.delta);
        let means = Self {
            mean: mean.map(|m| m * normalised.scale + normalised.centre),
            gp_sd: variance.iter().map(|v| v.sqrt() * normalised.scale).collect(),
            map: &noise.map * (setting.privacy.change() * sigma),
        };
        Ok(PreparedRelease {
            form: Form::Means(means),
            certificate: noise.certificate(&setting.privacy, &caveats(setting, &normalised)),
            mu: noise.ratio / sigma,
        })
    }

    pub fn is_finite(&self) -> bool {
        self.mean.iter().chain(&self.gp_sd).chain(&self.map).all(|x| x.is_finite())
    }

    pub fn draw(&self, random: &mut impl Rng) -> Predictions {
        let unit = DVector::from_fn(self.map.ncols(), |_, _| StandardNormal.sample(random));
        let noisy = &self.mean + &self.map * unit;
        let noise_sd: Vec<f64> = self.map.row_iter().map(|row| row.norm()).collect();
        let mean = noisy.iter().zip(&noise_sd).map(|(mean, sd)| rounded(*mean, *sd)).collect();
        Predictions { mean, gp_sd: self.gp_sd.clone(), noise_sd }
    }
}
