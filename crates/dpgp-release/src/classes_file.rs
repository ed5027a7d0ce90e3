//! A file of released sums of classes, and the posterior of the latent function of each class. It costs nothing more.

use std::path::Path;

use nalgebra::{DMatrix, DVector};
use serde::Deserialize;

use super::ReleaseError;
use super::grid::points_from_matrix;
use super::moments_file::{GuaranteeJson, data_setting_without_rows};
use dpgp_gp::kernel::KernelSetting;
use dpgp_gp::variational::{GaussianPrediction, InducingInputs, WeightPosterior};
use dpgp_task::TaskError;

/// What `dpgp sum --release` wrote of the sums of classes, as far as predictions need it.
pub struct ClassesFile {
    inputs: Vec<String>,
    kernel: KernelSetting,
    /// The inducing inputs (m x d).
    inducing: DMatrix<f64>,
    posteriors: Vec<WeightPosterior>,
    guarantee: String,
}

/// The parts of the file that are read.
#[derive(Deserialize)]
struct ClassesJson {
    model: ClassesModelJson,
    weights: Vec<ClassPosteriorJson>,
    guarantee: GuaranteeJson,
}

/// The public settings beside the sums.
#[derive(Deserialize)]
struct ClassesModelJson {
    inputs: Vec<String>,
    kernel: KernelSetting,
    inducing: Vec<Vec<f64>>,
    classes: usize,
}

/// The posterior of the weights of one class.
#[derive(Deserialize)]
struct ClassPosteriorJson {
    mean: Vec<f64>,
    covariance: Vec<Vec<f64>>,
}

impl ClassesFile {
    /// Parses the text of a release.
    ///
    /// # Errors
    /// [`ReleaseError::NotClasses`] if it holds no sums of classes, or numbers are missing or not finite.
    pub fn parse(path: &Path, text: &str) -> Result<Self, ReleaseError> {
        Self::from_json(text).map_err(|cause| ReleaseError::NotClasses { path: path.to_path_buf(), cause })
    }

    fn from_json(text: &str) -> Result<Self, String> {
        let ClassesJson { model, weights, guarantee } =
            serde_json::from_str(text).map_err(|error| error.to_string())?;
        let (inputs, size) = (model.inputs.len(), model.inducing.len());
        if model.kernel.check_input_count(inputs).is_err() {
            return Err("the kernel has the wrong number of inputs".to_owned());
        }
        let inducing = matrix_from_rows(&model.inducing, inputs);
        let posteriors = weights.iter().map(|weights| {
            let mean = matrix_from_rows(std::slice::from_ref(&weights.mean), size)?;
            let covariance = matrix_from_rows(&weights.covariance, size).filter(DMatrix::is_square)?;
            Some(WeightPosterior { mean: DVector::from_column_slice(mean.as_slice()), covariance, jitter: 0.0 })
        });
        let posteriors: Option<Vec<WeightPosterior>> = posteriors.collect();
        match (inducing, posteriors) {
            (Some(inducing), Some(posteriors)) if size > 0 && posteriors.len() == model.classes => {
                Ok(Self { inputs: model.inputs, kernel: model.kernel, inducing, posteriors, guarantee: guarantee.text })
            }
            _ => Err("numbers are missing or not finite".to_owned()),
        }
    }

    /// The guarantee of the file, which covers all results computed from it.
    pub fn guarantee(&self) -> &str {
        &self.guarantee
    }

    /// Predicts the latent function of each class at points (t x d). The classes are independent.
    ///
    /// # Errors
    /// [`ReleaseError`] if the points do not fit the inputs, or the covariance of the inducing inputs cannot be factorised.
    pub fn predict_latent(&self, points: &DMatrix<f64>) -> Result<Vec<GaussianPrediction>, ReleaseError> {
        let data = data_setting_without_rows(self.inputs.clone(), None, Default::default());
        let points = points_from_matrix(points, &data)?.inputs;
        let kernel = self.kernel.build_kernel(&self.inducing);
        let inducing = InducingInputs::new(kernel.as_ref(), &self.inducing).map_err(TaskError::from)?;
        let located = inducing.covariances_with_conditional_variances(&points);
        Ok(self.posteriors.iter().map(|posterior| posterior.predict(&located)).collect())
    }
}

/// A matrix of finite numbers; none unless every row has this many.
fn matrix_from_rows(rows: &[Vec<f64>], columns: usize) -> Option<DMatrix<f64>> {
    let fits = rows.iter().all(|row| row.len() == columns && row.iter().all(|x| x.is_finite()));
    fits.then(|| DMatrix::from_row_iterator(rows.len(), columns, rows.iter().flatten().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One inducing input at zero with the variance 4: where an input lies, its covariance is 4, and the inducing value leaves nothing
    /// open. With weight 0.5 of variance 0.25 the mean is 2 and the variance 4; far away there is the prior alone.
    #[test]
    fn latent_functions_follow_from_the_weights() {
        let text = r#"{
            "model": { "inputs": ["x", "y"], "kernel": { "eq-ard": { "variance": 4.0, "lengthscales": [1.0, 2.0] } },
                "inducing": [[0.0, 0.0]], "classes": 2 },
            "weights": [{ "mean": [0.5], "covariance": [[0.25]] }, { "mean": [-1.0], "covariance": [[0.0]] }],
            "guarantee": { "text": "(1, 1e-5)-DP" } }"#;
        let file = ClassesFile::parse(Path::new("c.json"), text).unwrap();
        assert_eq!(file.guarantee(), "(1, 1e-5)-DP");
        let points = DMatrix::from_row_slice(3, 2, &[0.0, 0.0, 1.0, 2.0, 1e3, 0.0]);
        let latent = file.predict_latent(&points).unwrap();
        // exp(-1) of the covariance at one lengthscale along both inputs.
        let share = (-1.0f64).exp();
        let expected = [[2.0, 2.0 * share, 0.0], [-4.0, -4.0 * share, 0.0]];
        let variances =
            [[4.0, 4.0 - 4.0 * share.powi(2) + 4.0 * share.powi(2), 4.0], [0.0, 4.0 - 4.0 * share.powi(2), 4.0]];
        for (class, (means, variances)) in latent.iter().zip(expected.iter().zip(variances)) {
            for i in 0..3 {
                assert!((class.mean[i] - means[i]).abs() < 1e-12 && (class.variance[i] - variances[i]).abs() < 1e-12);
            }
        }
        assert!(file.predict_latent(&DMatrix::zeros(1, 3)).is_err());
        for (from, to) in [
            ("[[0.25]]", "[[0.25, 1.0]]"),
            ("\"classes\": 2", "\"classes\": 3"),
            ("[[0.0, 0.0]]", "[[0.0]]"),
            ("[[0.0, 0.0]]", "[]"),
            ("\"mean\": [0.5]", "\"mean\": [1e999]"),
            ("[1.0, 2.0]", "[1.0]"),
        ] {
            assert!(ClassesFile::parse(Path::new("c.json"), &text.replace(from, to)).is_err(), "{from} {to}");
        }
    }
}
