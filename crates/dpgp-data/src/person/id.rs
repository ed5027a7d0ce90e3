//! The person that a cell names.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

use crate::missing::is_absent;

/// The person that a cell names: SHA-256 of its text without blanks around it, or of its number in the shortest decimal form.
///
/// Numbers count by their value: `7`, `07`, `7.0` and `7e0` are one person, in text and in Parquet. Whole numbers are told
/// apart whatever their length. Cells that two people share make one person of them, which is safe: they then have one share
/// of rows together, and are hidden together. One person under two names is two persons, and hidden as such.
///
/// ```
/// use dpgp_data::PersonId;
/// assert_eq!(PersonId::of(" 7.0 "), PersonId::of("07"));
/// assert_ne!(PersonId::of("9007199254740993"), PersonId::of("9007199254740992"));
/// assert_ne!(PersonId::of("Ann"), PersonId::of("ann"));
/// assert_eq!(PersonId::of("  "), None);
/// assert_eq!(PersonId::of("NA"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PersonId([u8; 32]);

impl PersonId {
    /// The person that a text names; none if it is empty, or a word for a missing cell: `NA`, `NaN` and `null`, in any case.
    pub fn of(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty() && !is_absent(text)).then(|| Self(Sha256::digest(plain(text).as_bytes()).into()))
    }

    /// The person that a number names; none if it is not finite.
    pub fn of_number(number: f64) -> Option<Self> {
        if number.is_finite() { Self::of(&shortest(number)) } else { None }
    }

    pub(super) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// The same text for all ways to write a number; any other text as it is.
fn plain(text: &str) -> Cow<'_, str> {
    if let Some(whole) = whole(text) {
        return whole;
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Cow::Owned(shortest(number)),
        // Words such as `inf` are names.
        _ => Cow::Borrowed(text),
    }
}

/// A whole number without sign and noughts that do not matter: a double would round a long one.
fn whole(text: &str) -> Option<Cow<'_, str>> {
    let negative = text.starts_with('-');
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(match digits.trim_start_matches('0') {
        "" => Cow::Borrowed("0"),
        digits if negative => Cow::Owned(format!("-{digits}")),
        digits => Cow::Borrowed(digits),
    })
}

/// Without an exponent, so that whole numbers look like those in text.
fn shortest(number: f64) -> String {
    // Nought without its sign.
    (number + 0.0).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_by_their_value() {
        for (one, other, same) in [
            ("1", "1.0", true),
            ("1", " +1e0 ", true),
            ("-0", "0.0", true),
            ("0012", "12", true),
            ("1e3", "1000", true),
            ("-5", "5", false),
            ("1.5", "15e-1", true),
            ("18446744073709551617", "18446744073709551616", false),
            ("inf", "Inf", false),
            ("a1", "a01", false),
            ("-", "--", false),
        ] {
            assert_eq!(PersonId::of(one) == PersonId::of(other), same, "{one:?} {other:?}");
        }
    }

    #[test]
    fn a_missing_cell_is_nobody() {
        for nothing in ["", "  ", "NA", " na ", "NaN", "nan", "null", "NULL"] {
            assert_eq!(PersonId::of(nothing), None, "{nothing:?}");
        }
        for there in ["N/A", "Nan A", "none", "-", "0"] {
            assert!(PersonId::of(there).is_some(), "{there:?}");
        }
    }

    #[test]
    fn numbers_of_columns_are_those_of_text() {
        for (number, text) in [(1.0, "1"), (-0.0, "0"), (0.1, "0.1"), (1e21, "1000000000000000000000")] {
            assert_eq!(PersonId::of_number(number), PersonId::of(text), "{text}");
        }
        assert_eq!(PersonId::of_number(f64::NAN), None);
    }
}
