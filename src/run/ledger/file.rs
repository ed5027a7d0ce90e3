//! The ledger on disk: locked while it changes, replaced whole, and on the disk before the release is shown.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::book::{Account, Ledger, check_budget};
use super::entry::{BudgetSetting, Entry};
use super::error::LedgerError;

/// A release that is to be charged.
#[derive(Debug, Clone)]
pub struct Charge<'a> {
    /// The ledger, as the user named it.
    pub path: &'a Path,
    /// The budget that a new ledger begins with, or that a present one must have.
    pub budget: Option<BudgetSetting>,
    /// SHA-256 of the data.
    pub data_sha256: &'a str,
    /// The release.
    pub entry: Entry,
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
    let path = real(charge.path);
    let mut name = path.clone().into_os_string();
    name.push(".lock");
    let lock_path = PathBuf::from(name);
    let io = |cause| LedgerError::Io { path: lock_path.clone(), cause };
    let lock = File::options().create(true).append(true).open(&lock_path).map_err(io)?;
    lock.lock().map_err(io)?;
    let ledger = with(charge)?;
    let text = ledger.text(charge.path)?;
    let io = |cause| LedgerError::Io { path: charge.path.to_path_buf(), cause };
    replace(&path, &text).map_err(io)?;
    Ok(ledger.account())
}

/// The ledger with the release.
fn with(charge: &Charge<'_>) -> Result<Ledger, LedgerError> {
    let path = charge.path;
    if let Some(budget) = charge.budget {
        check_budget(budget).map_err(|reason| LedgerError::BadBudget { reason })?;
    }
    let ledger = match fs::read(path) {
        Ok(bytes) => present(path, bytes, charge.budget)?,
        Err(cause) if cause.kind() == ErrorKind::NotFound => {
            let budget = charge.budget.ok_or_else(|| LedgerError::NoBudget { path: path.to_path_buf() })?;
            Ledger::new(charge.data_sha256.to_owned(), budget)
        }
        Err(cause) => return Err(LedgerError::Io { path: path.to_path_buf(), cause }),
    };
    ledger.with(path, charge.data_sha256, charge.entry.clone())
}

fn present(path: &Path, bytes: Vec<u8>, budget: Option<BudgetSetting>) -> Result<Ledger, LedgerError> {
    let text = String::from_utf8(bytes).map_err(|_| LedgerError::Malformed {
        path: path.to_path_buf(),
        reason: "it is not UTF-8 text".to_owned(),
    })?;
    let ledger = Ledger::parse(path, &text)?;
    match budget {
        Some(named) if named != ledger.budget => {
            Err(LedgerError::OtherBudget { path: path.to_path_buf(), account: ledger.account() })
        }
        _ => Ok(ledger),
    }
}

/// The file behind links, so that every name of a ledger has one lock.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if fs::metadata(path).is_ok_and(|found| found.permissions().readonly()) {
        return Err(ErrorKind::PermissionDenied.into());
    }
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}
