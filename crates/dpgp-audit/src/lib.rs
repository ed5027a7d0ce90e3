#![doc = include_str!("../README.md")]

mod attack;
mod binomial;
mod normal;

pub use attack::{Contests, LowerBounds, Outputs, attack, provable_epsilon};
pub use binomial::Trials;
pub use normal::exact_delta;
pub use normal::short;
