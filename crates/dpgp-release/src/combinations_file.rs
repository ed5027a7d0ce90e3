//! The file of a release of noisy combinations of targets: predictions at any further points cost nothing more.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nalgebra::DMatrix;
use serde::Deserialize;
use serde_json::Value;

use super::grid::held;
use super::moments_file::{FilePredictions, data_without_rows};
use super::new_file::{new_file, put};
use super::{CertificateSummary, Charged, PrivatePredictions, PublicPoints, ReleaseError};
use dpgp_data::whole_text;
use dpgp_fs::{NewFile, Readers};
use dpgp_task::{Points, ReleasedCombinations, Setting};

/// A new file of such a release, opened before anything is charged.
pub struct NewCombinationsFile {
    path: PathBuf,
    file: NewFile,
}

impl NewCombinationsFile {
    /// Makes sure that the file can be written and is not there yet.
    ///
    /// # Errors
    /// [`ReleaseError::NoCombinations`] if the model of the setting is not averaged over hyperparameters; [`ReleaseError::Exists`] or
    /// [`ReleaseError::Io`].
    pub fn open(path: &Path, setting: &Setting) -> Result<Self, ReleaseError> {
        if !setting.model.as_deref().is_some_and(|model| model.averaged) {
            return Err(ReleaseError::NoCombinations);
        }
        Ok(Self { path: path.to_path_buf(), file: new_file(path, Readers::All)? })
    }

    /// Writes the release.
    ///
    /// # Errors
    /// [`ReleaseError::Io`], or [`ReleaseError::NoCombinations`].
    pub fn write(self, charged: &Charged<PrivatePredictions<'_>>) -> Result<(), ReleaseError> {
        put(self.file, &self.path, format!("{:#}\n", charged.combinations_json()?).as_bytes())
    }
}

/// A file of such a release.
#[derive(Debug)]
pub struct CombinationsFile {
    path: PathBuf,
    whole: WholeFile,
}

#[derive(Debug, Deserialize)]
struct WholeFile {
    model: ModelOfFile,
    certificate: Value,
    /// The predictions that the certificate is of.
    predictions: String,
    combinations: ReleasedCombinations,
}

/// The public settings beside the combinations.
#[derive(Debug, Deserialize)]
struct ModelOfFile {
    inputs: Vec<String>,
    #[serde(default)]
    encode: BTreeMap<String, Vec<String>>,
    target: Option<String>,
}

impl CombinationsFile {
    /// Reads a release. Returns `None` if the file holds another one.
    ///
    /// # Errors
    /// [`ReleaseError::Io`], or [`ReleaseError::NotCombinations`] if its numbers do not fit each other.
    pub fn read(path: &Path) -> Result<Option<Self>, ReleaseError> {
        let text = whole_text(path).map_err(ReleaseError::io(path))?;
        let fail = |cause: String| ReleaseError::NotCombinations { path: path.to_path_buf(), cause };
        let Ok(value) = serde_json::from_str::<Value>(&text) else { return Ok(None) };
        if value.get("combinations").is_none() {
            return Ok(None);
        }
        let whole: WholeFile = serde_json::from_value(value).map_err(|error| fail(error.to_string()))?;
        match whole.combinations.problem(whole.model.inputs.len()) {
            Some(problem) => Err(fail(problem.to_owned())),
            None => Ok(Some(Self { path: path.to_path_buf(), whole })),
        }
    }

    /// The guarantee of the file, which covers all that is computed from it.
    pub fn guarantee(&self) -> &str {
        self.whole.certificate.get("guarantee").and_then(Value::as_str).unwrap_or_default()
    }

    /// What the certificate of the file claims, if it holds.
    ///
    /// # Errors
    /// [`ReleaseError::NoCertificate`] if it is none.
    pub fn statement(&self) -> Result<CertificateSummary, ReleaseError> {
        let WholeFile { certificate, predictions, .. } = &self.whole;
        CertificateSummary::parse(&self.path, &certificate.to_string(), Some(predictions))
    }

    /// Predicts at points: `auto` stands for the inputs of the release.
    ///
    /// # Errors
    /// [`ReleaseError`] if the points cannot be read or do not fit the inputs, or a covariance cannot be factorised.
    pub fn predict(self, at: PublicPoints<'_>) -> Result<FilePredictions, ReleaseError> {
        let WholeFile { model: ModelOfFile { inputs, encode, target }, combinations, .. } = self.whole;
        let data = data_without_rows(inputs, target, encode);
        let points = match at {
            PublicPoints::File(file) => file.read(&data)?,
            PublicPoints::Grid(grid) => {
                let own = &combinations.inputs;
                let own = DMatrix::from_fn(own.len(), data.inputs.len(), |i, d| own[i][d]);
                Points::even(grid.points(&data, Some(own))?)
            }
            PublicPoints::Held(points) => held(points, &data)?,
        };
        let predictions = combinations.predict(&points.inputs)?;
        Ok(FilePredictions { data, points, predictions, warnings: Vec::new() })
    }
}
