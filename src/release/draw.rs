//! Noise from the operating system, and what has to happen before anyone sees what it was added to.
//!
//! This is the only file that touches the system's randomness. Its types put the steps of a release in order: [`Drawn`] is made
//! by a draw from the system alone, and cannot be read; [`Charged`] is made by [`Drawn::charge`] alone, and is what the
//! functions that write a release accept.

use rand::TryRng;
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use serde_json::{Value, json};

use super::ReleaseError;
use super::ledger::{Account, Charge, LedgerFile, charge, preview};
use super::subject::Subject;
use crate::privacy::{Certificate, RoundedNoise};
use crate::task::TaskError;

/// The randomness of the operating system.
pub type SystemNoise = UnwrapErr<SysRng>;

/// Something with noise on it, and what is guaranteed of it.
pub struct Noisy<T> {
    /// What has the noise.
    pub value: T,
    /// What is guaranteed.
    pub certificate: Certificate,
    /// The noise that was drawn.
    pub noise: RoundedNoise,
}

/// A release that nobody has seen yet: its noise comes from the operating system, and it has not been charged.
///
/// It can be charged and nothing else. Writing it is an error of types:
/// ```compile_fail
/// use dpgp::release::{Drawn, PrivatePredictions};
///
/// fn leak(drawn: Drawn<PrivatePredictions<'_>>) -> Option<String> {
///     drawn.csv().ok()
/// }
/// ```
pub struct Drawn<T> {
    noisy: Noisy<T>,
}

/// A release that has been charged to its ledger, if it has one, and may be shown.
/// ```
/// use dpgp::release::{Charged, PrivatePredictions};
///
/// fn shown(charged: &Charged<PrivatePredictions<'_>>) -> Option<String> {
///     charged.csv().ok()
/// }
/// ```
pub struct Charged<T> {
    noisy: Noisy<T>,
    account: Option<Account>,
}

impl<T> Drawn<T> {
    /// What `draw` makes of the system's randomness.
    ///
    /// Obligation: all noise that `draw` adds comes from its argument.
    ///
    /// # Errors
    /// [`ReleaseError::Randomness`] if the system gives none; [`ReleaseError::Task`] of `draw`.
    pub(super) fn new(
        draw: impl FnOnce(&mut SystemNoise) -> Result<Noisy<T>, TaskError>,
    ) -> Result<Self, ReleaseError> {
        // A system without randomness says so here, not by a panic in the middle of a draw.
        SysRng.try_next_u64().map_err(|cause| ReleaseError::Randomness(cause.to_string()))?;
        Ok(Self { noisy: draw(&mut UnwrapErr(SysRng))? })
    }

    /// Charges the release to a ledger: the budget is spent when this returns. Without a ledger it is not counted, which
    /// its certificate says. The digest of the data is computed only for a ledger.
    ///
    /// # Errors
    /// [`ReleaseError::Ledger`], and then nothing is spent and nothing can be shown; the error of the digest.
    pub fn charge(
        self,
        ledger: Option<&LedgerFile>,
        subject: &Subject<'_>,
        data_sha256: impl FnOnce() -> Result<String, ReleaseError>,
    ) -> Result<Charged<T>, ReleaseError> {
        let Self { noisy } = self;
        let Some(ledger) = ledger else { return Ok(Charged { noisy, account: None }) };
        let data_sha256 = &data_sha256()?;
        let entry = subject.entry(&noisy.certificate, noisy.noise.mu())?;
        let next = Charge { ledger, data_sha256, entry };
        preview(&next)?;
        Ok(Charged { noisy, account: Some(charge(&next)?) })
    }
}

impl<T> Charged<T> {
    /// What is released.
    pub(super) fn value(&self) -> &T {
        &self.noisy.value
    }

    /// What is guaranteed.
    pub fn certificate(&self) -> &Certificate {
        &self.noisy.certificate
    }

    /// The sensitivity over the standard deviation of the noise, by which releases compose.
    pub fn mu(&self) -> f64 {
        self.noisy.noise.mu()
    }

    /// How its noise was made, as files say it.
    pub(super) fn noise_json(&self) -> Value {
        let RoundedNoise { sensitivity, sd } = self.noisy.noise;
        json!({ "made": RoundedNoise::MADE, "sensitivity": sensitivity, "sd": sd })
    }

    /// What all releases of its ledger have spent, this one among them; none without a ledger.
    pub fn account(&self) -> Option<&Account> {
        self.account.as_ref()
    }
}
