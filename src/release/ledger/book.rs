//! A ledger and its arithmetic.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::entry::{BudgetSetting, LedgerEntry};
use super::error::LedgerError;
use crate::privacy::{Budget, composed_mu};

/// The form of the file that this program writes.
const VERSION: u32 = 1;

const HEAD: &str = "\
# What dpgp has released about one data file, and the budget that all releases together keep.
# Keep this file private: the digest below lets anyone who guesses the data check the guess.
# Do not edit it while a prediction runs; taking an entry out undoes the guarantee, not the release.

";

/// The releases about one data file.
///
/// ```
/// use dpgp::release::ledger::{BudgetSetting, Ledger};
///
/// let text = "version = 1\ndata_sha256 = \"00ff\"\nbudget = { epsilon = 2.0, delta = 1e-5 }\n";
/// let ledger = Ledger::parse("my.ledger.toml".as_ref(), text)?;
/// let account = ledger.account();
/// assert_eq!((account.releases, account.share()), (0, 0.0));
/// assert!((account.epsilon_left(1e-5) - 2.0).abs() < 1e-9);
/// # Ok::<(), dpgp::release::ledger::LedgerError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ledger {
    version: u32,
    /// SHA-256 of the data.
    pub data_sha256: String,
    /// What all releases together keep.
    pub budget: BudgetSetting,
    /// The releases, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub release: Vec<LedgerEntry>,
}

/// What the releases of a ledger have spent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Account {
    /// The number of releases.
    pub releases: usize,
    /// The budget.
    pub budget: Budget,
    /// The `mu` of all releases together.
    pub mu: f64,
}

impl Account {
    /// The exact delta of all releases together, at the budget's epsilon.
    pub fn delta(&self) -> f64 {
        self.budget.delta_at(self.mu)
    }

    /// The share of the budget that is spent: `mu^2`, which adds up over releases, over the greatest that the budget holds.
    pub fn share(&self) -> f64 {
        (self.mu / self.budget.left(0.0)).powi(2)
    }

    /// The epsilon that one more release could have at this delta.
    pub fn epsilon_left(&self, delta: f64) -> f64 {
        self.budget.epsilon_left(self.mu, delta)
    }

    /// What the files of a release say of all releases together.
    pub(in crate::release) fn json(&self) -> Value {
        json!({
            "releases": self.releases,
            "mu": self.mu,
            "budget_epsilon": self.budget.epsilon,
            "budget_delta": self.budget.delta,
            "delta_exact": self.delta(),
        })
    }
}

impl Ledger {
    /// A ledger without releases.
    pub fn new(data_sha256: String, budget: BudgetSetting) -> Self {
        Self { version: VERSION, data_sha256, budget, release: Vec::new() }
    }

    /// Reads the text of a ledger.
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
        check_budget(self.budget).map_err(|reason| format!("budget: {reason}"))?;
        for (number, entry) in self.release.iter().enumerate() {
            if let Some(what) = entry.wrong_number() {
                return Err(format!("release {}: {what} is a number that no release has", number + 1));
            }
        }
        Ok(())
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
        Account { releases: self.release.len(), budget: self.budget.into(), mu }
    }

    /// The ledger with one more release.
    ///
    /// # Errors
    /// [`LedgerError`] if the release is about other data, has no guarantee in common with earlier ones, or does not fit
    /// into the budget.
    pub fn with(mut self, path: &Path, data_sha256: &str, entry: LedgerEntry) -> Result<Self, LedgerError> {
        let path = path.to_path_buf();
        if self.data_sha256 != data_sha256 {
            let (ledger, data) = (self.data_sha256, data_sha256.to_owned());
            return Err(LedgerError::OtherData { path, ledger, data });
        }
        if let Some(reason) = self.release.iter().find_map(|earlier| entry.conflict(earlier)) {
            return Err(LedgerError::OtherGuarantee { path, reason });
        }
        let before = self.account();
        if !before.budget.admits(composed_mu([before.mu, entry.mu])) {
            let (asked, delta) = (entry.epsilon, entry.delta);
            let left = before.epsilon_left(delta);
            return Err(LedgerError::Spent { path, account: before, asked, delta, left });
        }
        self.release.push(entry);
        Ok(self)
    }
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
