//! Test accuracy of a Bayesian classifier whose posterior is approximated, with or without privacy.

mod measure;
mod price;
mod setting;

pub use price::Prices;
pub use setting::{AdviSetting, PosteriorMethod, PosteriorModel, PosteriorTask};
