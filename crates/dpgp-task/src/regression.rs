//! Root mean squared error of held-out targets under privacy noise, for cloaked predictions and for noisy
//! bins.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector, DVectorView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::averaged::{FoldInputs, ModelAveragedReleases};
use crate::binned::{BinNoise, BinStatistics, DenoisedBins, lookup_bin_values};
use crate::cross_validation::{FoldRows, NO_ERROR, r_squared};
use crate::measurement::Metric;
use crate::model::{GpOnTrainingInputs, digest};
use crate::noise::{NoiseDesigner, NoiseDesigns, PredictionNoise};
use crate::normalise::{normalisation_caveats, normalise};
use crate::summary::standard_normal_matrix;
use crate::{
    AuditableCertificate, AuditedMechanism, CellMeasurements, FitSize, MeasurableTask, RandomStreams, ReplicateJob,
    TargetChangeGuarantee, TaskError, TaskRequirements,
};
use dpgp_accounting::{GuaranteeCaveat, ReleaseKind};
use dpgp_gp::PredictionMap;
use dpgp_gp::kernel::Kernel;
use dpgp_linalg::largest_or_nan;
use dpgp_mechanisms::{
    AuditedLinearMechanism, BinPredictionSetting, BinningSetting, CellSections, MechanismSetting, PrivacySetting,
    require_linear_mechanism,
};
use dpgp_number::Count;
use dpgp_spec::FEWEST_FOR_QUANTILES;
use dpgp_spec::setting::rules::check_count;
use dpgp_spec::setting::{CheckResult, ModelSetting, SplitSetting};

