//! Noisy sums at inducing inputs with a posterior of the process on the public box, which hide inputs and targets.

use nalgebra::DMatrix;
use rand_pcg::Pcg64;

use super::method::{Leaderboard, Method};
use super::predicted::{MASS, Predicted};
use crate::cross_validation::FoldRows;
use crate::site_sums::{BoxModel, SitePosterior, SiteRows, SummedRows};
use crate::{Certified, Job, TaskError};
use dpgp_mechanisms::PrivacySetting;

/// The posterior at sites from noisy sums over the training rows.
pub(super) struct SitesRegression<'a> {
    sums: SummedRows<'a>,
    posterior: SitePosterior,
    test: DMatrix<f64>,
}

impl<'a> SitesRegression<'a> {
    pub fn new(context: &Leaderboard<'a>, rows: &FoldRows) -> Result<Self, TaskError> {
        let model = BoxModel::new(context.job)?;
        let summed = SiteRows { inputs: &rows.inputs, targets: &rows.targets };
        let sums = SummedRows::new(context.job, &context.task.inducing, &model, summed)?;
        Ok(Self { posterior: SitePosterior::new(model, sums.maps()), sums, test: rows.test.clone() })
    }
}

impl Method for SitesRegression<'_> {
    fn run(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<Predicted, TaskError> {
        let mixture = self.posterior.given(&self.sums.noisy(cell, stream))?;
        let targets = self.posterior.predict(&mixture, &self.test).targets;
        Ok(Predicted::Targets { targets, level: MASS })
    }

    fn certified(&self, job: &Job<'_>, cell: &PrivacySetting) -> Result<Certified, TaskError> {
        self.sums.certify(job, cell)
    }

    fn jitter(&self) -> f64 {
        0.0
    }
}
