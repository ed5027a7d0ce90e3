//! Root mean squared error of held-out targets under privacy noise, for cloaked predictions and for noisy
//! bins.

use nalgebra::{DMatrix, DVector, DVectorView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::averaged::{AveragedReleases, AveragedRows};
use crate::binned::{BinNoise, Binned, of_bins};
use crate::cross_validation::{FoldRows, NO_ERROR, against_constant};
use crate::denoised_bins::DenoisedBins;
use crate::measurement::Metric;
use crate::model::Process;
use crate::noise::{Noise, NoiseDesigner, NoiseDesigns};
use crate::normalise::{caveats, normalise};
use crate::summary::normals;
use crate::{
    Certified, FittedRows, Job, Measured, Sampled, Streams, TargetGuarantee, Task, TaskError, TaskSpec,
};
use dpgp_accounting::{Caveat, Release};
use dpgp_gp::LinearMap;
use dpgp_gp::kernel::Kernel;
use dpgp_linalg::largest;
use dpgp_mechanisms::{
    BinningEstimate, BinningSetting, LinearEvidence, MechanismSetting, PrivacySetting, Sections,
    noisy_predictions,
};
use dpgp_number::Count;
use dpgp_spec::FEWEST_FOR_QUANTILES;
use dpgp_spec::setting::rules::count;
use dpgp_spec::setting::{Checked, ModelSetting, SplitSetting};

/// The metric `rmse`: for each fold the mean over noise draws of the RMSE over its test rows. With no draws it is
/// `expected-rmse`, the root of the expectation over the noise of the mean squared error, which is exact:
/// `sqrt(|e|^2 / t + s^2 |L|_F^2 / t)` for errors e of the released mean and noise `s L z`. The metric `r2` says what that is beside the
/// error of a constant.
impl Task for RegressionTask {
    fn measure(&self, job: &Job<'_>) -> Result<Vec<Measured>, TaskError> {
        if let Some(setting) = job.setting.privacy.mechanism.downcast::<BinningSetting>() {
            return binning(self, setting, job);
        }
        let model = job.model()?;
        let normalised = normalise(&job.sample.targets, &job.setting.normalise);
        let kernel = model.covariance(&job.sample.inputs);
        let fit = FoldFit { task: self, model, kernel: kernel.as_ref(), scale: normalised.scale, job };
        let folds = FoldRows::split(job.sample, &normalised, self.split, self.score, job.streams);
        let folds: Vec<FoldErrors<'_>> = folds.map(|rows| fit.fold(&rows)).collect::<Result<_, _>>()?;
        let caveats = caveats(job.setting, &normalised);
        job.cells.iter().map(|cell| measured(self, job, cell, &folds, &caveats)).collect()
    }
}

/// Values computed for a fold.
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
    let target = TargetGuarantee::of_unit(cell, &job.setting.data)?;
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
    target: TargetGuarantee,
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

/// Contribution of a fold.
struct FoldErrors<'a> {
    fit: &'a FoldFit<'a>,
    map: LinearMap,
    /// The sums of the targets of equal inputs, and the targets that are held out, on the scale of the model.
    sums: DVector<f64>,
    truth: DVector<f64>,
    /// The mean squared error of a constant, in squared units of the target.
    constant: f64,
    /// The designs; none without privacy.
    noises: Option<NoiseDesigns>,
    /// What follows from releases; none where the model is not averaged, or without privacy.
    averaged: Option<AveragedReleases>,
    /// The name of its random streams.
    purpose: String,
}

