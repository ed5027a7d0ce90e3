//! Private predictions from linear combinations of the targets with added noise.
//!
//! Notation: y is a target, c the mean of the prior, s the units of the target in one unit of the model, m the middle
//! of the public bounds, u the step of the lattice of targets, C the map from sums of targets of equal inputs to
//! predictions (t x k), L the noise map (t x r) and W the whitened columns (r x k). C equals `L W`: the map
//! of the model without the directions that the rank rule of cloaking drops, or the map of the denoised predictions.
//!
//! 1. Targets become whole numbers, `z = round((clip(y) - m) / u)`.
//! 2. The z of equal inputs are summed, without rounding, to Z (k whole numbers).
//! 3. W depends only on public inputs and settings. Its entries become whole numbers of 2^-40, rounded away from zero.
//! 4. `W Z` gets independent noise `round(N(0, sd^2))` with `sd >= sigma length change rows`, in whole numbers. The
//!    factors are the noise multiplier, the length of the longest integer column (at least that of 1), the steps that
//!    one target can move, and the rows of a person.
//! 5. One unit of the release is `2^-40 u` units of the target. L maps the release, in these units, to
//!    predictions.
//! 6. The prediction is `C sum (clip(y) - c) + c`, in units of the target. Steps 1 to 5 give `C sum (clip(y) - m)`, so
//!    a public offset is added.
//!
//! The scale s cancels: the model is linear in the target, `c + s C sum ((clip(y) - c) / s)`.

use nalgebra::{DMatrix, DVector};
use rand::Rng;

use super::{PURPOSE, Predictions, ReleasedTargetCombinations, UnnoisedRelease, UnnoisedValues};
use crate::averaged::{FoldInputs, model_averaged_posterior};
use crate::model::{GpOnTrainingInputs, InducingInputPlacer, PredictionMapWithVariances, noise_variance};
use crate::noise::NoiseDesigner;
use crate::normalise::{normalisation_caveats, normalise};
use crate::summary::mean;
use crate::{RandomStreams, RunCache, Sample, TargetChangeGuarantee, TaskError};
use dpgp_gp::{ModelAveragedPosterior, PredictionMap};
use dpgp_mechanisms::CellSections;
use dpgp_noise::{FixedPointMap, LatticeRelease, TargetLattice};
use dpgp_spec::setting::NormaliseSetting;

/// Predictions before their noise.
///
/// Obligation: targets enter `sums` alone, as whole numbers, and [`LatticeRelease`] adds their noise in whole numbers.
/// All else depends on public inputs and settings. The map and the offset are applied to the release afterwards, which
/// is post-processing.
#[derive(Debug, Clone)]
pub(super) struct UnnoisedPredictions {
    /// The integer columns W and the noise on `W Z`.
    release: LatticeRelease,
    /// Z: the sums of the whole targets of each distinct input (k), in steps of the lattice.
    sums: Vec<i128>,
    /// Standard deviations of the function under the model (t), in units of the target.
    gp_sd: Vec<f64>,
    /// L: maps the released numbers, in units of the target, to predictions (t x r).
    map: DMatrix<f64>,
    /// Standard deviations of the privacy noise on the predictions (t), in units of the target.
    pub noise_sd: Vec<f64>,
    /// The public offset of the predictions (t), in units of the target: `c + C n (m - c)` for the numbers n of rows of
    /// each distinct input. Whole targets are about the middle m of the bounds, and the model is about the mean c of
    /// its prior.
    offset: DVector<f64>,
    /// What follows from the release where the model is averaged over hyperparameters.
    averaged: Option<ModelAveragedPredictor>,
}

/// The posterior given the released numbers, and the units of both.
#[derive(Debug, Clone)]
struct ModelAveragedPredictor {
    /// In units of the model, for targets about c.
    posterior: ModelAveragedPosterior,
    /// `W n (m - c)`, in units of the target: whole targets are about m.
    shift: DVector<f64>,
    /// What is released, but for the released numbers: with c and s.
    combinations: ReleasedTargetCombinations,
}

impl ModelAveragedPredictor {
    /// Predictions in units of the target, from the released numbers in these units.
    fn predict(&self, released: DVector<f64>) -> Result<Predictions, TaskError> {
        let released = (released + &self.shift) / self.combinations.scale;
        let combinations =
            ReleasedTargetCombinations { released: released.as_slice().to_vec(), ..self.combinations.clone() };
        let predictions = combinations.predict_from_posterior(&self.posterior)?;
        Ok(Predictions { combinations: Some(Box::new(combinations)), ..predictions })
    }
}

