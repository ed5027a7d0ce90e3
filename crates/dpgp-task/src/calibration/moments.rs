//! Predictions from noisy moments.

use super::measure::data_frame;
use super::test_rows::TestRows;
use crate::{CalibrationTask, Described, Job, Measured, Sample, Sampled, TaskError};
use dpgp_mechanisms::MomentsModel;
use dpgp_mechanisms::PrivacySetting;
use dpgp_mechanisms::SimulatedMoments;
use dpgp_stream::LatticeSums;

/// What all cells of a block share.
pub(super) struct MomentsBlock<'a> {
    task: &'a CalibrationTask,
    job: &'a Job<'a>,
    model: MomentsModel,
    sums: LatticeSums,
    test: TestRows,
}

impl<'a> MomentsBlock<'a> {
    /// Of the training rows.
    pub fn new(
        task: &'a CalibrationTask,
        job: &'a Job<'a>,
        training: &Sample,
        test: TestRows,
    ) -> Result<Self, TaskError> {
        let model =
            MomentsModel::new(job.setting).ok_or(TaskError::Missing { needed: "a model of moments" })?;
        Ok(Self { task, job, sums: model.sums(training.columns())?, model, test })
    }

    pub fn cell(&self, cell: &PrivacySetting) -> Result<Measured, TaskError> {
        let mut stream = self.job.streams.of_block("noise");
        let SimulatedMoments { released, guarantee, sampled } =
            self.model.simulated(&self.sums, cell, &mut stream)?;
        let prediction = self.model.predicted(&self.model.posterior(&released)?, &self.test.inputs);
        let values = self.test.scores(self.task, &prediction.function, &prediction.targets);
        let certified = self.job.certify(guarantee.certificate, || vec![Sampled::Moments(sampled)])?;
        let measured = certified.measured(0.0, self.task.metrics(1).into_iter().zip(values));
        if !self.task.curve {
            return Ok(measured);
        }
        let frames = vec![self.test.curve(&prediction.function), data_frame(self.task, self.job.sample)];
        Ok(measured.with_frames(frames))
    }
}
