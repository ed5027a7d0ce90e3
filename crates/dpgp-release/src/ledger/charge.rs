//! Charges a release to every ledger about some of its rows, under locks: one process charges at a time.

use std::fs::{File, TryLockError};
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::account::LedgerAccount;
use super::book::SealKey;
use super::book::{Ledger, check_budget};
use super::entry::format_utc;
use super::entry::{BudgetSetting, LedgerEntry};
use super::error::{LedgerError, spent_summary};
use super::file::NewLedgerEntry;
use super::file::{LedgerWithPath, read_ledger, real_path};
use super::known::LedgerRegistry;
use dpgp_accounting::{PrivacyBudget, composed_mu, gaussian_epsilon_at_mu};
use dpgp_data::RowsFingerprint;
use dpgp_fs::append_suffix;
use dpgp_fs::disk::DiskStep;
use dpgp_run::StateFolder;

/// The place of ledgers, and the budget of releases.
#[derive(Debug, Clone)]
pub struct LedgerOptions {
    /// The folder with the key, the records of ledgers, and ledgers without another place.
    pub state: StateFolder,
    /// The ledger that the user names. It is created if it does not exist.
    pub file: Option<PathBuf>,
    /// The budget that a ledger starts with, adopts, or must have. Without one, releases are only recorded.
    pub budget: Option<BudgetSetting>,
    /// Whether rows that occur in other data are of other people, and only look alike.
    pub other_people: bool,
}

/// Releases to charge: all of them, or none.
#[derive(Debug, Clone)]
pub(crate) struct PendingCharge<'a> {
    /// The place of their ledgers.
    pub place: &'a LedgerOptions,
    /// The releases, at least one, all from the same rows.
    pub releases: Vec<PendingRelease<'a>>,
}

/// One release to charge.
#[derive(Debug, Clone)]
pub(crate) struct PendingRelease<'a> {
    /// Its entry.
    pub entry: LedgerEntry,
    /// The identity of its rows.
    pub rows: &'a RowsFingerprint,
}

/// The result of a charge.
#[derive(Debug, Clone, PartialEq)]
pub struct ChargeReceipt {
    /// The ledger that has the least left, or the one that was named.
    pub ledger: PathBuf,
    /// The account of that ledger.
    pub account: LedgerAccount,
    /// The id of the release in it.
    pub id: String,
    /// Other ledgers about some of the rows, which were charged, too.
    pub others: Vec<PathBuf>,
    /// Whether earlier releases in it were about other rows, too, or about only some of these.
    pub shared: bool,
}

/// Checks whether the releases could be charged now. Changes no ledger.
///
/// # Errors
/// As [`charge_ledgers`], except errors of writing.
pub(crate) fn check_charge(charge: &PendingCharge<'_>) -> Result<(), LedgerError> {
    let (state, key) = (&charge.place.state, SealKey::new(charge.place.state.key()));
    let check = || charge.ledgers_after_charge(&LedgerRegistry::read(state)?, &key).map(|_| ());
    check().or_else(|error| {
        // Another process may write its charge. Its lock is there if anything was ever charged.
        let lock = state.path().join("ledgers");
        if !append_suffix(&lock, ".lock").exists() {
            return Err(error);
        }
        let _all = lock_ledger(&lock)?;
        check()
    })
}

/// Charges the releases to every known ledger about some of their rows, or to a new one if there is none. Returns the receipt of each.
///
/// Obligation: for every row, one ledger holds all releases about data that is known to contain the row. *Proof.* The
/// first such release starts or enters a ledger. The data of each later one share the row with it, so it enters the
/// same ledger.
///
/// There is a lock in the state folder and one beside each ledger, and other processes wait for them. Under these locks
/// the ledgers are read, checked, and replaced by ones with the releases, synchronised with the disk. The budget is
/// spent when this returns. A ledger is replaced once, so that it holds all of several releases or none.
///
/// # Errors
/// [`LedgerError`]. The ledgers are unchanged, unless only the write of a second one failed.
pub(crate) fn charge_ledgers(charge: &PendingCharge<'_>) -> Result<Vec<ChargeReceipt>, LedgerError> {
    let LedgerOptions { state, .. } = charge.place;
    let _all = lock_ledger(&state.path().join("ledgers"))?;
    let known = LedgerRegistry::read(state)?;
    known.ensure_folder()?;
    let mut locks = Vec::new();
    for path in charge.ledgers_to_charge(&known, &SealKey::new(state.key()))? {
        locks.push(lock_ledger(&path)?);
    }
    let after = charge.ledgers_after_charge(&known, &SealKey::new(state.key()))?;
    for one in &after {
        let written = one.write().and_then(|()| known.register_ledger(&one.path, &one.ledger));
        written.map_err(LedgerError::mark_charged)?;
    }
    charge.build_receipts(&after)
}

