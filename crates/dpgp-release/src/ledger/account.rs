//! The account of a ledger, and the list of ledgers for `dpgp ledger show`.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::book::{Ledger, SealKey};
use super::error::LedgerError;
use super::file::{LedgerWithPath, read_ledger, read_ledger_text, real_path};
use super::known::LedgerRegistry;
use super::old::is_version_1;
use dpgp_accounting::{PrivacyBudget, gaussian_epsilon_at_mu};
use dpgp_data::RowsFingerprint;
use dpgp_run::StateFolder;

/// The account of a ledger: the total cost of its releases.
#[derive(Debug, Clone, PartialEq)]
pub struct LedgerAccount {
    /// The number of releases.
    pub releases: usize,
    /// The budget. None if releases are only recorded.
    pub budget: Option<PrivacyBudget>,
    /// The `mu` of all releases together.
    pub mu: f64,
    /// The reason why `mu` is not the total cost, if there is one.
    pub open: Option<String>,
}

impl LedgerAccount {
    /// The exact delta of all releases together, at the budget's epsilon.
    pub fn delta_at_budget_epsilon(&self) -> Option<f64> {
        Some(self.budget?.gaussian_delta_at_mu(self.mu))
    }

    /// The spent share of the budget: `mu^2`, which adds up over releases, divided by the largest that the budget
    /// allows.
    pub fn spent_squared_mu_share(&self) -> Option<f64> {
        Some((self.mu / self.budget?.remaining_mu(0.0)).powi(2))
    }

    /// The epsilon that one more release could have at this delta.
    pub fn epsilon_left(&self, delta: f64) -> Option<f64> {
        Some(self.budget?.remaining_epsilon(self.mu, delta))
    }

    /// The epsilon of all releases together at this delta.
    pub fn epsilon_spent(&self, delta: f64) -> f64 {
        gaussian_epsilon_at_mu(self.mu, delta)
    }

    /// A sort key: the ledger with the least left has the largest.
    pub(super) fn fullness_sort_key(&self) -> (f64, f64) {
        (self.spent_squared_mu_share().unwrap_or(0.0), self.mu)
    }

    /// The statement of files about all releases together, at the delta of one of them.
    pub fn json(&self, delta: f64) -> Value {
        json!({
            "releases": self.releases,
            "mu": self.mu,
            "epsilon": self.epsilon_spent(delta),
            "delta": delta,
            "budget_epsilon": self.budget.map(|budget| budget.epsilon),
            "budget_delta": self.budget.map(|budget| budget.delta),
            "delta_exact": self.delta_at_budget_epsilon(),
            "not_counted": self.open,
        })
    }
}

/// A ledger, or the reason why it cannot be trusted.
#[derive(Debug)]
pub struct ListedLedger {
    /// Its path.
    pub path: PathBuf,
    /// Its state.
    pub state: LedgerState,
}

/// The state of a ledger.
#[derive(Debug)]
pub enum LedgerState {
    /// It is as it was written.
    Sound(Ledger),
    /// It has version 1, without a seal. The next release takes over its entries.
    Old(Ledger),
    /// It was edited, cut, restored from a copy or removed.
    Broken(LedgerError),
}

/// Lists all ledgers in the records of the state folder.
///
/// # Errors
/// [`LedgerError`] if the state folder cannot be read.
pub fn list_ledgers(state: &StateFolder) -> Result<Vec<ListedLedger>, LedgerError> {
    let known = LedgerRegistry::read(state)?;
    Ok(known.list.iter().map(|one| load_listed_ledger(&one.path, &known, state)).collect())
}

/// Lists the ledgers about some of these rows.
///
/// # Errors
/// As [`list_ledgers`].
pub fn list_ledgers_about(state: &StateFolder, rows: &RowsFingerprint) -> Result<Vec<ListedLedger>, LedgerError> {
    let known = LedgerRegistry::read(state)?;
    Ok(known.ledgers_about(rows, true).iter().map(|one| load_listed_ledger(&one.path, &known, state)).collect())
}

