//! Test accuracy of a Bayesian classifier whose posterior is approximated, with or without privacy.

mod measure;
mod price;
mod setting;

pub(super) use price::{Price, PriceQuestion};
pub use setting::{AdviSetting, PosteriorMethod, PosteriorModel, PosteriorTask};