/// The metric `rmse`: for each fold the mean over noise draws of the RMSE over its test rows. With no draws it is
/// `expected-rmse`, the root of the expectation over the noise of the mean squared error, which is exact:
/// `sqrt(|e|^2 / t + s^2 |L|_F^2 / t)` for errors e of the released mean and noise `s L z`. The metric `r2` says what that is beside the
/// error of a constant.
impl MeasurableTask for RegressionTask {
    fn measure_cells(&self, job: &ReplicateJob<'_>) -> Result<Vec<CellMeasurements>, TaskError> {
        if let Some(setting) = job.setting.privacy.mechanism.downcast::<BinningSetting>() {
            return measure_binning(self, setting, job);
        }
        let model = job.model()?;
        let normalised = normalise(&job.sample.targets, &job.setting.normalise);
        let kernel = model.prior_kernel(&job.sample.inputs);
        let fit = FoldFitter { task: self, model, kernel: kernel.as_ref(), scale: normalised.scale, job };
        let rows: Vec<FoldRows> =
            FoldRows::split(job.sample, &normalised, self.split, self.score, job.streams).collect();
        let maps = fit.prediction_maps(&rows)?;
        let folds = rows.iter().zip(&*maps).map(|(rows, map)| fit.fit_fold(rows, map));
        let folds: Vec<RegressionFold<'_>> = folds.collect::<Result<_, _>>()?;
        let caveats = normalisation_caveats(job.setting, &normalised);
        job.measure_each_cell(|cell| measure_cell(self, job, cell, &folds, &caveats))
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
    pub(super) fn fold_metrics(&self) -> [Metric<FoldScore>; 2] {
        [
            Metric::new(self.metric(), |fold| fold.rmse),
            Metric::with_undefined_reason("r2", |fold| r_squared(fold.rmse * fold.rmse, fold.constant), NO_ERROR),
        ]
    }
}

fn measure_cell(
    task: &RegressionTask,
    job: &ReplicateJob<'_>,
    cell: &PrivacySetting,
    folds: &[RegressionFold<'_>],
    caveats: &[(GuaranteeCaveat, bool)],
) -> Result<CellMeasurements, TaskError> {
    let target = TargetChangeGuarantee::for_privacy_unit(cell, &job.setting.data)?;
    let scores = folds
        .iter()
        .map(|fold| {
            Ok(FoldScore {
                rmse: fold.mean_rmse_with_noise(target.noise_scale_in_target_units())?,
                constant: fold.constant,
            })
        })
        .collect::<Result<Vec<FoldScore>, TaskError>>()?;
    let jitter = largest_or_nan(folds.iter().map(|fold| fold.map.jitter()));
    Ok(certify_worst_fold(job, target, folds, caveats)?.evaluate_repeated_metrics(
        jitter,
        &task.fold_metrics(),
        &scores,
    ))
}

/// The guarantee of the worst fold: each is a release of its own.
fn certify_worst_fold(
    job: &ReplicateJob<'_>,
    target: TargetChangeGuarantee,
    folds: &[RegressionFold<'_>],
    caveats: &[(GuaranteeCaveat, bool)],
) -> Result<AuditableCertificate, TaskError> {
    if !target.is_private() {
        return Ok(AuditableCertificate::without_claim());
    }
    let noises = folds.iter().map(|fold| fold.noise(target.noise_scale_in_target_units()));
    let noises: Vec<&PredictionNoise> = noises.collect::<Result<_, TaskError>>()?;
    let first = noises.first().ok_or(TaskError::Missing { needed: "a fold" })?;
    let gaps: Option<Vec<f64>> = noises.iter().map(|noise| noise.optimality_gap()).collect();
    let ratio = largest_or_nan(noises.iter().map(|noise| noise.ratio));
    let certificate =
        first.certificate_for_release_kind(ReleaseKind::FoldPredictions, target, ratio, gaps.map(largest_or_nan));
    let certificate = certificate.with_privacy_unit(job.setting.data.privacy_unit());
    job.auditable_certificate(certificate.with_caveats(caveats), || {
        let place = noises.iter().filter_map(|noise| match noise.audited_linear_mechanism() {
            AuditedLinearMechanism::Numbers(release) => Some(release),
            AuditedLinearMechanism::Function { .. } => None,
        });
        vec![AuditedMechanism::Linear {
            places: vec![place.collect()],
            scale: target.noise_scale_in_target_units(),
            change: target.total_change(),
        }]
    })
}

/// Contribution of a fold.
struct RegressionFold<'a> {
    fit: &'a FoldFitter<'a>,
    map: &'a PredictionMap,
    /// The sums of the targets of equal inputs, and the targets that are held out, on the scale of the model.
    sums: DVector<f64>,
    truth: DVector<f64>,
    /// The mean squared error of a constant, in squared units of the target.
    constant: f64,
    /// The designs; none without privacy.
    noises: Option<NoiseDesigns>,
    /// What follows from releases; none where the model is not averaged, or without privacy.
    averaged: Option<ModelAveragedReleases>,
    /// The name of its random streams.
    purpose: String,
}

impl RegressionFold<'_> {
    /// The design for noise of this scale, in units of the target.
    fn noise(&self, scale: f64) -> Result<&PredictionNoise, TaskError> {
        let missing = TaskError::Missing { needed: "a noise design for this scale" };
        self.noises.as_ref().ok_or(missing)?.noise_at_scale(scale / self.fit.scale)
    }

    /// Error of a map of the sums, in units of the target: prediction minus target.
    fn errors_of_prediction_map(&self, columns: &DMatrix<f64>) -> DVector<f64> {
        (columns * &self.sums - &self.truth) * self.fit.scale
    }

    /// Mean over draws of the root mean squared error with noise of this scale; without draws the root of its expected
    /// square.
    fn mean_rmse_with_noise(&self, noise_scale: f64) -> Result<f64, TaskError> {
        let tests = self.truth.len() as f64;
        if noise_scale == 0.0 {
            return Ok((self.errors_of_prediction_map(self.map.distinct_columns()).norm_squared() / tests).sqrt());
        }
        if let Some(averaged) = &self.averaged {
            return self.mean_rmse_of_averaged_model(averaged, noise_scale);
        }
        let noise = self.noise(noise_scale)?;
        // The rank rule may drop directions, and the least risk has a map of its own.
        let released = self.errors_of_prediction_map(&noise.noiseless_prediction_map(self.map));
        let draws = self.fit.task.draws.get();
        if draws == 0 {
            let squares = released.norm_squared() + noise_scale * noise_scale * noise.map.norm_squared();
            return Ok((squares / tests).sqrt());
        }
        let mut stream = self.fit.job.streams.block_stream(&format!("noise {}", self.purpose));
        let drawn = &noise.map * standard_normal_matrix(noise.map.ncols(), draws, &mut stream);
        let sum: f64 = drawn.column_iter().map(|noise| rmse_with_noise(&released, noise, noise_scale)).sum();
        Ok(sum / draws as f64)
    }
}

impl RegressionFold<'_> {
    /// The same where predictions average over hyperparameters, which the release weighs.
    fn mean_rmse_of_averaged_model(
        &self,
        averaged: &ModelAveragedReleases,
        noise_scale: f64,
    ) -> Result<f64, TaskError> {
        let draws = self.fit.task.draws.get();
        let mut stream = self.fit.job.streams.block_stream(&format!("noise {}", self.purpose));
        let mut sum = 0.0;
        for _ in 0..draws {
            let predicted = averaged.draw_prediction(noise_scale / self.fit.scale, &self.sums, &mut stream)?;
            sum += predicted.latent.rmse(self.truth.as_slice()) * self.fit.scale;
        }
        Ok(sum / draws as f64)
    }
}