impl<'a> PendingCharge<'a> {
    /// The rows that all releases are from.
    fn rows(&self) -> Result<&'a RowsFingerprint, LedgerError> {
        let mut rows = self.releases.iter().map(|release| release.rows);
        let first = rows.next().ok_or(LedgerError::NoIdentity)?;
        let same = rows.all(|other| other.all_rows_digest() == first.all_rows_digest());
        if same { Ok(first) } else { Err(LedgerError::DifferentRows) }
    }

    /// The one release that several releases are together.
    fn joint_release(&self) -> Result<Option<(LedgerEntry, &'a RowsFingerprint)>, LedgerError> {
        let [first, _, ..] = &self.releases[..] else { return Ok(None) };
        let (mu, delta) = (composed_mu(self.releases.iter().map(|release| release.entry.mu)), first.entry.delta);
        let epsilon = gaussian_epsilon_at_mu(mu, delta);
        let delta_exact = PrivacyBudget { epsilon, delta }.gaussian_delta_at_mu(mu);
        Ok(Some((LedgerEntry { mu, epsilon, delta_exact, ..first.entry.clone() }, self.rows()?)))
    }

    /// The ledgers to charge, in the order of their paths.
    fn ledgers_to_charge(&self, known: &LedgerRegistry, key: &SealKey) -> Result<Vec<PathBuf>, LedgerError> {
        let rows = self.rows()?;
        let about = known.ledgers_about(rows, !self.place.other_people);
        let mut targets: Vec<PathBuf> = about.iter().map(|known| known.path.clone()).collect();
        match &self.place.file {
            Some(named) => {
                let path = real_path(named)?;
                let moved = self.previous_path_of_named_ledger(named, &path, &targets, known, key)?;
                // A moved ledger is no longer at its old path.
                targets.retain(|target| Some(target) != moved.as_ref() && *target != path);
                targets.push(path);
            }
            None if targets.is_empty() => targets.push(known.default_ledger_path(rows)),
            None => {}
        }
        if let Some(path) = targets.iter().find(|path| path.to_str().is_none()) {
            return Err(LedgerError::NotUtf8(path.clone()));
        }
        targets.sort();
        Ok(targets)
    }

    /// Checks that the ledger that the user names is the one about these rows, and returns where it was before, if it
    /// was moved.
    fn previous_path_of_named_ledger(
        &self,
        named: &Path,
        path: &Path,
        about: &[PathBuf],
        known: &LedgerRegistry,
        key: &SealKey,
    ) -> Result<Option<PathBuf>, LedgerError> {
        let Some(found) = read_ledger(path, known, key)? else {
            return match about.first() {
                Some(other) => Err(LedgerError::Known { named: named.to_path_buf(), known: other.clone() }),
                None => Ok(None),
            };
        };
        let Ledger { data, .. } = &found.ledger;
        if !data.is_empty() && !found.ledger.is_about_rows(self.rows()?, !self.place.other_people) {
            return Err(LedgerError::OtherData(named.to_path_buf()));
        }
        let before = known.find_by_first_release(&found.ledger).map(|known| known.path.clone());
        if before.is_none()
            && let Some(other) = about.first()
        {
            return Err(LedgerError::Known { named: named.to_path_buf(), known: other.clone() });
        }
        Ok(before.filter(|before| before != path))
    }

    /// The ledgers with the releases.
    fn ledgers_after_charge(&self, known: &LedgerRegistry, key: &SealKey) -> Result<Vec<LedgerWithPath>, LedgerError> {
        if let Some(budget) = self.place.budget {
            check_budget(budget).map_err(LedgerError::BadBudget)?;
        }
        if self.releases.iter().any(|release| release.rows.key != key.name()) {
            return Err(LedgerError::OtherRows);
        }
        let mut after = Vec::new();
        for path in self.ledgers_to_charge(known, key)? {
            let LedgerWithPath { path, mut ledger, old } = match read_ledger(&path, known, key)? {
                Some(found) => found,
                None => LedgerWithPath { path, ledger: Ledger::new(key), old: None },
            };
            if old.is_some() {
                self.require_budget_for_unsealed(&path, &ledger)?;
            }
            let (named, budget) = (self.path_as_named(&path), self.place.budget);
            if let Some((entry, rows)) = &self.joint_release()? {
                // Refused as a whole, so that a message never counts a part of it.
                let new = NewLedgerEntry { entry, rows, budget, same_charge: 0 };
                ledger.clone().with_release(&named, &new, key)?;
            }
            for (same_charge, PendingRelease { entry, rows }) in self.releases.iter().enumerate() {
                ledger = ledger.with_release(&named, &NewLedgerEntry { entry, rows, budget, same_charge }, key)?;
            }
            after.push(LedgerWithPath { path, ledger, old });
        }
        Ok(after)
    }

    /// A ledger of version 1 has no seal: the user must state its budget, so that an edited one is not adopted. Whether
    /// it is the same is checked where a budget is taken.
    fn require_budget_for_unsealed(&self, path: &Path, ledger: &Ledger) -> Result<(), LedgerError> {
        match (self.place.budget, ledger.budget) {
            (None, Some(budget)) => {
                let spent = spent_summary(&ledger.account());
                Err(LedgerError::Unsealed { path: self.path_as_named(path), budget, spent })
            }
            _ => Ok(()),
        }
    }

    /// The ledger as the user named it.
    fn path_as_named(&self, path: &Path) -> PathBuf {
        let named = self.place.file.as_deref();
        let same = named.filter(|named| real_path(named).is_ok_and(|named| named == path));
        same.unwrap_or(path).to_path_buf()
    }

    fn build_receipts(&self, after: &[LedgerWithPath]) -> Result<Vec<ChargeReceipt>, LedgerError> {
        let mut fullest: Option<(&LedgerWithPath, LedgerAccount)> = None;
        for one in after {
            let account = one.ledger.account();
            let more = fullest.as_ref().is_none_or(|(_, most)| account.fullness_sort_key() > most.fullness_sort_key());
            if more {
                fullest = Some((one, account));
            }
        }
        let Some((fullest, account)) = fullest else {
            return Err(LedgerError::malformed(self.place.state.path(), "no ledger was charged"));
        };
        let others = after.iter().filter(|one| one.path != fullest.path).map(|one| one.path.clone());
        let others: Vec<PathBuf> = others.collect();
        let receipt = |release: &PendingRelease<'_>| ChargeReceipt {
            ledger: self.path_as_named(&fullest.path),
            account: account.clone(),
            id: release.entry.id.clone(),
            others: others.clone(),
            shared: fullest.ledger.data.len() > 1,
        };
        Ok(self.releases.iter().map(receipt).collect())
    }
}

