//! Whole numbers with a range.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::OutOfRangeError;

/// A whole number from `LEAST` to `MOST`. The default bounds suit draws, steps, centres and restarts: far beyond any use,
/// and safely within memory.
///
/// ```
/// use dpgp_number::Count;
/// assert_eq!(<Count>::new(10)?.get(), 10);
/// assert!(<Count>::new(0).is_err());
/// assert_eq!(Count::<1000, 2>::new(1).unwrap_err().to_string(), "must be from 2 to 1000, found 1");
/// # Ok::<(), dpgp_number::OutOfRangeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "usize", into = "usize")]
pub struct Count<const MOST: usize = 1_000_000, const LEAST: usize = 1>(usize);

impl<const MOST: usize, const LEAST: usize> Count<MOST, LEAST> {
    /// One.
    pub const ONE: Self = {
        assert!(LEAST <= 1 && 1 <= MOST);
        Self(1)
    };

    /// The number, if it lies in the range.
    ///
    /// # Errors
    /// [`OutOfRangeError`] with the range in words.
    pub fn new(number: usize) -> Result<Self, OutOfRangeError> {
        if (LEAST..=MOST).contains(&number) {
            return Ok(Self(number));
        }
        let range = if LEAST == 0 { format!("at most {MOST}") } else { format!("from {LEAST} to {MOST}") };
        Err(OutOfRangeError { range: Cow::Owned(range), found: number as f64 })
    }

    /// A number that is written in the program: outside the range it does not compile.
    pub const fn literal<const NUMBER: usize>() -> Self {
        const { assert!(LEAST <= NUMBER && NUMBER <= MOST, "outside the range of the type") };
        Self(NUMBER)
    }

    /// The bare number.
    pub const fn get(self) -> usize {
        self.0
    }
}

impl<const MOST: usize, const LEAST: usize> TryFrom<usize> for Count<MOST, LEAST> {
    type Error = OutOfRangeError;

    fn try_from(number: usize) -> Result<Self, OutOfRangeError> {
        Self::new(number)
    }
}

impl<const MOST: usize, const LEAST: usize> From<Count<MOST, LEAST>> for usize {
    fn from(count: Count<MOST, LEAST>) -> Self {
        count.0
    }
}

impl<const MOST: usize, const LEAST: usize> fmt::Display for Count<MOST, LEAST> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<const MOST: usize, const LEAST: usize> JsonSchema for Count<MOST, LEAST> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("CountFrom{LEAST}To{MOST}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "format": "uint", "minimum": LEAST, "maximum": MOST })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_inside() {
        type Dozen = Count<12, 3>;
        assert_eq!([2, 3, 12, 13].map(|n| Dozen::new(n).is_ok()), [false, true, true, false]);
        assert_eq!(Count::<5, 0>::new(6).unwrap_err().to_string(), "must be at most 5, found 6");
    }
}