fn rmse_with_noise(released: &DVector<f64>, noise: DVectorView<'_, f64>, scale: f64) -> f64 {
    let squares = released.iter().zip(noise.iter()).map(|(e, z)| (e + scale * z).powi(2));
    (squares.sum::<f64>() / released.len() as f64).sqrt()
}

/// A model that is fitted to each fold.
struct FoldFitter<'a> {
    task: &'a RegressionTask,
    model: &'a ModelSetting,
    kernel: &'a dyn Kernel,
    /// Units of the target per unit of the model.
    scale: f64,
    job: &'a ReplicateJob<'a>,
}

/// All that the prediction maps of the folds depend on: they do not depend on targets.
#[derive(Debug, Clone, PartialEq)]
pub struct FoldMapsKey {
    model: ModelSetting,
    split: SplitSetting,
    /// Of the inputs: which rows are kept depends on the mechanism.
    inputs: [u8; 32],
    /// These three determine the random splits and inducing inputs.
    data: String,
    seed: u32,
    replicate: u32,
}

impl FoldFitter<'_> {
    /// The prediction maps of all folds. Blocks that differ only in their noise share them.
    fn prediction_maps(&self, folds: &[FoldRows]) -> Result<Arc<Vec<PredictionMap>>, TaskError> {
        let RandomStreams { seed, data, replicate, .. } = self.job.streams.clone();
        let (model, split, inputs) = (self.model.clone(), self.task.split, digest(&self.job.sample.inputs));
        let question = FoldMapsKey { model, split, inputs, data, seed, replicate };
        self.job.known.maps.get_or_compute(&question, || {
            folds
                .iter()
                .map(|rows| self.process(rows).prediction_map(&rows.test))
                .collect::<Result<_, _>>()
                .map(Arc::new)
        })
    }

    fn process<'a>(&'a self, rows: &'a FoldRows) -> GpOnTrainingInputs<'a> {
        let purpose = rows.stream_name();
        GpOnTrainingInputs::new(self.model, self.kernel, &rows.inputs, self.job.inducing_placement(&purpose))
    }

    fn fit_fold<'a>(&'a self, rows: &FoldRows, map: &'a PredictionMap) -> Result<RegressionFold<'a>, TaskError> {
        let noises = self.design_noises(&self.process(rows), map, &rows.test)?;
        let seen = FoldInputs { training: &rows.inputs, test: &rows.test, map };
        let averaged = noises
            .as_ref()
            .map(|noises| ModelAveragedReleases::new(self.model, &seen, noises, &self.cell_noise_scales()?));
        Ok(RegressionFold {
            fit: self,
            sums: map.sum_targets_by_input(&rows.targets),
            truth: DVector::from_column_slice(&rows.truth),
            constant: rows.constant_prediction_mse() * self.scale * self.scale,
            averaged: averaged.transpose()?.flatten(),
            noises,
            map,
            purpose: rows.stream_name(),
        })
    }

    /// The standard deviation of the noise of each cell at multiplier 1, in units of the model.
    fn cell_noise_scales(&self) -> Result<Vec<f64>, TaskError> {
        let cells = self.job.cells.iter();
        cells
            .map(|cell| {
                Ok(TargetChangeGuarantee::for_privacy_unit(cell, &self.job.setting.data)?.noise_scale_in_target_units()
                    / self.scale)
            })
            .collect()
    }

    fn design_noises(
        &self,
        process: &GpOnTrainingInputs<'_>,
        map: &PredictionMap,
        test: &DMatrix<f64>,
    ) -> Result<Option<NoiseDesigns>, TaskError> {
        if !self.job.any_cell_has_noise() {
            return Ok(None);
        }
        let scales = self.cell_noise_scales()?;
        let mechanism = &self.job.setting.privacy.mechanism;
        let denoise = mechanism.denoises_in_experiments();
        NoiseDesigner { mechanism, process, test, map, denoise, weights: None }.design_noises(&scales).map(Some)
    }
}

