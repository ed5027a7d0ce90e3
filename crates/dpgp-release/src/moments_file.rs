//! A file of released moments, and predictions from it at any points and with any kernel. Predictions cost
//! nothing more.

use std::collections::BTreeMap;
use std::path::Path;

use nalgebra::DMatrix;
use serde::Deserialize;
use serde_json::Value;

use super::grid::{box_plane_grid, ensure_some_point_inside_box, outside_box_warning, points_from_matrix};
use super::new_file::{new_file, write_new_file};
use super::prediction_files::PredictionRows;
use super::predictions::uninformative_points_warning;
use super::{PredictionFormat, PublicPoints, ReleaseError};
use dpgp_data::{MissingCellPolicy, read_limited_text};
use dpgp_fs::ReadAccess;
use dpgp_gp::kernel::{BoxKernel, KernelSetting};
use dpgp_mechanisms::{MomentsModel, MomentsPosterior, MomentsSetting, ReleasedMoments, SurfacePrediction};
use dpgp_number::Positive;
use dpgp_spec::setting::{DataSetting, ModelSetting, NormaliseSetting, SourceSetting};
use dpgp_task::{PredictionPoints, Predictions};

/// What `dpgp sum --release` wrote of moments, as far as predictions need it.
pub struct MomentsFile {
    model: MomentsModelJson,
    moments: ReleasedMoments,
    guarantee: String,
}

/// The parts of the file that are read.
#[derive(Deserialize)]
struct MomentsJson {
    model: MomentsModelJson,
    moments: ReleasedMoments,
    guarantee: GuaranteeJson,
}

/// The guarantee in a file of any release.
#[derive(Debug, Deserialize)]
pub(super) struct GuaranteeJson {
    pub text: String,
    pub mu: Option<Positive>,
}

/// The public settings beside the moments.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MomentsModelJson {
    inputs: Vec<String>,
    #[serde(default)]
    encode: BTreeMap<String, Vec<String>>,
    target: String,
    normalise: NormaliseSetting,
    kernel: KernelSetting,
    noise_variance: Positive,
    mechanism: MomentsSetting,
}

/// Hyperparameters that replace those of a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelOverride {
    /// The kernel.
    pub kernel: Option<KernelSetting>,
    /// The noise variance, in squared units of the normalised target.
    pub noise_variance: Option<Positive>,
}

/// Predictions computed from a file of noisy released numbers. They cost no further budget.
pub struct PostprocessedPredictions {
    pub(super) data: DataSetting,
    pub(super) points: PredictionPoints,
    pub(super) predictions: Predictions,
    pub(super) warnings: Vec<String>,
}

impl MomentsFile {
    /// Reads a release.
    ///
    /// # Errors
    /// [`ReleaseError::Io`], or [`ReleaseError::NotMoments`] if it holds no moments.
    pub fn read(path: &Path) -> Result<Self, ReleaseError> {
        Self::parse(path, &read_limited_text(path).map_err(ReleaseError::io(path))?)
    }

    /// Parses the text of a release.
    ///
    /// # Errors
    /// [`ReleaseError::NotMoments`] if it holds no moments.
    pub fn parse(path: &Path, text: &str) -> Result<Self, ReleaseError> {
        Self::from_json(text).map_err(|cause| ReleaseError::NotMoments { path: path.to_path_buf(), cause })
    }

    fn from_json(text: &str) -> Result<Self, String> {
        let file: MomentsJson = serde_json::from_str(text).map_err(|error| match is_classifier_release(text) {
            true => "it holds sums of classes, which Python reads: dpgp.Release.read(FILE).predict_proba(X)".to_owned(),
            false => error.to_string(),
        })?;
        let MomentsJson { model, moments, guarantee } = file;
        let inputs = model.inputs.len();
        model.mechanism.check(inputs).map_err(|fault| format!("{}: {}", fault.path, fault.problem))?;
        if !moments.is_valid(inputs) {
            return Err("numbers are missing, not finite, or without noise".to_owned());
        }
        Ok(Self { model, moments, guarantee: guarantee.text })
    }

    /// The guarantee of the file, which covers all results computed from it.
    pub fn guarantee(&self) -> &str {
        &self.guarantee
    }

    /// Predicts at points, with the model of the file or another one.
    ///
    /// # Errors
    /// [`ReleaseError`] if the points cannot be read, or if the points or the kernel do not fit the inputs.
    pub fn predict(self, at: PublicPoints<'_>, other: ModelOverride) -> Result<PostprocessedPredictions, ReleaseError> {
        let known = self.with_model(other)?;
        // Read the points first, because the posterior takes long.
        let points = known.read_points(at)?;
        known.compute_posterior()?.predict_points(points)
    }

    /// Combines the released moments with their model, whose hyperparameters `other` may replace.
    ///
    /// # Errors
    /// [`ReleaseError`] if the kernel does not fit.
    pub(super) fn with_model(self, other: ModelOverride) -> Result<ModelledMoments, ReleaseError> {
        let MomentsModelJson { inputs, encode, target, normalise, kernel, noise_variance, mechanism } = self.model;
        let kernel = other.kernel.unwrap_or(kernel);
        if kernel.check_input_count(inputs.len()).is_err() {
            return Err(ReleaseError::NotReleasable("the kernel has the wrong number of inputs"));
        }
        if !BoxKernel::new(&kernel, mechanism.box_side_lengths())
            .is_some_and(|kernel| kernel.supports_fourier_moments())
        {
            return Err(ReleaseError::NotReleasable("the kernel is not stationary, or has too many inputs"));
        }
        let noise_variance = Some(other.noise_variance.unwrap_or(noise_variance));
        let data = data_setting_without_rows(inputs, Some(target), encode);
        let places = box_plane_grid(&mechanism.domain);
        let model = ModelSetting { kernel, noise_variance, averaged: false, sparse: None };
        let Some(model) = MomentsModel::from_parts(mechanism, model, &normalise, &data) else {
            return Err(ReleaseError::NotReleasable("the targets have no public bounds"));
        };
        Ok(ModelledMoments { data, places, model, moments: self.moments })
    }
}

