//! The file of released sums.

use std::path::Path;

use serde_json::{Value, json};

use super::certificate_words::not_covered_of_sums;
use super::content_digest::with_digest;
use super::new_file::SignedFile;
use super::sums_model::matrix_rows;
use super::{Charged, ReleaseError, SigningKey};
use dpgp_gp::variational::{NoisyStatistics, SumsUnits};
use dpgp_run::PROGRAM;

/// Sums or counts with noise, and what follows from them.
pub struct SumsFile {
    pub(super) value: Value,
}

impl Charged<SumsFile> {
    /// The release and what is guaranteed of it.
    pub fn json(&self) -> Value {
        let (mut value, certificate) = (self.value().value.clone(), self.certificate());
        value["guarantee"] = json!({
            "text": certificate.to_string(), "epsilon": certificate.epsilon(), "delta": certificate.delta(),
            "delta_exact": certificate.delta_exact, "mu": self.mu(), "noise": self.noise_json(),
            "certificate": certificate, "warnings": self.warnings(), "program": PROGRAM,
        });
        value["release_id"] = json!(self.release_id());
        value["all_releases"] = json!(self.all_releases());
        value["not_covered"] = json!(not_covered_of_sums(&certificate.unit, self.account().is_some()));
        with_digest(value)
    }
}

/// Where a release is written, before it is charged: a new file, with its signature if there is a key, or a pipe.
pub struct SumsPlace<'k>(SignedFile<'k>);

impl<'k> SumsPlace<'k> {
    /// Makes sure that the file can be made, and its signature if there is a key, and that neither is there yet: a release that
    /// was paid for is not replaced.
    ///
    /// # Errors
    /// [`ReleaseError::Exists`] or [`ReleaseError::Io`].
    pub fn open(path: &Path, key: Option<&'k SigningKey>) -> Result<Self, ReleaseError> {
        SignedFile::open(path, key).map(Self)
    }

    /// Writes the release.
    ///
    /// # Errors
    /// [`ReleaseError::Unsigned`] or [`ReleaseError::Io`].
    pub fn write(self, charged: &Charged<SumsFile>) -> Result<(), ReleaseError> {
        self.0.put(&format!("{:#}\n", charged.json()))
    }
}

/// Sums with noise, which are whole numbers of the units beside them, to the nearest double.
pub(super) fn sums_json(noisy: &NoisyStatistics, units: SumsUnits) -> Value {
    json!({
        "a": noisy.a.as_slice(), "b": matrix_rows(&noisy.b), "sd_a": noisy.sd_a, "sd_b": noisy.sd_b,
        "unit_a": units.a, "unit_b": units.b,
    })
}
