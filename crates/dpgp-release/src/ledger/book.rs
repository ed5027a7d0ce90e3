//! A ledger and its arithmetic. Each entry is linked to those before it, and a seal covers the whole, so that edits are
//! noticed.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::account::LedgerAccount;
use super::entry::{BudgetSetting, LedgerEntry};
use super::error::LedgerError;
use super::known::RegisteredLedger;
use dpgp_accounting::composed_mu;
use dpgp_data::{HmacKey, RowsFingerprint};
use dpgp_number::Delta;

/// The version of the files that this program writes.
pub(super) const VERSION: u32 = 2;

const HEAD: &str = "\
# The releases that dpgp made from some rows, and their shared budget, if any.
# Keep this file private. Do not edit it: dpgp refuses a ledger that was edited, truncated or restored from a copy.

";

/// The releases about some rows.
///
/// ```
/// use dpgp_release::ledger::Ledger;
///
/// let text = "version = 2\nkey = \"00ff\"\nseal = \"\"\nbudget = { epsilon = 2.0, delta = 1e-5 }\n";
/// let ledger = Ledger::parse("my.ledger.toml".as_ref(), text)?;
/// let account = ledger.account();
/// assert_eq!((account.releases, account.spent_squared_mu_share()), (0, Some(0.0)));
/// assert!(account.epsilon_left(1e-5).is_some_and(|epsilon| (epsilon - 2.0).abs() < 1e-9));
/// # Ok::<(), dpgp_release::ledger::LedgerError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ledger {
    pub(super) version: u32,
    /// The name of the key that identifies its rows.
    pub key: String,
    /// The tag of all other fields under that key.
    pub(super) seal: String,
    /// The common budget of all releases. None if they are only recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetSetting>,
    /// The releases, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub release: Vec<LedgerEntry>,
    /// The identities of their rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<RowsFingerprint>,
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

    /// Parses the text of a ledger. Only the key of its state folder can show whether it is as it was written.
    ///
    /// # Errors
    /// [`LedgerError::Malformed`] if it is not a ledger, or holds invalid numbers.
    pub fn parse(path: &Path, text: &str) -> Result<Self, LedgerError> {
        let ledger: Self =
            toml::from_str(text).map_err(|error| LedgerError::malformed(path, error.to_string().trim_end()))?;
        ledger.check_version_and_numbers().map_err(|reason| LedgerError::malformed(path, reason))?;
        Ok(ledger)
    }

    /// The version and the numbers.
    fn check_version_and_numbers(&self) -> Result<(), String> {
        if self.version != VERSION {
            return Err(format!("unsupported version {}", self.version));
        }
        check_ledger_numbers(self.budget, &self.release)
    }

    /// The text of the file.
    ///
    /// # Errors
    /// [`LedgerError::Malformed`] if a number cannot be written.
    pub fn text(&self, path: &Path) -> Result<String, LedgerError> {
        let text = toml::to_string(self).map_err(|error| LedgerError::malformed(path, error.to_string()))?;
        Ok(format!("{HEAD}{text}"))
    }

    /// The account of its releases.
    pub fn account(&self) -> LedgerAccount {
        let mu = composed_mu(self.release.iter().map(|entry| entry.mu));
        let (releases, budget) = (self.release.len(), self.budget.map(Into::into));
        LedgerAccount { releases, budget, mu, open: self.incomplete_cost_reason() }
    }

    /// Whether it is about some of these rows. Without `alike`, whether it is about exactly these rows.
    pub(super) fn is_about_rows(&self, rows: &RowsFingerprint, alike: bool) -> bool {
        has_common_rows(&self.data, rows, alike)
    }
}

/// Whether some data share rows with others.
pub(super) fn has_common_rows(data: &[RowsFingerprint], rows: &RowsFingerprint, alike: bool) -> bool {
    data.iter().any(|known| known.all_rows_digest() == rows.all_rows_digest() || (alike && known.overlaps(rows)))
}

/// Refuses an invalid budget.
pub(super) fn check_budget(BudgetSetting { epsilon, delta }: BudgetSetting) -> Result<(), String> {
    if !(epsilon > 0.0 && epsilon.is_finite()) {
        return Err(format!("epsilon must be greater than 0 and finite, found {epsilon}"));
    }
    Delta::new(delta).map(|_| ()).map_err(|wrong| format!("delta {wrong}"))
}

/// Refuses invalid numbers of a budget or a release.
pub(super) fn check_ledger_numbers(budget: Option<BudgetSetting>, releases: &[LedgerEntry]) -> Result<(), String> {
    if let Some(budget) = budget {
        check_budget(budget).map_err(|reason| format!("budget: {reason}"))?;
    }
    for (place, entry) in releases.iter().enumerate() {
        if let Some(what) = entry.find_invalid_number() {
            return Err(format!("release {}: {what} has an impossible value", place + 1));
        }
        if let Some(reason) = entry.find_contradiction() {
            return Err(format!("release {}: {reason}", place + 1));
        }
    }
    Ok(())
}

/// The key of links and seals. It differs from that of rows.
#[derive(Debug, Clone)]
pub(super) struct SealKey {
    key: HmacKey,
    name: String,
}

impl SealKey {
    /// From the key of the state folder.
    pub fn new(key: &HmacKey) -> Self {
        Self { key: key.for_purpose("dpgp ledgers"), name: key.name() }
    }

    /// The name of the key of the state folder.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The link of an entry after the one with the link `before`: the tag of both.
    ///
    /// Obligation: the link depends on every byte of the entry and of all entries before it. It cannot be made without
    /// the key.
    pub fn entry_link(&self, before: &str, entry: &LedgerEntry) -> Result<String, String> {
        let bare = LedgerEntry { link: String::new(), ..entry.clone() };
        self.compute_tag(before, &bare)
    }

    /// The seal of a ledger: the tag of all its fields.
    pub fn seal(&self, ledger: &Ledger) -> Result<String, String> {
        let bare = Ledger { seal: String::new(), ..ledger.clone() };
        self.compute_tag("seal", &bare)
    }

    /// The tag of the record of a ledger.
    pub fn registration_tag(&self, head: &RegisteredLedger) -> Result<String, String> {
        let bare = RegisteredLedger { tag: String::new(), ..head.clone() };
        self.compute_tag("head", &bare)
    }

    fn compute_tag(&self, before: &str, what: &impl serde::Serialize) -> Result<String, String> {
        let text = serde_json::to_string(what).map_err(|error| error.to_string())?;
        Ok(hex::encode(self.key.tag(format!("{before}|{text}").as_bytes())))
    }

    /// Returns the reason why a ledger is not as this program wrote it, if there is one.
    pub fn tampering_reason(&self, ledger: &Ledger) -> Option<String> {
        let mut before = "";
        for (place, entry) in ledger.release.iter().enumerate() {
            let number = place + 1;
            let follows = self.entry_link(before, entry).is_ok_and(|link| link == entry.link);
            if !follows || entry.number != number as u64 {
                return Some(format!("release {number} was edited, or an earlier one was removed"));
            }
            before = &entry.link;
        }
        let sealed = self.seal(ledger).is_ok_and(|seal| seal == ledger.seal);
        (!sealed).then(|| "its seal does not match: it was edited or truncated".to_owned())
    }
}
