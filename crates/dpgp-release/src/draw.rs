//! The order of a release: check the budget, charge the ledger, draw the noise.
//!
//! This is the only file that uses the randomness of the system, and its types enforce the order. An [`UnchargedRelease`] holds
//! the cost of a release and a way to draw it, but no noise. Only [`UnchargedRelease::charge`] makes [`ChargedRelease`], and only
//! [`ChargedRelease::draw`] makes [`DrawnRelease`], which the functions that write a release accept.
//!
//! Obligation: if a charge is refused, everything visible (exit code, message, files) depends on the ledger and on
//! public settings alone. *Proof.* An offer consists of public data: its certificate and the size of its noise. Noise
//! cannot be drawn without [`ChargedRelease`], so that no private number has been shown when the ledger refuses.
//!
//! Obligation: every draw has been charged. A draw with numbers that are not finite is an error after the charge, and
//! its cost is spent: the failure itself is part of the release.

use std::convert::Infallible;

use rand::rand_core::UnwrapErr;
#[expect(clippy::disallowed_types, reason = "the one file that draws for releases")]
use rand::rngs::SysRng;
use rand::{Rng, TryRng};
use serde_json::{Value, json};

use super::ReleaseError;
use super::exceptions::{
    large_delta_warning, large_epsilon_warning, noise_design_warning, refuse_exceptions_or_large_delta,
};
use super::ledger::{
    ChargeReceipt, LedgerAccount, LedgerEntry, LedgerError, LedgerOptions, PendingCharge, PendingRelease,
    charge_ledgers, check_charge,
};
use super::publish::ReleasedNumbers;
use super::subject::ReleaseSpec;
use dpgp_accounting::{Certificate, FALSE_POSITIVE_RATE, Neighbours, PrivacyBudget, composed_mu};
use dpgp_data::RowsFingerprint;
use dpgp_noise::RoundedNoiseParameters;
use dpgp_task::TaskError;

/// Words per call of the system. One call for each word would take longer than the draw.
const WORDS: usize = 256;

/// The randomness of the operating system.
pub struct SystemRandomness {
    words: Vec<u64>,
}

impl SystemRandomness {
    /// # Errors
    /// [`ReleaseError::Randomness`] if the system provides none.
    fn new() -> Result<Self, ReleaseError> {
        // A system without randomness fails here, and not with a panic during a draw.
        SysRng.try_next_u64().map_err(|cause| ReleaseError::Randomness(cause.to_string()))?;
        Ok(Self { words: Vec::with_capacity(WORDS) })
    }

    /// Draws the id of a release: 128 random bits, which reveal nothing about the data.
    fn draw_release_id(&mut self) -> String {
        format!("{:016x}{:016x}", self.next_word(), self.next_word())
    }

    /// Returns the next word. Each is used once.
    fn next_word(&mut self) -> u64 {
        if self.words.is_empty() {
            let mut bytes = [0; 8 * WORDS];
            UnwrapErr(SysRng).fill_bytes(&mut bytes);
            let (words, _) = bytes.as_chunks::<8>();
            self.words.extend(words.iter().map(|word| u64::from_le_bytes(*word)));
        }
        self.words.pop().unwrap_or_else(|| UnwrapErr(SysRng).next_u64())
    }
}

impl TryRng for SystemRandomness {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.next_word() as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.next_word())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        UnwrapErr(SysRng).fill_bytes(bytes);
        Ok(())
    }
}

/// The guarantee of a release and its noise. Both are public.
#[derive(Debug, Clone)]
pub struct ReleaseGuarantee {
    /// The certificate of the guarantee.
    pub certificate: Certificate,
    /// The size of the noise and the sensitivity that it hides.
    pub noise: RoundedNoiseParameters,
}

/// A function that draws the noise of a release and returns the released value.
type DrawFunction<'a, T> = Box<dyn FnOnce(&mut SystemRandomness) -> Result<T, TaskError> + 'a>;

/// A release that could be made: its guarantee, and a way to draw its noise.
///
/// It can only be charged. What was charged can be drawn:
/// ```
/// use dpgp_release::{ChargedRelease, PrivatePredictions, UnchargedRelease};
///
/// fn publish(release: ChargedRelease<'_, PrivatePredictions<'_>>) -> Option<String> {
///     release.draw().ok()?.predictions_csv().ok()
/// }
/// ```
///
/// What was not is no such release. This differs from the example above in the type alone, and does not compile:
/// ```compile_fail,E0599
/// use dpgp_release::{ChargedRelease, PrivatePredictions, UnchargedRelease};
///
/// fn publish(release: UnchargedRelease<'_, PrivatePredictions<'_>>) -> Option<String> {
///     release.draw().ok()?.predictions_csv().ok()
/// }
/// ```
pub struct UnchargedRelease<'a, T> {
    guaranteed: ReleaseGuarantee,
    /// Whether delta was compared with a public number of rows.
    compared: bool,
    draw: DrawFunction<'a, T>,
}

