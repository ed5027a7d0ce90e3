//! Why a release was not charged to a ledger.

use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use super::account::Account;
use super::entry::BudgetSetting;
use dpgp_accounting::Budget;

/// A release that was not charged; the ledger is as it was.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// The file could not be read, locked or written.
    #[error("the ledger {} cannot be used: {cause}; nothing was released{}", path.display(), perhaps(*charged))]
    Io {
        /// The ledger or its lock file.
        path: PathBuf,
        /// Whether a ledger may hold the release already.
        charged: bool,
        /// What the system said.
        cause: std::io::Error,
    },
    /// The file is no ledger.
    #[error(
        "{} is not a ledger that can be trusted: {reason}\nNothing was released and the file was left as it is. Do not put an \
         earlier copy in its place, which would forget what was charged since: the certificate of the last release says what \
         all of them spent. How to go on: docs/own-data.md, \"A ledger that cannot be used\"", path.display()
    )]
    Malformed {
        /// The ledger.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Another process keeps the lock.
    #[error(
        "{} is locked by another release{}: it was waited for {} s. Nothing was released and nothing charged; try again when \
         that one has ended", path.display(), by(holder), patience.as_secs()
    )]
    Held {
        /// The lock file.
        path: PathBuf,
        /// What the process that has it wrote there.
        holder: String,
        /// How long it was waited for.
        patience: Duration,
    },
    /// A version without a check sum.
    #[error(
        "the ledger {} is of version 1, in which nothing tells whether a number was changed: it says that the budget is epsilon = \
         {:?}, delta = {:?}, of which {spent}. If that is right, name this budget with --budget-epsilon and --budget-delta, and the \
         release takes its entries over. Nothing was released", path.display(), budget.epsilon, budget.delta
    )]
    Unsealed {
        /// The ledger.
        path: PathBuf,
        /// The budget that it says it has.
        budget: BudgetSetting,
        /// What it says is spent.
        spent: String,
    },
    /// The file was there, and is not any more.
    #[error(
        "the ledger {}, to which {releases} releases about these rows were charged, is not there any more. Nothing was \
         released. If it was moved, name it with --ledger where it is now; an earlier copy of it forgets releases and is refused. \
         How to go on: docs/own-data.md, \"A ledger that cannot be used\"", path.display()
    )]
    Gone {
        /// The ledger.
        path: PathBuf,
        /// How many releases it held.
        releases: u64,
    },
    /// What the state folder remembered of a ledger is gone.
    #[error(
        "{} is gone, in which the state folder remembered a ledger: without it an earlier copy of that ledger, or a new one, would \
         forget what was spent. Nothing was released. Put it back as it was after the last release{}; how to go on: \
         docs/own-data.md, \"A ledger that cannot be used\"", head.display(), or_forget(mark.as_deref())
    )]
    Forgotten {
        /// What is gone.
        head: PathBuf,
        /// The file that tells that it was there, if that is what tells.
        mark: Option<PathBuf>,
    },
    /// The file has another name, under which it would go on as it is now.
    #[error(
        "the ledger {} {how}: two ledgers could come of it, each of which forgets what was charged to the other. Nothing was \
         released; name a file that is a copy of its own", path.display()
    )]
    Linked {
        /// The ledger.
        path: PathBuf,
        /// What is wrong with it.
        how: &'static str,
    },
    /// The file was sealed with another key.
    #[error(
        "the ledger {} was sealed with the key of another state folder, without which nobody can tell whether it is about \
         these rows; set DPGP_STATE to that folder. Nothing was released", .0.display()
    )]
    OtherKey(PathBuf),
    /// The rows are counted in another ledger.
    #[error(
        "releases about these rows, or some of them, are counted in the ledger {}: leave --ledger out or name that one, since \
         {} would forget what was spent (--other-people if the rows only look alike)",
        known.display(), named.display()
    )]
    Known {
        /// The ledger that was named.
        named: PathBuf,
        /// The ledger that counts them.
        known: PathBuf,
    },
    /// Nothing tells which rows a release is about.
    #[error(
        "these sums do not say which rows they are of, so that no ledger can count their release: sum the rows again where \
         there is a state folder (DPGP_STATE), or say --no-ledger"
    )]
    NoIdentity,
    /// The rows are known by another key.
    #[error(
        "these sums know their rows by the key of another state folder, so that no ledger of this one can count their release; \
         set DPGP_STATE to that folder"
    )]
    OtherRows,
    /// A file that is looked for in ledgers.
    #[error("{} is no certificate and no file of a release: {cause}", path.display())]
    NoRelease {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// The budget named is none.
    #[error("the budget: {0}")]
    BadBudget(String),
    /// The budget named is not that of the ledger.
    #[error(
        "the ledger {} has the budget epsilon = {:?}, delta = {:?}; leave --budget-epsilon and --budget-delta out, or name \
         the same", path.display(), budget.epsilon, budget.delta
    )]
    OtherBudget {
        /// The ledger.
        path: PathBuf,
        /// The budget that it has.
        budget: BudgetSetting,
    },
    /// The ledger is about other data.
    #[error(
        "the ledger {} is about other data than this spec reads: they have no row in common. Data that have none in common \
         have ledgers of their own", .0.display()
    )]
    OtherData(PathBuf),
    /// The guarantee of the release has exceptions.
    #[error(
        "the ledger {} has a budget, which takes no release whose guarantee has exceptions ({caveat}); --allow-caveats needs \
         a ledger without a budget, or --no-ledger", path.display()
    )]
    Caveats {
        /// The ledger.
        path: PathBuf,
        /// The first of them.
        caveat: String,
    },
    /// Releases that cannot be composed.
    #[error(
        "the ledger {} cannot keep a budget for all of its releases: {reason}. Nothing was released; release what the earlier one \
         protects, or leave this one out of the budget with --no-ledger: then each keeps its own guarantee, and none is known for both \
         together", path.display()
    )]
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
        path.display(), spent(account), budget.epsilon, budget.delta
    )]
    Spent {
        /// The ledger.
        path: PathBuf,
        /// What it holds.
        account: Box<Account>,
        /// Its budget.
        budget: Budget,
        /// The epsilon asked for.
        asked: f64,
        /// The delta asked for.
        delta: f64,
        /// The epsilon left at that delta.
        left: f64,
    },
}

