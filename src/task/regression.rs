//! Root mean squared error of held-out targets under privacy noise.

use nalgebra::{DMatrix, DVector};
use rand_distr::{Distribution, StandardNormal};

use super::binning::binning;
use super::cross_validation::{folds, others};
use super::normalise::{Normalised, caveats, normalise};
use super::witness::{LinearRelease, Sampled, record};
use super::{Measurement, Sample, Streams, TaskError, model};
use crate::kernel::Kernel;
use crate::linalg::largest;
use crate::privacy::{Caveat, Certificate, Cloak, Neighbours, Release};
use crate::spec::{MechanismSetting, ModelSetting, PrivacySetting, RegressionTask, ScoreSetting, Setting};

/// What a fold contributes: errors without noise, and unit noise draws, both in units of the target.
struct Fold {
    /// Prediction minus target of the plain model.
    plain: DVector<f64>,
    /// The same of the released mean (the rank rule may drop directions).
    released: DVector<f64>,
    /// Noise at multiplier 1 and change 1 (t x draws).
    noise: DMatrix<f64>,
    /// The sum of its variances.
    variance: f64,
    /// What the noise was sampled with; none without privacy.
    cloak: Option<Cloak>,
    jitter: f64,
}

/// The metric `rmse`: for each fold the mean over noise draws of the RMSE over its test rows. With no draws it is
/// `expected-rmse`, the root of the expectation over the noise of the mean squared error, which is exact:
/// `sqrt(|e|^2 / t + s^2 |L|_F^2 / t)` for errors e of the released mean and noise `s L z`.
pub(super) fn regression(
    block: &Setting,
    task: &RegressionTask,
    model: &ModelSetting,
    cells: &[&PrivacySetting],
    sample: &Sample,
    streams: &Streams,
) -> Result<Vec<Vec<Measurement>>, TaskError> {
    if let MechanismSetting::Binning(setting) = &block.privacy.mechanism {
        return binning(block, task, setting, cells, sample, streams);
    }
    let normalised = normalise(&sample.targets, &block.normalise);
    let kernel = model::kernel(&model.kernel, &sample.inputs);
    let bench =
        Bench { block, task, model, kernel: kernel.as_ref(), sample, normalised: &normalised, streams };
    let private = cells.iter().any(|cell| cell.epsilon.is_finite());
    let splits = folds(sample.rows(), task.split, streams);
    let folds: Result<Vec<Fold>, TaskError> =
        splits.iter().enumerate().map(|(number, test)| bench.fold(number, test, private)).collect();
    let folds = folds?;
    let caveats = caveats(block, &normalised);
    Ok(cells.iter().map(|cell| vec![measurement(task, cell, &folds, &caveats)]).collect())
}

fn measurement(
    task: &RegressionTask,
    cell: &PrivacySetting,
    folds: &[Fold],
    caveats: &[(Caveat, bool)],
) -> Measurement {
    let scale = cell.change() * cell.calibration.sigma(cell.epsilon, cell.delta);
    let cloaks = folds.iter().filter_map(|fold| fold.cloak.as_ref());
    record(cell, || Sampled::Linear {
        places: vec![cloaks.map(LinearRelease::of).collect()],
        scale,
        change: cell.change(),
    });
    Measurement {
        metric: task.metric().to_owned(),
        values: folds.iter().map(|fold| fold.rmse(scale)).collect(),
        certificate: certificate(cell, folds, caveats),
        jitter: largest(folds.iter().map(|fold| fold.jitter)),
    }
}

fn certificate(cell: &PrivacySetting, folds: &[Fold], caveats: &[(Caveat, bool)]) -> Certificate {
    if cell.epsilon.is_infinite() {
        return Certificate::none();
    }
    let cloaks = || folds.iter().filter_map(|fold| fold.cloak.as_ref());
    let gaps: Option<Vec<f64>> = cloaks().map(|cloak| cloak.gap).collect();
    Certificate::gaussian(
        (Release::FoldPredictions, Neighbours::OneTargetChanges(cell.change())),
        cell.calibration,
        (cell.epsilon, cell.delta),
        largest(cloaks().map(|cloak| cloak.sensitivity)),
        gaps.map(largest),
    )
    .with_caveats(caveats)
}

impl Fold {
    /// Mean over draws of the root mean squared error with noise of this scale; without draws the root of its expected
    /// square.
    fn rmse(&self, scale: f64) -> f64 {
        let tests = self.plain.len() as f64;
        if scale == 0.0 {
            return (self.plain.norm_squared() / tests).sqrt();
        }
        if self.noise.ncols() == 0 {
            return ((self.released.norm_squared() + scale * scale * self.variance) / tests).sqrt();
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
    task: &'a RegressionTask,
    model: &'a ModelSetting,
    kernel: &'a dyn Kernel,
    sample: &'a Sample,
    normalised: &'a Normalised,
    streams: &'a Streams,
}

impl Bench<'_> {
    /// The targets that predictions are compared with, on the scale of the model.
    fn truth(&self, rows: &[usize]) -> Vec<f64> {
        let Normalised { targets, originals, centre, scale, .. } = self.normalised;
        let of_row = |&row: &usize| match self.task.score {
            ScoreSetting::Clipped => targets[row],
            ScoreSetting::Original => (originals[row] - centre) / scale,
        };
        rows.iter().map(of_row).collect()
    }

    fn fold(&self, number: usize, test: &[usize], private: bool) -> Result<Fold, TaskError> {
        let training = others(self.sample.rows(), test);
        let inputs = |rows: &[usize]| self.sample.inputs.select_rows(rows);
        let targets =
            |rows: &[usize]| rows.iter().map(|&row| self.normalised.targets[row]).collect::<Vec<_>>();
        let purpose = format!("fold {number}");
        let pair = (&inputs(&training), &inputs(test));
        let map = model::map(self.model, self.kernel, pair, self.streams, &purpose)?;
        let sums = map.sum_groups(&targets(&training));
        let truth = DVector::from_vec(self.truth(test));
        let plain = (map.columns() * &sums - &truth) * self.normalised.scale;
        let jitter = map.jitter();
        if !private {
            let noise = DMatrix::zeros(test.len(), 0);
            let released = plain.clone();
            return Ok(Fold { released, plain, noise, variance: 0.0, cloak: None, jitter });
        }
        let cloak = model::noise(&self.block.privacy.mechanism, &map)?;
        let mut stream = self.streams.of_block(&format!("noise {purpose}"));
        let noise_map = cloak.noise_map();
        let draws =
            DMatrix::from_fn(noise_map.ncols(), self.task.draws, |_, _| StandardNormal.sample(&mut stream));
        Ok(Fold {
            plain,
            released: (cloak.mean_columns() * sums - truth) * self.normalised.scale,
            variance: noise_map.norm_squared(),
            noise: noise_map * draws,
            cloak: Some(cloak),
            jitter,
        })
    }
}