/// Reads the ledger in a file. Returns nothing if the file is not a ledger, such as a spec.
///
/// # Errors
/// [`LedgerError::Io`].
pub fn find_ledger_in_file(state: &StateFolder, path: &Path) -> Result<Option<ListedLedger>, LedgerError> {
    let real = real_path(path)?;
    let known = LedgerRegistry::read(state)?;
    let looks = match read_ledger_text(path) {
        Ok(Some(text)) => looks_like_a_ledger(&text),
        Ok(None) => known.ledger_at_path(&real).is_some(),
        Err(error @ LedgerError::Io { .. }) => return Err(error),
        Err(_) => true,
    };
    Ok(looks.then(|| ListedLedger { path: path.to_path_buf(), ..load_listed_ledger(&real, &known, state) }))
}

fn looks_like_a_ledger(text: &str) -> bool {
    let table = text.parse::<toml::Table>().unwrap_or_default();
    is_version_1(text) || table.contains_key("seal") || table.contains_key("release")
}

fn load_listed_ledger(path: &Path, known: &LedgerRegistry, state: &StateFolder) -> ListedLedger {
    let found = match read_ledger(path, known, &SealKey::new(state.key())) {
        Ok(Some(LedgerWithPath { ledger, old: Some(_), .. })) => LedgerState::Old(ledger),
        Ok(Some(LedgerWithPath { ledger, .. })) => LedgerState::Sound(ledger),
        Ok(None) => LedgerState::Broken(LedgerError::malformed(path, "the file does not exist")),
        Err(error) => LedgerState::Broken(error),
    };
    ListedLedger { path: path.to_path_buf(), state: found }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A `mu` of 3/5 of the limit is 9/25 of the budget, and leaves 4/5 of the limit.
    #[test]
    fn shares_add_up() {
        let budget = PrivacyBudget { epsilon: 1.5, delta: 1e-6 };
        let limit = budget.remaining_mu(0.0);
        let account = LedgerAccount { releases: 2, budget: Some(budget), mu: 0.6 * limit, open: None };
        assert!((account.spent_squared_mu_share().unwrap() - 0.36).abs() < 1e-12);
        let left = account.epsilon_left(1e-7).unwrap();
        assert!((left / gaussian_epsilon_at_mu(0.8 * limit, 1e-7) - 1.0).abs() < 1e-9);
        let free = LedgerAccount { budget: None, ..account };
        assert_eq!((free.spent_squared_mu_share(), free.epsilon_left(1e-7)), (None, None));
    }

    /// The ledger with the least left comes first: by the share of its budget; those without one, by what is spent.
    #[test]
    fn the_fullest_has_the_largest_share() {
        let limit = PrivacyBudget { epsilon: 1.5, delta: 1e-6 }.remaining_mu(0.0);
        let of = |budget: Option<f64>, mu| {
            let budget = budget.map(|epsilon| PrivacyBudget { epsilon, delta: 1e-6 });
            LedgerAccount { releases: 1, budget, mu, open: None }.fullness_sort_key()
        };
        let small = of(Some(1.5), 0.5 * limit);
        assert!((small.0 - 0.25).abs() < 1e-12 && small.1 == 0.5 * limit);
        let ascending = [of(None, 0.1), of(None, 9.0), of(Some(15.0), 0.5 * limit), small];
        assert!(ascending.is_sorted_by(|a, b| a < b), "{ascending:?}");
    }

    /// Of mpmath: the exact delta at epsilon 1 is 2.924272104856407e-6 at mu = 0.25.
    #[test]
    fn what_is_spent_follows_from_mu() {
        let budget = PrivacyBudget { epsilon: 1.0, delta: 1e-5 };
        let account = LedgerAccount { releases: 1, budget: Some(budget), mu: 0.25, open: None };
        assert!((account.delta_at_budget_epsilon().unwrap() / 2.924_272_104_856_407e-6 - 1.0).abs() < 1e-6);
        assert!((account.epsilon_spent(2.924_272_104_856_407e-6) - 1.0).abs() < 1e-6);
        let free = LedgerAccount { budget: None, ..account };
        assert_eq!((free.delta_at_budget_epsilon(), free.spent_squared_mu_share()), (None, None));
    }
}

#[cfg(test)]
mod listing_tests {
    use super::*;

    #[test]
    fn ledgers_are_known_by_what_they_hold() {
        for (text, looks) in [
            ("seal = \"\"\n", true),
            ("[[release]]\nmu = 1.0\n", true),
            ("seal = \"\"\n[[release]]\nmu = 1.0\n", true),
            ("experiment.title = \"a spec\"\n", false),
            ("no TOML", false),
        ] {
            assert_eq!(looks_like_a_ledger(text), looks, "{text}");
        }
    }
}