impl UnnoisedPredictions {
    /// Fits the model to all rows, designs the noise and sums the whole targets. Draws nothing.
    ///
    /// # Errors
    /// [`TaskError`] without a model or public bounds, if a factorisation fails, or if the noise does not cover the
    /// targets.
    pub fn prepare_release(
        setting: &CellSections,
        sample: &Sample,
        points: &PredictionPoints,
        streams: &RandomStreams,
    ) -> Result<UnnoisedRelease, TaskError> {
        let Some(model) = setting.model.as_deref() else {
            return Err(TaskError::NotReleasable { reason: "it has no model" });
        };
        let NormaliseSetting::Bounds { low, high, .. } = *setting.normalise else {
            return Err(TaskError::NotReleasable { reason: super::NO_BOUNDS });
        };

        // The model and its map, from public inputs. Of `normalised`, only c and s are used below, which bounds make
        // public, and not its targets.
        let normalised = normalise(&sample.targets, &setting.normalise);
        let kernel = model.prior_kernel(&sample.inputs);
        let placing = InducingInputPlacer { streams, known: &RunCache::default(), purpose: PURPOSE };
        let process = GpOnTrainingInputs::new(model, kernel.as_ref(), &sample.inputs, placing);
        let inputs = &points.inputs;
        let PredictionMapWithVariances { map, variance } = process.prediction_map_with_variances(inputs)?;

        // The size of the noise that the design is for: sigma, times the change of a target, times the rows of a
        // person. In units of the target, and divided by s in units of the model.
        let guarantee = TargetChangeGuarantee::for_privacy_unit(&setting.privacy, &setting.data)?;
        let model_scale = guarantee.noise_scale_in_target_units() / normalised.scale;

        // The design: L and W, for noise multiplier 1 and change 1. Columns of W are meant to be no longer than 1, so
        // that `W y` moves by at most 1 where one target does. Step 4 does not rely on this: it measures the whole
        // columns.
        let mechanism = &setting.privacy.mechanism;
        let denoise = mechanism.denoises_in_releases();
        let weights = points.weights.as_deref();
        let designer = NoiseDesigner { mechanism, process: &process, test: inputs, map: &map, denoise, weights };
        let design = designer.design_noise(model_scale)?;

        // Step 1: targets to whole numbers. This clips them to the public bounds.
        let lattice = TargetLattice::new(low.get(), high.get())?;
        let whole_targets: Vec<i64> = sample.targets.iter().map(|y| lattice.clip_and_round_target(*y)).collect();

        // Step 3: the columns W to whole numbers of 2^-40.
        let weights = design.whitened_columns(&map);
        let columns = FixedPointMap::new(&weights)?;

        // Step 4: the noise in whole numbers. The change is in units of the target, and the lattice turns it into
        // steps. The sensitivity is computed from the whole columns themselves, so that no factorisation enters the
        // proof. Longer columns get more noise.
        let release =
            LatticeRelease::new(columns, &lattice, guarantee.change, guarantee.rows, guarantee.noise_multiplier())?;

        // The certificate and the record state the larger of two sensitivities: of the design and of the whole columns.
        let noise = design.with_minimum_sensitivity_ratio(release.actual_sensitivity_ratio());
        let record = release.noise_with_minimum_sensitivity_ratio(noise.ratio);

        // With a model that is averaged, what follows from the release: its noise in units of the model.
        let averaged = match model.averaged {
            false => None,
            true => Some(ModelAveragedPredictor {
                posterior: model_averaged_posterior(
                    model,
                    &FoldInputs { training: &sample.inputs, test: inputs, map: &map },
                    &weights,
                    release.sd() * release.unit() / normalised.scale,
                )?,
                shift: &weights * rows_per_distinct_input(&map) * (lattice.centre() - normalised.centre),
                combinations: ReleasedTargetCombinations {
                    kernel: model.kernel.clone(),
                    noise_variance: noise_variance(model)?,
                    centre: normalised.centre,
                    scale: normalised.scale,
                    inputs: matrix_rows(&sample.inputs),
                    weights: matrix_rows(&weights),
                    noise_sd: release.sd() * release.unit() / normalised.scale,
                    released: Vec::new(),
                },
            }),
        };

        let means = Self {
            averaged,
            // Step 2: the sums Z of equal inputs, without rounding.
            sums: map.sum_integers_by_input(&whole_targets),
            // From squared units of the model to units of the target, by s.
            gp_sd: noise
                .latent_variances_excluding_noise(variance, model_scale)
                .iter()
                .map(|v| v.sqrt() * normalised.scale)
                .collect(),
            // L at multiplier 1, times the noise in whole numbers, times units of the target in a whole number.
            noise_sd: noise.standard_deviations().iter().map(|sd| sd * release.sd() * release.unit()).collect(),
            // Step 6: `C n (m - c) + c`.
            offset: noise.predict_constant(&map, lattice.centre() - normalised.centre).add_scalar(normalised.centre),
            map: noise.map.clone(),
            release,
        };
        Ok(UnnoisedRelease {
            form: UnnoisedValues::Means(Box::new(means)),
            certificate: noise
                .certificate(guarantee, &normalisation_caveats(setting, &normalised))
                .with_privacy_unit(setting.data.privacy_unit()),
            noise: record,
        })
    }

