//! Predictions that are linear in the targets, under cloaking or with a sample of the process added.

use nalgebra::DVector;
use rand_pcg::Pcg64;

use super::method::{Leaderboard, Method};
use super::predicted::Predicted;
use crate::cross_validation::FoldRows;
use crate::model::{Fitted, Process};
use crate::noises::{Designer, Noises};
use crate::streams::normal_vector;
use crate::{Certified, Job, OneTarget, Sampled, TaskError};
use dpgp_accounting::Certificate;
use dpgp_gp::LinearMap;
use dpgp_gp::variational::Prediction;
use dpgp_mechanisms::PrivacySetting;
use dpgp_spec::setting::ModelSetting;

/// A Gaussian process whose mean is released with noise.
pub(super) struct NoisyRegression {
    map: LinearMap,
    /// The sums of the targets of equal inputs.
    sums: DVector<f64>,
    /// Variances of the latent function.
    variance: DVector<f64>,
    noises: Noises,
    /// Units of the target per unit of the normalised one.
    scale: f64,
}

impl NoisyRegression {
    pub fn new(context: &Leaderboard<'_>, model: &ModelSetting, rows: &FoldRows) -> Result<Self, TaskError> {
        let setting = context.job.setting;
        let kernel = model.kernel.covariance(&rows.inputs);
        let process =
            Process::new(model, kernel.as_ref(), &rows.inputs, context.job.placing(&rows.purpose()));
        let Fitted { map, variance } = process.fitted(&rows.test)?;
        let cells = context.job.cells.iter().map(|cell| Ok(OneTarget::of(cell)?.scale() / context.scale));
        let scales = cells.collect::<Result<Vec<f64>, TaskError>>()?;
        let mechanism = &setting.privacy.mechanism;
        let denoise = mechanism.denoises_experiments();
        let designer =
            Designer { mechanism, process: &process, test: &rows.test, map: &map, denoise, weights: None };
        Ok(Self {
            noises: designer.noises(&scales)?,
            sums: map.sum_groups(&rows.targets),
            variance: DVector::from_vec(variance),
            map,
            scale: context.scale,
        })
    }

    /// One run for a guarantee.
    pub fn release(&self, target: OneTarget, stream: &mut Pcg64) -> Result<Prediction, TaskError> {
        if !target.is_private() {
            return Ok(Prediction { mean: self.map.columns() * &self.sums, variance: self.variance.clone() });
        }
        let scale = target.scale() / self.scale;
        let noise = self.noises.at(scale)?;
        let drawn = &noise.map * normal_vector(noise.map.ncols(), stream) * scale;
        Ok(Prediction {
            mean: noise.released_columns(&self.map) * &self.sums + drawn,
            variance: DVector::from_vec(noise.model_variances(self.variance.as_slice().to_vec(), scale))
                + noise.standard_deviations().map(|sd| (scale * sd).powi(2)),
        })
    }

    /// The certificate of such a run.
    pub fn certificate(&self, target: OneTarget) -> Result<Certificate, TaskError> {
        Ok(self.noises.at(target.scale() / self.scale)?.certificate(target, &[]))
    }

    /// What such a run samples.
    pub fn sampled(&self, target: OneTarget) -> Result<Sampled, TaskError> {
        Ok(self.noises.at(target.scale() / self.scale)?.sampled(target.scale(), target.change))
    }
}

impl Method for NoisyRegression {
    fn run(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<Predicted, TaskError> {
        Ok(self.release(OneTarget::of(cell)?, stream)?.into())
    }

    fn certified(&self, job: &Job<'_>, cell: &PrivacySetting) -> Result<Certified, TaskError> {
        let target = OneTarget::of(cell)?;
        if !target.is_private() {
            return Ok(Certified::nothing());
        }
        let sampled = self.sampled(target)?;
        job.certify(self.certificate(target)?, || vec![sampled])
    }

    fn jitter(&self) -> f64 {
        self.map.jitter()
    }
}
