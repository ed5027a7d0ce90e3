//! The refusal of a number.

use std::borrow::Cow;

use thiserror::Error;

/// A number outside the range of its type.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("must be {range}, found {found}")]
pub struct OutOfRange {
    /// The allowed range, in words.
    pub range: Cow<'static, str>,
    /// The number found.
    pub found: f64,
}

impl OutOfRange {
    /// A refusal in words that are known beforehand.
    pub fn new(range: &'static str, found: f64) -> Self {
        Self { range: Cow::Borrowed(range), found }
    }
}
