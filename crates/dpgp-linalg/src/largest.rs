//! A maximum that does not overlook NaN.

/// The largest of some non-negative values; NaN if any of them is, zero if there are none. A maximum that dropped
/// NaN (as `f64::max` does) would turn a failed computation into a small sensitivity.
///
/// ```
/// use dpgp_linalg::largest;
/// assert_eq!(largest([1.0, 3.0, 2.0]), 3.0);
/// assert!(largest([1.0, f64::NAN]).is_nan());
/// ```
pub fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    // Once NaN, `value > most` is false for every number, so that NaN stays.
    values.into_iter().fold(0.0, |most, value| if value > most || value.is_nan() { value } else { most })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_not_overlooked() {
        assert_eq!(largest([1.0, 3.0, 2.0]), 3.0);
        assert_eq!(largest([]), 0.0);
        assert!(largest([1.0, f64::NAN, 2.0]).is_nan());
        assert!(largest([f64::NAN]).is_nan());
        assert_eq!(largest([1.0, f64::INFINITY]), f64::INFINITY);
    }
}
