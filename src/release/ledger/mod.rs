//! The ledger: what has been released about one data file, and the budget of all releases together.

mod book;
mod entry;
mod error;
mod file;
mod time;

pub use book::{Account, Ledger};
pub use entry::{BudgetSetting, LedgerEntry};
pub use error::LedgerError;
pub use file::LedgerFile;
pub(super) use file::{Charge, charge, preview};
pub use time::utc;
