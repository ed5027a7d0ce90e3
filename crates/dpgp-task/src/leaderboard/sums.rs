//! Noisy sums of a variational model, which hide inputs and targets.

use nalgebra::DMatrix;
use rand_pcg::Pcg64;

use super::method::{Leaderboard, Method};
use super::predicted::Predicted;
use crate::LeaderboardTask;
use crate::cross_validation::FoldRows;
use crate::grid::grid;
use crate::model::noise_variance;
use crate::noisy_sums::TargetSums;
use crate::{Certified, Job, TaskError};
use dpgp_gp::kernel::ExponentiatedQuadratic;
use dpgp_gp::variational::{Inducing, Located, Prediction, Statistics, noise_aware};
use dpgp_mechanisms::PrivacySetting;

/// The posterior from noisy sums over the training rows, its covariance corrected for the noise.
pub(super) struct SummedRegression<'a> {
    sums: TargetSums<'a>,
    kernel: ExponentiatedQuadratic,
    points: DMatrix<f64>,
    statistics: Statistics,
    located: Located,
    noise_variance: f64,
}

impl<'a> SummedRegression<'a> {
    pub fn new(context: &Leaderboard<'a>, rows: &FoldRows) -> Result<Self, TaskError> {
        let (variance, lengthscale) = context.job.exponentiated_quadratic()?;
        let kernel = ExponentiatedQuadratic::isotropic(variance, lengthscale);
        let points = grid(&context.task.inducing);
        let sums = TargetSums::new(context.job.sums()?, &context.task.inducing, variance, lengthscale)?;
        let inducing = Inducing::new(&kernel, &points)?;
        let statistics = Statistics::new(&inducing, &rows.inputs, &rows.targets, sums.bound);
        let located = inducing.locate(&rows.test);
        let noise_variance = noise_variance(context.model)?;
        Ok(Self { sums, points, statistics, located, noise_variance, kernel })
    }
}

impl Method for SummedRegression<'_> {
    fn run(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<Predicted, TaskError> {
        let inducing = Inducing::new(&self.kernel, &self.points)?;
        let noisy = self.sums.noise(cell).release(&self.statistics, stream).scaled(1.0 / self.noise_variance);
        let rule = LeaderboardTask::POSTERIOR;
        let posterior = noise_aware(&inducing, &noisy, rule.regularisation, rule.correction)?;
        let Prediction { mean, variance } = posterior.predict(&self.located);
        // What corrects the covariance for the noise may overshoot.
        Ok(Prediction { mean, variance: variance.map(|v| v.max(0.0)) }.into())
    }

    fn certified(&self, job: &Job<'_>, cell: &PrivacySetting) -> Result<Certified, TaskError> {
        self.sums.certify(job, cell)
    }

    fn jitter(&self) -> f64 {
        0.0
    }
}
