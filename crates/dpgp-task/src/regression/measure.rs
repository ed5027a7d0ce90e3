//! The error of cloaked predictions, fold by fold.

use nalgebra::{DMatrix, DVector, DVectorView};

use super::binning::binning;
use crate::RegressionTask;
use crate::against_constant::{NO_ERROR, against_constant};
use crate::cross_validation::FoldRows;
use crate::metric::Metric;
use crate::model::Process;
use crate::noise::Noise;
use crate::noises::{Designer, Noises};
use crate::normalise::{caveats, normalise};
use crate::streams::normals;
use crate::{Certified, Job, Measured, OneTarget, Sampled, Task, TaskError};
use dpgp_accounting::{Caveat, Release};
use dpgp_gp::LinearMap;
use dpgp_gp::kernel::Kernel;
use dpgp_linalg::largest;
use dpgp_mechanisms::{BinningSetting, LinearEvidence, PrivacySetting};
use dpgp_spec::setting::ModelSetting;

/// The metric `rmse`: for each fold the mean over noise draws of the RMSE over its test rows. With no draws it is
/// `expected-rmse`, the root of the expectation over the noise of the mean squared error, which is exact:
/// `sqrt(|e|^2 / t + s^2 |L|_F^2 / t)` for errors e of the released mean and noise `s L z`. The metric `r2` says what that is beside the
/// error of a constant.
impl Task for RegressionTask {
    fn measure(&self, job: &Job<'_>) -> Result<Vec<Measured>, TaskError> {
        if let Some(setting) = job.setting.privacy.mechanism.of::<BinningSetting>() {
            return binning(self, setting, job);
        }
        let model = job.model()?;
        let normalised = normalise(&job.sample.targets, &job.setting.normalise);
        let kernel = model.kernel.covariance(&job.sample.inputs);
        let fit = FoldFit { task: self, model, kernel: kernel.as_ref(), scale: normalised.scale, job };
        let folds = FoldRows::of(job.sample, &normalised, self.split, self.score, job.streams);
        let folds: Vec<FoldErrors<'_>> = folds.map(|rows| fit.fold(&rows)).collect::<Result<_, _>>()?;
        let caveats = caveats(job.setting, &normalised);
        job.cells.iter().map(|cell| measured(self, job, cell, &folds, &caveats)).collect()
    }
}

/// What is computed of a fold.
pub(super) struct FoldScore {
    /// Root mean squared error, in units of the target.
    pub rmse: f64,
    /// The mean squared error of a constant, in squared units of the target.
    pub constant: f64,
}

impl RegressionTask {
    /// The metrics of a fold.
    pub(super) fn list(&self) -> [Metric<FoldScore>; 2] {
        [
            Metric::new(self.metric(), |fold| fold.rmse),
            Metric::undefined("r2", |fold| against_constant(fold.rmse * fold.rmse, fold.constant), NO_ERROR),
        ]
    }
}

