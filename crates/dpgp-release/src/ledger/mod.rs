//! The ledger: what has been released about some rows, and the budget of all releases together.
//!
//! Rows are known by their keyed digests, whatever file they stand in. Every release is charged to each ledger that counts some
//! of its rows, and to a new one where there is none. A ledger without a budget counts what is spent; one with a budget refuses what
//! it does not hold.

mod account;
mod agreement;
mod book;
mod chain;
mod charge;
#[cfg(test)]
mod crashes;
mod entry;
mod error;
mod file;
mod filter;
#[cfg(test)]
mod flips;
mod known;
mod listing;
mod old;
mod protected;
mod released;
mod roles;
mod time;
#[cfg(test)]
mod trial;

pub use account::Account;
pub use book::Ledger;
pub(super) use charge::{Charge, charge, preview};
pub use charge::{LedgerPlace, Receipt};
pub use entry::{BudgetSetting, LedgerEntry};
pub use error::LedgerError;
pub use listing::{LedgerState, Listed, listed, listed_about, listed_file};
pub(super) use protected::ensure_protected;
pub use released::{Entered, entered};
pub use time::utc;
