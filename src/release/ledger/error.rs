//! Why a release was not charged to a ledger.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::Account;

/// A release that was not charged; the ledger is as it was.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// The file could not be read, locked or written.
    #[error("the ledger {} cannot be used: {cause}; nothing was released", path.display())]
    Io {
        /// The ledger or its lock file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// The file is no ledger.
    #[error(
        "{} is not a ledger that can be trusted: {reason}\nNothing was released and the file was left as it is; restore \
         it from a copy, since a new ledger would forget what was spent", path.display()
    )]
    Malformed {
        /// The ledger.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// There is no ledger yet and no budget to begin it with.
    #[error("there is no ledger {} yet; begin it with --budget-epsilon and --budget-delta", .0.display())]
    NoBudget(PathBuf),
    /// The budget named is none.
    #[error("the budget: {0}")]
    BadBudget(String),
    /// The budget named is not that of the ledger.
    #[error(
        "the ledger {} has the budget epsilon = {:?}, delta = {:?}; leave --budget-epsilon and --budget-delta out, or name \
         the same", path.display(), account.budget.epsilon, account.budget.delta
    )]
    OtherBudget {
        /// The ledger.
        path: PathBuf,
        /// What it holds.
        account: Account,
    },
    /// The ledger is about other data.
    #[error(
        "the ledger {} is about other data (SHA-256 {ledger}) than this spec reads (SHA-256 {data}); each data file has a \
         ledger of its own", path.display()
    )]
    OtherData {
        /// The ledger.
        path: PathBuf,
        /// The digest that it holds.
        ledger: String,
        /// The digest of the data.
        data: String,
    },
    /// The release cannot be composed with earlier ones.
    #[error("the ledger {} cannot take this release: {reason}", path.display())]
    OtherGuarantee {
        /// The ledger.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The budget does not hold it.
    #[error(
        "the budget of the ledger {} does not hold this release: {} of the budget epsilon = {:?}, delta = {:?}; left for \
         one more release at delta = {delta:?}: epsilon = {left:.4}, asked for: epsilon = {asked:?}. Nothing was released",
        path.display(), spent(account), account.budget.epsilon, account.budget.delta
    )]
    Spent {
        /// The ledger.
        path: PathBuf,
        /// What it holds.
        account: Account,
        /// The epsilon asked for.
        asked: f64,
        /// The delta asked for.
        delta: f64,
        /// The epsilon left at that delta.
        left: f64,
    },
}

fn spent(account: &Account) -> String {
    let releases = if account.releases == 1 { "release has" } else { "releases have" };
    format!("{} {releases} spent {:.1} %", account.releases, 100.0 * account.share())
}

impl LedgerError {
    /// An I/O error of a path.
    pub(super) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |cause| Self::Io { path, cause }
    }

    /// A file that cannot be trusted.
    pub(super) fn malformed(path: &Path, reason: impl Into<String>) -> Self {
        Self::Malformed { path: path.to_path_buf(), reason: reason.into() }
    }
}