fn measured(
    task: &RegressionTask,
    job: &Job<'_>,
    cell: &PrivacySetting,
    folds: &[FoldErrors<'_>],
    caveats: &[(Caveat, bool)],
) -> Result<Measured, TaskError> {
    let target = OneTarget::of_unit(cell, &job.setting.data)?;
    let scores = folds
        .iter()
        .map(|fold| Ok(FoldScore { rmse: fold.rmse(target.scale())?, constant: fold.constant }))
        .collect::<Result<Vec<FoldScore>, TaskError>>()?;
    let jitter = largest(folds.iter().map(|fold| fold.map.jitter()));
    Ok(certified(job, target, folds, caveats)?.scored_often(jitter, &task.list(), &scores))
}

/// The guarantee of the worst fold: each is a release of its own.
fn certified(
    job: &Job<'_>,
    target: OneTarget,
    folds: &[FoldErrors<'_>],
    caveats: &[(Caveat, bool)],
) -> Result<Certified, TaskError> {
    if !target.is_private() {
        return Ok(Certified::nothing());
    }
    let noises = folds.iter().map(|fold| fold.noise(target.scale()));
    let noises: Vec<&Noise> = noises.collect::<Result<_, TaskError>>()?;
    let first = noises.first().ok_or(TaskError::Missing { needed: "a fold" })?;
    let gaps: Option<Vec<f64>> = noises.iter().map(|noise| noise.gap()).collect();
    let ratio = largest(noises.iter().map(|noise| noise.ratio));
    let certificate = first.certificate_of(Release::FoldPredictions, target, ratio, gaps.map(largest));
    let certificate = certificate.about(job.setting.data.unit());
    job.certify(certificate.with_caveats(caveats), || {
        let place = noises.iter().filter_map(|noise| match noise.evidence() {
            LinearEvidence::Numbers(release) => Some(release),
            LinearEvidence::Function { .. } => None,
        });
        vec![Sampled::Linear { places: vec![place.collect()], scale: target.scale(), change: target.moved() }]
    })
}

/// What a fold contributes.
struct FoldErrors<'a> {
    fit: &'a FoldFit<'a>,
    map: LinearMap,
    /// The sums of the targets of equal inputs, and the targets that are held out, on the scale of the model.
    sums: DVector<f64>,
    truth: DVector<f64>,
    /// The mean squared error of a constant, in squared units of the target.
    constant: f64,
    /// The designs; none without privacy.
    noises: Option<Noises>,
    /// The name of its random streams.
    purpose: String,
}

impl FoldErrors<'_> {
    /// The design for noise of this scale, in units of the target.
    fn noise(&self, scale: f64) -> Result<&Noise, TaskError> {
        let missing = TaskError::Missing { needed: "a design for this noise" };
        self.noises.as_ref().ok_or(missing)?.at(scale / self.fit.scale)
    }

    /// What a map of the sums errs, in units of the target: prediction minus target.
    fn errors(&self, columns: &DMatrix<f64>) -> DVector<f64> {
        (columns * &self.sums - &self.truth) * self.fit.scale
    }

    /// Mean over draws of the root mean squared error with noise of this scale; without draws the root of its expected
    /// square.
    fn rmse(&self, scale: f64) -> Result<f64, TaskError> {
        let tests = self.truth.len() as f64;
        if scale == 0.0 {
            return Ok((self.errors(self.map.columns()).norm_squared() / tests).sqrt());
        }
        let noise = self.noise(scale)?;
        // The rank rule may drop directions, and the least risk has a map of its own.
        let released = self.errors(&noise.released_columns(&self.map));
        let draws = self.fit.task.draws.get();
        if draws == 0 {
            let squares = released.norm_squared() + scale * scale * noise.map.norm_squared();
            return Ok((squares / tests).sqrt());
        }
        let mut stream = self.fit.job.streams.of_block(&format!("noise {}", self.purpose));
        let drawn = &noise.map * normals(noise.map.ncols(), draws, &mut stream);
        let sum: f64 = drawn.column_iter().map(|noise| noisy_rmse(&released, noise, scale)).sum();
        Ok(sum / draws as f64)
    }
}

fn noisy_rmse(released: &DVector<f64>, noise: DVectorView<'_, f64>, scale: f64) -> f64 {
    let squares = released.iter().zip(noise.iter()).map(|(e, z)| (e + scale * z).powi(2));
    (squares.sum::<f64>() / released.len() as f64).sqrt()
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
    fn fold(&self, rows: &FoldRows) -> Result<FoldErrors<'_>, TaskError> {
        let purpose = rows.purpose();
        let process = Process::new(self.model, self.kernel, &rows.inputs, self.job.placing(&purpose));
        let map = process.map(&rows.test)?;
        Ok(FoldErrors {
            fit: self,
            sums: map.sum_groups(&rows.targets),
            truth: DVector::from_column_slice(&rows.truth),
            constant: rows.error_of_constant() * self.scale * self.scale,
            noises: self.noises(&process, &map, &rows.test)?,
            map,
            purpose,
        })
    }

    fn noises(
        &self,
        process: &Process<'_>,
        map: &LinearMap,
        test: &DMatrix<f64>,
    ) -> Result<Option<Noises>, TaskError> {
        if !self.job.is_private() {
            return Ok(None);
        }
        let mut scales = Vec::with_capacity(self.job.cells.len());
        for cell in self.job.cells {
            scales.push(OneTarget::of_unit(cell, &self.job.setting.data)?.scale() / self.scale);
        }
        let mechanism = &self.job.setting.privacy.mechanism;
        let denoise = mechanism.denoises_experiments();
        Designer { mechanism, process, test, map, denoise, weights: None }.noises(&scales).map(Some)
    }
}
