//! The file of predictions and the certificate beside it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::new_file::{SignedFile, new_file, put};
use super::{Charged, PredictionForm, PrivatePredictions, ReleaseError, SigningKey};
use dpgp_fs::{NewFile, Readers, with_ending};

/// Both files, before a release is charged.
pub struct PredictionFiles<'k> {
    path: PathBuf,
    form: PredictionForm,
    predictions: NewFile,
    certificate: SignedFile<'k>,
}

impl<'k> PredictionFiles<'k> {
    /// Makes sure that both files can be written, with the signature of the certificate if there is a key, and are not there yet.
    ///
    /// # Errors
    /// [`ReleaseError::Form`], [`ReleaseError::Exists`] or [`ReleaseError::Io`].
    pub fn open(path: &Path, key: Option<&'k SigningKey>) -> Result<Self, ReleaseError> {
        let form = PredictionForm::of(path)?;
        let predictions = new_file(path, Readers::All)?;
        if predictions.is_stream() {
            // Its certificate would stand beside no file.
            return Err(ReleaseError::Exists(path.to_path_buf()));
        }
        let certificate = SignedFile::open(&with_ending(path, ".certificate.json"), key)?;
        Ok(Self { path: path.to_path_buf(), form, predictions, certificate })
    }

    /// Writes the signature, the certificate, then the predictions, whose digest the certificate has; returns the certificate.
    ///
    /// # Errors
    /// [`ReleaseError::Unsigned`] or [`ReleaseError::Io`].
    pub fn write(self, charged: &Charged<PrivatePredictions<'_>>) -> Result<Value, ReleaseError> {
        let bytes = charged.bytes(self.form)?;
        let certificate = charged.certificate_json(&bytes);
        self.certificate.put(&format!("{certificate:#}\n"))?;
        put(self.predictions, &self.path, &bytes)?;
        Ok(certificate)
    }
}
