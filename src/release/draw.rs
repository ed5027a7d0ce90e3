//! Noise from the operating system, and what has to happen before anyone sees what it was added to.
//!
//! This is the only file that touches the system's randomness. Its types put the steps of a release in order: [`Drawn`] is made
//! by a draw from the system alone, and cannot be read; [`Charged`] is made by [`Drawn::charge`] alone, and is what the
//! functions that write a release accept.

use std::convert::Infallible;

use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use rand::{Rng, TryRng};
use serde_json::{Value, json};

use super::ReleaseError;
use super::exceptions::{design_warning, refuse_exceptions, warnings};
use super::ledger::{Account, Charge, LedgerEntry, LedgerError, LedgerPlace, Receipt, charge, preview};
use super::numbers::WrittenNumbers;
use super::subject::Subject;
use crate::data::Fingerprint;
use crate::privacy::{Certificate, RoundedNoise};
use crate::task::TaskError;

/// Words that are asked for at a time: a call of the system for each would take longer than a draw.
const WORDS: usize = 256;

/// The randomness of the operating system.
pub struct SystemNoise {
    words: Vec<u64>,
}

impl SystemNoise {
    /// # Errors
    /// [`ReleaseError::Randomness`] if the system gives none.
    fn new() -> Result<Self, ReleaseError> {
        // A system without randomness says so here, not by a panic in the middle of a draw.
        SysRng.try_next_u64().map_err(|cause| ReleaseError::Randomness(cause.to_string()))?;
        Ok(Self { words: Vec::with_capacity(WORDS) })
    }

    /// What a release is known by: 128 random bits, which say nothing of the data.
    fn id(&mut self) -> String {
        format!("{:016x}{:016x}", self.word(), self.word())
    }

    /// The next word, which is used once.
    fn word(&mut self) -> u64 {
        if self.words.is_empty() {
            let mut bytes = [0; 8 * WORDS];
            UnwrapErr(SysRng).fill_bytes(&mut bytes);
            let (words, _) = bytes.as_chunks::<8>();
            self.words.extend(words.iter().map(|word| u64::from_le_bytes(*word)));
        }
        self.words.pop().unwrap_or_else(|| UnwrapErr(SysRng).next_u64())
    }
}

impl TryRng for SystemNoise {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.word() as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.word())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        UnwrapErr(SysRng).fill_bytes(bytes);
        Ok(())
    }
}

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
    receipt: Option<Receipt>,
}

impl<T> Drawn<T> {
    /// What `draw` makes of the system's randomness.
    ///
    /// Obligation: all noise that `draw` adds comes from its argument.
    ///
    /// # Errors
    /// [`ReleaseError::Randomness`] if the system gives none; [`ReleaseError::Task`] of `draw`, or for a number that is not finite,
    /// which nobody should pay for.
    pub(super) fn new(
        draw: impl FnOnce(&mut SystemNoise) -> Result<Noisy<T>, TaskError>,
    ) -> Result<Self, ReleaseError>
    where
        T: WrittenNumbers,
    {
        let noisy = draw(&mut SystemNoise::new()?)?;
        let RoundedNoise { sensitivity, sd } = noisy.noise;
        if noisy.value.are_finite() && sensitivity.is_finite() && sd.is_finite() {
            return Ok(Self { noisy });
        }
        Err(TaskError::NotFinite { metric: "a number of the release".to_owned() }.into())
    }

    /// Refuses a guarantee with exceptions, or a delta that is too large for so many rows, unless they are allowed.
    ///
    /// # Errors
    /// [`ReleaseError::Caveats`], [`ReleaseError::LargeDelta`].
    pub fn without_exceptions(self, rows: u64, allowed: bool) -> Result<Self, ReleaseError> {
        refuse_exceptions(&self.noisy.certificate, rows, allowed)?;
        Ok(self)
    }

    /// Charges the release to the ledger of its rows: the budget is spent when this returns. Without a place for ledgers it is
    /// not counted, which its certificate says.
    ///
    /// # Errors
    /// [`ReleaseError::Ledger`], and then nothing is spent and nothing can be shown.
    pub fn charge(
        self,
        place: Option<&LedgerPlace>,
        subject: &Subject<'_>,
        rows: Option<&Fingerprint>,
    ) -> Result<Charged<T>, ReleaseError> {
        let Self { noisy } = self;
        let Some(place) = place else { return Ok(Charged { noisy, receipt: None }) };
        let rows = rows.ok_or(LedgerError::NoIdentity)?;
        let entry = subject.entry(&noisy.certificate, noisy.noise.mu())?;
        let next = Charge { place, rows, entry: LedgerEntry { id: SystemNoise::new()?.id(), ..entry } };
        preview(&next)?;
        Ok(Charged { noisy, receipt: Some(charge(&next)?) })
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

    /// What files say of all releases of its ledger; nothing without a ledger.
    pub(super) fn all_releases(&self) -> Option<Value> {
        let delta = self.certificate().delta()?;
        self.account().map(|account| account.json(delta))
    }

    /// What its ledger knows it by, as files say it; nothing without a ledger.
    pub(super) fn release_id(&self) -> Option<&str> {
        self.receipt.as_ref().map(|receipt| receipt.id.as_str())
    }

    /// How its noise was made, as files say it.
    pub(super) fn noise_json(&self) -> Value {
        let RoundedNoise { sensitivity, sd } = self.noisy.noise;
        json!({ "made": RoundedNoise::MADE, "sensitivity": sensitivity, "sd": sd })
    }

    /// What all releases of its ledger have spent, this one among them; none without a ledger.
    pub fn account(&self) -> Option<&Account> {
        self.receipt.as_ref().map(|receipt| &receipt.account)
    }

    /// What is said of its guarantee, if it hides little, and of its design, if that stopped short.
    pub fn warnings(&self) -> Vec<String> {
        let certificate = &self.noisy.certificate;
        warnings(certificate).into_iter().chain(design_warning(certificate)).collect()
    }

    /// What was charged; none without a ledger.
    pub fn receipt(&self) -> Option<&Receipt> {
        self.receipt.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// More words than are asked for at a time: one that came twice would be the same noise twice.
    #[test]
    fn every_word_is_used_once() {
        let mut noise = SystemNoise::new().unwrap();
        let words: BTreeSet<u64> = (0..3 * WORDS).map(|_| noise.next_u64()).collect();
        assert_eq!(words.len(), 3 * WORDS);
        let short: BTreeSet<u32> = (0..8).map(|_| noise.next_u32()).collect();
        let mut bytes = [0; 64];
        noise.fill_bytes(&mut bytes);
        assert!(short.len() > 4 && bytes.iter().collect::<BTreeSet<_>>().len() > 16);
    }
}
