//! Root mean squared error of held-out targets under privacy noise.

use nalgebra::{DMatrix, DVector};
use rand_distr::{Distribution, StandardNormal};

use super::cross_validation::{folds, others};
use super::normalise::{Normalised, normalise};
use super::{Measurement, Sample, Streams, TaskError, model};
use crate::kernel::Kernel;
use crate::privacy::{Caveat, Certificate, Neighbours};
use crate::spec::{ModelSetting, PrivacySetting, RegressionTask, Setting};

/// What a fold contributes: errors without noise, and unit noise draws, both in units of the target.
struct Fold {
    /// Prediction minus target of the plain model.
    plain: DVector<f64>,
    /// The same of the released mean (the rank rule may drop directions).
    released: DVector<f64>,
    /// Noise at multiplier 1 and change 1 (t x draws).
    noise: DMatrix<f64>,
    sensitivity: f64,
    gap: f64,
    jitter: f64,
}

/// The metric `rmse`: for each fold the mean over noise draws of the RMSE over its test rows.
pub(super) fn regression(
    block: &Setting,
    task: &RegressionTask,
    model: &ModelSetting,
    cells: &[&PrivacySetting],
    sample: &Sample,
    streams: &Streams,
) -> Result<Vec<Vec<Measurement>>, TaskError> {
    let normalised = normalise(&sample.targets, &block.normalise);
    let kernel = model::kernel(&model.kernel, &sample.inputs);
    let bench = Bench { block, model, kernel: kernel.as_ref(), sample, normalised: &normalised, streams };
    let private = cells.iter().any(|cell| cell.epsilon.is_finite());
    let splits = folds(sample.rows(), task.split, streams);
    let folds: Result<Vec<Fold>, TaskError> = splits
        .iter()
        .enumerate()
        .map(|(number, test)| bench.fold(number, test, if private { task.draws } else { 0 }))
        .collect();
    let folds = folds?;
    Ok(cells.iter().map(|cell| vec![measurement(cell, &folds, normalised.private)]).collect())
}

fn measurement(cell: &PrivacySetting, folds: &[Fold], private_normalisation: bool) -> Measurement {
    let scale = cell.change * cell.calibration.sigma(cell.epsilon, cell.delta);
    Measurement {
        metric: "rmse".to_owned(),
        values: folds.iter().map(|fold| fold.rmse(scale)).collect(),
        certificate: certificate(cell, folds, private_normalisation),
        jitter: worst(folds, |fold| fold.jitter),
    }
}

fn certificate(cell: &PrivacySetting, folds: &[Fold], private_normalisation: bool) -> Certificate {
    if cell.epsilon.is_infinite() {
        return Certificate::none();
    }
    Certificate::gaussian(
        Neighbours::OneTargetChanges(cell.change),
        cell.calibration,
        (cell.epsilon, cell.delta),
        worst(folds, |fold| fold.sensitivity),
        worst(folds, |fold| fold.gap),
    )
    .with_caveat(Caveat::PrivateNormalisation, private_normalisation)
}

fn worst(folds: &[Fold], of: fn(&Fold) -> f64) -> f64 {
    folds.iter().map(of).fold(0.0, f64::max)
}

impl Fold {
    /// Mean over draws of the root mean squared error with noise of this scale.
    fn rmse(&self, scale: f64) -> f64 {
        let tests = self.plain.len() as f64;
        if scale == 0.0 {
            return (self.plain.norm_squared() / tests).sqrt();
        }
        let rmse = |noise: nalgebra::DVectorView<'_, f64>| {
            let squares = self.released.iter().zip(noise.iter()).map(|(e, z)| (e + scale * z).powi(2));
            (squares.sum::<f64>() / tests).sqrt()
        };
        self.noise.column_iter().map(rmse).sum::<f64>() / self.noise.ncols() as f64
    }
}

/// What all folds share.
struct Bench<'a> {
    block: &'a Setting,
    model: &'a ModelSetting,
    kernel: &'a dyn Kernel,
    sample: &'a Sample,
    normalised: &'a Normalised,
    streams: &'a Streams,
}

impl Bench<'_> {
    fn fold(&self, number: usize, test: &[usize], draws: usize) -> Result<Fold, TaskError> {
        let training = others(self.sample.rows(), test);
        let inputs = |rows: &[usize]| self.sample.inputs.select_rows(rows);
        let targets =
            |rows: &[usize]| rows.iter().map(|&row| self.normalised.targets[row]).collect::<Vec<_>>();
        let purpose = format!("fold {number}");
        let pair = (&inputs(&training), &inputs(test));
        let map = model::map(self.model, self.kernel, pair, self.streams, &purpose)?;
        let sums = map.sum_groups(&targets(&training));
        let truth = DVector::from_vec(targets(test));
        let plain = (map.columns() * &sums - &truth) * self.normalised.scale;
        let jitter = map.jitter();
        if draws == 0 {
            let noise = DMatrix::zeros(test.len(), 0);
            return Ok(Fold { released: plain.clone(), plain, noise, sensitivity: 0.0, gap: 0.0, jitter });
        }
        let cloak = model::noise(&self.block.privacy.mechanism, &map)?;
        let mut stream = self.streams.of_block(&format!("noise {purpose}"));
        let noise_map = cloak.noise_map();
        let draws = DMatrix::from_fn(noise_map.ncols(), draws, |_, _| StandardNormal.sample(&mut stream));
        Ok(Fold {
            plain,
            released: (cloak.mean_columns() * sums - truth) * self.normalised.scale,
            noise: noise_map * draws,
            sensitivity: cloak.sensitivity,
            gap: cloak.gap,
            jitter,
        })
    }
}
