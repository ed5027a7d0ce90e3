//! Previews of the errors of private predictions, from public data only, and of the constant prediction.

use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::Serialize;

use super::{PURPOSE, PredictionPoints};
use crate::model::{GpOnTrainingInputs, InducingInputPlacer, PredictionMapWithVariances, noise_variance};
use crate::noise::NoiseDesigner;
use crate::normalise::normalise;
use crate::{RandomStreams, RunCache, TargetChangeGuarantee, TaskError};
use dpgp_gp::kernel::Kernel;
use dpgp_mechanisms::CellSections;
use dpgp_number::Epsilon;

/// The public data of a preview. It has no targets.
pub struct PreviewInput<'a> {
    /// The setting of the release.
    pub setting: &'a CellSections,
    /// The inputs of the rows (n x d), which are public.
    pub inputs: &'a DMatrix<f64>,
    /// The points to predict at.
    pub points: &'a PredictionPoints,
    /// The random streams for inducing inputs.
    pub streams: &'a RandomStreams,
}

/// What is expected of predictions under the model, as root (weighted) mean squares over the points, or over the whole box where moments
/// are released, in units of the target.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ExpectedErrors {
    /// Epsilon.
    pub epsilon: Epsilon,
    /// The standard deviation of the privacy noise.
    pub noise: f64,
    /// The error from the model and the noise together.
    pub error: f64,
    /// The error if one number is predicted at all points: the mean of all targets, with noise for the same guarantee.
    pub constant: f64,
    /// A lower bound on the error for any other weights of the moments; none for other mechanisms, whose certificates state the
    /// gap of their noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<f64>,
    /// The number of noisy numbers from which the predictions follow.
    pub released: usize,
}

/// What errors are averaged over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorAveragingDomain {
    /// The points to predict at, by their weights.
    Points,
    /// The box of private inputs, with rows spread over the box; points are not used.
    Box,
}

/// What is expected at each epsilon, and at both ends.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReleasePreview {
    /// What all errors below are averaged over.
    pub over: ErrorAveragingDomain,
    /// The error of the prior mean, which uses no rows.
    pub prior: f64,
    /// The expected errors at each epsilon, in the requested order.
    pub expected: Vec<ExpectedErrors>,
    /// The error of the model without privacy.
    pub without_privacy: f64,
}

impl PreviewInput<'_> {
    /// Estimates the errors at each epsilon. None may be infinite.
    ///
    /// # Errors
    /// [`TaskError`] if the setting describes no release of predictions, or a factorisation fails.
    pub fn preview(&self, epsilons: &[Epsilon]) -> Result<ReleasePreview, TaskError> {
        let Some(model) = self.setting.model.as_deref() else {
            return Err(TaskError::NotReleasable { reason: "it has no model" });
        };
        // Public bounds set the scale. It does not depend on targets.
        let unit = normalise(&[], &self.setting.normalise).scale;
        let kernel = model.prior_kernel(self.inputs);
        let placing = InducingInputPlacer { streams: self.streams, known: &RunCache::default(), purpose: PURPOSE };
        let process = GpOnTrainingInputs::new(model, kernel.as_ref(), self.inputs, placing);
        let points = &self.points.inputs;
        let PredictionMapWithVariances { map, variance } = process.prediction_map_with_variances(points)?;
        let mechanism = &self.setting.privacy.mechanism;
        let denoise = mechanism.denoises_in_releases();
        let weights = self.points.weights.as_deref();
        let designer = NoiseDesigner { mechanism, process: &process, test: points, map: &map, denoise, weights };
        let target = TargetChangeGuarantee::for_privacy_unit(&self.setting.privacy, &self.setting.data)?;
        let of_mean = squared_errors_of_target_mean(kernel.as_ref(), noise_variance(model)?, self.inputs, points);
        let mut expected = Vec::with_capacity(epsilons.len());
        for &epsilon in epsilons {
            let scale = target.with_epsilon(epsilon.get()).noise_scale_in_target_units() / unit;
            let noise = designer.design_noise(scale)?;
            let added = noise.standard_deviations().map(|sd| (scale * sd).powi(2)).as_slice().to_vec();
            let model = noise.latent_variances_excluding_noise(variance.clone(), scale);
            let total: Vec<f64> = model.iter().zip(&added).map(|(model, added)| model + added).collect();
            // A change of one target moves the mean of n targets by an n-th of the change.
            let of_mean = of_mean.iter().map(|error| error + (scale / self.inputs.nrows() as f64).powi(2));
            expected.push(ExpectedErrors {
                least: None,
                epsilon,
                constant: self.points.root_weighted_mean(&of_mean.collect::<Vec<f64>>()) * unit,
                noise: self.points.root_weighted_mean(&added) * unit,
                error: self.points.root_weighted_mean(&total) * unit,
                released: noise.map.ncols(),
            });
        }
        let prior = self.points.root_weighted_mean(&kernel.diagonal(points)) * unit;
        Ok(ReleasePreview {
            over: ErrorAveragingDomain::Points,
            prior,
            expected,
            without_privacy: self.points.root_weighted_mean(&variance) * unit,
        })
    }
}

