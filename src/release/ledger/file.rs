//! The ledger on disk: locked while it changes, replaced whole, and on the disk before the release is shown.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::book::{Account, Ledger, check_budget};
use super::entry::{BudgetSetting, LedgerEntry};
use super::error::LedgerError;
use crate::run::folder_of;

/// Where a ledger is, and the budget that its user expects of it.
#[derive(Debug, Clone)]
pub struct LedgerFile {
    /// The file, as the user named it; begun if it is not there.
    pub path: PathBuf,
    /// The budget that a new ledger begins with, or that a present one must have.
    pub budget: Option<BudgetSetting>,
}

/// A release that is to be charged.
#[derive(Debug, Clone)]
pub struct Charge<'a> {
    /// The ledger.
    pub ledger: &'a LedgerFile,
    /// SHA-256 of the data.
    pub data_sha256: &'a str,
    /// The release.
    pub entry: LedgerEntry,
}

/// Whether the release could be charged now; changes nothing.
///
/// # Errors
/// As [`charge`], but for writing.
pub fn preview(charge: &Charge<'_>) -> Result<Account, LedgerError> {
    Ok(with(charge)?.account())
}

/// Charges the release: under a lock on a file beside the ledger, which other processes wait for, the ledger is read,
/// checked, and replaced by one with the release, synchronised with the disk. When this returns, the budget is spent.
///
/// # Errors
/// [`LedgerError`]; the ledger is as it was, unless only the last synchronisation failed.
pub fn charge(charge: &Charge<'_>) -> Result<Account, LedgerError> {
    let given = &charge.ledger.path;
    // The file behind links, so that every name of a ledger has one lock.
    let path = fs::canonicalize(given).unwrap_or_else(|_| given.clone());
    let mut name = path.clone().into_os_string();
    name.push(".lock");
    let lock_path = PathBuf::from(name);
    let lock = File::options().create(true).append(true).open(&lock_path);
    let lock = lock.map_err(LedgerError::io(&lock_path))?;
    lock.lock().map_err(LedgerError::io(&lock_path))?;
    let ledger = with(charge)?;
    let text = ledger.text(given)?;
    replace(&path, &text).map_err(LedgerError::io(given))?;
    Ok(ledger.account())
}

/// The ledger with the release.
fn with(charge: &Charge<'_>) -> Result<Ledger, LedgerError> {
    let LedgerFile { path, budget } = charge.ledger;
    if let Some(budget) = *budget {
        check_budget(budget).map_err(LedgerError::BadBudget)?;
    }
    let ledger = match fs::read(path) {
        Ok(bytes) => present(path, bytes, *budget)?,
        Err(cause) if cause.kind() == ErrorKind::NotFound => {
            let budget = budget.ok_or_else(|| LedgerError::NoBudget(path.clone()))?;
            Ledger::new(charge.data_sha256.to_owned(), budget)
        }
        Err(cause) => return Err(LedgerError::io(path)(cause)),
    };
    ledger.with(path, charge.data_sha256, charge.entry.clone())
}

fn present(path: &Path, bytes: Vec<u8>, budget: Option<BudgetSetting>) -> Result<Ledger, LedgerError> {
    let text = String::from_utf8(bytes).map_err(|_| LedgerError::malformed(path, "it is not UTF-8 text"))?;
    let ledger = Ledger::parse(path, &text)?;
    match budget {
        Some(named) if named != ledger.budget => {
            Err(LedgerError::OtherBudget { path: path.to_path_buf(), account: ledger.account() })
        }
        _ => Ok(ledger),
    }
}

fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = folder_of(path);
    if fs::metadata(path).is_ok_and(|found| found.permissions().readonly()) {
        return Err(ErrorKind::PermissionDenied.into());
    }
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}
