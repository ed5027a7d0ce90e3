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

pub use account::Account;
pub use account::{LedgerState, Listed, listed, listed_about, listed_file};
pub use book::Ledger;
pub(super) use charge::{Charge, charge, preview};
pub use charge::{LedgerPlace, Receipt};
pub use entry::utc;
pub use entry::{BudgetSetting, LedgerEntry};
pub use entry::{Entered, entered};
pub use error::LedgerError;
pub(super) use known::ensure_protected;