/// The most rows in means over pairs. They represent all rows.
const MOST_ROWS: usize = 256;

/// The expected squared error at each point (t) of the mean of all targets, before noise, in squared units of the
/// model: with rows X and a process of covariance k about its mean
///
/// ```text
/// E (f(t) - mean y)^2 = k(t, t) - 2 mean_i k(t, x_i) + mean_ij k(x_i, x_j) + noise variance / n.
/// ```
///
/// Means over rows are those of at most 256 of them, evenly chosen. No target is used.
pub(super) fn squared_errors_of_target_mean(
    kernel: &dyn Kernel,
    noise_variance: f64,
    inputs: &DMatrix<f64>,
    points: &DMatrix<f64>,
) -> Vec<f64> {
    let rows = inputs.nrows().max(1);
    let chosen: Vec<usize> = (0..inputs.nrows()).step_by(rows.div_ceil(MOST_ROWS)).collect();
    let chosen = inputs.select_rows(&chosen);
    let own = kernel.matrix(&chosen, &chosen).mean() + noise_variance / rows as f64;
    let cross = kernel.matrix(points, &chosen).column_mean();
    kernel.diagonal(points).iter().zip(cross.iter()).map(|(k, cross)| k - 2.0 * cross + own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpgp_gp::kernel::ExponentiatedQuadratic;

    /// Guards against a wrong error of the mean. At a single row it is the noise variance of its target. Far away the
    /// variances of both places are added.
    #[test]
    fn the_mean_of_one_row_is_its_target() {
        let kernel = ExponentiatedQuadratic::isotropic(3.0, 1.0);
        let row = DMatrix::from_element(1, 1, 0.5);
        let points = DMatrix::from_column_slice(2, 1, &[0.5, 1e3]);
        let found = squared_errors_of_target_mean(&kernel, 0.2, &row, &points);
        assert!((found[0] - 0.2).abs() < 1e-12 && (found[1] - 6.2).abs() < 1e-12, "{found:?}");
    }

    /// A thousand rows at two places: the mean is that of both values, and its error at one of them a quarter of what
    /// they differ by.
    #[test]
    fn rows_that_stand_for_all_have_their_mean() {
        let kernel = ExponentiatedQuadratic::isotropic(1.0, 1.0);
        let rows = DMatrix::from_fn(1000, 1, |i, _| if i < 500 { 0.0 } else { 1e3 });
        let found = squared_errors_of_target_mean(&kernel, 0.5, &rows, &DMatrix::zeros(1, 1));
        assert!((found[0] - 0.5 - 0.5 / 1000.0).abs() < 1e-12, "{found:?}");
    }
}
