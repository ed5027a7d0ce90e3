//! Noisy Fourier moments, which hide inputs and targets.

use std::sync::Arc;

use nalgebra::DMatrix;
use rand_pcg::Pcg64;

use super::method::{Leaderboard, Method};
use super::planned_moments::PlannedMoments;
use crate::gp::sites::{HyperGrid, MixturePrediction, SiteInputs, SiteReference, site_mixture};
use crate::gp::variational::Prediction;
use crate::setting::{MomentsSetting, PrivacySetting};
use crate::task::cross_validation::FoldRows;
use crate::task::moments::{DesignQuestion, LEAST_SIGMA, certificate, in_box, reference, sigma};
use crate::task::{Certified, Job, TaskError};

/// The mixture of processes that follows from noisy moments of the training rows.
pub(super) struct MomentsRegression {
    reference: SiteReference,
    /// A release for each noise multiplier.
    releases: Vec<PlannedMoments>,
    /// The held-out inputs, in units of the box.
    test: DMatrix<f64>,
}

impl MomentsRegression {
    pub fn new(
        context: &Leaderboard<'_>,
        setting: &MomentsSetting,
        rows: &FoldRows,
    ) -> Result<Self, TaskError> {
        let reference = reference(context.model, setting, rows.targets.len())?;
        let inputs = in_box(&rows.inputs, &setting.domain);
        let mut releases: Vec<PlannedMoments> = Vec::new();
        for cell in context.job.cells {
            let sigma = sigma(cell);
            if releases.iter().any(|release| release.sigma == sigma) {
                continue;
            }
            let question = DesignQuestion {
                reference: reference.clone(),
                sigma: sigma.max(LEAST_SIGMA),
                period: setting.period,
            };
            let design = context.job.known.designs.of(&question, || question.answer().map(Arc::new))?;
            releases.push(PlannedMoments {
                sums: design.moments(&inputs, &rows.targets),
                features: design.at_sites(reference.kernel.is_additive()),
                sigma,
                design,
            });
        }
        Ok(Self { reference, releases, test: in_box(&rows.test, &setting.domain) })
    }

    fn planned(&self, cell: &PrivacySetting) -> Result<&PlannedMoments, TaskError> {
        let sigma = sigma(cell);
        let found = self.releases.iter().find(|release| release.sigma == sigma);
        found.ok_or(TaskError::Missing { needed: "a release of moments" })
    }
}

impl Method for MomentsRegression {
    fn run(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<Prediction, TaskError> {
        let planned = self.planned(cell)?;
        let released = planned.released(stream);
        let inputs = SiteInputs::new(&planned.features, &released)?;
        let grid = HyperGrid::around(&self.reference);
        let mixture = site_mixture(&planned.features, &released, &inputs, &grid)?;
        let MixturePrediction { mean, variance, .. } = mixture.predict(&self.test);
        // Scores add the noise variance of the model, in whose place the members have their own.
        Ok(Prediction { mean, variance: variance.add_scalar(-self.reference.noise_variance) })
    }

    fn certified(&self, job: &Job<'_>, cell: &PrivacySetting) -> Result<Certified, TaskError> {
        let planned = self.planned(cell)?;
        job.certify(certificate(cell), || vec![planned.sampled()])
    }

    fn jitter(&self) -> f64 {
        0.0
    }
}
