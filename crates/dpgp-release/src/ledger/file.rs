//! The file of a ledger. It is read and replaced as a whole, and is on the disk before the release is shown. Also
//! decides which releases a ledger accepts.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::book::{Ledger, SealKey, check_budget, check_ledger_numbers};
use super::entry::{BudgetSetting, LedgerEntry};
use super::error::{LedgerError, ReleaseWithRows};
use super::known::LedgerRegistry;
use super::old::{convert_version_1, is_version_1};
use dpgp_accounting::composed_mu;
use dpgp_data::RowsFingerprint;
use dpgp_fs::{disk, parent_or_current_folder};

/// A ledger and its path.
#[derive(Debug, Clone)]
pub(super) struct LedgerWithPath {
    /// The path without links, so that every name of a ledger has the same lock.
    pub path: PathBuf,
    pub ledger: Ledger,
    /// The text of the ledger of version 1 that it replaces.
    pub old: Option<String>,
}

/// Returns the path without links of a file that may not exist yet.
///
/// # Errors
/// [`LedgerError::Linked`] for a broken link: a ledger in its place would not be the one that it pointed to.
pub(super) fn real_path(path: &Path) -> Result<PathBuf, LedgerError> {
    if let Ok(real) = fs::canonicalize(path) {
        return Ok(real);
    }
    if path.is_symlink() {
        return Err(LedgerError::Linked { path: path.to_path_buf(), how: "is a broken link" });
    }
    let folder = fs::canonicalize(parent_or_current_folder(path)).map_err(LedgerError::io(path))?;
    Ok(folder.join(path.file_name().unwrap_or_default()))
}

/// Reads the text of a ledger. Returns nothing if the file does not exist.
pub(super) fn read_ledger_text(path: &Path) -> Result<Option<String>, LedgerError> {
    match fs::read(path) {
        Ok(bytes) => {
            let text = String::from_utf8(bytes);
            text.map(Some).map_err(|_| LedgerError::malformed(path, "it is not UTF-8 text"))
        }
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(LedgerError::io(path)(cause)),
    }
}

/// Reads a ledger and checks that it is as it was last written. Returns nothing if the file does not exist.
///
/// # Errors
/// [`LedgerError::OtherKey`], [`LedgerError::Malformed`], [`LedgerError::Gone`] where one should be,
/// [`LedgerError::Linked`] for one with several names.
pub(super) fn read_ledger(
    path: &Path,
    known: &LedgerRegistry,
    key: &SealKey,
) -> Result<Option<LedgerWithPath>, LedgerError> {
    let Some(text) = read_ledger_text(path)? else {
        return match known.ledger_at_path(path) {
            Some(known) => Err(LedgerError::Gone { path: path.to_path_buf(), releases: known.releases }),
            None => Ok(None),
        };
    };
    if has_hard_links(path) {
        return Err(LedgerError::Linked { path: path.to_path_buf(), how: "has several names (hard links)" });
    }
    parse_ledger(path, text, known, key).map(Some)
}

/// Parses a ledger and checks that it is as it was last written.
pub(super) fn parse_ledger(
    path: &Path,
    text: String,
    known: &LedgerRegistry,
    key: &SealKey,
) -> Result<LedgerWithPath, LedgerError> {
    if is_version_1(&text) {
        let ledger = convert_version_1(path, &text, key)?;
        return Ok(LedgerWithPath { path: path.to_path_buf(), ledger, old: Some(text) });
    }
    let ledger = Ledger::parse(path, &text)?;
    if ledger.key != key.name() {
        return Err(LedgerError::OtherKey(path.to_path_buf()));
    }
    let fault = key.tampering_reason(&ledger);
    let fault = fault.or_else(|| known.find_by_first_release(&ledger).and_then(|known| known.mismatch_reason(&ledger)));
    match fault {
        Some(reason) => Err(LedgerError::malformed(path, reason)),
        None => Ok(LedgerWithPath { path: path.to_path_buf(), ledger, old: None }),
    }
}

/// Whether a file has other hard links. They would keep the present text when the file is replaced.
#[cfg(unix)]
fn has_hard_links(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| std::os::unix::fs::MetadataExt::nlink(&found) > 1)
}

#[cfg(not(unix))]
fn has_hard_links(_: &Path) -> bool {
    false
}

/// Replaces a file atomically and syncs it to the disk. Only its owner can read it.
pub(super) fn replace_file_atomically(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = parent_or_current_folder(path);
    if fs::metadata(path).is_ok_and(|found| found.permissions().readonly()) {
        return Err(ErrorKind::PermissionDenied.into());
    }
    let mut file = disk::create_temporary_file(folder, 0o600)?;
    disk::write(&mut file, text.as_bytes())?;
    disk::sync(&file)?;
    disk::persist_replacing(file, path)?;
    disk::sync_folder(folder)
}

