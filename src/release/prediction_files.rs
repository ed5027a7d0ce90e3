//! The file of predictions and the certificate beside it.

use std::path::Path;

use serde_json::Value;

use super::new_file::{NewFile, SignedFile, with_ending};
use super::{Charged, PrivatePredictions, ReleaseError, SigningKey};

/// Both files, before a release is charged.
pub struct PredictionFiles<'k> {
    predictions: NewFile,
    certificate: SignedFile<'k>,
}

impl<'k> PredictionFiles<'k> {
    /// Makes sure that both files can be written, with the signature of the certificate if there is a key, and are not there yet.
    ///
    /// # Errors
    /// [`ReleaseError::Exists`] or [`ReleaseError::Io`].
    pub fn open(path: &Path, key: Option<&'k SigningKey>) -> Result<Self, ReleaseError> {
        let predictions = NewFile::open(path.to_path_buf())?;
        let certificate = SignedFile::open(&with_ending(path, ".certificate.json"), key)?;
        Ok(Self { predictions, certificate })
    }

    /// Writes the signature, the certificate, then the predictions, whose digest the certificate has; returns the certificate.
    ///
    /// # Errors
    /// [`ReleaseError::Unsigned`] or [`ReleaseError::Io`].
    pub fn write(self, charged: &Charged<PrivatePredictions<'_>>) -> Result<Value, ReleaseError> {
        let csv = charged.csv()?;
        let certificate = charged.certificate_json(&csv);
        self.certificate.put(&format!("{certificate:#}\n"))?;
        self.predictions.put(&csv)?;
        Ok(certificate)
    }
}
