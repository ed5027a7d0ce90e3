//! The density as a private function.

use std::borrow::Cow;

use nalgebra::{DMatrix, DVector};

use super::measure::DensityBlock;
use crate::model::Process;
use crate::noise::Noise;
use crate::streams::normals;
use crate::{Certified, Measured, OneTarget, TaskError};
use dpgp_accounting::Relation;
use dpgp_accounting::{Caveat, CertifiedMechanism, GaussianEvent, Neighbours, Release};
use dpgp_mechanisms::{FunctionSetting, NoisyFunction, PrivacySetting};

/// The mean of the model on all bins, with a sample of its process as noise.
pub(super) struct PrivateDensity<'a> {
    block: &'a DensityBlock<'a>,
    /// The mean at the test bins.
    plain: DVector<f64>,
    noise: Noise,
    /// The sensitivity at change 1 that the noise is scaled by.
    sensitivity: f64,
    /// Unit noise at the test bins (t x draws) that all epsilons share; none where each has its own.
    shared: Option<DMatrix<f64>>,
    /// Whether the mean of the densities was subtracted, which is private.
    centred: bool,
}

impl<'a> PrivateDensity<'a> {
    pub fn new(block: &'a DensityBlock<'a>, centred: bool) -> Result<Self, TaskError> {
        let job = block.job;
        let model = job.model()?;
        let function = job.setting.privacy.mechanism.of::<FunctionSetting>();
        let function = function.ok_or(TaskError::Missing { needed: "mechanism.function" })?;
        let centres = block.bins.centres();
        let kernel = model.kernel.covariance(&centres);
        let mean = Process::new(model, kernel.as_ref(), &centres, job.placing("density"))
            .observed()?
            .representer()?;
        let mut targets = block.densities(&block.counts);
        let centre = if centred { targets.mean() } else { 0.0 };
        targets.add_scalar_mut(-centre);
        let plain = mean.predict(kernel.as_ref(), &targets, &block.points).add_scalar(centre);
        let noise = NoisyFunction::new(function.sensitivity, &mean, kernel.as_ref(), &block.points)?;
        let noise = Noise::new(Box::new(noise));
        let sensitivity = function.sensitivity.of(&mean.weights, &mean.norms);
        let density = Self { block, plain, noise, sensitivity, shared: None, centred };
        let shared = (!block.task.own_draws).then(|| density.draws("function"));
        Ok(Self { shared, ..density })
    }

    /// Unit noise at the test bins (t x draws).
    fn draws(&self, purpose: &str) -> DMatrix<f64> {
        let DensityBlock { task, job, .. } = self.block;
        let mut stream = job.streams.of_block(purpose);
        &self.noise.map * normals(self.noise.map.ncols(), task.draws.get(), &mut stream)
    }

    pub fn cell(&self, cell: &PrivacySetting) -> Result<Measured, TaskError> {
        let target = OneTarget::of(cell)?;
        let block = self.block;
        let rmse = match target.is_private() {
            false => vec![block.rmse(&self.plain)],
            true => {
                let own = || self.draws(&block.task.purpose("function", target.epsilon));
                let draws = self.shared.as_ref().map_or_else(|| Cow::Owned(own()), Cow::Borrowed);
                let noisy = draws.column_iter().map(|z| &self.plain + z * target.scale());
                noisy.map(|density| block.rmse(&density)).collect()
            }
        };
        let certified = if target.is_private() { self.certified(target)? } else { Certified::nothing() };
        let exact = self.sensitivity * self.noise.ratio;
        let metrics =
            [("rmse", rmse), ("sensitivity", vec![self.sensitivity]), ("sensitivity-exact", vec![exact])];
        Ok(certified.measured_often(0.0, metrics).with_frames(vec![block.data()]))
    }

    /// One record added or removed changes one density by one over the volume of its bin, whatever `change` says.
    fn certified(&self, target: OneTarget) -> Result<Certified, TaskError> {
        let moved = 1.0 / self.block.smallest_volume();
        let ratio = self.noise.ratio / (self.block.smallest_volume() * target.change);
        let event = GaussianEvent {
            neighbours: Neighbours::OneRecord(Relation::AddRemove),
            ..target.gaussian(Release::Function, CertifiedMechanism::Function, ratio)
        };
        let certificate = event.certificate().with_caveats(&[
            (Caveat::InvalidSensitivity, ratio > 1.0 + 1e-9),
            (Caveat::PrivateNormalisation, self.centred),
        ]);
        self.block.job.certify(certificate, || vec![self.noise.sampled(target.scale(), moved)])
    }
}
