//! Predictions of a regression on a grid, with their privacy noise.

use nalgebra::{DMatrix, DVector};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{GpOnTrainingInputs, PredictionMapWithVariances};
use crate::noise::{NoiseDesigner, NoiseDesigns, PredictionNoise};
use crate::normalise::{NormalisedTargets, normalisation_caveats, normalise};
use crate::sample::product_grid;
use crate::summary::standard_normal_vector;
use crate::{
    AuditableCertificate, CellMeasurements, FigureTable, FitSize, MeasurableTask, RandomStreams, ReplicateJob, Sample,
    TargetChangeGuarantee, TaskError, TaskRequirements,
};
use dpgp_accounting::GuaranteeCaveat;
use dpgp_gp::PredictionMap;
use dpgp_gp::kernel::KernelSetting;
use dpgp_mechanisms::{CellSections, MechanismSetting, PrivacySetting, require_linear_mechanism};
use dpgp_number::{Count, Positive};
use dpgp_spec::axis_value_label;
use dpgp_spec::setting::rules::{check_dimension, check_grid, fail};
use dpgp_spec::setting::{CheckResult, ModelSetting, RangeSetting, SpecProblem};

/// The metrics `mean@X`, `gp-sd@X` and `noise-sd@X` at the points of the task (units of the target), `noise-share@X`, the last over
/// the size of the first with privacy, and `influence`: the largest change of a prediction when one target changes by 1; with privacy `noise-rms`, the root mean square of
/// `noise-sd` over the grid, and `hidden-share`, the share of its points where that is at least what the task says; where
/// predictions are the best ones given the release `expected-error`, the root mean square of all errors over the grid under the
/// model, and `released`, the number of noisy combinations that they follow from; for a private function `sensitivity`, which
/// scales its noise, at change 1. Frames: `curve` in one dimension, `map` (and `surface`) in more, `data`, `inducing`,
/// `lengthscale`.
impl MeasurableTask for PredictionTask {
    fn measure_cells(&self, job: &ReplicateJob<'_>) -> Result<Vec<CellMeasurements>, TaskError> {
        let (model, sample) = (job.model()?, job.sample);
        let normalised = normalise(&sample.targets, &job.setting.normalise);
        let kernel = model.kernel.build_kernel(&sample.inputs);
        let grid = product_grid(&self.grid);
        let process =
            GpOnTrainingInputs::new(model, kernel.as_ref(), &sample.inputs, job.inducing_placement("prediction"));
        let PredictionMapWithVariances { map, variance } = process.prediction_map_with_variances(&grid)?;
        let cells = job.cells.iter().map(|cell| {
            Ok(TargetChangeGuarantee::for_privacy_unit(cell, &job.setting.data)?.noise_scale_in_target_units())
        });
        let scales: Vec<f64> = cells
            .map(|scale: Result<f64, TaskError>| Ok(scale? / normalised.scale))
            .collect::<Result<_, TaskError>>()?;
        let mechanism = &job.setting.privacy.mechanism;
        let denoise = mechanism.denoises_in_experiments();
        let designer = NoiseDesigner { mechanism, process: &process, test: &grid, map: &map, denoise, weights: None };
        let noises = match job.any_cell_has_noise() {
            true => Some(designer.design_noises(&scales)?),
            false => None,
        };
        let block = PredictionReplicateState {
            task: self,
            job,
            variance,
            mean: map.predict(&normalised.targets).map(|m| normalised.to_target_units(m)),
            beside: frames_beside_predictions(self, model, &process, sample, &normalised)?,
            caveats: normalisation_caveats(job.setting, &normalised),
            map,
            noises,
            normalised,
            grid,
        };
        job.measure_each_cell(|cell| block.measure_cell(cell))
    }
}

struct PredictionReplicateState<'a> {
    task: &'a PredictionTask,
    job: &'a ReplicateJob<'a>,
    grid: DMatrix<f64>,
    map: PredictionMap,
    mean: DVector<f64>,
    /// Variances of the latent values under the model, without privacy.
    variance: Vec<f64>,
    noises: Option<NoiseDesigns>,
    normalised: NormalisedTargets,
    /// The frames beside the predictions.
    beside: Vec<FigureTable>,
    caveats: [(GuaranteeCaveat, bool); 2],
}

/// The release with privacy.
struct MeanWithNoiseDesign<'a> {
    noise: &'a PredictionNoise,
    /// The mean that noise is added to, without the directions that a rank rule drops, or that of a map of its own.
    mean: DVector<f64>,
}

impl MeanWithNoiseDesign<'_> {
    /// With a column for each private sample: the mean with one draw of the noise times `scale`.
    fn add_draw_columns(
        &self,
        mut frame: FigureTable,
        draws: usize,
        scale: f64,
        streams: &RandomStreams,
    ) -> FigureTable {
        let mut stream = streams.block_stream("draws");
        for number in 1..=draws {
            let noise = &self.noise.map * standard_normal_vector(self.noise.map.ncols(), &mut stream) * scale;
            frame = frame.with_column(format!("draw{number}"), (&self.mean + noise).iter().copied());
        }
        frame
    }
}