/// What several releases of one charge guarantee together.
#[derive(Debug, Clone)]
pub struct JointGuarantee {
    names: Vec<String>,
    total: PrivacyBudget,
    /// The `mu` of all of them.
    mu: f64,
    /// The neighbouring data sets of each, without repetition.
    neighbours: Vec<String>,
    /// The most that an attacker gains from all of them, in words. None if they protect different things.
    risk: Option<String>,
}

/// A release that has been charged to its ledger, if it has one, and may be drawn.
/// ```
/// use dpgp_release::{ChargedRelease, PrivatePredictions};
///
/// fn input_text(paid: ChargedRelease<'_, PrivatePredictions<'_>>) -> Option<String> {
///     paid.draw().ok()?.predictions_csv().ok()
/// }
/// ```
pub struct ChargedRelease<'a, T> {
    offer: UnchargedRelease<'a, T>,
    receipt: Option<ChargeReceipt>,
    joint: Option<JointGuarantee>,
}

/// A release that was charged, then drawn, and may be shown.
pub struct DrawnRelease<T> {
    value: T,
    guaranteed: ReleaseGuarantee,
    compared: bool,
    receipt: Option<ChargeReceipt>,
    joint: Option<JointGuarantee>,
}

impl<'a, T: ReleasedNumbers> UnchargedRelease<'a, T> {
    /// An offer with this guarantee.
    ///
    /// Obligations: `guaranteed` depends on public things alone; all noise that `draw` adds comes from its argument.
    ///
    /// # Errors
    /// [`ReleaseError::Task`] for noise that is not finite.
    pub(super) fn new(
        guaranteed: ReleaseGuarantee,
        draw: impl FnOnce(&mut SystemRandomness) -> Result<T, TaskError> + 'a,
    ) -> Result<Self, ReleaseError> {
        let RoundedNoiseParameters { sensitivity, sd } = guaranteed.noise;
        if sensitivity.is_finite() && sd.is_finite() {
            return Ok(Self { guaranteed, compared: false, draw: Box::new(draw) });
        }
        Err(TaskError::NotFinite { metric: "the noise of the release".to_owned() }.into())
    }

    /// Refuses a guarantee with exceptions, or a delta that is too large for this public number of rows, unless both
    /// are allowed. Without a public number of rows, a large delta is only a warning.
    ///
    /// # Errors
    /// [`ReleaseError::Caveats`], [`ReleaseError::LargeDelta`].
    pub fn refuse_exceptions_or_large_delta(
        self,
        public_rows: Option<u64>,
        allowed: bool,
    ) -> Result<Self, ReleaseError> {
        refuse_exceptions_or_large_delta(&self.guaranteed.certificate, public_rows, allowed)?;
        Ok(Self { compared: public_rows.is_some(), ..self })
    }

    /// Charges the release to the ledger of its rows. The budget is spent when this returns. Without a place for
    /// ledgers the release is not counted, and its certificate says so.
    ///
    /// # Errors
    /// [`ReleaseError::Ledger`]: nothing is spent, and nothing can be drawn. [`ReleaseError::Randomness`] if the system
    /// provides none. This is found before the charge.
    pub fn charge(
        self,
        place: Option<&LedgerOptions>,
        subject: &ReleaseSpec<'_>,
        rows: Option<&RowsFingerprint>,
    ) -> Result<ChargedRelease<'a, T>, ReleaseError> {
        let charged = charge_together(vec![ReleaseToCharge { offer: self, subject: *subject, rows }], place, None)?;
        charged.into_iter().next().ok_or_else(|| LedgerError::NoIdentity.into())
    }
}

/// A release that is about to be charged: its guarantee and noise, its spec, and the fingerprint of its rows.
pub(super) struct ReleaseToCharge<'a, 's, T> {
    pub offer: UnchargedRelease<'a, T>,
    pub subject: ReleaseSpec<'s>,
    /// None if the rows were read without a key.
    pub rows: Option<&'s RowsFingerprint>,
}

