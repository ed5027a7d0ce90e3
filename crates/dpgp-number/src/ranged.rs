//! Numbers with a range, real and whole, among them the two numbers of a guarantee, and the error for a number outside.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
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
    /// The error for a number outside a range that is described in words.
    pub fn new(range: &'static str, found: f64) -> Self {
        Self { range: Cow::Borrowed(range), found }
    }
}

/// Defines a type for the numbers that pass a condition; NaN passes none.
macro_rules! real {
    ($(#[$doc:meta])* $name:ident($x:ident) = $inside:expr, $range:literal, { $($schema:tt)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[serde(try_from = "f64", into = "f64")]
        pub struct $name(f64);

        impl $name {
            /// The number, if it lies in the range.
            ///
            /// # Errors
            /// [`OutOfRangeError`] with the range in words.
            pub fn new($x: f64) -> Result<Self, OutOfRangeError> {
                if $inside { Ok(Self($x)) } else { Err(OutOfRangeError::new($range, $x)) }
            }

            /// The bare number.
            pub const fn get(self) -> f64 {
                self.0
            }
        }

        impl TryFrom<f64> for $name {
            type Error = OutOfRangeError;

            fn try_from(x: f64) -> Result<Self, OutOfRangeError> {
                Self::new(x)
            }
        }

        impl From<$name> for f64 {
            fn from(number: $name) -> Self {
                number.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "number", "format": "double", $($schema)* })
            }
        }
    };
}

real! {
    /// `x > 0`, finite: variances, lengthscales, scales.
    ///
    /// ```
    /// use dpgp_number::Positive;
    /// assert_eq!(Positive::new(2.5)?.get(), 2.5);
    /// assert_eq!(Positive::new(0.0).unwrap_err().to_string(), "must be greater than 0 and finite, found 0");
    /// # Ok::<(), dpgp_number::OutOfRangeError>(())
    /// ```
    Positive(x) = x > 0.0 && x.is_finite(), "greater than 0 and finite", { "exclusiveMinimum": 0 }
}

impl Positive {
    /// One.
    pub const ONE: Self = Self(1.0);

    /// A number that is written in the program.
    ///
    /// # Panics
    /// Panics if the number is out of range. In a constant, this is a compile error.
    pub const fn literal(x: f64) -> Self {
        assert!(x > 0.0 && x < f64::INFINITY, "a positive number");
        Self(x)
    }
}

real! {
    /// `x >= 0`, finite: jitter, standard deviations that may vanish.
    NonNegative(x) = x >= 0.0 && x.is_finite(), "at least 0 and finite", { "minimum": 0 }
}

real! {
    /// Any number but NaN and the infinities: positions, bounds, thresholds.
    Finite(x) = x.is_finite(), "finite", {}
}

impl NonNegative {
    /// Zero.
    pub const ZERO: Self = Self(0.0);

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.0 == 0.0
    }
}

impl Finite {
    /// Zero.
    pub const ZERO: Self = Self(0.0);
}

real! {
    /// `0 <= x <= 1`: a part of a whole.
    Fraction(x) = (0.0..=1.0).contains(&x), "from 0 to 1", { "minimum": 0, "maximum": 1 }
}

real! {
    /// `0 < x <= 1`: a fraction above zero, such as a sampling rate.
    Share(x) = x > 0.0 && x <= 1.0, "greater than 0 and at most 1", { "exclusiveMinimum": 0, "maximum": 1 }
}

real! {
    /// `0 < x < 1`: the mass of an interval, a confidence.
    Probability(x) = x > 0.0 && x < 1.0, "between 0 and 1", { "exclusiveMinimum": 0, "exclusiveMaximum": 1 }
}

real! {
    /// `0 <= x < 1`: a relative cut-off.
    Tolerance(x) = (0.0..1.0).contains(&x), "at least 0 and less than 1", { "minimum": 0, "exclusiveMaximum": 1 }
}

real! {
    /// Epsilon of (epsilon, delta)-differential privacy, `x > 0`; infinity stands for no privacy.
    ///
    /// ```
    /// use dpgp_number::Epsilon;
    /// assert!(Epsilon::new(f64::INFINITY)?.is_unprotected());
    /// assert!(Epsilon::new(-1.0).is_err());
    /// # Ok::<(), dpgp_number::OutOfRangeError>(())
    /// ```
    Epsilon(x) = x > 0.0, "greater than 0 (inf for no privacy)", { "exclusiveMinimum": 0 }
}

impl Epsilon {
    /// Without privacy: no noise is drawn and nothing is guaranteed.
    pub const NONE: Self = Self(f64::INFINITY);

