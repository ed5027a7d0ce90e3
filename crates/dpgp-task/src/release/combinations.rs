//! A release of noisy combinations of targets, from which predictions follow at any inputs.

use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};

use super::Predictions;
use crate::TaskError;
use dpgp_gp::kernel::KernelSetting;
use dpgp_gp::{ModelAveragedPosterior, ModelAveragedPrediction, PredictionMap, TargetCombinationDesign};

/// The most inputs of a release.
const MOST_INPUTS: usize = 20_000;
/// The largest number of a release.
const LARGEST: f64 = 1e100;
/// Points that are predicted together, so that memory does not grow with their number.
const BLOCK: usize = 2_048;

/// Noisy combinations `r = W y + noise` of targets at public inputs. All but r is public, and r is private, so that whatever follows from
/// them costs no more privacy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleasedTargetCombinations {
    /// The kernel and the noise variance that the average is about, in units of the model.
    pub kernel: KernelSetting,
    /// The noise variance, in squared units of the model.
    pub noise_variance: f64,
    /// The units of the model: a target is `centre + scale` times its value.
    pub centre: f64,
    /// See `centre`.
    pub scale: f64,
    /// The public training inputs (n rows of d).
    pub inputs: Vec<Vec<f64>>,
    /// W, a list for each combination with a number for each distinct input in the order of `inputs`.
    pub weights: Vec<Vec<f64>>,
    /// The standard deviation of the noise on each combination, in units of the model.
    pub noise_sd: f64,
    /// r, in units of the model.
    pub released: Vec<f64>,
}

