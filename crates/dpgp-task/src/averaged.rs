//! Simulated releases whose predictions average over hyperparameters.

use nalgebra::{DMatrix, DVector};
use rand_pcg::Pcg64;

use crate::TaskError;
use crate::model::noise_variance;
use crate::noise::NoiseDesigns;
use crate::summary::standard_normal_vector;
use dpgp_gp::{ModelAveragedPosterior, ModelAveragedPrediction, PredictionMap, TargetCombinationDesign};
use dpgp_mechanisms::CellSections;
use dpgp_spec::setting::rules::fail;
use dpgp_spec::setting::{CheckResult, ModelSetting, SpecProblem};

/// The noisy combinations of the targets of a fold, and what they say of its test rows, for each size of the noise.
pub(super) struct ModelAveragedReleases(Vec<ModelAveragedRelease>);

struct ModelAveragedRelease {
    /// The standard deviation of the noise on each combination (units of the model).
    scale: f64,
    /// From sums over equal inputs to combinations (r x k).
    weights: DMatrix<f64>,
    posterior: ModelAveragedPosterior,
}

/// The rows of a fold: training and test inputs, and which of the former are equal.
pub(super) struct FoldInputs<'a> {
    pub training: &'a DMatrix<f64>,
    pub test: &'a DMatrix<f64>,
    pub map: &'a PredictionMap,
}

impl ModelAveragedReleases {
    /// For the designs of these scales (units of the model; zero is no noise); none where the model is not averaged.
    pub fn new(
        model: &ModelSetting,
        rows: &FoldInputs<'_>,
        noises: &NoiseDesigns,
        scales: &[f64],
    ) -> Result<Option<Self>, TaskError> {
        if !model.averaged {
            return Ok(None);
        }
        let private = scales.iter().filter(|scale| **scale > 0.0);
        let releases = private.map(|&scale| {
            let weights = noises.noise_at_scale(scale)?.whitened_columns(rows.map);
            let posterior = model_averaged_posterior(model, rows, &weights, scale)?;
            Ok(ModelAveragedRelease { scale, weights, posterior })
        });
        releases.collect::<Result<_, TaskError>>().map(|releases| Some(Self(releases)))
    }

    /// Simulates one release with noise drawn from `stream`, and predicts from it.
    ///
    /// # Errors
    /// [`TaskError::Missing`] if there is no design for this scale, [`TaskError::Linalg`] if a factorisation fails.
    pub fn draw_prediction(
        &self,
        scale: f64,
        sums: &DVector<f64>,
        stream: &mut Pcg64,
    ) -> Result<ModelAveragedPrediction, TaskError> {
        let own = self.0.iter().find(|release| release.scale == scale);
        let own = own.ok_or(TaskError::Missing { needed: "a noise design for this scale" })?;
        let noise = standard_normal_vector(own.weights.nrows(), stream) * scale;
        Ok(own.posterior.predict(&(&own.weights * sums + noise))?)
    }
}

/// The posterior given combinations of the targets with noise of a standard deviation `scale`, in units of the model.
///
/// # Errors
/// [`TaskError::Missing`] without a stationary kernel or noise, which the checks of a spec rule out.
pub(super) fn model_averaged_posterior(
    model: &ModelSetting,
    rows: &FoldInputs<'_>,
    weights: &DMatrix<f64>,
    scale: f64,
) -> Result<ModelAveragedPosterior, TaskError> {
    let FoldInputs { training, test, map } = *rows;
    let combinations = TargetCombinationDesign { training, map, weights, noise_sd: scale };
    ModelAveragedPosterior::new(&model.kernel, noise_variance(model)?, &combinations, test)
        .ok_or(TaskError::Missing { needed: "a stationary kernel" })
}

/// Fails where a model is averaged that this task or mechanism cannot average.
pub(super) fn check_model_averaging(averages: bool, setting: &CellSections) -> CheckResult {
    let Some(model) = setting.model.as_deref().filter(|model| model.averaged) else { return Ok(()) };
    let why = if !averages {
        "works only with task.regression, task.leaderboard and `dpgp predict`"
    } else if !setting.privacy.mechanism.as_linear().is_some_and(|linear| linear.designs_for_one_noise_scale()) {
        "needs mechanism.cloaking with objective = \"risk\""
    } else if model.sparse.is_some() {
        "needs exact inference; remove model.sparse"
    } else if model.kernel.as_stationary().is_none() {
        "needs a stationary kernel: no part of it may be `gibbs` or `linear`"
    } else {
        return Ok(());
    };
    fail("model.averaged", SpecProblem::Shape(why.to_owned()))
}
