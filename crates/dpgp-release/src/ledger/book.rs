//! A ledger and its arithmetic.
//!
//! What keeps a ledger as it was written: entries that are linked to those before them, and a seal on the whole.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::account::Account;
use super::entry::{BudgetSetting, LedgerEntry};
use super::error::LedgerError;
use super::known::KnownLedger;
use dpgp_accounting::composed_mu;
use dpgp_data::{DataKey, Fingerprint};
use dpgp_number::Delta;

/// The form of the file that this program writes.
pub(super) const VERSION: u32 = 2;

const HEAD: &str = "\
# The releases of dpgp about some rows, and their common budget, if there is one.
# Keep this file private. Do not edit it: dpgp refuses a ledger that was edited, cut or restored from a copy.

";

/// The releases about some rows.
///
/// ```
/// use dpgp_release::ledger::Ledger;
///
/// let text = "version = 2\nkey = \"00ff\"\nseal = \"\"\nbudget = { epsilon = 2.0, delta = 1e-5 }\n";
/// let ledger = Ledger::parse("my.ledger.toml".as_ref(), text)?;
/// let account = ledger.account();
/// assert_eq!((account.releases, account.share()), (0, Some(0.0)));
/// assert!(account.epsilon_left(1e-5).is_some_and(|epsilon| (epsilon - 2.0).abs() < 1e-9));
/// # Ok::<(), dpgp_release::ledger::LedgerError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ledger {
    pub(super) version: u32,
    /// The name of the key that its rows are known by.
    pub key: String,
    /// The tag of all else under that key.
    pub(super) seal: String,
    /// What all releases together keep; none where they are only counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetSetting>,
    /// The releases, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub release: Vec<LedgerEntry>,
    /// The rows that they are about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<Fingerprint>,
}

impl Ledger {
    /// A ledger without releases.
    pub(super) fn new(key: &SealKey) -> Self {
        Self {
            version: VERSION,
            key: key.name().to_owned(),
            seal: String::new(),
            budget: None,
            release: Vec::new(),
            data: Vec::new(),
        }
    }

    /// Reads the text of a ledger. Whether it is as it was written, only the key of its state folder can tell.
    ///
    /// # Errors
    /// [`LedgerError::Malformed`] if it is none, or holds numbers that no release has.
    pub fn parse(path: &Path, text: &str) -> Result<Self, LedgerError> {
        let ledger: Self = toml::from_str(text)
            .map_err(|error| LedgerError::malformed(path, error.to_string().trim_end()))?;
        ledger.check().map_err(|reason| LedgerError::malformed(path, reason))?;
        Ok(ledger)
    }

    /// The version and the numbers.
    fn check(&self) -> Result<(), String> {
        if self.version != VERSION {
            return Err(format!("this program does not know version {}", self.version));
        }
        check_numbers(self.budget, &self.release)
    }

    /// The text of the file.
    ///
    /// # Errors
    /// [`LedgerError::Malformed`] if a number cannot be written.
    pub fn text(&self, path: &Path) -> Result<String, LedgerError> {
        let text = toml::to_string(self).map_err(|error| LedgerError::malformed(path, error.to_string()))?;
        Ok(format!("{HEAD}{text}"))
    }

    /// What the releases have spent.
    pub fn account(&self) -> Account {
        let mu = composed_mu(self.release.iter().map(|entry| entry.mu));
        let (releases, budget) = (self.release.len(), self.budget.map(Into::into));
        Account { releases, budget, mu, open: self.open() }
    }

    /// Whether some row is known to be among its own; without `alike`, only all of them together.
    pub(super) fn is_about(&self, rows: &Fingerprint, alike: bool) -> bool {
        is_about(&self.data, rows, alike)
    }
}

/// Whether some row of some data is known to be among others.
pub(super) fn is_about(data: &[Fingerprint], rows: &Fingerprint, alike: bool) -> bool {
    data.iter().any(|known| known.whole() == rows.whole() || (alike && known.overlaps(rows)))
}

/// Refuses a budget that is none.
pub(super) fn check_budget(BudgetSetting { epsilon, delta }: BudgetSetting) -> Result<(), String> {
    if !(epsilon > 0.0 && epsilon.is_finite()) {
        return Err(format!("epsilon must be greater than 0 and finite, found {epsilon}"));
    }
    Delta::new(delta).map(|_| ()).map_err(|wrong| format!("delta {wrong}"))
}

/// Refuses numbers that no budget and no release have.
pub(super) fn check_numbers(budget: Option<BudgetSetting>, releases: &[LedgerEntry]) -> Result<(), String> {
    if let Some(budget) = budget {
        check_budget(budget).map_err(|reason| format!("budget: {reason}"))?;
    }
    for (place, entry) in releases.iter().enumerate() {
        if let Some(what) = entry.wrong_number() {
            return Err(format!("release {}: {what} has a value that no release can have", place + 1));
        }
        if let Some(reason) = entry.contradiction() {
            return Err(format!("release {}: {reason}", place + 1));
        }
    }
    Ok(())
}

/// The key of links and seals, which is not that of rows.
#[derive(Debug, Clone)]
pub(super) struct SealKey {
    key: DataKey,
    name: String,
}

impl SealKey {
    /// From the key of the state folder.
    pub fn new(key: &DataKey) -> Self {
        Self { key: key.for_purpose("dpgp ledgers"), name: key.name() }
    }

    /// The name of the key of the state folder.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The link of an entry after the one with the link `before`: the tag of both.
    ///
    /// Obligation: it depends on every byte of the entry and of all entries before it, and who does not have the key cannot
    /// make one.
    pub fn link(&self, before: &str, entry: &LedgerEntry) -> Result<String, String> {
        let bare = LedgerEntry { link: String::new(), ..entry.clone() };
        self.tag(before, &bare)
    }

    /// The seal of a ledger: the tag of all that stands in it.
    pub fn seal(&self, ledger: &Ledger) -> Result<String, String> {
        let bare = Ledger { seal: String::new(), ..ledger.clone() };
        self.tag("seal", &bare)
    }

    /// The tag of what is remembered of a ledger.
    pub fn tag_of(&self, head: &KnownLedger) -> Result<String, String> {
        let bare = KnownLedger { tag: String::new(), ..head.clone() };
        self.tag("head", &bare)
    }

    fn tag(&self, before: &str, what: &impl serde::Serialize) -> Result<String, String> {
        let text = serde_json::to_string(what).map_err(|error| error.to_string())?;
        Ok(hex::encode(self.key.tag(format!("{before}|{text}").as_bytes())))
    }

    /// Why a ledger is not as this program wrote it.
    pub fn fault(&self, ledger: &Ledger) -> Option<String> {
        let mut before = "";
        for (place, entry) in ledger.release.iter().enumerate() {
            let number = place + 1;
            let follows = self.link(before, entry).is_ok_and(|link| link == entry.link);
            if !follows || entry.number != number as u64 {
                return Some(format!("release {number} was edited, or an earlier one was removed"));
            }
            before = &entry.link;
        }
        let sealed = self.seal(ledger).is_ok_and(|seal| seal == ledger.seal);
        (!sealed).then(|| "its seal does not match: it was edited, or its end was cut off".to_owned())
    }
}