impl JointGuarantee {
    /// The guarantee of some releases, each with its name.
    ///
    /// # Errors
    /// [`ReleaseError::NotTogether`] if they exceed the budget, or if one protects only small changes of a target.
    pub(super) fn new<T>(
        names: &[&str],
        total: PrivacyBudget,
        releases: &[ReleaseToCharge<'_, '_, T>],
    ) -> Result<Self, ReleaseError> {
        let mu = composed_mu(releases.iter().map(ReleaseToCharge::gdp_mu));
        if !total.admits(mu) {
            let problem = "the noise of the answers is too small for their shared budget".to_owned();
            return Err(ReleaseError::NotTogether(problem));
        }
        let (mut neighbours, mut alternatives): (Vec<String>, Vec<_>) = (Vec::new(), Vec::new());
        for (release, name) in releases.iter().zip(names) {
            let certificate = &release.offer.guaranteed.certificate;
            if let Some(Neighbours::OneTargetChanges(change)) = certificate.neighbours
                && let Some(width) = release.subject.setting.normalise.target_width_if_above(change)
            {
                return Err(ReleaseError::NotTogether(format!(
                    "{name} only protects against target changes of at most {change}, but its targets can differ by {width}"
                )));
            }
            neighbours.extend(certificate.describe_neighbours().filter(|own| !neighbours.contains(own)));
            alternatives.push(certificate.describe_attack_alternatives());
        }
        let same = alternatives.windows(2).all(|pair| pair[0] == pair[1]);
        let risk = releases.first().filter(|_| same);
        let risk = risk.and_then(|release| risk_in_words(&release.offer.guaranteed.certificate, mu));
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Ok(Self { names, total, mu, neighbours, risk })
    }

    /// The neighbouring data sets of each release, without repetition.
    pub fn neighbours_in_words(&self) -> &[String] {
        &self.neighbours
    }

    /// The most that an attacker gains from all of them, in words. None if they protect different things.
    pub fn risk_in_words(&self) -> Option<&str> {
        self.risk.as_deref()
    }
}

impl<T> ReleaseToCharge<'_, '_, T> {
    /// The sensitivity divided by the standard deviation of the noise.
    pub fn gdp_mu(&self) -> f64 {
        self.offer.guaranteed.noise.gdp_mu()
    }

    /// The entry of a ledger, without an id.
    ///
    /// # Errors
    /// [`ReleaseError::NotReleasable`] without a guarantee.
    pub fn ledger_entry(&self) -> Result<LedgerEntry, ReleaseError> {
        self.subject.ledger_entry(&self.offer.guaranteed.certificate, self.gdp_mu())
    }
}

/// Charges releases from the same rows to the ledger of these rows: all of them, or none. As [`UnchargedRelease::charge`] with one.
/// Each states what all of them guarantee together, if that is known.
pub(super) fn charge_together<'a, T>(
    offers: Vec<ReleaseToCharge<'a, '_, T>>,
    place: Option<&LedgerOptions>,
    joint: Option<JointGuarantee>,
) -> Result<Vec<ChargedRelease<'a, T>>, ReleaseError> {
    let mut random = SystemRandomness::new()?;
    let Some(place) = place else {
        let free = offers.into_iter().map(|offered| offered.offer);
        return Ok(free.map(|offer| ChargedRelease { offer, receipt: None, joint: joint.clone() }).collect());
    };
    let mut releases = Vec::new();
    for offered in &offers {
        let rows = offered.rows.ok_or(LedgerError::NoIdentity)?;
        let entry = LedgerEntry { id: random.draw_release_id(), ..offered.ledger_entry()? };
        releases.push(PendingRelease { entry, rows });
    }
    let next = PendingCharge { place, releases };
    check_charge(&next)?;
    let receipts = charge_ledgers(&next)?;
    let charged = offers.into_iter().zip(receipts).map(|(offered, receipt)| (offered.offer, Some(receipt)));
    Ok(charged.map(|(offer, receipt)| ChargedRelease { offer, receipt, joint: joint.clone() }).collect())
}

impl<T: ReleasedNumbers> ChargedRelease<'_, T> {
    /// Draws the noise.
    ///
    /// # Errors
    /// [`ReleaseError::AfterCharge`] with the cause. The cost of the release is spent.
    pub fn draw(self) -> Result<DrawnRelease<T>, ReleaseError> {
        let Self { offer: UnchargedRelease { guaranteed, compared, draw }, receipt, joint } = self;
        let drawn = SystemRandomness::new().and_then(|mut noise| Ok(draw(&mut noise)?)).and_then(|value| {
            let not_finite = || TaskError::NotFinite { metric: "a released number".to_owned() };
            if value.are_finite() { Ok(value) } else { Err(not_finite().into()) }
        });
        match drawn {
            Ok(value) => Ok(DrawnRelease { value, guaranteed, compared, receipt, joint }),
            Err(cause) => Err(cause.mark_charged(receipt.as_ref())),
        }
    }
}

