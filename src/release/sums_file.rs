//! The file of released sums.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::NamedTempFile;

use super::certificate_file::several_names;
use super::sums_model::matrix_rows;
use super::{Charged, ReleaseError};
use crate::gp::variational::{NoisyStatistics, SumsUnits};
use crate::privacy::PrivacyUnit;
use crate::run::{folder_of, write_named};

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
            "certificate": certificate, "warnings": self.warnings(), "program": concat!("dpgp ", env!("CARGO_PKG_VERSION")),
        });
        value["all_releases"] = json!(self.all_releases());
        let mut not_covered = Vec::new();
        if let PrivacyUnit::Person { column, .. } = &certificate.unit {
            not_covered.push(several_names(column));
        }
        if self.account().is_none() {
            not_covered.push(NOT_COUNTED.to_owned());
        }
        if !not_covered.is_empty() {
            value["not_covered"] = json!(not_covered);
        }
        value
    }

    /// Writes it to a file that the user named.
    ///
    /// # Errors
    /// [`ReleaseError::Io`].
    pub fn write(&self, path: &Path) -> Result<(), ReleaseError> {
        write_named(path, &format!("{:#}\n", self.json())).map_err(ReleaseError::io(path))
    }
}

/// Whether a file could be made at a path; makes none. To be asked before a release is charged.
///
/// # Errors
/// [`ReleaseError::Io`].
pub fn ensure_writable(path: &Path) -> Result<(), ReleaseError> {
    NamedTempFile::new_in(folder_of(path)).map(|_| ()).map_err(ReleaseError::io(path))
}

/// Sums with noise, which are whole numbers of the units beside them, to the nearest double.
pub(super) fn sums_json(noisy: &NoisyStatistics, units: SumsUnits) -> Value {
    json!({
        "a": noisy.a.as_slice(), "b": matrix_rows(&noisy.b), "sd_a": noisy.sd_a, "sd_b": noisy.sd_b,
        "unit_a": units.a, "unit_b": units.b,
    })
}