fn by(holder: &str) -> String {
    if holder.is_empty() { String::new() } else { format!(" ({holder})") }
}

/// What lets the state folder forget a ledger on purpose.
fn or_forget(mark: Option<&Path>) -> String {
    mark.map_or_else(String::new, |mark| {
        format!(
            ", or delete {} to count that ledger no longer, with all that was spent there",
            mark.display()
        )
    })
}

fn perhaps(charged: bool) -> &'static str {
    if charged { ", but what it would have cost may be spent: see `dpgp ledger show`" } else { "" }
}

pub(super) fn spent(account: &Account) -> String {
    let releases = if account.releases == 1 { "release has" } else { "releases have" };
    format!("{} {releases} spent {:.1} %", account.releases, 100.0 * account.share().unwrap_or_default())
}

impl LedgerError {
    /// An I/O error of a path.
    pub(super) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |cause| Self::Io { path, cause, charged: false }
    }

    /// The same after a ledger was written.
    pub(super) fn while_charging(self) -> Self {
        match self {
            Self::Io { path, cause, .. } => Self::Io { path, cause, charged: true },
            other => other,
        }
    }

    /// A file that cannot be trusted.
    pub(super) fn malformed(path: &Path, reason: impl Into<String>) -> Self {
        Self::Malformed { path: path.to_path_buf(), reason: reason.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What fails after a charge says that the budget may be spent.
    #[test]
    fn errors_say_what_may_be_spent() {
        let failed = || LedgerError::io("l.toml".as_ref())(std::io::ErrorKind::StorageFull.into());
        let (before, after) = (failed().to_string(), failed().while_charging().to_string());
        assert!(!before.contains("may be spent"), "{before}");
        assert!(
            after.starts_with(&before) && after.contains("what it would have cost may be spent"),
            "{after}"
        );
    }
}
