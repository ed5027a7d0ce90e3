#![doc = include_str!("../README.md")]

mod count;
mod out_of_range;
mod real;
mod special;
pub mod text;

pub use count::Count;
pub use out_of_range::OutOfRangeError;
pub use real::Budget;
pub use real::{Delta, Epsilon, Finite, Fraction, NonNegative, Positive, Probability, Share, Tolerance};
pub use special::{ThresholdBracket, bisect};
pub use special::{normal_cdf, normal_pdf};
