//! What a table knows an output by.

use super::basis::Basis;
use super::bits::{lowest_bit, mixed};

/// A part of an output that takes few values, or that may be impossible under one input.
#[derive(Debug)]
pub(super) enum Word {
    /// All its bits.
    Whole,
    /// Which columns hold which of their frequent values.
    Frequent(Vec<Basis>),
    /// The size of the number in a column, and the place of its last bit.
    LastBit { at: usize, basis: Basis },
}

impl Word {
    /// The word of an output. Two words may be taken for one with a probability of about `2^-64`, which weakens an attack
    /// and does not make it wrong.
    pub fn of(&self, output: &[f64]) -> u64 {
        match self {
            Self::Whole => mixed(output.iter().map(|x| x.to_bits())),
            Self::Frequent(bases) => mixed(bases.iter().zip(output).map(|(basis, x)| basis.atom(*x) as u64)),
            Self::LastBit { at, basis } => {
                let x = output[*at];
                mixed([basis.interval(x) as u64, u64::from(lowest_bit(x) as u32)])
            }
        }
    }

    /// What it looks at.
    pub fn name(&self) -> String {
        match self {
            Self::Whole => "whole outputs".to_owned(),
            Self::Frequent(_) => "frequent values".to_owned(),
            Self::LastBit { at, .. } => format!("size and last bit of column {}", at + 1),
        }
    }
}
