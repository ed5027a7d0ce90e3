//! Which releases a ledger takes.

use std::path::Path;

use super::book::{Ledger, check_budget, check_numbers};
use super::chain::SealKey;
use super::entry::{BudgetSetting, LedgerEntry};
use super::error::LedgerError;
use super::roles::KnownRelease;
use dpgp_accounting::composed_mu;
use dpgp_data::Fingerprint;

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
        let entry = new.entry.of_rows(new.rows);
        if self.budget.is_some() {
            self.admit(path, KnownRelease { entry: &entry, rows: Some(new.rows) })?;
        }
        match self.data.iter_mut().find(|known| known.whole() == new.rows.whole()) {
            Some(known) => known.learn(new.rows),
            None => self.data.push(new.rows.kept()),
        }
        self.enter(entry, key).map_err(|reason| LedgerError::malformed(path, reason))?;
        Ok(self)
    }

    /// Enters a release, links it and seals the ledger anew.
    pub(super) fn enter(&mut self, entry: LedgerEntry, key: &SealKey) -> Result<(), String> {
        let mut entry = LedgerEntry { number: self.release.len() as u64 + 1, ..entry };
        // One that could not be read again would close the ledger.
        check_numbers(None, std::slice::from_ref(&entry))?;
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
    fn admit(&self, path: &Path, release: KnownRelease<'_>) -> Result<(), LedgerError> {
        let (path, entry) = (path.to_path_buf(), release.entry);
        if let Some(caveat) = entry.caveats.first() {
            return Err(LedgerError::Caveats { path, caveat: caveat.clone() });
        }
        if let Some(reason) = self.known().find_map(|earlier| release.conflict(&earlier)) {
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
            account: Box::new(account),
            budget,
            asked,
            delta,
        })
    }

    /// The releases, each with its rows.
    pub(super) fn known(&self) -> impl Iterator<Item = KnownRelease<'_>> {
        self.release.iter().map(|entry| {
            let rows = self.data.iter().find(|rows| rows.whole().total == entry.data);
            KnownRelease { entry, rows }
        })
    }

    /// Why what the releases have spent is not told by their `mu`.
    pub(super) fn open(&self) -> Option<String> {
        for (place, entry) in self.release.iter().enumerate() {
            if let Some(caveat) = entry.caveats.first() {
                return Some(format!("release {} has exceptions to its guarantee: {caveat}", place + 1));
            }
            let release = self.known().nth(place);
            let conflict = release
                .and_then(|release| self.known().take(place).find_map(|earlier| release.conflict(&earlier)));
            if let Some(conflict) = conflict {
                return Some(format!("of release {}: {conflict}", place + 1));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::book::Ledger;
    use super::super::chain::SealKey;
    use super::super::trial::{Trial, entry, rows};
    use super::*;
    use dpgp_accounting::Neighbours;

    /// A ledger of these releases about the same rows, without a budget.
    fn ledger_of(trial: &Trial, entries: &[LedgerEntry]) -> Ledger {
        let key = SealKey::new(trial.place.state.key());
        let rows = rows(trial.place.state.key());
        let mut ledger = Ledger::new(&key);
        for entry in entries {
            let new = NewRelease { entry, rows: &rows, budget: None };
            ledger = ledger.with("l.toml".as_ref(), &new, &key).unwrap();
        }
        ledger
    }

    #[test]
    fn releases_about_the_same_rows_stand_under_one_name() {
        let trial = Trial::new();
        let ledger = ledger_of(&trial, &[entry("a"), entry("b"), entry("c")]);
        assert_eq!((ledger.data.len(), ledger.release.len()), (1, 3));
    }

    /// A ledger that was written before columns were known by their cells reads back as it was, knows its columns by their names, and learns
    /// their cells with the next release.
    #[test]
    fn a_ledger_from_before_columns_goes_on() {
        let trial = Trial::new();
        let (key, rows) = (SealKey::new(trial.place.state.key()), rows(trial.place.state.key()));
        let of = |target: &str, public: &str| LedgerEntry {
            target: target.to_owned(),
            public: vec![public.to_owned()],
            ..entry("a")
        };
        let mut old = Ledger::new(&key);
        old.budget = trial.place.budget;
        old.data.push(Fingerprint { columns: Vec::new(), ..rows.kept() });
        old.enter(LedgerEntry { data: rows.whole().total, ..of("x", "y") }, &key).unwrap();
        let text = old.text("l.toml".as_ref()).unwrap();
        assert!(!text.contains("data.columns") && !text.contains("columns = {"), "{text}");
        let read = Ledger::parse("l.toml".as_ref(), &text).unwrap();
        assert_eq!((key.fault(&read), &read), (None, &old));
        let with = |ledger: &Ledger, entry: &LedgerEntry| {
            ledger.clone().with("l.toml".as_ref(), &NewRelease { entry, rows: &rows, budget: None }, &key)
        };
        assert!(matches!(with(&read, &of("z", "x")), Err(LedgerError::OtherGuarantee { .. })));
        let next = with(&read, &of("x", "y")).unwrap();
        assert_eq!((next.data.len(), next.data[0].columns.len(), next.release[1].columns.len()), (1, 2, 2));
        let text = next.text("l.toml".as_ref()).unwrap();
        let again = Ledger::parse("l.toml".as_ref(), &text).unwrap();
        assert_eq!((key.fault(&again), &again), (None, &next));
    }

    /// Where a guarantee has exceptions, or two releases have none in common, no budget tells what is spent.
    #[test]
    fn what_no_mu_tells_is_open() {
        let trial = Trial::new();
        assert_eq!(ledger_of(&trial, &[entry("a"), entry("b")]).open(), None);
        let excepted = LedgerEntry { caveats: vec!["of one kind".to_owned()], ..entry("b") };
        let ledger = ledger_of(&trial, &[entry("a"), excepted]);
        assert_eq!(ledger.open().as_deref(), Some("release 2 has exceptions to its guarantee: of one kind"));
        let other = LedgerEntry { neighbours: Neighbours::OneTargetChanges(1.0), ..entry("b") };
        let mut ledger = ledger_of(&trial, &[entry("a"), other]);
        assert!(ledger.open().is_some());
        let budget = Some(BudgetSetting { epsilon: 8.0, delta: 1e-5 });
        let refused = ledger.take_budget("l.toml".as_ref(), budget);
        assert!(matches!(refused, Err(LedgerError::OtherGuarantee { .. })) && ledger.budget.is_none());
    }
}
