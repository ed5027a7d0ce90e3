#![doc = include_str!("../README.md")]

mod attack;
mod binomial;
mod normal;

pub use attack::{AttackSets, LowerBounds, MechanismOutputs, attack, provable_epsilon};
pub use binomial::Trials;
pub use normal::{exact_delta, format_four_significant};
