//! Numbers as text.

/// The shortest text that reads back as exactly this number (at most 17 significant digits), as axes show it.
pub fn format_exact(x: f64) -> String {
    let text = format!("{x:?}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// A count with its noun in the singular or plural.
///
/// ```
/// use dpgp_number::text::count_with_noun;
/// let said = [0, 1, 2].map(|number| count_with_noun(number, "claim fails", "claims fail"));
/// assert_eq!(said, ["0 claims fail", "1 claim fails", "2 claims fail"]);
/// ```
pub fn count_with_noun(number: usize, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

/// Four significant digits, for people.
pub fn format_four_digits(x: f64) -> String {
    if !x.is_finite() || x == 0.0 {
        return format_exact(x);
    }
    let magnitude = x.abs().log10().floor() as i32;
    if !(-4..=6).contains(&magnitude) {
        return format!("{x:.2e}");
    }
    format!("{x:.*}", usize::try_from(3 - magnitude).unwrap_or(0))
}

/// Four significant digits without closing zeros, for figures.
pub fn format_four_digits_trimmed(x: f64) -> String {
    format_exact(format!("{x:.3e}").parse().unwrap_or(x))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn exact_numbers_read_back(x in prop::num::f64::ANY) {
            let back: f64 = format_exact(x).parse().unwrap();
            prop_assert!(back == x || (back.is_nan() && x.is_nan()));
        }
    }

    #[test]
    fn texts() {
        assert_eq!(format_exact(1.0), "1");
        assert_eq!(format_exact(0.1 + 0.2), "0.30000000000000004");
        assert_eq!(format_exact(f64::INFINITY), "inf");
        assert_eq!(
            [
                format_four_digits_trimmed(40.0),
                format_four_digits_trimmed(205.4812),
                format_four_digits_trimmed(0.1 + 0.2)
            ],
            ["40", "205.5", "0.3"]
        );
        assert_eq!(
            [
                format_four_digits(13.3571),
                format_four_digits(0.0098765),
                format_four_digits(1589.495),
                format_four_digits(1e-12)
            ],
            ["13.36", "0.009876", "1589", "1.00e-12"]
        );
    }
}
