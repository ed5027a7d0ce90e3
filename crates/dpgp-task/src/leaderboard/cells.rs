//! Regression from noisy sums and counts of nested cells, which hide inputs and targets.

use rand_pcg::Pcg64;

use super::measure::{FoldPrediction, MASS};
use super::method::{LeaderboardContext, PrivateRegression};
use crate::cross_validation::FoldRows;
use crate::{AuditEvidence, AuditableCertificate, ReplicateJob, Sample, TaskError};
use dpgp_mechanisms::{MomentsModel, PrivacySetting, SimulatedMoments};
use dpgp_stream::LatticeSums;
use nalgebra::DMatrix;

/// The mixture of processes that follows from noisy sums and counts of the training rows.
pub(super) struct CellsRegression {
    model: MomentsModel,
    sums: LatticeSums,
    test: DMatrix<f64>,
}

impl CellsRegression {
    pub fn new(context: &LeaderboardContext<'_>, rows: &FoldRows) -> Result<Self, TaskError> {
        let model = MomentsModel::new(context.job.setting).ok_or(TaskError::Missing { needed: "a moments model" })?;
        // Rows are summed in the units of a file.
        let targets = rows.targets.iter().map(|target| model.to_target_units(*target)).collect();
        let training = Sample { inputs: rows.inputs.clone(), targets, persons: Vec::new() };
        Ok(Self { sums: model.sum_columns(training.columns())?, test: rows.test.clone(), model })
    }
}

impl PrivateRegression for CellsRegression {
    fn predict_with_noise(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<FoldPrediction, TaskError> {
        let SimulatedMoments { released, .. } = self.model.simulate_release(&self.sums, cell, stream)?;
        let targets = self.model.predict_in_model_units(&self.model.posterior(&released)?, &self.test).targets;
        Ok(FoldPrediction::Targets { targets, level: MASS })
    }

    /// Neither the certificate nor the size of the noise depends on the draw, so one more draw provides both.
    fn certify_run(&self, job: &ReplicateJob<'_>, cell: &PrivacySetting) -> Result<AuditableCertificate, TaskError> {
        let mut stream = job.streams.block_stream("evidence");
        let SimulatedMoments { guarantee, sampled, .. } = self.model.simulate_release(&self.sums, cell, &mut stream)?;
        job.certify_with_evidence(guarantee.certificate, || vec![AuditEvidence::Moments(sampled)])
    }

    fn jitter(&self) -> f64 {
        0.0
    }
}