    /// Whether it is infinite, which stands for no privacy.
    pub fn is_unprotected(self) -> bool {
        self.0.is_infinite()
    }
}

real! {
    /// Delta of (epsilon, delta)-differential privacy, `2.2e-308 <= x < 1`: below the least normal number, no bound on it can be stated.
    ///
    /// ```
    /// use dpgp_number::Delta;
    /// assert!(Delta::new(1e-307).is_ok() && Delta::new(1e-310).is_err());
    /// ```
    Delta(x) = (f64::MIN_POSITIVE..1.0).contains(&x), "at least 2.2250738585072014e-308 and less than 1", {
        "minimum": f64::MIN_POSITIVE, "exclusiveMaximum": 1
    }
}

/// An epsilon with its delta: what a release, or several together, may spend.
///
/// ```
/// use dpgp_number::Budget;
/// let budget = Budget::new(1.0, 1e-6)?;
/// assert_eq!((budget.epsilon.get(), budget.delta.get()), (1.0, 1e-6));
/// assert!(Budget::new(1.0, 0.0).is_err());
/// # Ok::<(), dpgp_number::OutOfRangeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Epsilon.
    pub epsilon: Epsilon,
    /// Delta.
    pub delta: Delta,
}

impl Budget {
    /// The budget of two bare numbers.
    ///
    /// # Errors
    /// [`OutOfRangeError`] for the first number that is out of range.
    pub fn new(epsilon: f64, delta: f64) -> Result<Self, OutOfRangeError> {
        Ok(Self { epsilon: Epsilon::new(epsilon)?, delta: Delta::new(delta)? })
    }
}

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

    /// A number that is written in the program. A number outside the range does not compile.
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
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_are_shown_shortly() {
        let of = |found| OutOfRangeError::new("1", found).to_string();
        assert_eq!(
            [0.0, 2.0, 1e-310, f64::INFINITY, -1e300].map(of),
            ["0", "2", "1e-310", "inf", "-1e300"].map(|found| format!("must be 1, found {found}"))
        );
    }

    /// Ends of the ranges, by their definitions.
    #[test]
    fn ends_are_as_the_words_say() {
        let accepted = [
            Positive::new(f64::MIN_POSITIVE).is_ok(),
            NonNegative::new(0.0).is_ok(),
            Finite::new(-f64::MAX).is_ok(),
            Fraction::new(1.0).is_ok(),
            Share::new(1.0).is_ok(),
            Tolerance::new(0.0).is_ok(),
            Epsilon::new(f64::INFINITY).is_ok(),
            Delta::new(f64::MIN_POSITIVE).is_ok(),
        ];
        let refused = [
            Positive::new(f64::INFINITY).is_err(),
            NonNegative::new(-f64::MIN_POSITIVE).is_err(),
            Finite::new(f64::INFINITY).is_err(),
            Fraction::new(1.0 + f64::EPSILON).is_err(),
            Share::new(0.0).is_err(),
            Probability::new(1.0).is_err(),
            Tolerance::new(1.0).is_err(),
            Epsilon::new(0.0).is_err(),
            Delta::new(1.0).is_err(),
            Delta::new(0.0).is_err(),
            Delta::new(f64::MIN_POSITIVE.next_down()).is_err(),
        ];
        assert_eq!((accepted, refused), ([true; 8], [true; 11]));
    }

    #[test]
    fn no_type_holds_nan() {
        let nan = f64::NAN;
        assert!(Positive::new(nan).is_err() && NonNegative::new(nan).is_err() && Finite::new(nan).is_err());
        assert!(Fraction::new(nan).is_err() && Share::new(nan).is_err() && Probability::new(nan).is_err());
        assert!(Tolerance::new(nan).is_err() && Epsilon::new(nan).is_err() && Delta::new(nan).is_err());
    }

    proptest! {
        /// A number is written as it was read, so that identities of cells do not depend on the type of a key.
        #[test]
        fn numbers_are_written_bare(x in 1e-300..1e300f64) {
            let number: Positive = toml::Value::Float(x).try_into().unwrap();
            prop_assert_eq!(toml::Value::try_from(number).unwrap(), toml::Value::Float(x));
        }
    }

    #[test]
    fn whole_numbers_are_read_as_real_ones() {
        let number: Positive = toml::Value::Integer(3).try_into().unwrap();
        assert_eq!(number.get(), 3.0);
    }

    #[test]
    fn both_ends_are_inside() {
        type Dozen = Count<12, 3>;
        assert_eq!([2, 3, 12, 13].map(|n| Dozen::new(n).is_ok()), [false, true, true, false]);
        assert_eq!(Count::<5, 0>::new(6).unwrap_err().to_string(), "must be at most 5, found 6");
    }
}