    /// Whether all numbers that predictions follow from are finite.
    pub fn is_finite(&self) -> bool {
        let averaged = self.averaged.as_ref().is_none_or(|averaged| averaged.posterior.is_finite());
        let numbers = self.gp_sd.iter().chain(&self.map).chain(&self.noise_sd).chain(&self.offset);
        averaged && numbers.into_iter().all(|x| x.is_finite())
    }

    /// Draws the noise and maps the release to predictions: `L (W Z + noise) 2^-40 u + offset`, in units of the target.
    ///
    /// # Errors
    /// [`TaskError::Linalg`] if a covariance of a model that is averaged cannot be factorised.
    pub fn draw(&self, random: &mut impl Rng) -> Result<Predictions, TaskError> {
        // Steps 4 and 5. From here on all is post-processing of the release.
        let released = DVector::from_vec(self.release.draw(&self.sums, random));
        if let Some(averaged) = &self.averaged {
            return averaged.predict(released);
        }
        let mean = (&self.map * released + &self.offset).iter().copied().collect();
        Ok(Predictions {
            mean,
            gp_sd: self.gp_sd.clone(),
            noise_sd: self.noise_sd.clone(),
            least: None,
            combinations: None,
        })
    }

    /// The predictions without noise, in units of the target. Never show them.
    pub fn noiseless_predictions(&self) -> DVector<f64> {
        &self.map * DVector::from_vec(self.release.exact_values(&self.sums)) + &self.offset
    }

    /// Whether predictions are linear in the released numbers.
    pub fn is_linear(&self) -> bool {
        self.averaged.is_none()
    }

    /// `W Z` without noise, in standard deviations of the noise. Never show them.
    pub fn noiseless_release_in_noise_sds(&self) -> DVector<f64> {
        DVector::from_vec(self.release.exact_values(&self.sums)) / (self.release.sd() * self.release.unit())
    }
}

fn matrix_rows(matrix: &DMatrix<f64>) -> Vec<Vec<f64>> {
    matrix.row_iter().map(|row| row.iter().copied().collect()).collect()
}

/// The number of rows of each distinct input (k).
fn rows_per_distinct_input(map: &PredictionMap) -> DVector<f64> {
    DVector::from_vec(map.targets_per_column().into_iter().map(|count| count as f64).collect())
}

/// Public points to predict at.
#[derive(Debug, Clone)]
pub struct PredictionPoints {
    /// Their inputs (t x d).
    pub inputs: DMatrix<f64>,
    /// The weight of each point in the expected error (t), not negative. Without weights, all points count alike.
    pub weights: Option<Vec<f64>>,
}

impl PredictionPoints {
    /// Points that all count alike.
    pub fn with_equal_weights(inputs: DMatrix<f64>) -> Self {
        Self { inputs, weights: None }
    }

    /// The root of the weighted mean of values at the points.
    pub(super) fn root_weighted_mean(&self, values: &[f64]) -> f64 {
        let Some(weights) = &self.weights else {
            return mean(values).sqrt();
        };
        let weighted: f64 = values.iter().zip(weights).map(|(value, weight)| value * weight).sum();
        (weighted / weights.iter().sum::<f64>()).sqrt()
    }
}
