//! How `dpgp stats --release` draws, counts and writes.

use rand::TryRng;
use rand::rngs::SysRng;
use serde_json::{Value, json};

use super::CliError;
use super::ledger::NextRelease;
use super::output::{ensure_writable, write_file};
use super::stats::StatsArguments;
use crate::gp::variational::NoisyStatistics;
use crate::privacy::Certificate;
use crate::publish::composed;
use crate::setting::PrivacySetting;
use crate::task::{Experiment, Setting};

/// What the noise cannot promise.
const CAUTION: &str = "The noise is drawn in 64-bit floating point from the operating system's randomness. The guarantee \
    is that of exact arithmetic, and of this one release: each further one adds to what is spent.";

/// A release that nobody has seen yet.
pub(super) struct Drawn {
    /// What is guaranteed.
    pub certificate: Certificate,
    /// The sensitivity over the standard deviation of the noise.
    pub mu: f64,
    /// All of the file but the guarantee and what the ledger says.
    pub value: Value,
}

/// What is asked for, and of which spec.
pub(super) struct Question<'a> {
    pub arguments: &'a StatsArguments,
    pub experiment: &'a Experiment,
    pub setting: &'a Setting,
    /// The guarantee of the release, if there shall be one.
    pub privacy: Option<PrivacySetting>,
}

impl Question<'_> {
    /// Draws a release if one is asked for, charges the ledger and writes the file; returns what the ledger holds.
    ///
    /// # Errors
    /// [`CliError`] of the draw, of the ledger and of the file; nothing is spent on a file that cannot be written.
    pub fn release(
        &self,
        fingerprint: String,
        draw: impl FnOnce(&PrivacySetting) -> Result<Drawn, CliError>,
    ) -> Result<String, CliError> {
        let Self { arguments, experiment, setting, .. } = *self;
        let (Some(path), Some(privacy)) = (&arguments.release, &self.privacy) else {
            return Ok(String::new());
        };
        ensure_writable(path)?;
        let Drawn { certificate, mu, mut value } = draw(privacy)?;
        let next = NextRelease { experiment, setting, privacy, certificate: &certificate, mu };
        let account = arguments.ledger.charge(&next, || Ok(fingerprint))?;
        value["guarantee"] = json!({
            "text": certificate.to_string(), "epsilon": certificate.epsilon(), "delta": certificate.delta(),
            "delta_exact": certificate.delta_exact, "mu": mu,
        });
        value["caution"] = json!(CAUTION);
        value["all_releases"] = json!(account.as_ref().map(composed));
        write_file(path, &format!("{value:#}\n"))?;
        Ok(arguments.ledger.balance(account.as_ref(), privacy.delta))
    }
}

/// A system without randomness says so before a draw, not in the middle of it.
///
/// # Errors
/// [`CliError::Randomness`].
pub(super) fn ensure_random() -> Result<(), CliError> {
    SysRng.try_next_u64().map(|_| ()).map_err(|cause| CliError::Randomness { cause: cause.to_string() })
}

/// Sums with noise.
pub(super) fn sums_json(noisy: &NoisyStatistics) -> Value {
    json!({ "a": noisy.a.as_slice(), "b": rows(&noisy.b), "sd_a": noisy.sd_a, "sd_b": noisy.sd_b })
}

/// A matrix, row by row.
pub(super) fn rows(matrix: &nalgebra::DMatrix<f64>) -> Vec<Vec<f64>> {
    matrix.row_iter().map(|row| row.iter().copied().collect()).collect()
}
