#![doc = include_str!("../README.md")]

mod ranged;
mod special;
pub mod text;

pub use ranged::{
    Budget, Count, Delta, Epsilon, Finite, Fraction, NonNegative, OutOfRangeError, Positive, Probability, Share,
    Tolerance,
};
pub use special::{ThresholdBracket, bisect, normal_cdf, normal_pdf};
