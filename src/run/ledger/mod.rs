//! The ledger: what has been released about one data file, and the budget of all releases together.

mod book;
mod entry;
mod error;
mod file;
mod time;

pub use book::{Account, Ledger};
pub use entry::{BudgetSetting, Entry};
pub use error::LedgerError;
pub use file::{Charge, charge, preview};
pub use time::utc;
