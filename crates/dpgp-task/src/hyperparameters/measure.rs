//! The hyperparameters that are chosen.

use std::f64::consts::TAU;

use super::composition::Composition;
use super::draws::{DrawRules, Draws};
use super::evidence::EvidenceBlock;
use crate::grid::grid;
use crate::model::noise_variance;
use crate::noisy_sums::{TargetSums, noisy_sums, split};
use crate::{Certified, Job, Measured, Sampled, Task, TaskError};
use crate::{Described, HyperparametersMethod, HyperparametersTask};
use dpgp_accounting::{Certificate, Release};
use dpgp_gp::kernel::ExponentiatedQuadratic;
use dpgp_gp::variational::{Inducing, Located, NoisyStatistics, Prediction, Statistics, noise_aware};
use dpgp_mechanisms::PrivacySetting;
use dpgp_mechanisms::PrivateSelection;
use dpgp_number::Budget;
use dpgp_spec::setting::NoiseAwareSetting;

/// The metrics `lengthscale/L` and `noise-sd/S` (1 where the selection has this value, else 0), `both` (1 where
/// both are those of the model section), and for private selection `root` (t), `draw-delta` (delta of one draw)
/// and `most-draws` (T).
impl Task for HyperparametersTask {
    fn measure(&self, job: &Job<'_>) -> Result<Vec<Measured>, TaskError> {
        if let HyperparametersMethod::Evidence {} = self.method {
            let block = EvidenceBlock::new(self, job)?;
            return job.cells.iter().map(|cell| block.cell(cell)).collect();
        }
        let (variance, lengthscale) = job.exponentiated_quadratic()?;
        let kernels: Vec<ExponentiatedQuadratic> =
            self.lengthscales.iter().map(|l| ExponentiatedQuadratic::isotropic(variance, l.get())).collect();
        let (points, (training, validation)) =
            (grid(&self.inducing), split(&job.sample.inputs, self.train.get()));
        let (targets, observed) = job.sample.targets.split_at(self.train.get());
        let mut prepared = Vec::with_capacity(kernels.len());
        for (kernel, lengthscale) in kernels.iter().zip(&self.lengthscales) {
            let inducing = Inducing::new(kernel, &points)?;
            let sums = TargetSums::new(job.sums()?, &self.inducing, variance, lengthscale.get())?;
            let statistics = Statistics::new(&inducing, &training, targets, sums.bound);
            let validation = inducing.locate(&validation);
            prepared.push(PreparedSums { inducing, sums, statistics, validation });
        }
        let truth = TruePair { lengthscale, noise_sd: noise_variance(job.model()?)?.sqrt() };
        let rule = self.posterior.ok_or(TaskError::Missing { needed: "task.hyperparameters.posterior" })?;
        let block = HyperparametersBlock { task: self, job, prepared, observed, truth, rule };
        job.cells.iter().map(|cell| block.cell(cell)).collect()
    }
}

/// A lengthscale's sums of the training rows, and the validation rows.
pub(super) struct PreparedSums<'a> {
    pub inducing: Inducing<'a>,
    pub sums: TargetSums<'a>,
    pub statistics: Statistics,
    pub validation: Located,
}

/// What all cells of a block share.
pub(super) struct HyperparametersBlock<'a> {
    pub task: &'a HyperparametersTask,
    job: &'a Job<'a>,
    pub prepared: Vec<PreparedSums<'a>>,
    /// The validation targets.
    pub observed: &'a [f64],
    truth: TruePair,
    rule: NoiseAwareSetting,
}

/// The true lengthscale and standard deviation of the noise: those of the model section.
#[derive(Debug, Clone, Copy)]
pub(super) struct TruePair {
    pub lengthscale: f64,
    pub noise_sd: f64,
}

/// Positions of a lengthscale and of a standard deviation.
#[derive(Debug, Clone, Copy)]
pub(super) struct CandidatePair {
    pub lengthscale: usize,
    pub noise_sd: usize,
}

