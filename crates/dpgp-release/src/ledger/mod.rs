//! The ledger: what has been released about some rows, and the budget of all releases together.
//!
//! Rows are known by their keyed digests, whatever file they stand in. Every release is charged to each ledger that counts some
//! of its rows, and to a new one where there is none. A ledger without a budget counts what is spent; one with a budget refuses what
//! it does not hold.

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
