//! How often private selection finds the true hyperparameters.

mod measure;
mod setting;

pub use setting::{BudgetRule, HyperparametersMethod, HyperparametersTask, RefusalRule};