impl FoldErrors<'_> {
    /// The design for noise of this scale, in units of the target.
    fn noise(&self, scale: f64) -> Result<&Noise, TaskError> {
        let missing = TaskError::Missing { needed: "a noise design for this scale" };
        self.noises.as_ref().ok_or(missing)?.at(scale / self.fit.scale)
    }

    /// Error of a map of the sums, in units of the target: prediction minus target.
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
        if let Some(averaged) = &self.averaged {
            return self.averaged_rmse(averaged, scale);
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

impl FoldErrors<'_> {
    /// The same where predictions average over hyperparameters, which the release weighs.
    fn averaged_rmse(&self, averaged: &AveragedReleases, scale: f64) -> Result<f64, TaskError> {
        let draws = self.fit.task.draws.get();
        let mut stream = self.fit.job.streams.of_block(&format!("noise {}", self.purpose));
        let mut sum = 0.0;
        for _ in 0..draws {
            let predicted = averaged.draw(scale / self.fit.scale, &self.sums, &mut stream)?;
            sum += predicted.latent.rmse(self.truth.as_slice()) * self.fit.scale;
        }
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
        let noises = self.noises(&process, &map, &rows.test)?;
        let seen = AveragedRows { training: &rows.inputs, test: &rows.test, map: &map };
        let averaged =
            noises.as_ref().map(|noises| AveragedReleases::new(self.model, &seen, noises, &self.scales()?));
        Ok(FoldErrors {
            fit: self,
            sums: map.sum_groups(&rows.targets),
            truth: DVector::from_column_slice(&rows.truth),
            constant: rows.error_of_constant() * self.scale * self.scale,
            averaged: averaged.transpose()?.flatten(),
            noises,
            map,
            purpose,
        })
    }

    /// The standard deviation of the noise of each cell at multiplier 1, in units of the model.
    fn scales(&self) -> Result<Vec<f64>, TaskError> {
        let cells = self.job.cells.iter();
        cells
            .map(|cell| Ok(TargetGuarantee::of_unit(cell, &self.job.setting.data)?.scale() / self.scale))
            .collect()
    }

    fn noises(
        &self,
        process: &Process<'_>,
        map: &LinearMap,
        test: &DMatrix<f64>,
    ) -> Result<Option<NoiseDesigns>, TaskError> {
        if !self.job.is_private() {
            return Ok(None);
        }
        let scales = self.scales()?;
        let mechanism = &self.job.setting.privacy.mechanism;
        let denoise = mechanism.denoises_experiments();
        NoiseDesigner { mechanism, process, test, map, denoise, weights: None }.noises(&scales).map(Some)
    }
}

/// The metric `rmse` as for cloaking, with predictions from a noisy statistic of the targets in each bin.
pub(super) fn binning(
    task: &RegressionTask,
    setting: &BinningSetting,
    job: &Job<'_>,
) -> Result<Vec<Measured>, TaskError> {
    let normalised = normalise(&job.sample.targets, &job.setting.normalise);
    let mut folds = Vec::new();
    for rows in FoldRows::split(job.sample, &normalised, task.split, task.score, job.streams) {
        let fold = BinnedFold::new(setting, &rows);
        let denoised = DenoisedBins::for_job(job, &rows, &fold.binned, normalised.scale)?;
        folds.push(BinnedFold { denoised, ..fold });
    }
    let binning =
        Binning { task, setting, scale: normalised.scale, folds, caveats: caveats(job.setting, &normalised) };
    job.cells.iter().map(|cell| binning.cell(job, cell)).collect()
}

/// State shared by all cells of a block.
struct Binning<'a> {
    task: &'a RegressionTask,
    setting: &'a BinningSetting,
    /// Units of the target per unit of the normalised one.
    scale: f64,
    folds: Vec<BinnedFold>,
    caveats: [(Caveat, bool); 2],
}

impl Binning<'_> {
    fn cell(&self, job: &Job<'_>, cell: &PrivacySetting) -> Result<Measured, TaskError> {
        let target = TargetGuarantee::from_privacy(cell)?;
        let noise = BinNoise {
            target,
            statistic: self.setting.statistic,
            law: self.setting.noise,
            scale: self.scale,
        };
        let draws = if target.is_private() { self.task.draws.get() } else { 1 };
        let mut scores = Vec::with_capacity(self.folds.len());
        for fold in &self.folds {
            let rmse = fold.rmse(self.setting, noise.sd(), draws, job.streams)? * self.scale;
            scores.push(FoldScore { rmse, constant: fold.constant * self.scale * self.scale });
        }
        let released: Vec<&Binned> = self.folds.iter().map(|fold| &fold.binned).collect();
        let certified = noise.certify(job, &released, &self.caveats)?;
        Ok(certified.scored_often(0.0, &self.task.list(), &scores))
    }
}

/// The bins with training rows, and the test rows.
struct BinnedFold {
    number: usize,
    binned: Binned,
    denoised: Option<DenoisedBins>,
    test: DMatrix<f64>,
    truth: DVector<f64>,
    /// The mean squared error of a constant, on the scale of the model.
    constant: f64,
}