/// The longest wait for a lock. A charge holds it for milliseconds.
const PATIENCE: Duration = Duration::from_secs(8);

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(if cfg!(test) { 0 } else { 20 });

/// Waits until no other process charges a ledger. The lock ends with the returned file, or with the process.
///
/// # Errors
/// [`LedgerError::Held`] if another process holds it longer than a charge takes, [`LedgerError::Io`].
pub(super) fn lock_ledger(path: &Path) -> Result<File, LedgerError> {
    lock_within(path, PATIENCE)
}

fn lock_within(path: &Path, patience: Duration) -> Result<File, LedgerError> {
    let path = append_suffix(path, ".lock");
    let mut options = File::options();
    let mut lock = options.create(true).read(true).append(true).open(&path).map_err(LedgerError::io(&path))?;
    let (start, mut again) = (Instant::now(), false);
    loop {
        DiskStep::Lock { again }.check_fault_plan().map_err(LedgerError::io(&path))?;
        again = true;
        match lock.try_lock() {
            Ok(()) => break,
            Err(TryLockError::Error(cause)) => return Err(LedgerError::io(&path)(cause)),
            Err(TryLockError::WouldBlock) if start.elapsed() >= patience => {
                let holder = std::fs::read_to_string(&path).unwrap_or_default();
                return Err(LedgerError::Held { path, holder: holder.trim().to_owned(), patience });
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
        }
    }
    // The note about the holder is only for people. The lock holds without it.
    let _ = write_lock_holder(&mut lock);
    Ok(lock)
}

/// Writes the holder of a lock into its file.
fn write_lock_holder(lock: &mut File) -> std::io::Result<()> {
    lock.set_len(0)?;
    lock.rewind()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let (host, process) = (host.trim(), std::process::id());
    let place = if host.is_empty() { String::new() } else { format!(" on {host}") };
    writeln!(lock, "process {process}{place} since {}", format_utc(now))
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::super::trial::{Trial, entry};
    use super::*;
    use dpgp_data::{HmacKey, RowFingerprinter};

    /// Rows with these numbers in two columns, of which a spec reads one.
    fn rows_of(key: &HmacKey, numbers: Range<u32>) -> RowsFingerprint {
        let names = ["x".to_owned(), "y".to_owned()];
        let mut witness = RowFingerprinter::new(key, &names, &["x"]);
        witness.begin_file(0, &names);
        for number in numbers {
            witness.add_number(f64::from(number), true);
            witness.add_number(f64::from(number * number), false);
            witness.end_row();
        }
        witness.into_fingerprint(1)
    }

    fn charged(place: &LedgerOptions, numbers: Range<u32>) -> Result<ChargeReceipt, LedgerError> {
        let rows = rows_of(place.state.key(), numbers);
        let releases = vec![PendingRelease { entry: entry("a"), rows: &rows }];
        charge_ledgers(&PendingCharge { place, releases }).map(|mut receipts| receipts.remove(0))
    }

    /// Two tables are released from on their own, one of them twice; then both together. What is told is the ledger
    /// with less left, whichever is first.
    #[test]
    fn the_fullest_ledger_is_told() {
        for twice in [0..12, 12..24] {
            let trial = Trial::new();
            let one = charged(&trial.place, 0..12).unwrap();
            assert_eq!((one.shared, one.account.releases, one.others.len()), (false, 1, 0));
            charged(&trial.place, 12..24).unwrap();
            let full = charged(&trial.place, twice).unwrap();
            assert_eq!((full.shared, full.account.releases), (false, 2));
            let both = charged(&trial.place, 0..24).unwrap();
            assert_eq!((&both.ledger, both.account.releases, both.shared), (&full.ledger, 3, true));
            assert_eq!(both.others.len(), 1);
            assert!(both.others[0] != both.ledger);
        }
    }

    /// A ledger that is named for other rows than it counts.
    #[test]
    fn a_ledger_of_other_rows_is_refused() {
        let trial = Trial::new();
        let file = Some(trial.place.state.path().join("mine.toml"));
        let place = LedgerOptions { file, ..trial.place.clone() };
        charged(&place, 0..12).unwrap();
        charged(&place, 0..12).unwrap();
        let refused = charged(&place, 100..112);
        assert!(matches!(refused, Err(LedgerError::OtherData(_))), "{refused:?}");
    }
}

#[cfg(test)]
mod lock_tests {
    use super::*;

    #[test]
    fn a_lock_that_is_held_says_by_whom() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("l.toml");
        let held = lock_ledger(&path).unwrap();
        let patience = Duration::from_millis(50);
        let Err(LedgerError::Held { holder, .. }) = lock_within(&path, patience) else {
            panic!("two have the lock");
        };
        assert!(holder.starts_with(&format!("process {}", std::process::id())), "{holder}");
        drop(held);
        assert!(lock_within(&path, patience).is_ok());
    }
}
