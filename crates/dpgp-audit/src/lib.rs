#![doc = include_str!("../README.md")]

mod attack;
mod binomial;
mod normal;

pub use attack::{DistinguishingSets, MechanismOutputs, PrivacyLowerBounds, attack, max_provable_epsilon};
pub use binomial::BinomialTrials;
pub use normal::{exact_gaussian_delta, format_four_significant};