impl PredictionReplicateState<'_> {
    fn measure_cell(&self, cell: &PrivacySetting) -> Result<CellMeasurements, TaskError> {
        let data = &self.job.setting.data;
        let target = TargetChangeGuarantee::for_privacy_unit(cell, data)?;
        let scale = target.noise_scale_in_target_units();
        let private = self.private_mean(target)?;
        let (noise_sd, certified) = match &private {
            None => (DVector::zeros(self.grid.nrows()), AuditableCertificate::without_claim()),
            Some(MeanWithNoiseDesign { noise, .. }) => {
                let certificate = noise.certificate(target, &self.caveats).with_privacy_unit(data.privacy_unit());
                let certified = self.job.auditable_certificate(certificate, || {
                    vec![noise.audited_mechanism(scale, target.total_change())]
                })?;
                (noise.standard_deviations() * scale, certified)
            }
        };
        let gp_sd = self.latent_sds(private.as_ref().map(|released| released.noise), scale);
        let mut metrics = self.point_metrics(&gp_sd, &noise_sd)?;
        metrics.push(("influence".to_owned(), self.map.distinct_columns().amax()));
        let mut frame = FigureTable::new(if self.grid.ncols() == 1 { "curve" } else { "map" })
            .with_points(&self.grid)
            .with_column("mean", self.mean.iter().copied())
            .with_column("gp-sd", gp_sd.iter().copied());
        if let Some(released) = &private {
            let rms = (noise_sd.norm_squared() / noise_sd.len() as f64).sqrt();
            metrics.push(("noise-rms".to_owned(), rms));
            metrics.extend(self.task.hidden_from.map(|least| {
                let hidden = noise_sd.iter().filter(|sd| **sd >= least.get()).count();
                ("hidden-share".to_owned(), hidden as f64 / noise_sd.len() as f64)
            }));
            if released.noise.variances.is_some() {
                let squares = gp_sd.iter().zip(noise_sd.iter()).map(|(model, noise)| model * model + noise * noise);
                let error = (squares.sum::<f64>() / gp_sd.len() as f64).sqrt();
                metrics.push(("expected-error".to_owned(), error));
                metrics.push(("released".to_owned(), released.noise.map.ncols() as f64));
            }
            metrics.extend(released.noise.function_sensitivity().map(|bound| ("sensitivity".to_owned(), bound)));
            frame = frame.with_column("noise-sd", noise_sd.iter().copied());
            frame = released.add_draw_columns(frame, self.task.draws.get(), scale, self.job.streams);
        }
        let frames = std::iter::once(frame).chain(self.beside.iter().cloned()).collect();
        Ok(certified.into_measurements(self.map.jitter(), metrics).with_frames(frames))
    }

    /// The release for a guarantee; nothing without privacy.
    fn private_mean(&self, target: TargetChangeGuarantee) -> Result<Option<MeanWithNoiseDesign<'_>>, TaskError> {
        let Some(noises) = self.noises.as_ref().filter(|_| target.is_private()) else { return Ok(None) };
        let noise = noises.noise_at_scale(target.noise_scale_in_target_units() / self.normalised.scale)?;
        let mean = noise.noiseless_prediction_map(&self.map) * self.map.sum_targets_by_input(&self.normalised.targets);
        Ok(Some(MeanWithNoiseDesign { noise, mean: mean.map(|m| self.normalised.to_target_units(m)) }))
    }

    /// Standard deviations of the latent values about what is released without its noise, or about the mean of the model.
    fn latent_sds(&self, noise: Option<&PredictionNoise>, scale: f64) -> Vec<f64> {
        let normal = self.normalised.scale;
        let variances = match noise {
            Some(noise) => noise.latent_variances_excluding_noise(self.variance.clone(), scale / normal),
            None => self.variance.clone(),
        };
        variances.iter().map(|v| v.sqrt() * normal).collect()
    }

    /// The metrics at the points of the task, each a row of the grid.
    fn point_metrics(&self, gp_sd: &[f64], noise_sd: &DVector<f64>) -> Result<Vec<(String, f64)>, TaskError> {
        let mut metrics = Vec::new();
        for point in &self.task.at {
            let row = self
                .grid_row(point)
                .ok_or(TaskError::Missing { needed: "a grid that contains every point of `at`" })?;
            let (mean, noise) = (self.mean[row], noise_sd[row]);
            let share = (mean != 0.0 && noise > 0.0).then(|| ("noise-share", noise / mean.abs()));
            let named = [("mean", mean), ("gp-sd", gp_sd[row]), ("noise-sd", noise)].into_iter().chain(share);
            metrics.extend(named.map(|(name, value)| (PredictionTask::point_metric_name(name, point), value)));
        }
        Ok(metrics)
    }

    fn grid_row(&self, point: &[f64]) -> Option<usize> {
        (0..self.grid.nrows())
            .find(|&row| self.grid.row(row).iter().zip(point).all(|(x, p)| (x - p).abs() <= 1e-9 * (1.0 + x.abs())))
    }
}

