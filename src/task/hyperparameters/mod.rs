//! How often private selection finds the true hyperparameters.

mod composition;
mod draws;
mod measure;
