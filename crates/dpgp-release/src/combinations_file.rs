//! The file of a release of noisy combinations of targets: predictions at any further points cost nothing more.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nalgebra::DMatrix;
use serde::Deserialize;
use serde_json::Value;

use super::grid::points_from_matrix;
use super::moments_file::{PostprocessedPredictions, data_setting_without_rows};
use super::new_file::OptionallySignedFile;
use super::{CertificateSummary, DrawnRelease, PrivatePredictions, PublicPoints, ReleaseError};
use dpgp_data::{Digest, read_limited_text};
use dpgp_fs::SigningKey;
use dpgp_task::{CellSetting, PredictionPoints, ReleasedTargetCombinations};

/// A new file of such a release, opened before anything is charged.
pub struct NewTargetCombinationsFile<'k>(OptionallySignedFile<'k>);

impl<'k> NewTargetCombinationsFile<'k> {
    /// Checks that the file, and its signature if there is a key, can be written and do not exist yet.
    ///
    /// The file lists the inputs of the rows. If a filter reads the target, the choice of rows is private, and nothing is written.
    ///
    /// # Errors
    /// [`ReleaseError::NoCombinations`] if the model of the setting is not averaged over hyperparameters; [`ReleaseError::InputsTell`] if rows
    /// are chosen by their targets; [`ReleaseError::Exists`] or [`ReleaseError::Io`].
    pub fn open(path: &Path, setting: &CellSetting, key: Option<&'k SigningKey>) -> Result<Self, ReleaseError> {
        if !setting.model.as_deref().is_some_and(|model| model.averaged) {
            return Err(ReleaseError::NoCombinations);
        }
        if setting.data.selects_by_target() {
            return Err(ReleaseError::InputsTell);
        }
        OptionallySignedFile::open(path, key).map(Self)
    }

    /// Writes the release.
    ///
    /// # Errors
    /// [`ReleaseError::Io`], or [`ReleaseError::NoCombinations`].
    pub fn write(self, charged: &DrawnRelease<PrivatePredictions<'_>>) -> Result<(), ReleaseError> {
        self.0.write_signed_text(&format!("{:#}\n", charged.release_file_json()?))
    }
}

/// The digest by which a certificate names combinations. None if they cannot be written, and then no certificate names them.
pub(super) fn target_combinations_digest(combinations: &ReleasedTargetCombinations) -> Option<String> {
    let text = serde_json::to_string(combinations).ok()?;
    Some(Digest::of_bytes(text.as_bytes()).to_string())
}

/// A file of such a release.
#[derive(Debug)]
pub struct TargetCombinationsFile {
    path: PathBuf,
    whole: TargetCombinationsJson,
}

#[derive(Debug, Deserialize)]
struct TargetCombinationsJson {
    model: TargetCombinationsModelJson,
    certificate: Value,
    /// The predictions that the certificate is of.
    predictions: String,
    combinations: ReleasedTargetCombinations,
}

/// The public settings beside the combinations.
#[derive(Debug, Deserialize)]
struct TargetCombinationsModelJson {
    inputs: Vec<String>,
    #[serde(default)]
    encode: BTreeMap<String, Vec<String>>,
    target: Option<String>,
}

impl TargetCombinationsFile {
    /// Reads a release. Returns `None` if the file holds another one.
    ///
    /// # Errors
    /// [`ReleaseError::Io`], or [`ReleaseError::NotCombinations`] if its numbers do not fit each other.
    pub fn read(path: &Path) -> Result<Option<Self>, ReleaseError> {
        Self::parse(path, &read_limited_text(path).map_err(ReleaseError::io(path))?)
    }

    /// As [`TargetCombinationsFile::read`], of a text.
    ///
    /// # Errors
    /// [`ReleaseError::NotCombinations`].
    pub fn parse(path: &Path, text: &str) -> Result<Option<Self>, ReleaseError> {
        let fail = |cause: String| ReleaseError::NotCombinations { path: path.to_path_buf(), cause };
        let Ok(value) = serde_json::from_str::<Value>(text) else { return Ok(None) };
        if value.get("combinations").is_none() {
            return Ok(None);
        }
        let whole: TargetCombinationsJson = serde_json::from_value(value).map_err(|error| fail(error.to_string()))?;
        match whole.combinations.validation_problem(whole.model.inputs.len()) {
            Some(problem) => Err(fail(problem.to_owned())),
            None => Ok(Some(Self { path: path.to_path_buf(), whole })),
        }
    }

    /// The certificate in the file.
    pub(super) fn certificate(&self) -> &Value {
        &self.whole.certificate
    }

    /// The predictions that the certificate is of.
    pub(super) fn certified_predictions_text(&self) -> &str {
        &self.whole.predictions
    }

    /// Whether the certificate names these combinations.
    pub(super) fn has_matching_digest(&self) -> bool {
        let named = self.whole.certificate.get("combinations_sha256").and_then(Value::as_str);
        target_combinations_digest(&self.whole.combinations).is_some_and(|digest| named == Some(&digest))
    }

    /// What the certificate of the file claims, if it holds.
    ///
    /// # Errors
    /// [`ReleaseError::NoCertificate`] if it is none.
    pub fn certificate_summary(&self) -> Result<CertificateSummary, ReleaseError> {
        if !self.has_matching_digest() {
            return Ok(CertificateSummary::from_failed_checks("the certificate belongs to other combinations"));
        }
        CertificateSummary::parse(&self.path, &self.certificate().to_string(), Some(self.certified_predictions_text()))
    }

    /// Predicts at points: `auto` stands for the inputs of the release.
    ///
    /// # Errors
    /// [`ReleaseError`] if the points cannot be read or do not fit the inputs, or a covariance cannot be factorised.
    pub fn predict(self, at: PublicPoints<'_>) -> Result<PostprocessedPredictions, ReleaseError> {
        let TargetCombinationsJson {
            model: TargetCombinationsModelJson { inputs, encode, target }, combinations, ..
        } = self.whole;
        let data = data_setting_without_rows(inputs, target, encode);
        let points = match at {
            PublicPoints::File(file) => file.read(&data)?,
            PublicPoints::Grid(grid) => {
                let own = &combinations.inputs;
                let own = DMatrix::from_fn(own.len(), data.inputs.len(), |i, d| own[i][d]);
                PredictionPoints::with_equal_weights(grid.points(&data, Some(own))?)
            }
            PublicPoints::Held(points) => points_from_matrix(points, &data)?,
        };
        let predictions = combinations.predict(&points.inputs)?;
        Ok(PostprocessedPredictions { data, points, predictions, warnings: Vec::new() })
    }
}
