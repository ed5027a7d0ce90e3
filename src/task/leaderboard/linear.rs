//! Predictions that are linear in the targets, under cloaking or with a sample of the process added.

use nalgebra::DVector;
use rand_pcg::Pcg64;

use super::method::{Leaderboard, Method};
use crate::gp::variational::Prediction;
use crate::privacy::Certificate;
use crate::setting::{ModelSetting, PrivacySetting};
use crate::task::cross_validation::FoldRows;
use crate::task::model::Process;
use crate::task::noise::Noise;
use crate::task::streams::normal_vector;
use crate::task::{Certified, Job, OneTarget, Sampled, TaskError};

/// A Gaussian process whose mean is released with noise.
pub(super) struct NoisyRegression {
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

impl NoisyRegression {
    pub fn new(context: &Leaderboard<'_>, model: &ModelSetting, rows: &FoldRows) -> Result<Self, TaskError> {
        let Job { setting, streams, .. } = *context.job;
        let kernel = model.kernel.covariance(&rows.inputs);
        let process = Process::new(model, kernel.as_ref(), &rows.inputs, streams, &rows.purpose());
        let map = process.map(&rows.test)?;
        let noise = Noise::new(&setting.privacy.mechanism, &process, &rows.test, &map)?;
        let sums = map.sum_groups(&rows.targets);
        Ok(Self {
            plain: map.columns() * &sums,
            released: noise.released_columns(&map) * sums,
            variance: DVector::from_vec(process.variance(&rows.test)?),
            spread: noise.standard_deviations().map(|sd| sd * sd),
            noise,
            scale: context.scale,
            jitter: map.jitter(),
        })
    }

    /// One run for a guarantee.
    pub fn release(&self, target: OneTarget, stream: &mut Pcg64) -> Prediction {
        if !target.is_private() {
            return Prediction { mean: self.plain.clone(), variance: self.variance.clone() };
        }
        let scale = target.change / self.scale * target.sigma();
        let noise = &self.noise.map * normal_vector(self.noise.map.ncols(), stream) * scale;
        Prediction { mean: &self.released + noise, variance: &self.variance + &self.spread * (scale * scale) }
    }

    /// The certificate of such a run.
    pub fn certificate(&self, target: OneTarget) -> Certificate {
        self.noise.certificate(target, &[])
    }

    /// What such a run samples.
    pub fn sampled(&self, target: OneTarget) -> Sampled {
        self.noise.sampled(target.scale(), target.change)
    }
}

impl Method for NoisyRegression {
    fn run(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<Prediction, TaskError> {
        Ok(self.release(OneTarget::of(cell)?, stream))
    }

    fn certified(&self, job: &Job<'_>, cell: &PrivacySetting) -> Result<Certified, TaskError> {
        let target = OneTarget::of(cell)?;
        job.certify(self.certificate(target), || vec![self.sampled(target)])
    }

    fn jitter(&self) -> f64 {
        self.jitter
    }
}
