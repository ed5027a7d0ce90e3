//! Numbers that were checked when they were made. A setting that holds one needs no further check, and code that takes
//! one needs no guess for the case that it is wrong.
//!
//! Each type is read from a bare number (serde), is written as the bare number again, and states its range in the JSON
//! Schema of the spec language. Equations below are on the values, in the units of the key that holds them.

mod budget;
mod count;
mod out_of_range;
mod real;
pub mod text;

pub use budget::Budget;
pub use count::Count;
pub use out_of_range::OutOfRange;
pub use real::{Delta, Epsilon, Finite, Fraction, NonNegative, Positive, Probability, Share, Tolerance};
