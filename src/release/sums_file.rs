//! The file of released sums.

use std::path::Path;

use serde_json::{Value, json};

use super::certificate_file::{SEVERAL_ROWS, several_names};
use super::content_digest::with_digest;
use super::new_file::SignedFile;
use super::sums_model::matrix_rows;
use super::{Charged, ReleaseError, SigningKey};
use crate::gp::variational::{NoisyStatistics, SumsUnits};
use crate::privacy::PrivacyUnit;
use crate::run::PROGRAM;

/// What a release that no ledger counts says of others.
pub(super) const NOT_COUNTED: &str = "other releases about the same data: this one was made without a ledger (--no-ledger), so \
    that nothing counts them, and they add up";

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

/// What the guarantee of released sums does not speak of.
pub(super) fn not_covered_of_sums(unit: &PrivacyUnit, counted: bool) -> Vec<String> {
    let mut list = vec![match unit {
        PrivacyUnit::Person { column, .. } => several_names(column),
        _ => SEVERAL_ROWS.to_owned(),
    }];
    if !counted {
        list.push(NOT_COUNTED.to_owned());
    }
    list
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
