//! Predictions that are linear in the targets, under cloaking or with a sample of the process added.

use nalgebra::DVector;
use rand_pcg::Pcg64;

use super::super::noise::Noise;
use super::super::witness::record;
use super::super::{TaskError, model};
use super::{Context, Method, Rows, unit};
use crate::gp::variational::Prediction;
use crate::privacy::Certificate;
use crate::spec::{ModelSetting, PrivacySetting};

/// A Gaussian process whose mean is released with noise.
pub(super) struct Linear {
    /// The mean without privacy, and the mean that is released.
    plain: DVector<f64>,
    released: DVector<f64>,
    /// Variances of the latent function.
    variance: DVector<f64>,
    noise: Noise,
    /// Its variances at multiplier 1 and change 1.
    spread: DVector<f64>,
    /// Units of the target per unit of the normalised one.
    scale: f64,
    jitter: f64,
}

impl Linear {
    pub fn new(context: &Context<'_>, setting: &ModelSetting, rows: &Rows) -> Result<Self, TaskError> {
        let kernel = model::kernel(&setting.kernel, &rows.inputs);
        let pair = (&rows.inputs, &rows.test);
        let purpose = format!("fold {}", rows.number);
        let map = model::map(setting, kernel.as_ref(), pair, context.streams, &purpose)?;
        let variance = model::variance(setting, kernel.as_ref(), pair, context.streams, &purpose)?;
        let noise =
            Noise::new(context.block, (setting, kernel.as_ref()), pair, &map, (context.streams, &purpose))?;
        let sums = map.sum_groups(&rows.targets);
        Ok(Self {
            plain: map.columns() * &sums,
            released: noise.released_columns(&map) * sums,
            variance: DVector::from_vec(variance),
            spread: noise.standard_deviations().map(|sd| sd * sd),
            noise,
            scale: context.scale,
            jitter: map.jitter(),
        })
    }

    /// One run with the release's share of the budget.
    pub fn release(&self, cell: &PrivacySetting, epsilon: f64, stream: &mut Pcg64) -> Prediction {
        if epsilon.is_infinite() {
            return Prediction { mean: self.plain.clone(), variance: self.variance.clone() };
        }
        let scale = cell.change() / self.scale * cell.calibration.sigma(epsilon, cell.delta);
        let noise = &self.noise.map * unit(self.noise.map.ncols(), stream) * scale;
        Prediction { mean: &self.released + noise, variance: &self.variance + &self.spread * (scale * scale) }
    }

    /// The certificate of the release alone, with this epsilon.
    pub fn guarantee(&self, cell: &PrivacySetting, epsilon: f64) -> Certificate {
        let share = PrivacySetting { epsilon, ..cell.clone() };
        let scale = cell.change() * cell.calibration.sigma(epsilon, cell.delta);
        record(cell, || self.noise.sampled(scale, cell.change()));
        self.noise.certificate(&share, &[])
    }
}

impl Method for Linear {
    fn run(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<Prediction, TaskError> {
        Ok(self.release(cell, cell.epsilon, stream))
    }

    fn certificate(&self, cell: &PrivacySetting) -> Certificate {
        if cell.epsilon.is_infinite() { Certificate::none() } else { self.guarantee(cell, cell.epsilon) }
    }

    fn jitter(&self) -> f64 {
        self.jitter
    }
}