/// The metric `rmse` as for cloaking, with predictions from a noisy statistic of the targets in each bin.
pub(super) fn measure_binning(
    task: &RegressionTask,
    setting: &BinningSetting,
    job: &ReplicateJob<'_>,
) -> Result<Vec<CellMeasurements>, TaskError> {
    let normalised = normalise(&job.sample.targets, &job.setting.normalise);
    let mut folds = Vec::new();
    for rows in FoldRows::split(job.sample, &normalised, task.split, task.score, job.streams) {
        let fold = BinnedFold::new(setting, &rows);
        let denoised = DenoisedBins::from_job(job, &rows, &fold.binned, normalised.scale)?;
        folds.push(BinnedFold { denoised, ..fold });
    }
    let binning = BinningReplicateState {
        task,
        setting,
        scale: normalised.scale,
        folds,
        caveats: normalisation_caveats(job.setting, &normalised),
    };
    job.measure_each_cell(|cell| binning.measure_cell(job, cell))
}

struct BinningReplicateState<'a> {
    task: &'a RegressionTask,
    setting: &'a BinningSetting,
    /// Units of the target per unit of the normalised one.
    scale: f64,
    folds: Vec<BinnedFold>,
    caveats: [(GuaranteeCaveat, bool); 2],
}

impl BinningReplicateState<'_> {
    fn measure_cell(&self, job: &ReplicateJob<'_>, cell: &PrivacySetting) -> Result<CellMeasurements, TaskError> {
        let target = TargetChangeGuarantee::for_one_row(cell)?;
        let noise = BinNoise { target, statistic: self.setting.statistic, law: self.setting.noise, scale: self.scale };
        let draws = if target.is_private() { self.task.draws.get() } else { 1 };
        let mut scores = Vec::with_capacity(self.folds.len());
        for fold in &self.folds {
            let rmse = fold.mean_rmse_with_noise(self.setting, noise.sd(), draws, job.streams)? * self.scale;
            scores.push(FoldScore { rmse, constant: fold.constant * self.scale * self.scale });
        }
        let released: Vec<&BinStatistics> = self.folds.iter().map(|fold| &fold.binned).collect();
        let certified = noise.certify(job, &released, &self.caveats)?;
        Ok(certified.evaluate_repeated_metrics(0.0, &self.task.fold_metrics(), &scores))
    }
}