impl BinnedFold {
    fn new(setting: &BinningSetting, rows: &FoldRows) -> Self {
        Self {
            number: rows.number,
            binned: Binned::new(setting, &rows.inputs, &rows.targets),
            denoised: None,
            test: rows.test.clone(),
            truth: DVector::from_column_slice(&rows.truth),
            constant: rows.error_of_constant(),
        }
    }

    /// The mean over draws of the root mean squared error.
    fn rmse(
        &self,
        setting: &BinningSetting,
        noise: f64,
        draws: usize,
        streams: &Streams,
    ) -> Result<f64, TaskError> {
        let sds = self.binned.sds(noise);
        let places = self.binned.places(&self.test);
        let mut total = 0.0;
        for draw in 0..draws {
            let mut stream = streams.of_block(&format!("bins {} {draw}", self.number));
            let noisy = self.binned.noisy(setting.noise, &sds, &mut stream);
            let predicted = match (&setting.estimate, &self.denoised) {
                (BinningEstimate::Bin {}, None) => of_bins(&noisy, &places),
                (BinningEstimate::Bin {}, Some(denoised)) => denoised.mean(noise, &self.binned, &noisy)?,
                (BinningEstimate::Integral { fitted }, _) => {
                    self.binned.integral(&noisy, &sds, &self.test, fitted.get())?
                }
                (BinningEstimate::Offset {}, _) => DVector::from_element(self.truth.len(), noisy.mean()),
            };
            total += ((predicted - &self.truth).norm_squared() / self.truth.len() as f64).sqrt();
        }
        Ok(total / draws as f64)
    }
}

/// Cross-validated regression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegressionTask {
    /// How rows are split into folds.
    pub split: SplitSetting,
    /// Draws of the privacy noise in each fold; 0 for the exact expectation over the noise of cloaking, as
    /// `expected-rmse`.
    pub draws: Count<1_000_000, 0>,
    /// Which held-out targets predictions are compared with.
    #[serde(default, skip_serializing_if = "ScoreSetting::is_original")]
    pub score: ScoreSetting,
}

impl RegressionTask {
    /// The metric that it measures.
    pub fn metric(&self) -> &'static str {
        if self.draws.get() == 0 { "expected-rmse" } else { "rmse" }
    }
}

/// Which held-out targets predictions are compared with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScoreSetting {
    /// The targets of the data.
    #[default]
    Original,
    /// The targets after clipping, which hides what the clip costs.
    Clipped,
}

impl ScoreSetting {
    fn is_original(&self) -> bool {
        *self == Self::Original
    }
}

impl TaskSpec for RegressionTask {
    fn check(&self, setting: &Sections) -> Checked {
        setting.regression_model("task.regression")?;
        setting.data.check_split("task.regression.split", self.split)?;
        let Some(binning) = setting.privacy.mechanism.downcast::<BinningSetting>() else {
            // Zero draws stand for the exact expectation over the noise.
            let mechanism = noisy_predictions(&setting.privacy)?;
            if setting.model.as_deref().is_some_and(|model| model.averaged) {
                // Which choices count depends on the noise, so that there is no expectation in closed form.
                count("task.regression.draws", self.draws.get())?;
            }
            let wrong = || setting.privacy.wrong("cloaking");
            return if mechanism.releases_function() { Err(wrong()) } else { Ok(()) };
        };
        count("task.regression.draws", self.draws.get())?;
        setting.privacy.has_change("binning")?;
        binning.check(setting.data.dimensions())
    }

    fn protects_persons(&self, mechanism: &MechanismSetting) -> bool {
        mechanism.linear().is_some_and(|linear| !linear.releases_function())
    }

    fn metrics(&self, replicates: u32) -> Vec<String> {
        let ends =
            [("", 1), ("-replicates", 2), ("-low", FEWEST_FOR_QUANTILES), ("-high", FEWEST_FOR_QUANTILES)];
        let shown = ends.iter().filter(|(_, fewest)| replicates >= *fewest);
        let names = self.list().map(|metric| metric.name);
        shown.flat_map(|(end, _)| names.map(|name| format!("{name}{end}"))).collect()
    }

    fn averages(&self) -> bool {
        true
    }

    fn check_rows(&self, rows: usize) -> Checked {
        self.split.check_rows("task.regression.split", rows)
    }