impl HyperparametersBlock<'_> {
    fn cell(&self, cell: &PrivacySetting) -> Result<Measured, TaskError> {
        match self.task.method {
            HyperparametersMethod::PrivateSelection { gamma, steps, refuse, budget } => {
                let selection =
                    PrivateSelection::new(Budget { epsilon: cell.epsilon, delta: cell.delta }, gamma.get())
                        .ok_or(TaskError::Missing {
                        needed: "an epsilon that is enough for private selection",
                    })?;
                let rules = DrawRules { steps: steps.get(), refuse, budget };
                self.selected(cell, selection, rules)
            }
            HyperparametersMethod::Composition { clip } => self.composed(cell, clip.get()),
            HyperparametersMethod::Evidence {} => Err(TaskError::Missing { needed: "a method for sums" }),
        }
    }

    fn selected(
        &self,
        cell: &PrivacySetting,
        selection: PrivateSelection,
        rules: DrawRules,
    ) -> Result<Measured, TaskError> {
        let draws = Draws::new(self, cell, &selection, rules);
        let mut stream = self.job.streams.of_block("noise");
        let chosen = selection.select(&mut stream, |stream| draws.draw(stream))?;
        let mut values = self.truth.indicators(self.task, chosen);
        values.extend([selection.root, selection.draw.delta.get(), f64::from(selection.most)]);
        let certificate = Certificate::private_selection(cell.guarantee());
        let certified =
            self.job.certify(certificate, || vec![Sampled::Selection(draws.sampled(selection))])?;
        Ok(certified.measured(0.0, self.task.metrics(1).into_iter().zip(values)))
    }

    fn composed(&self, cell: &PrivacySetting, clip: f64) -> Result<Measured, TaskError> {
        let composition = Composition::new(self, cell, clip);
        let chosen = composition.best(&mut self.job.streams.of_block("noise"))?;
        let certified = match cell.epsilon.get().is_finite() {
            false => Certified::nothing(),
            true => {
                let certificate = noisy_sums(Release::SelectedIndex, cell, 1.0);
                self.job.certify(certificate, || composition.sampled())?
            }
        };
        Ok(certified.measured(
            0.0,
            self.task.metrics(1).into_iter().zip(self.truth.indicators(self.task, Some(chosen))),
        ))
    }

    /// The predictions for the validation rows from the noisy sums of a lengthscale.
    pub fn predict(&self, pair: CandidatePair, noisy: &NoisyStatistics) -> Result<Prediction, TaskError> {
        let PreparedSums { inducing, validation, .. } = &self.prepared[pair.lengthscale];
        let unit = noisy.scaled(self.task.noise_sds[pair.noise_sd].get().powi(-2));
        let NoiseAwareSetting { regularisation, correction } = self.rule;
        Ok(noise_aware(inducing, &unit, regularisation, correction)?.predict(validation))
    }
}

impl TruePair {
    /// Which lengthscale and which standard deviation was chosen, and whether both are right.
    pub fn indicators(self, task: &HyperparametersTask, chosen: Option<CandidatePair>) -> Vec<f64> {
        let HyperparametersTask { lengthscales, noise_sds, .. } = task;
        let mut indicators: Vec<bool> =
            (0..lengthscales.len()).map(|i| chosen.is_some_and(|pair| pair.lengthscale == i)).collect();
        indicators.extend((0..noise_sds.len()).map(|j| chosen.is_some_and(|pair| pair.noise_sd == j)));
        indicators.push(chosen.is_some_and(|pair| {
            close(lengthscales[pair.lengthscale].get(), self.lengthscale)
                && close(noise_sds[pair.noise_sd].get(), self.noise_sd)
        }));
        indicators.into_iter().map(|yes| f64::from(u8::from(yes))).collect()
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b
}

/// The greatest log-likelihood of one row: `-ln(2 pi) / 2 - ln sd`.
pub(super) fn greatest(noise_sd: f64) -> f64 {
    -0.5 * TAU.ln() - noise_sd.ln()
}
