//! The cross-validated errors of each candidate.

use nalgebra::DMatrix;

use super::fold::{CandidateFold, ErrorNoise};
use crate::cross_validation::{folds, others};
use crate::noise::cloaking_options;
use crate::streams::normal_vector;
use crate::{Candidate, GpCandidate, NoiseScale, SelectionTask};
use crate::{Job, TaskError};
use dpgp_cloaking::{Cloak, cloak_from};
use dpgp_gp::kernel::ExponentiatedQuadratic;
use dpgp_gp::{LinearMap, exact, polynomial};
use dpgp_linalg::largest;
use dpgp_mechanisms::FoldColumns;

/// The rows that candidates are compared on, with targets on the scale of the model.
pub(super) struct Compared<'a> {
    pub job: &'a Job<'a>,
    pub task: &'a SelectionTask,
    pub inputs: &'a DMatrix<f64>,
    pub targets: &'a [f64],
}

impl Compared<'_> {
    /// The folds of each candidate of the task.
    pub fn candidates(&self) -> Result<Vec<Vec<CandidateFold>>, TaskError> {
        let splits = folds(self.targets.len(), self.task.split, self.job.streams);
        let candidates = self.task.all_candidates();
        let of_each = candidates.iter().map(|candidate| {
            let folds = splits.iter().enumerate();
            folds.map(|(number, test)| self.fold(candidate, number, test)).collect()
        });
        of_each.collect()
    }

    fn fold(&self, candidate: &Candidate, number: usize, test: &[usize]) -> Result<CandidateFold, TaskError> {
        let training = others(self.targets.len(), test);
        let map = self.map(candidate, &training, test)?;
        let targets: Vec<f64> = training.iter().map(|&row| self.targets[row]).collect();
        let predictions = map.predict(&targets);
        let name = candidate.name();
        let mut starts = self.job.streams.of_block(&format!("start {name} fold {number}"));
        let options = cloaking_options(&self.job.setting.privacy.mechanism)?;
        let cloak = cloak_from(map.columns(), &map.counts(), &options, &mut starts)?;
        let purpose = format!("noise {name} fold {number}");
        Ok(CandidateFold {
            errors: test.iter().zip(predictions.iter()).map(|(&row, p)| p - self.targets[row]).collect(),
            tests: test.to_vec(),
            noise: self.noise(&cloak, &purpose),
            longest: largest(map.columns().column_iter().map(|column| column.norm_squared())),
            columns: FoldColumns { columns: map.expand(), rows: training },
            gap: cloak.gap,
        })
    }

    fn map(&self, candidate: &Candidate, training: &[usize], test: &[usize]) -> Result<LinearMap, TaskError> {
        let (training, test) = (self.inputs.select_rows(training), self.inputs.select_rows(test));
        Ok(match candidate {
            Candidate::Polynomial(degree) => polynomial(*degree, &training, &test)?,
            Candidate::Gp(GpCandidate { lengthscale, noise_variance, variance }) => {
                let kernel = ExponentiatedQuadratic::isotropic(*variance, *lengthscale);
                exact(&kernel, *noise_variance, &training, &test)?
            }
        })
    }

    fn noise(&self, cloak: &Cloak, purpose: &str) -> ErrorNoise {
        let scale = match self.task.noise_scale {
            NoiseScale::Delta => 1.0,
            // The noise of a cloak is scaled by Delta already.
            NoiseScale::DeltaSquared => cloak.widened,
        };
        let Some(draws) = self.task.draws else {
            return ErrorNoise::Deviations(cloak.standard_deviations().iter().map(|sd| scale * sd).collect());
        };
        let mut stream = self.job.streams.of_block(purpose);
        let map = cloak.noise_map() * scale;
        let noise = (0..draws.get()).map(|_| &map * normal_vector(map.ncols(), &mut stream));
        ErrorNoise::Draws(noise.map(|noise| noise.iter().copied().collect()).collect())
    }
}
