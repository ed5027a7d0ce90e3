//! A ledger and its arithmetic.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::account::Account;
use super::chain::SealKey;
use super::entry::{BudgetSetting, LedgerEntry};
use super::error::LedgerError;
use crate::data::{FilePart, Fingerprint};
use crate::privacy::composed_mu;

/// The form of the file that this program writes.
pub(super) const VERSION: u32 = 2;

const HEAD: &str = "\
# What dpgp has released about some rows, and the budget that all releases together keep, if there is one.
# Keep this file private. Do not edit it: it is sealed, and one that was edited, cut or put back is refused.

";

/// The releases about some rows.
///
/// ```
/// use dpgp::release::ledger::Ledger;
///
/// let text = "version = 2\nkey = \"00ff\"\nseal = \"\"\nbudget = { epsilon = 2.0, delta = 1e-5 }\n";
/// let ledger = Ledger::parse("my.ledger.toml".as_ref(), text)?;
/// let account = ledger.account();
/// assert_eq!((account.releases, account.share()), (0, Some(0.0)));
/// assert!(account.epsilon_left(1e-5).is_some_and(|epsilon| (epsilon - 2.0).abs() < 1e-9));
/// # Ok::<(), dpgp::release::ledger::LedgerError>(())
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

/// A release that is to be entered.
#[derive(Debug, Clone)]
pub(super) struct NewRelease<'r> {
    pub entry: &'r LedgerEntry,
    /// Which rows it is about.
    pub rows: &'r Fingerprint,
    /// The budget that the user names.
    pub budget: Option<BudgetSetting>,
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
            return Err(format!("version {} is not known to this program", self.version));
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

    /// The ledger with one more release.
    ///
    /// Obligation: with a budget, the `mu` of all releases together stays within it, also when each is chosen by the results
    /// of those before: the filter of Gaussian differential privacy (Smith and Thakurta 2022).
    pub(super) fn with(
        mut self,
        path: &Path,
        new: &NewRelease<'_>,
        key: &SealKey,
    ) -> Result<Self, LedgerError> {
        self.take_budget(path, new.budget)?;
        if self.budget.is_some() {
            self.admit(path, new.entry)?;
        }
        match self.data.iter_mut().find(|known| known.whole() == new.rows.whole()) {
            Some(known) => known.learn(&new.rows.sketches),
            None => self.data.push(new.rows.clone()),
        }
        let FilePart { total, .. } = new.rows.whole();
        self.enter(LedgerEntry { data: total, ..new.entry.clone() }, key)
            .map_err(|reason| LedgerError::malformed(path, reason))?;
        Ok(self)
    }

    /// Enters a release, links it and seals the ledger anew.
    pub(super) fn enter(&mut self, entry: LedgerEntry, key: &SealKey) -> Result<(), String> {
        let mut entry = LedgerEntry { number: self.release.len() as u64 + 1, ..entry };
        let before = self.release.last().map_or("", |last| last.link.as_str());
        entry.link = key.link(before, &entry)?;
        self.release.push(entry);
        self.seal = key.seal(self)?;
        Ok(())
    }

    /// A budget may be named once, at any time; it then holds for the releases before it, too.
    fn take_budget(&mut self, path: &Path, named: Option<BudgetSetting>) -> Result<(), LedgerError> {
        let Some(named) = named else { return Ok(()) };
        check_budget(named).map_err(LedgerError::BadBudget)?;
        match self.budget {
            Some(budget) if budget != named => {
                return Err(LedgerError::OtherBudget { path: path.to_path_buf(), budget });
            }
            Some(_) => return Ok(()),
            None => {}
        }
        match self.open() {
            Some(reason) => Err(LedgerError::OtherGuarantee { path: path.to_path_buf(), reason }),
            None => {
                self.budget = Some(named);
                Ok(())
            }
        }
    }

    /// Fails if the budget does not hold a release.
    fn admit(&self, path: &Path, entry: &LedgerEntry) -> Result<(), LedgerError> {
        let path = path.to_path_buf();
        if let Some(caveat) = entry.caveats.first() {
            return Err(LedgerError::Caveats { path, caveat: caveat.clone() });
        }
        if let Some(reason) = self.release.iter().find_map(|earlier| entry.conflict(earlier)) {
            return Err(LedgerError::OtherGuarantee { path, reason });
        }
        let account = self.account();
        let Some(budget) = account.budget else { return Ok(()) };
        if budget.admits(composed_mu([account.mu, entry.mu])) {
            return Ok(());
        }
        let (asked, delta) = (entry.epsilon, entry.delta);
        Err(LedgerError::Spent {
            path,
            left: budget.epsilon_left(account.mu, delta),
            account,
            budget,
            asked,
            delta,
        })
    }

    /// Why what the releases have spent is not told by their `mu`.
    fn open(&self) -> Option<String> {
        for (place, entry) in self.release.iter().enumerate() {
            if let Some(caveat) = entry.caveats.first() {
                return Some(format!("release {} has exceptions to its guarantee: {caveat}", place + 1));
            }
            let conflict = self.release[..place].iter().find_map(|earlier| entry.conflict(earlier));
            if conflict.is_some() {
                return conflict;
            }
        }
        None
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
    if !(delta > 0.0 && delta < 1.0) {
        return Err(format!("delta must be greater than 0 and less than 1, found {delta}"));
    }
    Ok(())
}

/// Refuses numbers that no budget and no release have.
pub(super) fn check_numbers(budget: Option<BudgetSetting>, releases: &[LedgerEntry]) -> Result<(), String> {
    if let Some(budget) = budget {
        check_budget(budget).map_err(|reason| format!("budget: {reason}"))?;
    }
    for (place, entry) in releases.iter().enumerate() {
        if let Some(what) = entry.wrong_number() {
            return Err(format!("release {}: {what} is a number that no release has", place + 1));
        }
    }
    Ok(())
}
