//! One private release of predictions by a model that is fitted to all rows.

use nalgebra::{DMatrix, DVector};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use super::noise::Noise;
use super::normalise::{caveats, normalise};
use super::{Sample, Streams, TaskError, model};
use crate::privacy::Certificate;
use crate::spec::{DrawSetting, MechanismSetting, ModelSetting, Setting, SourceSetting, TaskSetting};

/// The stream of the inducing inputs, which depend on public inputs alone.
const PURPOSE: &str = "release";

/// Half the width of a central interval of 95 % over the standard deviation.
const CENTRAL_95: f64 = 1.959_963_984_540_054;

/// Predictions before their noise, which must never be shown, and the noise that they get.
///
/// Obligation: the released mean, as a function of the targets, is covered by the noise of `map` as the certificate
/// says; everything else in [`Predictions`] depends on public inputs and settings alone.
#[derive(Debug, Clone)]
pub struct PreparedRelease {
    mean: DVector<f64>,
    gp_sd: Vec<f64>,
    /// Turns standard normal draws into noise, in units of the target (t x r).
    map: DMatrix<f64>,
    /// What is guaranteed.
    pub certificate: Certificate,
    /// The sensitivity over the standard deviation of the noise, by which releases compose.
    pub mu: f64,
}

/// Predictions with their noise, in units of the target, a value for each point.
#[derive(Debug, Clone, PartialEq)]
pub struct Predictions {
    /// The mean with the noise on it.
    pub mean: Vec<f64>,
    /// Standard deviation of the latent function under the model.
    pub gp_sd: Vec<f64>,
    /// Standard deviation of the noise.
    pub noise_sd: Vec<f64>,
}

impl Predictions {
    /// The central interval of 95 % of the latent function at a point, the variances of model and noise added.
    pub fn interval(&self, point: usize) -> (f64, f64) {
        let half = CENTRAL_95 * self.gp_sd[point].hypot(self.noise_sd[point]);
        (self.mean[point] - half, self.mean[point] + half)
    }
}

impl PreparedRelease {
    /// Fits the model to all rows of the sample and designs the noise at the points (t x d).
    ///
    /// # Errors
    /// [`TaskError`] if a factorisation fails, a release is refused or a number overflows.
    pub fn new(
        setting: &Setting,
        sample: &Sample,
        points: &DMatrix<f64>,
        streams: &Streams,
    ) -> Result<Self, TaskError> {
        let Some(model) = setting.model.as_deref() else {
            return Err(TaskError::NotReleasable { reason: "it has no model" });
        };
        if let Some(reason) = refusal(setting) {
            return Err(TaskError::NotReleasable { reason });
        }
        let release = Self::fitted((setting, model), sample, points, streams)?;
        let finite = release.mean.iter().chain(&release.gp_sd).chain(&release.map).all(|x| x.is_finite());
        if finite && release.certificate.is_finite() && release.mu > 0.0 {
            return Ok(release);
        }
        Err(TaskError::NotFinite { metric: "a prediction".to_owned() })
    }

    fn fitted(
        (setting, model): (&Setting, &ModelSetting),
        sample: &Sample,
        points: &DMatrix<f64>,
        streams: &Streams,
    ) -> Result<Self, TaskError> {
        let normalised = normalise(&sample.targets, &setting.normalise);
        let kernel = model::kernel(&model.kernel, &sample.inputs);
        let pair = (&sample.inputs, points);
        let map = model::map(model, kernel.as_ref(), pair, streams, PURPOSE)?;
        let variance = model::variance(model, kernel.as_ref(), pair, streams, PURPOSE)?;
        let noise = Noise::new(setting, (model, kernel.as_ref()), pair, &map, (streams, PURPOSE))?;
        let columns = noise.columns.as_ref().unwrap_or(map.columns());
        let mean = columns * map.sum_groups(&normalised.targets);
        let sigma = setting.privacy.calibration.sigma(setting.privacy.epsilon, setting.privacy.delta);
        Ok(Self {
            mean: mean.map(|m| m * normalised.scale + normalised.centre),
            gp_sd: variance.iter().map(|v| v.sqrt() * normalised.scale).collect(),
            map: &noise.map * (setting.privacy.change() * sigma),
            certificate: noise.certificate(&setting.privacy, &caveats(setting, &normalised)),
            mu: noise.ratio / sigma,
        })
    }

    /// Draws the noise. Who knows the state of `random` can subtract it: a release needs the operating system's.
    pub fn draw(&self, random: &mut impl Rng) -> Predictions {
        let unit = DVector::from_fn(self.map.ncols(), |_, _| StandardNormal.sample(random));
        Predictions {
            mean: (&self.mean + &self.map * unit).iter().copied().collect(),
            gp_sd: self.gp_sd.clone(),
            noise_sd: self.map.row_iter().map(|row| row.norm()).collect(),
        }
    }
}

/// Why a setting describes no release of predictions, if it does not.
pub fn refusal(setting: &Setting) -> Option<&'static str> {
    if !matches!(&*setting.task, TaskSetting::Regression(_) | TaskSetting::Prediction(_)) {
        return Some("its task is neither regression nor prediction");
    }
    let mechanism = &setting.privacy.mechanism;
    if !matches!(mechanism, MechanismSetting::Cloaking(_) | MechanismSetting::Function(_)) {
        return Some("its mechanism is neither cloaking nor function");
    }
    if setting.privacy.epsilon.is_infinite() {
        return Some("its epsilon is infinite, so nothing would be private");
    }
    if matches!(setting.data.source, SourceSetting::Synthetic(_) | SourceSetting::Images(_)) {
        return Some("its data are generated or images");
    }
    matches!(setting.data.draw, Some(DrawSetting::Rows(_) | DrawSetting::Quotas(_)))
        .then_some("data.draw leaves rows out by chance; a release is fitted to all rows")
}