/// Whether a release is one of a classifier.
fn is_classifier_release(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|file| file["model"]["classes"].is_u64())
}

impl PostprocessedPredictions {
    /// The inputs, the prediction, both standard deviations and the interval, a row for each point.
    ///
    /// # Errors
    /// [`csv::Error`] if the rows cannot be written.
    pub fn csv(&self) -> Result<String, csv::Error> {
        self.rows().csv()
    }

    /// The predictions as a list of records.
    pub fn json(&self) -> Value {
        self.rows().json()
    }

    /// The number of points.
    pub fn point_count(&self) -> usize {
        self.points.inputs.nrows()
    }

    /// Warnings about points where the model knows nothing.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Means and standard deviations at the points, in units of the target.
    pub fn predictions(&self) -> &Predictions {
        &self.predictions
    }

    fn rows(&self) -> PredictionRows<'_> {
        PredictionRows { data: &self.data, points: &self.points.inputs, predictions: &self.predictions }
    }
}

/// Makes a data section of the columns that a release names. It has no rows.
pub(super) fn data_setting_without_rows(
    inputs: Vec<String>,
    target: Option<String>,
    encode: BTreeMap<String, Vec<String>>,
) -> DataSetting {
    DataSetting {
        source: SourceSetting::Inline(BTreeMap::new()),
        inputs,
        target,
        encode,
        missing: MissingCellPolicy::Refuse,
        filter: Vec::new(),
        person: None,
        rows_per_person: None,
        draw: None,
    }
}

/// Writes predictions to a new file, in the format of its ending. An existing file is an error.
///
/// # Errors
/// [`ReleaseError::Form`], [`ReleaseError::Exists`] or [`ReleaseError::Io`].
pub fn write_predictions(path: &Path, predictions: &PostprocessedPredictions) -> Result<(), ReleaseError> {
    let bytes = predictions.rows().bytes(PredictionFormat::from_path(path)?)?;
    write_new_file(new_file(path, ReadAccess::All)?, path, &bytes)
}

/// A release and a model of it.
pub(super) struct ModelledMoments {
    pub data: DataSetting,
    /// Where a grid without a file has its points.
    pub places: DMatrix<f64>,
    pub model: MomentsModel,
    pub moments: ReleasedMoments,
}

/// The posterior of a release: computed once, then asked at any points. It follows from noisy numbers alone.
pub struct MomentsFilePosterior {
    known: ModelledMoments,
    posterior: MomentsPosterior,
}

impl ModelledMoments {
    /// The points to predict at.
    ///
    /// # Errors
    /// [`ReleaseError`] if they cannot be read or are none of the inputs.
    pub fn read_points(&self, at: PublicPoints<'_>) -> Result<PredictionPoints, ReleaseError> {
        match at {
            PublicPoints::File(file) => file.read(&self.data),
            PublicPoints::Grid(grid) => {
                Ok(PredictionPoints::with_equal_weights(grid.points(&self.data, Some(self.places.clone()))?))
            }
            PublicPoints::Held(points) => points_from_matrix(points, &self.data),
        }
    }

    /// Its posterior.
    ///
    /// # Errors
    /// [`ReleaseError::Task`] if a covariance cannot be factorised.
    pub fn compute_posterior(self) -> Result<MomentsFilePosterior, ReleaseError> {
        let posterior = self.model.posterior(&self.moments)?;
        Ok(MomentsFilePosterior { known: self, posterior })
    }
}

impl MomentsFile {
    /// The posterior by the model of the file or another one.
    ///
    /// # Errors
    /// [`ReleaseError`] if the kernel does not fit, or a covariance cannot be factorised.
    pub fn compute_posterior(self, other: ModelOverride) -> Result<MomentsFilePosterior, ReleaseError> {
        self.with_model(other)?.compute_posterior()
    }
}

impl MomentsFilePosterior {
    /// Predictions at points.
    ///
    /// # Errors
    /// [`ReleaseError`] if the points cannot be read or are none of the inputs.
    pub fn predict(&self, at: PublicPoints<'_>) -> Result<PostprocessedPredictions, ReleaseError> {
        self.predict_points(self.known.read_points(at)?)
    }

    pub(super) fn predict_points(&self, points: PredictionPoints) -> Result<PostprocessedPredictions, ReleaseError> {
        ensure_some_point_inside_box(self.known.model.mechanism(), &points.inputs)?;
        let prediction = self.known.model.predict(&self.posterior, &points.inputs)?;
        let SurfacePrediction { mean, model_sd, noise_sd } = prediction;
        let predictions = Predictions { mean, gp_sd: model_sd, noise_sd, least: None, combinations: None };
        let outside = outside_box_warning(self.known.model.mechanism(), &points.inputs);
        let warnings = outside.into_iter().chain(uninformative_points_warning(&predictions)).collect();
        Ok(PostprocessedPredictions { data: self.known.data.clone(), points, predictions, warnings })
    }
}
