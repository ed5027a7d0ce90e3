//! Predictions that know nothing of the inputs.

use nalgebra::DVector;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

use super::method::{Leaderboard, Method};
use super::predicted::Predicted;
use super::setting::BaselineSetting;
use crate::cross_validation::FoldRows;
use crate::{Certified, Job, OneTarget, Sampled, TaskError};
use dpgp_accounting::{CertifiedMechanism, Release};
use dpgp_gp::variational::Prediction;
use dpgp_mechanisms::PrivacySetting;
use dpgp_mechanisms::Statistic;

/// One mean for all test inputs.
pub(super) struct Baseline {
    setting: BaselineSetting,
    /// Of the training targets, on the scale of the model.
    mean: f64,
    /// Their number n.
    rows: usize,
    /// The variances of the latent function about the mean, under the prior.
    prior: Vec<f64>,
    /// Units of the target per unit of the normalised one.
    scale: f64,
}

impl Baseline {
    pub fn new(context: &Leaderboard<'_>, setting: BaselineSetting, rows: &FoldRows) -> Self {
        let mean = rows.targets.iter().sum::<f64>() / rows.targets.len() as f64;
        let prior = context.model.kernel.covariance(&rows.inputs).diagonal(&rows.test);
        Self { setting, mean, rows: rows.targets.len(), prior, scale: context.scale }
    }

    /// The guarantee, if the mean has noise.
    fn target(&self, cell: &PrivacySetting) -> Result<Option<OneTarget>, TaskError> {
        let target = OneTarget::of(cell)?;
        Ok(Some(target).filter(|target| target.is_private() && self.setting == BaselineSetting::Mean))
    }

    /// The standard deviation of the noise (units of the model): one target moves the mean by at most `change / n`.
    fn sd(&self, target: OneTarget) -> f64 {
        target.scale() / self.scale / self.rows as f64
    }

    /// A mean at all test inputs, whose noise has this variance.
    fn predicted(&self, mean: f64, variance: f64) -> Prediction {
        let points = self.prior.len();
        let variance = self.prior.iter().map(|prior| prior + variance);
        let variance = DVector::from_iterator(points, variance);
        Prediction { mean: DVector::from_element(points, mean), variance }
    }
}

impl Method for Baseline {
    fn run(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<Predicted, TaskError> {
        let Some(target) = self.target(cell)? else {
            // It claims nothing.
            return Ok(self.predicted(self.mean, 0.0).into());
        };
        let (sd, unit): (f64, f64) = (self.sd(target), StandardNormal.sample(stream));
        Ok(self.predicted(self.mean + sd * unit, sd * sd).into())
    }

    fn certified(&self, job: &Job<'_>, cell: &PrivacySetting) -> Result<Certified, TaskError> {
        let Some(target) = self.target(cell)? else {
            return Ok(Certified::nothing());
        };
        let certificate =
            target.gaussian(Release::Histogram, CertifiedMechanism::Histogram, 1.0).certificate();
        job.certify(certificate, || {
            let bins = vec![(self.rows, self.sd(target))];
            vec![Sampled::Statistics { statistic: Statistic::Mean, bins, change: target.change / self.scale }]
        })
    }

    fn jitter(&self) -> f64 {
        0.0
    }
}