/// The bins with training rows, and the test rows.
struct BinnedFold {
    number: usize,
    binned: BinStatistics,
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
            binned: BinStatistics::new(setting, &rows.inputs, &rows.targets),
            denoised: None,
            test: rows.test.clone(),
            truth: DVector::from_column_slice(&rows.truth),
            constant: rows.constant_prediction_mse(),
        }
    }

    /// The mean over draws of the root mean squared error.
    fn mean_rmse_with_noise(
        &self,
        setting: &BinningSetting,
        noise: f64,
        draws: usize,
        streams: &RandomStreams,
    ) -> Result<f64, TaskError> {
        let sds = self.binned.noise_sds(noise);
        let places = self.binned.find_bins(&self.test);
        let mut total = 0.0;
        for draw in 0..draws {
            let mut stream = streams.block_stream(&format!("bins {} {draw}", self.number));
            let noisy = self.binned.draw_noisy_values(setting.noise, &sds, &mut stream);
            let predicted = match (&setting.estimate, &self.denoised) {
                (BinPredictionSetting::Bin {}, None) => lookup_bin_values(&noisy, &places),
                (BinPredictionSetting::Bin {}, Some(denoised)) => {
                    denoised.test_prediction_mean(noise, &self.binned, &noisy)?
                }
                (BinPredictionSetting::Integral { fitted }, _) => {
                    self.binned.predict_with_integral_kernel(&noisy, &sds, &self.test, fitted.get())?
                }
                (BinPredictionSetting::Offset {}, _) => DVector::from_element(self.truth.len(), noisy.mean()),
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
    /// The number of draws of the privacy noise in each fold. With 0, the metric is `expected-rmse`, from the exact
    /// expectation over the noise. `mechanism.binning` and `model.averaged` need at least 1.
    pub draws: Count<1_000_000, 0>,
    /// The held-out targets with which predictions are compared.
    #[serde(default, skip_serializing_if = "ScoredTargetsSetting::is_original")]
    pub score: ScoredTargetsSetting,
}

impl RegressionTask {
    /// The metric that the task measures.
    pub fn metric(&self) -> &'static str {
        if self.draws.get() == 0 { "expected-rmse" } else { "rmse" }
    }
}

/// The held-out targets with which predictions are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScoredTargetsSetting {
    /// The targets of the data.
    #[default]
    Original,
    /// The targets after clipping, so that the error does not include the cost of clipping.
    Clipped,
}

impl ScoredTargetsSetting {
    fn is_original(&self) -> bool {
        *self == Self::Original
    }
}

impl TaskRequirements for RegressionTask {
    fn check(&self, setting: &CellSections) -> CheckResult {
        setting.regression_model("task.regression")?;
        setting.data.check_split("task.regression.split", self.split)?;
        let Some(binning) = setting.privacy.mechanism.downcast::<BinningSetting>() else {
            // Zero draws stand for the exact expectation over the noise.
            let mechanism = require_linear_mechanism(&setting.privacy)?;
            if setting.model.as_deref().is_some_and(|model| model.averaged) {
                // Which choices count depends on the noise, so that there is no expectation in closed form.
                check_count("task.regression.draws", self.draws.get())?;
            }
            let wrong = || setting.privacy.wrong_mechanism_error("cloaking");
            return if mechanism.releases_function() { Err(wrong()) } else { Ok(()) };
        };
        check_count("task.regression.draws", self.draws.get())?;
        setting.privacy.check_target_change("binning")?;
        binning.check(setting.data.dimensions())
    }

    fn protects_persons(&self, mechanism: &MechanismSetting) -> bool {
        mechanism.as_linear().is_some_and(|linear| !linear.releases_function())
    }

    fn metric_names(&self, replicates: u32) -> Vec<String> {
        let ends = [("", 1), ("-replicates", 2), ("-low", FEWEST_FOR_QUANTILES), ("-high", FEWEST_FOR_QUANTILES)];
        let shown = ends.iter().filter(|(_, fewest)| replicates >= *fewest);
        let names = self.fold_metrics().map(|metric| metric.name);
        shown.flat_map(|(end, _)| names.map(|name| format!("{name}{end}"))).collect()
    }