impl LedgerWithPath {
    /// Writes the ledger. A ledger of version 1 that it replaces is kept beside it.
    pub fn write(&self) -> Result<(), LedgerError> {
        if let Some(old) = &self.old {
            let mut name = self.path.clone().into_os_string();
            name.push(".version-1");
            let kept = PathBuf::from(name);
            replace_file_atomically(&kept, old).map_err(LedgerError::io(&kept))?;
        }
        let text = self.ledger.text(&self.path)?;
        replace_file_atomically(&self.path, &text).map_err(LedgerError::io(&self.path))
    }
}

/// A release to enter.
#[derive(Debug, Clone)]
pub(super) struct NewLedgerEntry<'r> {
    pub entry: &'r LedgerEntry,
    /// The identity of its rows.
    pub rows: &'r RowsFingerprint,
    /// The budget that the user names.
    pub budget: Option<BudgetSetting>,
    /// How many of the last entries are of the same charge. They were compared before, by their names.
    pub same_charge: usize,
}

impl Ledger {
    /// Returns the ledger with one more release.
    ///
    /// Obligation: with a budget, the `mu` of all releases together stays within it. This holds even if each release is
    /// chosen by the results of earlier ones: the filter of Gaussian differential privacy (Smith and Thakurta 2022).
    pub(super) fn with_release(
        mut self,
        path: &Path,
        new: &NewLedgerEntry<'_>,
        key: &SealKey,
    ) -> Result<Self, LedgerError> {
        self.set_budget(path, new.budget)?;
        let entry = new.entry.with_row_and_column_digests(new.rows);
        if self.budget.is_some() {
            let earlier = self.release.len() - new.same_charge;
            self.ensure_release_chargeable(path, ReleaseWithRows { entry: &entry, rows: Some(new.rows) }, earlier)?;
        }
        match self.data.iter_mut().find(|known| known.all_rows_digest() == new.rows.all_rows_digest()) {
            Some(known) => known.merge_same_rows(new.rows),
            None => self.data.push(new.rows.to_ledger_form()),
        }
        self.append_entry(entry, key).map_err(|reason| LedgerError::malformed(path, reason))?;
        Ok(self)
    }

    /// Enters a release, links it and seals the ledger anew.
    pub(super) fn append_entry(&mut self, entry: LedgerEntry, key: &SealKey) -> Result<(), String> {
        let mut entry = LedgerEntry { number: self.release.len() as u64 + 1, ..entry };
        // An entry that cannot be read again would make the ledger unusable.
        check_ledger_numbers(None, std::slice::from_ref(&entry))?;
        let before = self.release.last().map_or("", |last| last.link.as_str());
        entry.link = key.entry_link(before, &entry)?;
        self.release.push(entry);
        self.seal = key.seal(self)?;
        Ok(())
    }

    /// Sets the budget, which may be named once, at any time. It then covers earlier releases, too.
    fn set_budget(&mut self, path: &Path, named: Option<BudgetSetting>) -> Result<(), LedgerError> {
        let Some(named) = named else { return Ok(()) };
        check_budget(named).map_err(LedgerError::BadBudget)?;
        match self.budget {
            Some(budget) if budget != named => {
                return Err(LedgerError::OtherBudget { path: path.to_path_buf(), budget });
            }
            Some(_) => return Ok(()),
            None => {}
        }
        match self.incomplete_cost_reason() {
            Some(reason) => Err(LedgerError::OtherGuarantee { path: path.to_path_buf(), reason }),
            None => {
                self.budget = Some(named);
                Ok(())
            }
        }
    }

    /// Refuses a release that exceeds the budget, or has no guarantee together with one of the first `earlier` releases.
    fn ensure_release_chargeable(
        &self,
        path: &Path,
        release: ReleaseWithRows<'_>,
        earlier: usize,
    ) -> Result<(), LedgerError> {
        let (path, entry) = (path.to_path_buf(), release.entry);
        if let Some(caveat) = entry.caveats.first() {
            return Err(LedgerError::Caveats { path, caveat: caveat.clone() });
        }
        if let Some(reason) =
            self.releases_with_rows().take(earlier).find_map(|earlier| release.conflict_reason(&earlier))
        {
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
            left: budget.remaining_epsilon(account.mu, delta),
            account: Box::new(account),
            budget,
            asked,
            delta,
        })
    }

    /// The releases, each with its rows.
    pub(super) fn releases_with_rows(&self) -> impl Iterator<Item = ReleaseWithRows<'_>> {
        self.release.iter().map(|entry| {
            let rows = self.data.iter().find(|rows| rows.all_rows_digest().total == entry.data);
            ReleaseWithRows { entry, rows }
        })
    }

    /// Returns the reason why `mu` is not the total cost of the releases, if there is one.
    pub(super) fn incomplete_cost_reason(&self) -> Option<String> {
        for (place, entry) in self.release.iter().enumerate() {
            if let Some(caveat) = entry.caveats.first() {
                return Some(format!("release {} has exceptions to its guarantee: {caveat}", place + 1));
            }
            let release = self.releases_with_rows().nth(place);
            let conflict = release.and_then(|release| {
                self.releases_with_rows().take(place).find_map(|earlier| release.conflict_reason(&earlier))
            });
            if let Some(conflict) = conflict {
                return Some(format!("release {}: {conflict}", place + 1));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against a ledger that cannot be read and counts as missing.
    #[test]
    fn only_what_is_not_there_is_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read_ledger_text(&folder.path().join("none.toml")).unwrap(), None);
        assert!(matches!(read_ledger_text(folder.path()), Err(LedgerError::Io { .. })));
        let path = folder.path().join("l.toml");
        fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(read_ledger_text(&path).unwrap_err().to_string().contains("UTF-8"));
    }
}

