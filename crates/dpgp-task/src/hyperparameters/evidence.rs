//! A choice by the evidence of noisy moments.

use std::sync::Arc;

use super::measure::{CandidatePair, TruePair};
use crate::model::noise_variance;
use crate::{Described, HyperparametersTask, Job, Measured, Sampled, TaskError};
use dpgp_gp::kernel::{BoxKernel, EqSetting, KernelSetting};
use dpgp_gp::sites::{Graded, HyperGrid, SiteKernel};
use dpgp_mechanisms::MomentsModel;
use dpgp_mechanisms::SimulatedMoments;
use dpgp_mechanisms::{MomentsSetting, PrivacySetting};
use dpgp_stream::LatticeSums;

/// What all cells of a block share. One release of all rows serves all candidates: none is left out to validate.
pub(super) struct EvidenceBlock<'a> {
    task: &'a HyperparametersTask,
    job: &'a Job<'a>,
    model: MomentsModel,
    sums: LatticeSums,
    truth: TruePair,
}

impl<'a> EvidenceBlock<'a> {
    pub fn new(task: &'a HyperparametersTask, job: &'a Job<'a>) -> Result<Self, TaskError> {
        let model =
            MomentsModel::new(job.setting).ok_or(TaskError::Missing { needed: "a model of moments" })?;
        let (_, lengthscale) = job.exponentiated_quadratic()?;
        let truth = TruePair { lengthscale, noise_sd: noise_variance(job.model()?)?.sqrt() };
        Ok(Self { task, job, sums: model.sums(job.sample.columns())?, model, truth })
    }

    pub fn cell(&self, cell: &PrivacySetting) -> Result<Measured, TaskError> {
        let mut stream = self.job.streams.of_block("noise");
        let SimulatedMoments { released, guarantee, sampled } =
            self.model.simulated(&self.sums, cell, &mut stream)?;
        let weights = self.model.weights(&released, &self.candidates()?)?;
        let (mut best, mut chosen) = (f64::NEG_INFINITY, None);
        for (place, weight) in weights.iter().enumerate().filter(|(_, weight)| !weight.is_nan()) {
            if *weight > best {
                let each = self.task.noise_sds.len();
                (best, chosen) =
                    (*weight, Some(CandidatePair { lengthscale: place / each, noise_sd: place % each }));
            }
        }
        let certified = self.job.certify(guarantee.certificate, || vec![Sampled::Moments(sampled)])?;
        let values = self.truth.indicators(self.task, chosen);
        Ok(certified.measured(0.0, self.task.metrics(1).into_iter().zip(values)))
    }

    /// All pairs as likely as each other, with the variance of the model.
    fn candidates(&self) -> Result<HyperGrid, TaskError> {
        let (variance, _) = self.job.exponentiated_quadratic()?;
        let model = self.job.model()?;
        let moments: &MomentsSetting = self.model.mechanism();
        let KernelSetting::Eq(eq) = &model.kernel else {
            return Err(TaskError::Missing { needed: "the kernel eq" });
        };
        let mut kernels = Vec::with_capacity(self.task.lengthscales.len());
        for &lengthscale in &self.task.lengthscales {
            let kernel = KernelSetting::Eq(EqSetting { lengthscale, ..eq.clone() });
            let kernel = BoxKernel::new(&kernel, moments.sides());
            let kernel = kernel.ok_or(TaskError::Missing { needed: "a stationary kernel" })?;
            kernels.push(SiteKernel { correlations: Arc::from(kernel.correlations(1.0)), log_prior: 0.0 });
        }
        let noises = self.task.noise_sds.iter();
        let noises = noises.map(|sd| Graded { value: sd.get() * sd.get(), log_prior: 0.0 });
        let variances = vec![Graded { value: variance, log_prior: 0.0 }];
        // The kernel is all there is to the process: it has no mean of its own.
        Ok(HyperGrid { kernels, variances, noises: noises.collect(), steps: 1, bias: 0.0, first: variance })
    }
}