    fn fitted_rows(&self, rows: usize) -> Option<FittedRows> {
        Some(FittedRows::of_split(self.split, rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use dpgp_mechanisms::BinNoiseLaw;
    use dpgp_mechanisms::Statistic;
    use dpgp_number::Count;

    fn fold(estimate: BinningEstimate) -> (BinnedFold, BinningSetting) {
        let inputs: Vec<f64> = (0..40).map(|i| f64::from(i) / 4.0).collect();
        let curve: Vec<f64> = inputs.iter().map(|x| (x / 2.0).sin()).collect();
        let setting = BinningSetting {
            bins: Count::literal::<5>(),
            statistic: Statistic::Mean,
            noise: BinNoiseLaw::Gaussian,
            estimate,
            denoise: None,
        };
        let tested = |row: &usize| [3, 11, 19, 30].contains(row);
        let (test, training): (Vec<usize>, Vec<usize>) = (0..40).partition(tested);
        let inputs = DMatrix::from_vec(40, 1, inputs);
        let rows = FoldRows {
            number: 0,
            inputs: inputs.select_rows(&training),
            targets: training.iter().map(|&row| curve[row]).collect(),
            test: inputs.select_rows(&test),
            truth: test.iter().map(|&row| curve[row]).collect(),
        };
        (BinnedFold::new(&setting, &rows), setting)
    }

    #[test]
    fn a_bin_predicts_its_mean() {
        let (BinnedFold { binned: fold, test, .. }, _) = fold(BinningEstimate::Bin {});
        let noisy = DVector::from_column_slice(&fold.values);
        let predicted = of_bins(&noisy, &fold.places(&test));
        assert_eq!(fold.counts.iter().sum::<usize>(), 36);
        assert_eq!(predicted[0], fold.values[0]);
        assert!((fold.sensitivities[0] - 1.0 / fold.counts[0] as f64).abs() < 1e-15);
    }

    /// Laplace noise has the standard deviation that it is said to have; the offset is the mean of the bins, whatever the point.
    #[test]
    fn an_offset_is_the_mean_of_all_bins_and_laplace_noise_has_its_variance() {
        let (BinnedFold { binned, .. }, _) = fold(BinningEstimate::Offset {});
        let mut stream = Pcg64::seed_from_u64(5);
        let (draws, sds) = (4000, [0.5, 0.0, 2.0, 1.0, 1.0]);
        let noise = (0..draws).map(|_| binned.noisy(BinNoiseLaw::Laplace, &sds, &mut stream));
        let noise: Vec<f64> = noise.map(|noisy| noisy[2] - binned.values[2]).collect();
        let variance = noise.iter().map(|z| z * z).sum::<f64>() / f64::from(draws);
        let absolute = noise.iter().map(|z| z.abs()).sum::<f64>() / f64::from(draws);
        // The mean of the absolute value is the scale, 2 over the root of 2; that of a Gaussian would be 1.6. Five standard errors.
        assert!((variance - 4.0).abs() < 5.0 * (80.0 / f64::from(draws)).sqrt(), "{variance}");
        assert!((absolute - 2.0f64.sqrt()).abs() < 5.0 * (2.0 / f64::from(draws)).sqrt(), "{absolute}");
        let streams = Streams { seed: 1, data: "d".into(), block: "b".into(), replicate: 0 };
        let (fold, setting) = fold(BinningEstimate::Offset {});
        let offset = fold.binned.values.iter().sum::<f64>() / fold.binned.values.len() as f64;
        let error = (fold.truth.map(|y| y - offset).norm_squared() / fold.truth.len() as f64).sqrt();
        assert!((fold.rmse(&setting, 0.0, 1, &streams).unwrap() / error - 1.0).abs() < 1e-12);
    }

    /// The integral kernel finds the curve that the means of its bins blur.
    #[test]
    fn the_integral_kernel_beats_the_bins_on_a_smooth_curve() {
        let streams = Streams { seed: 1, data: "d".into(), block: "b".into(), replicate: 0 };
        let [bins, integral] =
            [BinningEstimate::Bin {}, BinningEstimate::Integral { fitted: Count::literal::<5>() }].map(
                |estimate| {
                    let (fold, setting) = fold(estimate);
                    fold.rmse(&setting, 0.0, 1, &streams).unwrap()
                },
            );
        assert!(integral < 0.25 * bins, "{integral} {bins}");
    }
}
