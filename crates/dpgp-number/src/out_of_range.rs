//! The error for a number outside its range.

use std::borrow::Cow;

use thiserror::Error;

/// A number outside the range of its type.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("must be {range}, found {}", format_number(*found))]
pub struct OutOfRangeError {
    /// The allowed range, in words.
    pub range: Cow<'static, str>,
    /// The number found.
    pub found: f64,
}

/// Numbers that are long in decimals are shown by a power of ten.
fn format_number(x: f64) -> String {
    let size = x.abs();
    if size == 0.0 || !size.is_finite() || (1e-6..1e17).contains(&size) { x.to_string() } else { format!("{x:e}") }
}

impl OutOfRangeError {
    /// A refusal in words that are known beforehand.
    pub fn new(range: &'static str, found: f64) -> Self {
        Self { range: Cow::Borrowed(range), found }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_shortly() {
        let of = |found| OutOfRangeError::new("1", found).to_string();
        assert_eq!(
            [0.0, 2.0, 1e-310, f64::INFINITY, -1e300].map(of),
            ["0", "2", "1e-310", "inf", "-1e300"].map(|found| format!("must be 1, found {found}"))
        );
    }
}
