//! Noisy sums of a variational model, which hide inputs and targets.

use nalgebra::{DMatrix, DVector};
use rand_pcg::Pcg64;

use super::super::TaskError;
use super::super::grid::grid;
use super::super::noisy_sums::NoisySums;
use super::super::witness::{Sampled, record};
use super::{Context, Method, Rows};
use crate::gp::variational::{Inducing, Located, Prediction, Statistics, noise_aware};
use crate::kernel::ExponentiatedQuadratic;
use crate::privacy::{Certificate, SumsNoise};
use crate::spec::{LeaderboardTask, PrivacySetting};

/// The posterior from noisy sums over the training rows, its covariance corrected for the noise.
pub(super) struct Sums<'a> {
    sums: NoisySums<'a>,
    kernel: ExponentiatedQuadratic,
    points: DMatrix<f64>,
    statistics: Statistics,
    located: Located,
    noise_variance: f64,
}

impl<'a> Sums<'a> {
    pub fn new(context: &Context<'a>, rows: &Rows) -> Result<Self, TaskError> {
        let (variance, lengthscale) = context.model.exponentiated_quadratic().unwrap_or((1.0, 1.0));
        let kernel = ExponentiatedQuadratic::isotropic(variance, lengthscale);
        let points = grid(&context.task.inducing);
        let mechanism = &context.block.privacy.mechanism;
        let sums = NoisySums::new(mechanism, &context.task.inducing, (variance, lengthscale))?;
        let inducing = Inducing::new(&kernel, &points)?;
        let statistics = Statistics::new(&inducing, &rows.inputs, &rows.targets, sums.target_bound());
        let located = inducing.locate(&rows.test);
        Ok(Self { sums, points, statistics, located, noise_variance: context.model.noise(), kernel })
    }

    fn noise(&self, cell: &PrivacySetting) -> SumsNoise {
        let (assumed, _) = self.sums.sensitivities(self.sums.target_bound());
        self.sums.noise(cell.calibration, (cell.epsilon, cell.delta), assumed)
    }
}

impl Method for Sums<'_> {
    fn run(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<Prediction, TaskError> {
        let inducing = Inducing::new(&self.kernel, &self.points)?;
        let noisy = self.noise(cell).release(&self.statistics, stream).scaled(1.0 / self.noise_variance);
        let rule = LeaderboardTask::POSTERIOR;
        let posterior = noise_aware(&inducing, &noisy, rule.regularisation, rule.correction)?;
        let Prediction { mean, variance } = posterior.predict(&self.located);
        Ok(Prediction {
            mean,
            variance: DVector::from_iterator(variance.len(), variance.iter().map(|v| v.max(0.0))),
        })
    }

    fn certificate(&self, cell: &PrivacySetting) -> Certificate {
        if cell.epsilon.is_finite() {
            record(cell, || {
                let sums = self.sums.sampled(self.noise(cell), self.sums.bounded_labels());
                Sampled::Records(self.sums.together(vec![sums]))
            });
        }
        self.sums.certificate(cell, self.sums.sensitivities(self.sums.target_bound()))
    }

    fn jitter(&self) -> f64 {
        0.0
    }
}