/// The data, the inducing inputs, the finer surface and the lengthscale.
fn frames_beside_predictions(
    task: &PredictionTask,
    model: &ModelSetting,
    process: &GpOnTrainingInputs<'_>,
    sample: &Sample,
    normalised: &NormalisedTargets,
) -> Result<Vec<FigureTable>, TaskError> {
    let data = FigureTable::new("data").with_points(&sample.inputs).with_column("y", sample.targets.iter().copied());
    let mut frames = vec![data];
    frames.extend(process.inducing.iter().map(|points| FigureTable::new("inducing").with_points(points)));
    if let Some(ranges) = &task.surface {
        let fine = product_grid(ranges);
        let mean = process.prediction_map(&fine)?.predict(&normalised.targets);
        let mean = mean.iter().map(|m| normalised.to_target_units(*m));
        frames.push(FigureTable::new("surface").with_points(&fine).with_column("mean", mean));
    }
    frames.extend(tabulate_lengthscale(task, model, sample));
    Ok(frames)
}

/// The lengthscale of a nonstationary kernel along the grid, in one dimension.
fn tabulate_lengthscale(task: &PredictionTask, model: &ModelSetting, sample: &Sample) -> Option<FigureTable> {
    let KernelSetting::Gibbs(gibbs) = &model.kernel else { return None };
    let grid = product_grid(&task.grid);
    (grid.ncols() == 1).then(|| {
        let lengthscale = gibbs.lengthscale(&sample.inputs);
        let along = grid.iter().map(|x| lengthscale.lengthscale_at(0, *x)).collect::<Vec<f64>>();
        FigureTable::new("lengthscale").with_points(&grid).with_column("value", along)
    })
}

/// Predictions of a regression on a grid, with all rows as training rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PredictionTask {
    /// The test inputs: a grid that is the product of these ranges, one per input. The last input varies fastest.
    pub grid: Vec<RangeSetting>,
    /// A finer grid on which a map draws contours of the predictions without privacy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surface: Option<Vec<RangeSetting>>,
    /// The number of private samples that the figure shows.
    #[serde(default = "zero_draws", skip_serializing_if = "is_zero_draws")]
    pub draws: Count<1000, 0>,
    /// A standard deviation, in units of the target. A metric gives the share of the points where the noise has at least this
    /// standard deviation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden_from: Option<Positive>,
    /// The points of the grid that have their own metrics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<Vec<f64>>,
}

fn zero_draws() -> Count<1000, 0> {
    Count::literal::<0>()
}

fn is_zero_draws(draws: &Count<1000, 0>) -> bool {
    draws.get() == 0
}

impl PredictionTask {
    /// The name of a metric at a point, for example `noise-sd@70` or `mean@50,60`.
    pub fn point_metric_name(name: &str, point: &[f64]) -> String {
        let point: Vec<String> = point.iter().map(|x| axis_value_label(&toml::Value::Float(*x))).collect();
        format!("{name}@{}", point.join(","))
    }

    fn check_point_dimensions(&self, inputs: usize) -> CheckResult {
        for (i, point) in self.at.iter().enumerate() {
            let path = format!("task.prediction.at.{i}");
            check_dimension(&path, inputs, point.len())?;
            if let Some((x, _)) = point.iter().zip(&self.grid).find(|(x, range)| !range.contains_value(**x)) {
                return fail(&path, SpecProblem::Shape(format!("{x} is not on the grid")));
            }
        }
        Ok(())
    }
}

impl TaskRequirements for PredictionTask {
    fn check(&self, setting: &CellSections) -> CheckResult {
        let inputs = setting.data.dimensions();
        setting.regression_model("task.prediction")?;
        check_grid("task.prediction.grid", &self.grid, inputs)?;
        if let Some(surface) = &self.surface {
            check_grid("task.prediction.surface", surface, inputs)?;
        }
        self.check_point_dimensions(inputs)?;
        require_linear_mechanism(&setting.privacy).map(drop)
    }

    fn protects_persons(&self, mechanism: &MechanismSetting) -> bool {
        mechanism.as_linear().is_some()
    }

    fn fit_size(&self, rows: usize) -> Option<FitSize> {
        let points = [Some(&self.grid), self.surface.as_ref()].into_iter().flatten();
        let points = points.map(|ranges| ranges.iter().map(|range| range.points).product::<usize>());
        Some(FitSize::from_test_size(rows, points.max().unwrap_or_default()))
    }

    fn metric_names(&self, _: u32) -> Vec<String> {
        let at = self.at.iter().flat_map(|point| {
            ["mean", "gp-sd", "noise-sd", "noise-share"].map(|name| PredictionTask::point_metric_name(name, point))
        });
        let of_all = ["influence", "noise-rms", "hidden-share", "expected-error", "released", "sensitivity"];
        at.chain(of_all.map(str::to_owned)).collect()
    }
}
