//! Gaussian noise that is rounded to whole numbers exactly.
//!
//! Floating-point noise betrays what it was added to: not every double is reached from every input (Mironov 2012). Here no
//! float takes part. For a whole number v and `s > 0`,
//!
//! `v + round(s Z) = round(v + s Z)`, Z standard normal,
//!
//! so that the release is a function of the output of the continuous Gaussian mechanism, and keeps its exact guarantee.
//! The law of the draws is that of `round(s Z)` itself, not an approximation: Z is a number whose digits are drawn as they are
//! asked for, by comparisons of digits alone (Karney 2016, "Sampling exactly from the normal distribution"), and they are asked
//! for until all numbers with these digits round to one whole number.
//!
//! | file | what it draws |
//! |---|---|
//! | `bits` | bits, and whole numbers below a bound |
//! | `digits` | a uniform number in (0, 1), digit by digit |
//! | `normal` | a standard normal number, digit by digit |
//! | `gaussian` | `round(s Z)` |

mod bits;
#[cfg(test)]
mod enumeration;
mod gaussian;

pub use gaussian::RoundedGaussian;