#[cfg(test)]
mod filter_tests {
    use super::super::book::Ledger;
    use super::super::book::SealKey;
    use super::super::trial::{Trial, entry, rows};
    use super::*;
    use dpgp_accounting::Neighbours;

    /// A ledger of these releases about the same rows, without a budget.
    fn ledger_of(trial: &Trial, entries: &[LedgerEntry]) -> Ledger {
        let key = SealKey::new(trial.place.state.key());
        let rows = rows(trial.place.state.key());
        let mut ledger = Ledger::new(&key);
        for entry in entries {
            let new = NewLedgerEntry { entry, rows: &rows, budget: None, same_charge: 0 };
            ledger = ledger.with_release("l.toml".as_ref(), &new, &key).unwrap();
        }
        ledger
    }

    #[test]
    fn releases_about_the_same_rows_stand_under_one_name() {
        let trial = Trial::new();
        let ledger = ledger_of(&trial, &[entry("a"), entry("b"), entry("c")]);
        assert_eq!((ledger.data.len(), ledger.release.len()), (1, 3));
    }

    /// A ledger that was written before columns were known by their cells reads back as it was, knows its columns by
    /// their names, and learns their cells with the next release.
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
        old.data.push(RowsFingerprint { columns: Vec::new(), ..rows.to_ledger_form() });
        old.append_entry(LedgerEntry { data: rows.all_rows_digest().total, ..of("x", "y") }, &key).unwrap();
        let text = old.text("l.toml".as_ref()).unwrap();
        assert!(!text.contains("data.columns") && !text.contains("columns = {"), "{text}");
        let read = Ledger::parse("l.toml".as_ref(), &text).unwrap();
        assert_eq!((key.tampering_reason(&read), &read), (None, &old));
        let with = |ledger: &Ledger, entry: &LedgerEntry| {
            ledger.clone().with_release(
                "l.toml".as_ref(),
                &NewLedgerEntry { entry, rows: &rows, budget: None, same_charge: 0 },
                &key,
            )
        };
        assert!(matches!(with(&read, &of("z", "x")), Err(LedgerError::OtherGuarantee { .. })));
        let next = with(&read, &of("x", "y")).unwrap();
        assert_eq!((next.data.len(), next.data[0].columns.len(), next.release[1].columns.len()), (1, 2, 2));
        let text = next.text("l.toml".as_ref()).unwrap();
        let again = Ledger::parse("l.toml".as_ref(), &text).unwrap();
        assert_eq!((key.tampering_reason(&again), &again), (None, &next));
    }

    /// Where a guarantee has exceptions, or two releases have none in common, no budget tells what is spent.
    #[test]
    fn what_no_mu_tells_is_open() {
        let trial = Trial::new();
        assert_eq!(ledger_of(&trial, &[entry("a"), entry("b")]).incomplete_cost_reason(), None);
        let excepted = LedgerEntry { caveats: vec!["of one kind".to_owned()], ..entry("b") };
        let ledger = ledger_of(&trial, &[entry("a"), excepted]);
        assert_eq!(
            ledger.incomplete_cost_reason().as_deref(),
            Some("release 2 has exceptions to its guarantee: of one kind")
        );
        let other = LedgerEntry { neighbours: Neighbours::OneTargetChanges(1.0), ..entry("b") };
        let mut ledger = ledger_of(&trial, &[entry("a"), other]);
        assert!(ledger.incomplete_cost_reason().is_some());
        let budget = Some(BudgetSetting { epsilon: 8.0, delta: 1e-5 });
        let refused = ledger.set_budget("l.toml".as_ref(), budget);
        assert!(matches!(refused, Err(LedgerError::OtherGuarantee { .. })) && ledger.budget.is_none());
    }
}