impl ReleasedTargetCombinations {
    /// What does not fit, for points of a number of inputs; none if all does.
    pub fn validation_problem(&self, inputs: usize) -> Option<&'static str> {
        if self.inputs.len() > MOST_INPUTS {
            return Some("it has more than 20000 inputs");
        }
        if self.inputs.is_empty() || self.inputs.iter().any(|row| row.len() != inputs) {
            return Some("it has no rows, or rows with the wrong number of inputs");
        }
        if self.kernel.check_input_count(inputs).is_err() || self.kernel.as_stationary().is_none() {
            return Some("its kernel does not fit its inputs");
        }
        let distinct = PredictionMap::without_test_inputs(&self.training_inputs()).targets_per_column().len();
        let fits = self.released.len() == self.weights.len() && self.weights.iter().all(|row| row.len() == distinct);
        if !(fits && self.noise_sd > 0.0 && self.scale > 0.0 && self.noise_variance > 0.0) {
            return Some("its numbers contradict each other");
        }
        let numbers = self.inputs.iter().chain(&self.weights).flatten().chain(&self.released);
        let all = numbers.chain([&self.centre, &self.scale, &self.noise_variance, &self.noise_sd]);
        // Squares of them are finite.
        if all.into_iter().any(|number| number.abs() > LARGEST) {
            return Some("one of its numbers is too large");
        }
        None
    }

    /// The training inputs (n x d).
    fn training_inputs(&self) -> DMatrix<f64> {
        DMatrix::from_fn(self.inputs.len(), self.inputs[0].len(), |i, d| self.inputs[i][d])
    }

    /// Predictions at points (t x d), in units of the target.
    ///
    /// # Errors
    /// [`TaskError`] if the numbers do not fit each other or the points, or a covariance cannot be factorised.
    pub fn predict(&self, points: &DMatrix<f64>) -> Result<Predictions, TaskError> {
        if let Some(reason) = self.validation_problem(points.ncols()) {
            return Err(TaskError::NotReleasable { reason });
        }
        let training = self.training_inputs();
        let map = PredictionMap::without_test_inputs(&training);
        let (rank, distinct) = (self.weights.len(), map.targets_per_column().len());
        let weights = DMatrix::from_fn(rank, distinct, |r, k| self.weights[r][k]);
        let known =
            TargetCombinationDesign { training: &training, map: &map, weights: &weights, noise_sd: self.noise_sd };
        let mut all = Predictions::empty();
        for start in (0..points.nrows()).step_by(BLOCK) {
            let block = points.rows(start, BLOCK.min(points.nrows() - start)).into_owned();
            let posterior = ModelAveragedPosterior::new(&self.kernel, self.noise_variance, &known, &block);
            let posterior = posterior.ok_or(TaskError::NotReleasable { reason: "its kernel is not stationary" })?;
            let found = self.predict_from_posterior(&posterior)?;
            all.mean.extend(found.mean);
            all.gp_sd.extend(found.gp_sd);
            all.noise_sd.extend(found.noise_sd);
        }
        Ok(all)
    }

    /// The predictions of a posterior for these combinations.
    pub(super) fn predict_from_posterior(&self, posterior: &ModelAveragedPosterior) -> Result<Predictions, TaskError> {
        let ModelAveragedPrediction { latent, without_noise, .. } =
            posterior.predict(&DVector::from_column_slice(&self.released))?;
        let (mut gp_sd, mut noise_sd) = (Vec::new(), Vec::new());
        for (all, without) in latent.variance().iter().zip(without_noise.iter()) {
            let without = without.min(*all);
            gp_sd.push(self.scale * without.sqrt());
            noise_sd.push(self.scale * (all - without).sqrt());
        }
        let mean = latent.mean().iter().map(|mean| self.centre + self.scale * mean).collect();
        Ok(Predictions { mean, gp_sd, noise_sd, least: None, combinations: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three inputs, two of them equal, and two combinations of the sums of targets at the distinct ones.
    const RELEASE: &str = r#"{
        "kernel": { "eq": { "variance": 1.5, "lengthscale": 2.0 } }, "noise_variance": 0.25, "centre": 10.0, "scale": 4.0,
        "inputs": [[0.0], [1.0], [0.0]], "weights": [[0.5, 0.5], [0.1, -0.2]], "noise_sd": 0.125, "released": [0.75, -0.5]
    }"#;

    fn release() -> ReleasedTargetCombinations {
        serde_json::from_str(RELEASE).unwrap()
    }

    /// Against the posterior of the distinct inputs, where the sum of the targets at the first has twice their variance.
    #[test]
    fn predictions_are_in_units_of_the_target() {
        let found = release().predict(&DMatrix::from_element(1, 1, 0.5)).unwrap();
        let training = DMatrix::from_column_slice(3, 1, &[0.0, 1.0, 0.0]);
        let map = PredictionMap::without_test_inputs(&training);
        let weights = DMatrix::from_row_slice(2, 2, &[0.5, 0.5, 0.1, -0.2]);
        let known = TargetCombinationDesign { training: &training, map: &map, weights: &weights, noise_sd: 0.125 };
        let at = DMatrix::from_element(1, 1, 0.5);
        let posterior = ModelAveragedPosterior::new(&release().kernel, 0.25, &known, &at).unwrap();
        let expected = posterior.predict(&DVector::from_column_slice(&[0.75, -0.5])).unwrap();
        assert_eq!(found.mean, [10.0 + 4.0 * expected.latent.mean()[0]]);
        let whole = found.gp_sd[0].hypot(found.noise_sd[0]);
        assert!((whole / (4.0 * expected.latent.variance()[0].sqrt()) - 1.0).abs() < 1e-12);
    }

    /// Guards against a file that somebody changed, and points of another release.
    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        let at = DMatrix::from_element(1, 1, 0.5);
        let refuses = |change: fn(&mut ReleasedTargetCombinations)| {
            let mut changed = release();
            change(&mut changed);
            assert!(matches!(changed.predict(&at), Err(TaskError::NotReleasable { .. })));
        };
        refuses(|release| release.released.truncate(1));
        refuses(|release| release.weights[1].push(0.0));
        refuses(|release| release.inputs[1].push(0.0));
        refuses(|release| release.inputs.clear());
        refuses(|release| release.noise_sd = 0.0);
        assert!(release().predict(&DMatrix::zeros(1, 2)).is_err());
        assert!(serde_json::from_str::<ReleasedTargetCombinations>(&RELEASE.replace("0.75", "null")).is_err());
    }
}
