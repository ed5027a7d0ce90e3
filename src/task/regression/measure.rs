//! The error of cloaked predictions, fold by fold.

use nalgebra::{DMatrix, DVector, DVectorView};

use super::binning::binning;
use crate::kernel::Kernel;
use crate::linalg::largest;
use crate::privacy::{Caveat, Cloak, Release};
use crate::setting::{MechanismSetting, ModelSetting, PrivacySetting};
use crate::task::RegressionTask;
use crate::task::cross_validation::FoldRows;
use crate::task::model::Process;
use crate::task::noise::cloak_of;
use crate::task::normalise::{caveats, normalise};
use crate::task::streams::normals;
use crate::task::{Certified, Job, LinearRelease, Measured, OneTarget, Sampled, Task, TaskError};

/// The metric `rmse`: for each fold the mean over noise draws of the RMSE over its test rows. With no draws it is
/// `expected-rmse`, the root of the expectation over the noise of the mean squared error, which is exact:
/// `sqrt(|e|^2 / t + s^2 |L|_F^2 / t)` for errors e of the released mean and noise `s L z`.
impl Task for RegressionTask {
    fn measure(&self, job: &Job<'_>) -> Result<Vec<Measured>, TaskError> {
        if let MechanismSetting::Binning(setting) = &job.setting.privacy.mechanism {
            return binning(self, setting, job);
        }
        let model = job.model()?;
        let normalised = normalise(&job.sample.targets, &job.setting.normalise);
        let kernel = model.kernel.covariance(&job.sample.inputs);
        let fit = FoldFit { task: self, model, kernel: kernel.as_ref(), scale: normalised.scale, job };
        let folds = FoldRows::of(job.sample, &normalised, self.split, self.score, job.streams);
        let folds: Vec<FoldErrors> = folds.map(|rows| fit.fold(&rows)).collect::<Result<_, _>>()?;
        let caveats = caveats(job.setting, &normalised);
        job.cells.iter().map(|cell| measured(self, job, cell, &folds, &caveats)).collect()
    }
}

fn measured(
    task: &RegressionTask,
    job: &Job<'_>,
    cell: &PrivacySetting,
    folds: &[FoldErrors],
    caveats: &[(Caveat, bool)],
) -> Result<Measured, TaskError> {
    let target = OneTarget::of_unit(cell, &job.setting.data)?;
    let rmse = folds.iter().map(|fold| fold.rmse(target.scale())).collect();
    let jitter = largest(folds.iter().map(|fold| fold.jitter));
    Ok(certified(job, target, folds, caveats)?.measured_often(jitter, [(task.metric(), rmse)]))
}

/// The guarantee of the worst fold: each is a release of its own.
fn certified(
    job: &Job<'_>,
    target: OneTarget,
    folds: &[FoldErrors],
    caveats: &[(Caveat, bool)],
) -> Result<Certified, TaskError> {
    let cloaks: Vec<&Cloak> = folds.iter().filter_map(|fold| fold.cloak.as_ref()).collect();
    let gaps: Option<Vec<f64>> = cloaks.iter().map(|cloak| cloak.gap).collect();
    let sensitivity = largest(cloaks.iter().map(|cloak| cloak.sensitivity));
    let certificate = target.cloaked(Release::FoldPredictions, sensitivity, gaps.map(largest));
    let certificate = certificate.about(job.setting.data.unit());
    job.certify(certificate.with_caveats(caveats), || {
        let place = cloaks.iter().map(|cloak| LinearRelease::of(cloak)).collect();
        vec![Sampled::Linear { places: vec![place], scale: target.scale(), change: target.moved() }]
    })
}

/// What a fold contributes: errors without noise, and unit noise draws, both in units of the target.
struct FoldErrors {
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

impl FoldErrors {
    /// Mean over draws of the root mean squared error with noise of this scale; without draws the root of its expected
    /// square.
    fn rmse(&self, scale: f64) -> f64 {
        let tests = self.plain.len() as f64;
        if scale == 0.0 {
            return (self.plain.norm_squared() / tests).sqrt();
        }
        let draws = self.noise.ncols();
        if draws == 0 {
            return ((self.released.norm_squared() + scale * scale * self.variance) / tests).sqrt();
        }
        self.noise.column_iter().map(|noise| self.noisy_rmse(noise, scale)).sum::<f64>() / draws as f64
    }

    fn noisy_rmse(&self, noise: DVectorView<'_, f64>, scale: f64) -> f64 {
        let squares = self.released.iter().zip(noise.iter()).map(|(e, z)| (e + scale * z).powi(2));
        (squares.sum::<f64>() / self.plain.len() as f64).sqrt()
    }
}

/// A model that is fitted to each fold.
struct FoldFit<'a> {
    task: &'a RegressionTask,
    model: &'a ModelSetting,
    kernel: &'a dyn Kernel,
    /// Units of the target per unit of the model.
    scale: f64,
    job: &'a Job<'a>,
}

impl FoldFit<'_> {
    fn fold(&self, rows: &FoldRows) -> Result<FoldErrors, TaskError> {
        let Job { setting, streams, .. } = *self.job;
        let purpose = rows.purpose();
        let map = Process::new(self.model, self.kernel, &rows.inputs, streams, &purpose).map(&rows.test)?;
        let sums = map.sum_groups(&rows.targets);
        let truth = DVector::from_column_slice(&rows.truth);
        let plain = (map.columns() * &sums - &truth) * self.scale;
        let jitter = map.jitter();
        if !self.job.is_private() {
            let (released, noise) = (plain.clone(), DMatrix::zeros(rows.test.nrows(), 0));
            return Ok(FoldErrors { released, plain, noise, variance: 0.0, cloak: None, jitter });
        }
        let cloak = cloak_of(&setting.privacy.mechanism, &map)?;
        let noise_map = cloak.noise_map();
        let mut stream = streams.of_block(&format!("noise {purpose}"));
        Ok(FoldErrors {
            plain,
            released: (cloak.mean_columns() * sums - truth) * self.scale,
            variance: noise_map.norm_squared(),
            noise: &noise_map * normals(noise_map.ncols(), self.task.draws.get(), &mut stream),
            cloak: Some(cloak),
            jitter,
        })
    }
}