    fn averages_hyperparameters(&self) -> bool {
        true
    }

    fn check_row_count(&self, rows: usize) -> CheckResult {
        self.split.check_row_count("task.regression.split", rows)
    }

    fn fit_size(&self, rows: usize) -> Option<FitSize> {
        Some(FitSize::from_split(self.split, rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use dpgp_mechanisms::{BinNoiseDistribution, BinStatistic};
    use dpgp_number::Count;

    fn fold(estimate: BinPredictionSetting) -> (BinnedFold, BinningSetting) {
        let inputs: Vec<f64> = (0..40).map(|i| f64::from(i) / 4.0).collect();
        let curve: Vec<f64> = inputs.iter().map(|x| (x / 2.0).sin()).collect();
        let setting = BinningSetting {
            bins: Count::literal::<5>(),
            statistic: BinStatistic::Mean,
            noise: BinNoiseDistribution::Gaussian,
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
        let (BinnedFold { binned: fold, test, .. }, _) = fold(BinPredictionSetting::Bin {});
        let noisy = DVector::from_column_slice(&fold.values);
        let predicted = lookup_bin_values(&noisy, &fold.find_bins(&test));
        assert_eq!(fold.counts.iter().sum::<usize>(), 36);
        assert_eq!(predicted[0], fold.values[0]);
        assert!((fold.sensitivities[0] - 1.0 / fold.counts[0] as f64).abs() < 1e-15);
    }

    /// Laplace noise has the standard deviation that it is said to have; the offset is the mean of the bins, whatever the point.
    #[test]
    fn an_offset_is_the_mean_of_all_bins_and_laplace_noise_has_its_variance() {
        let (BinnedFold { binned, .. }, _) = fold(BinPredictionSetting::Offset {});
        let mut stream = Pcg64::seed_from_u64(5);
        let (draws, sds) = (4000, [0.5, 0.0, 2.0, 1.0, 1.0]);
        let noise = (0..draws).map(|_| binned.draw_noisy_values(BinNoiseDistribution::Laplace, &sds, &mut stream));
        let noise: Vec<f64> = noise.map(|noisy| noisy[2] - binned.values[2]).collect();
        let variance = noise.iter().map(|z| z * z).sum::<f64>() / f64::from(draws);
        let absolute = noise.iter().map(|z| z.abs()).sum::<f64>() / f64::from(draws);
        // The mean of the absolute value is the scale, 2 over the root of 2; that of a Gaussian would be 1.6. Five standard errors.
        assert!((variance - 4.0).abs() < 5.0 * (80.0 / f64::from(draws)).sqrt(), "{variance}");
        assert!((absolute - 2.0f64.sqrt()).abs() < 5.0 * (2.0 / f64::from(draws)).sqrt(), "{absolute}");
        let streams = RandomStreams { seed: 1, data: "d".into(), block: "b".into(), replicate: 0 };
        let (fold, setting) = fold(BinPredictionSetting::Offset {});
        let offset = fold.binned.values.iter().sum::<f64>() / fold.binned.values.len() as f64;
        let error = (fold.truth.map(|y| y - offset).norm_squared() / fold.truth.len() as f64).sqrt();
        assert!((fold.mean_rmse_with_noise(&setting, 0.0, 1, &streams).unwrap() / error - 1.0).abs() < 1e-12);
    }

    /// The integral kernel finds the curve that the means of its bins blur.
    #[test]
    fn the_integral_kernel_beats_the_bins_on_a_smooth_curve() {
        let streams = RandomStreams { seed: 1, data: "d".into(), block: "b".into(), replicate: 0 };
        let [bins, integral] =
            [BinPredictionSetting::Bin {}, BinPredictionSetting::Integral { fitted: Count::literal::<5>() }].map(
                |estimate| {
                    let (fold, setting) = fold(estimate);
                    fold.mean_rmse_with_noise(&setting, 0.0, 1, &streams).unwrap()
                },
            );
        assert!(integral < 0.25 * bins, "{integral} {bins}");
    }
}
