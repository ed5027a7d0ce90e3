//! The ledger: all releases about some rows, and their common budget.
//!
//! A ledger identifies rows by keyed digests, in any file. Every release is charged to each ledger about some of its
//! rows, or to a new one if there is none. A ledger without a budget only records releases. A ledger with a budget
//! refuses releases that exceed it.

mod account;
mod book;
mod charge;
#[cfg(test)]
mod crashes;
mod entry;
mod error;
mod file;
#[cfg(test)]
mod flips;
mod known;
mod old;
#[cfg(test)]
mod trial;

pub use account::LedgerAccount;
pub use account::{LedgerState, ListedLedger, find_ledger_in_file, list_ledgers, list_ledgers_about};
pub use book::Ledger;
pub use charge::{ChargeReceipt, LedgerOptions};
pub(super) use charge::{PendingCharge, PendingRelease, charge_ledgers, check_charge};
pub use entry::format_utc;
pub use entry::{BudgetSetting, LedgerEntry};
pub use entry::{ReleasePosition, locate_release};
pub use error::LedgerError;
pub(super) use error::find_conflicting_releases;
pub(super) use known::refuse_protected_columns;
