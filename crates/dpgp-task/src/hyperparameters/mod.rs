//! How often private selection finds the true hyperparameters.

mod composition;
mod draws;
mod evidence;
mod measure;
mod setting;

pub use setting::{BudgetRule, HyperparametersMethod, HyperparametersTask, RefusalRule};
