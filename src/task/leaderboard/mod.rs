//! Predictive distributions of private regressions, scored on held-out rows.

mod bins;
mod chosen;
mod linear;
mod sums;

use nalgebra::{DMatrix, DVector};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

use super::cross_validation::{folds, others};
use super::normalise::{Normalised, caveats, normalise};
use super::{Measurement, Sample, Streams, TaskError};
use crate::gp::variational::Prediction;
use crate::privacy::Certificate;
use crate::spec::{LeaderboardTask, MechanismSetting, ModelSetting, PrivacySetting, SelectionTask, Setting};

/// The mass of the interval whose coverage is measured.
const MASS: f64 = 0.9;

/// A private regression on the training rows of a fold, in units of the normalised target.
trait Method {
    /// One run of the mechanism: predictions of the latent function at the test inputs, whose variances account for
    /// the privacy noise.
    fn run(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<Prediction, TaskError>;
    /// What is guaranteed about one run, which is told to the witness.
    fn certificate(&self, cell: &PrivacySetting) -> Certificate;
    /// The largest jitter of a factorisation.
    fn jitter(&self) -> f64;
}

/// The training rows of a fold and its test inputs.
struct Rows {
    number: usize,
    inputs: DMatrix<f64>,
    targets: Vec<f64>,
    test: DMatrix<f64>,
    /// The held-out targets, not clipped.
    truth: Vec<f64>,
}

/// The metrics `rmse` (units of the target), `log-score` (mean log density of the held-out targets, nats, in units of
/// the target) and `coverage-90` (share of them within their central 90 % interval): for each fold the mean over runs.
pub(super) fn leaderboard(
    block: &Setting,
    task: &LeaderboardTask,
    model: &ModelSetting,
    cells: &[&PrivacySetting],
    sample: &Sample,
    streams: &Streams,
) -> Result<Vec<Vec<Measurement>>, TaskError> {
    let normalised = normalise(&sample.targets, &block.normalise);
    let selection = task.choose.as_ref().map(|choose| choose.task(model));
    let context =
        Context { block, task, model, selection: selection.as_ref(), scale: normalised.scale, streams };
    let of = |(number, test): (usize, &Vec<usize>)| -> Result<(Box<dyn Method + '_>, Vec<f64>), TaskError> {
        let rows = rows(sample, &normalised, number, test);
        Ok((context.method(&rows)?, rows.truth))
    };
    let splits = folds(sample.rows(), task.split, streams);
    let methods: Result<Vec<_>, TaskError> = splits.iter().enumerate().map(of).collect();
    let methods = methods?;
    let caveats = caveats(block, &normalised);
    let answer = |cell: &&PrivacySetting| -> Result<Vec<Measurement>, TaskError> {
        let scores: Result<Vec<[f64; 3]>, TaskError> = methods
            .iter()
            .enumerate()
            .map(|(number, (method, truth))| context.scores(method.as_ref(), cell, number, truth))
            .collect();
        let scores = scores?;
        let mut certificate = Certificate::none();
        for (number, (method, _)) in methods.iter().enumerate() {
            let own = method.certificate(cell);
            if number == 0 { certificate = own } else { certificate.absorb(&own) }
        }
        let certificate =
            if cell.epsilon.is_finite() { certificate.with_caveats(&caveats) } else { certificate };
        let jitter = methods.iter().map(|(method, _)| method.jitter()).fold(0.0, f64::max);
        let measured = LeaderboardTask::METRICS.iter().enumerate().map(|(i, metric)| Measurement {
            metric: (*metric).to_owned(),
            values: scores.iter().map(|score| score[i]).collect(),
            certificate: certificate.clone(),
            jitter,
        });
        Ok(measured.collect())
    };
    cells.iter().map(answer).collect()
}

fn rows(sample: &Sample, normalised: &Normalised, number: usize, test: &[usize]) -> Rows {
    let training = others(sample.rows(), test);
    let Normalised { targets, originals, centre, scale, .. } = normalised;
    Rows {
        number,
        inputs: sample.inputs.select_rows(&training),
        targets: training.iter().map(|&row| targets[row]).collect(),
        test: sample.inputs.select_rows(test),
        truth: test.iter().map(|&row| (originals[row] - centre) / scale).collect(),
    }
}

/// What all folds share.
struct Context<'a> {
    block: &'a Setting,
    task: &'a LeaderboardTask,
    model: &'a ModelSetting,
    /// How lengthscales are chosen, if they are.
    selection: Option<&'a SelectionTask>,
    /// Units of the target per unit of the normalised one.
    scale: f64,
    streams: &'a Streams,
}

impl<'a> Context<'a> {
    /// The method of the block's mechanism.
    fn method(&self, rows: &Rows) -> Result<Box<dyn Method + 'a>, TaskError> {
        Ok(match (&self.block.privacy.mechanism, self.task.choose.as_ref().zip(self.selection)) {
            (MechanismSetting::Binning(setting), _) => Box::new(bins::Bins::new(self, setting, rows)),
            (MechanismSetting::Sums(_), _) => Box::new(sums::Sums::new(self, rows)?),
            (_, None) => Box::new(linear::Linear::new(self, self.model, rows)?),
            (_, Some(choose)) => Box::new(chosen::Chosen::new(self, choose, rows)?),
        })
    }

    /// The mean over runs of the error, the log density and the coverage.
    fn scores(
        &self,
        method: &dyn Method,
        cell: &PrivacySetting,
        number: usize,
        truth: &[f64],
    ) -> Result<[f64; 3], TaskError> {
        let runs = if cell.epsilon.is_finite() { self.task.draws } else { 1 };
        let noise = self.model.noise();
        let mut total = [0.0; 3];
        for run in 0..runs {
            let mut stream =
                self.streams.of_block(&format!("fold {number} run {run} epsilon {}", cell.epsilon));
            let prediction = method.run(cell, &mut stream)?;
            let densities = prediction.log_densities(truth, noise);
            let masses = prediction.central_masses(truth, noise);
            total[0] += self.scale * prediction.rmse(truth);
            total[1] += densities.iter().sum::<f64>() / truth.len() as f64 - self.scale.ln();
            total[2] += masses.iter().filter(|mass| **mass <= MASS).count() as f64 / truth.len() as f64;
        }
        Ok(total.map(|sum| sum / runs as f64))
    }
}

/// Standard normal numbers.
fn unit(length: usize, stream: &mut Pcg64) -> DVector<f64> {
    DVector::from_fn(length, |_, _| StandardNormal.sample(stream))
}
