//! Noisy Fourier moments, which hide inputs and targets.

use std::sync::Arc;

use nalgebra::DMatrix;
use rand_pcg::Pcg64;

use super::calibrate::{Calibration, CountedRows};
use super::method::{Leaderboard, Method};
use super::planned_moments::PlannedMoments;
use super::predicted::{MASS, Predicted};
use crate::cross_validation::FoldRows;
use crate::{Certified, Job, TaskError};
use dpgp_gp::sites::{HyperGrid, SiteInputs, site_mixture_among};
use dpgp_mechanisms::DesignQuestion;
use dpgp_mechanisms::{LEAST_SIGMA, moments_certificate, moments_reference, within_box};
use dpgp_mechanisms::{MomentsSetting, PrivacySetting};

/// The mixture of processes that follows from noisy moments of the training rows.
pub(super) struct MomentsRegression {
    grid: HyperGrid,
    /// A release for each noise multiplier.
    releases: Vec<PlannedMoments>,
    calibration: Option<Calibration>,
    training: Training,
    kernels: KernelMatrices,
}

/// The rows that intervals are counted by.
struct Training {
    /// In units of the box.
    inputs: DMatrix<f64>,
    targets: Vec<f64>,
}

/// The matrices of the kernels between the sites, which all releases share, and inputs.
struct KernelMatrices {
    /// The sites themselves.
    sites: Arc<Vec<DMatrix<f64>>>,
    /// The held-out inputs.
    test: Vec<DMatrix<f64>>,
}

impl MomentsRegression {
    pub fn new(
        context: &Leaderboard<'_>,
        setting: &MomentsSetting,
        rows: &FoldRows,
    ) -> Result<Self, TaskError> {
        let reference = moments_reference(context.model, setting, rows.targets.len())?;
        let inputs = within_box(&rows.inputs, &setting.domain);
        let calibration = context.task.calibrate.map(Calibration::new);
        let mut releases: Vec<PlannedMoments> = Vec::new();
        for cell in context.job.cells {
            let sigma = left(calibration, cell.noise_multiplier());
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
        let (grid, sites) = (HyperGrid::around(&reference), sites_of(&releases)?);
        let kernels = KernelMatrices {
            sites: context.job.known.kernels.of(&reference.kernel, || Arc::new(grid.matrices(sites, sites))),
            test: grid.matrices(sites, &within_box(&rows.test, &setting.domain)),
        };
        let training = Training { inputs, targets: rows.targets.clone() };
        Ok(Self { grid, releases, calibration, training, kernels })
    }

    /// The noise on counts of rows.
    fn counts(&self, cell: &PrivacySetting) -> Vec<f64> {
        self.calibration.map_or(Vec::new(), |calibration| calibration.sds(cell.noise_multiplier()))
    }

    fn planned(&self, cell: &PrivacySetting) -> Result<&PlannedMoments, TaskError> {
        let sigma = left(self.calibration, cell.noise_multiplier());
        let found = self.releases.iter().find(|release| release.sigma == sigma);
        found.ok_or(TaskError::Missing { needed: "a release of moments" })
    }
}

/// The sites, which depend on the number of inputs alone.
fn sites_of(releases: &[PlannedMoments]) -> Result<&DMatrix<f64>, TaskError> {
    let first = releases.first().ok_or(TaskError::Missing { needed: "a release of moments" })?;
    Ok(&first.features.sites)
}

/// The noise multiplier of the moments.
fn left(calibration: Option<Calibration>, sigma: f64) -> f64 {
    calibration.map_or(sigma, |calibration| calibration.rest(sigma))
}

impl Method for MomentsRegression {
    fn run(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<Predicted, TaskError> {
        let planned = self.planned(cell)?;
        let released = planned.released(stream);
        let inputs = SiteInputs::new(&planned.features, &released)?;
        let KernelMatrices { sites, test } = &self.kernels;
        let mixture = site_mixture_among(sites, &planned.features, &released, &inputs, &self.grid)?;
        let level = match self.calibration {
            None => MASS,
            Some(calibration) => {
                let predicted = &mixture.predict(&self.training.inputs).targets;
                let rows = CountedRows { predicted, targets: &self.training.targets };
                calibration.level(rows, cell.noise_multiplier(), stream)
            }
        };
        Ok(Predicted::Targets { targets: mixture.predict_from(test).targets, level })
    }

    fn certified(&self, job: &Job<'_>, cell: &PrivacySetting) -> Result<Certified, TaskError> {
        let planned = self.planned(cell)?;
        job.certify(moments_certificate(cell), || vec![planned.sampled(self.counts(cell))])
    }

    fn jitter(&self) -> f64 {
        0.0
    }
}
