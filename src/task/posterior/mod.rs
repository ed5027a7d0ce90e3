//! Test accuracy of a Bayesian classifier whose posterior is approximated, with or without privacy.

mod measure;
mod price;

pub use price::Prices;