impl<T> DrawnRelease<T> {
    /// The released value, with its noise.
    pub(super) fn value(&self) -> &T {
        &self.value
    }

    /// The certificate of the guarantee.
    pub fn certificate(&self) -> &Certificate {
        &self.guaranteed.certificate
    }

    /// The sensitivity divided by the standard deviation of the noise. Squares of `mu` add up over releases.
    pub fn gdp_mu(&self) -> f64 {
        self.guaranteed.noise.gdp_mu()
    }

    /// The most that an attacker gains, in words; none where the guarantee has exceptions.
    pub fn risk_in_words(&self) -> Option<String> {
        risk_in_words(self.certificate(), self.gdp_mu())
    }

    pub(super) fn risk_json(&self) -> Value {
        risk_json(self.certificate(), self.gdp_mu())
    }

    /// The statement of files about all releases of the ledger. Nothing without a ledger.
    pub(super) fn ledger_account_json(&self) -> Option<Value> {
        let delta = self.certificate().delta()?;
        self.account().map(|account| account.json(delta))
    }

    /// The id of the release in its ledger and in files. Nothing without a ledger.
    pub(super) fn release_id(&self) -> Option<&str> {
        self.receipt.as_ref().map(|receipt| receipt.id.as_str())
    }

    /// What the releases of its charge guarantee together. None for one release.
    pub fn joint_guarantee(&self) -> Option<&JointGuarantee> {
        self.joint.as_ref()
    }

    /// The same as files state it.
    pub(super) fn joint_guarantee_json(&self) -> Option<Value> {
        let JointGuarantee { names, total, mu, neighbours, risk } = self.joint.as_ref()?;
        Some(json!({
            "answers": names,
            "epsilon": total.epsilon,
            "delta": total.delta,
            "mu": mu,
            "neighbours": neighbours,
            "in_words": risk,
        }))
    }

    /// The noise as files state it: its size, the sensitivity and the source of its randomness.
    pub(super) fn noise_json(&self) -> Value {
        let RoundedNoiseParameters { sensitivity, sd } = self.guaranteed.noise;
        json!({ "made": RoundedNoiseParameters::NOISE_STATEMENT, "sensitivity": sensitivity, "sd": sd })
    }

    /// The account of all releases of the ledger, this one included. None without a ledger.
    pub fn account(&self) -> Option<&LedgerAccount> {
        self.receipt.as_ref().map(|receipt| &receipt.account)
    }

    /// Warnings about a weak guarantee, about a large delta where the number of rows is private, and about a noise
    /// design that is not optimal.
    pub fn warnings(&self) -> Vec<String> {
        let certificate = &self.guaranteed.certificate;
        let delta = large_delta_warning(certificate).filter(|_| !self.compared);
        large_epsilon_warning(certificate).into_iter().chain(delta).chain(noise_design_warning(certificate)).collect()
    }

    /// The receipt of the charge. None without a ledger.
    pub fn receipt(&self) -> Option<&ChargeReceipt> {
        self.receipt.as_ref()
    }
}

/// The risk as files state it: numbers, and the sentence for people; null where the guarantee has exceptions.
pub(super) fn risk_json(certificate: &Certificate, mu: f64) -> Value {
    let risk = certificate.attack_risk(mu).map(|risk| {
        json!({
            "advantage": risk.advantage,
            "right_guesses": risk.max_right_guess_probability(),
            "false_positive_rate": FALSE_POSITIVE_RATE,
            "true_positive_rate": risk.true_positive_rate,
            "in_words": risk_in_words(certificate, mu),
        })
    });
    json!(risk)
}

/// The sentence for people about a release.
pub(super) fn risk_in_words(certificate: &Certificate, mu: f64) -> Option<String> {
    Some(certificate.attack_risk(mu)?.describe_risk(&certificate.describe_attack_alternatives()?))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Guards against a word that is used twice, which would be the same noise twice: draws more words than one call
    /// returns.
    #[test]
    fn every_word_is_used_once() {
        let mut noise = SystemRandomness::new().unwrap();
        let words: BTreeSet<u64> = (0..3 * WORDS).map(|_| noise.next_u64()).collect();
        assert_eq!(words.len(), 3 * WORDS);
        let short: BTreeSet<u32> = (0..8).map(|_| noise.next_u32()).collect();
        let mut bytes = [0; 64];
        noise.fill_bytes(&mut bytes);
        assert!(short.len() > 4 && bytes.iter().collect::<BTreeSet<_>>().len() > 16);
    }
}
