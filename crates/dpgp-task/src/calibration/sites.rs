//! Predictions from noisy sums by a process on the public box.

use super::measure::data_frame;
use super::test_rows::TestRows;
use crate::site_sums::{BoxModel, SitePosterior, SiteRows, SummedRows};
use crate::{CalibrationTask, Described, Job, Measured, Sample, TaskError};
use dpgp_mechanisms::PrivacySetting;

/// What all cells of a block share.
pub(super) struct SitesBlock<'a> {
    task: &'a CalibrationTask,
    job: &'a Job<'a>,
    posterior: SitePosterior,
    sums: SummedRows<'a>,
    test: TestRows,
}

impl<'a> SitesBlock<'a> {
    /// Of the training rows.
    pub fn new(
        task: &'a CalibrationTask,
        job: &'a Job<'a>,
        training: &Sample,
        test: TestRows,
    ) -> Result<Self, TaskError> {
        let model = BoxModel::new(job)?;
        let rows = SiteRows { inputs: &training.inputs, targets: &training.targets };
        let sums = SummedRows::new(job, &task.inducing, &model, rows)?;
        Ok(Self { task, job, posterior: SitePosterior::new(model, sums.maps()), sums, test })
    }

    pub fn cell(&self, cell: &PrivacySetting) -> Result<Measured, TaskError> {
        let released = self.sums.noisy(cell, &mut self.job.streams.of_block("noise"));
        let prediction = self.posterior.predict(&self.posterior.given(&released)?, &self.test.inputs);
        let values = self.test.scores(self.task, &prediction.function, &prediction.targets);
        let certified = self.sums.certify(self.job, cell)?;
        let measured = certified.measured(0.0, self.task.metrics(1).into_iter().zip(values));
        if !self.task.curve {
            return Ok(measured);
        }
        let frames = vec![self.test.curve(&prediction.function), data_frame(self.task, self.job.sample)];
        Ok(measured.with_frames(frames))
    }
}
