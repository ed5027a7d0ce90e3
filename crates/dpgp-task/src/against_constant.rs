//! An error beside that of a constant, and what is said where there is no such number.

/// Why `r2` is undefined of rows that are held out.
pub(super) const NO_ERROR: &str = "the constant that it compares with has no error: the targets that are held out do not differ from the mean of the others";

/// Why `r2` is undefined of all rows.
pub(super) const NO_VARIANCE: &str = "the targets do not vary";

/// `1 - square / constant`, for a mean squared error and that of a constant in the same units: 1 without error, 0 for the constant itself.
/// NaN where the constant has no error.
pub(super) fn against_constant(square: f64, constant: f64) -> f64 {
    if constant == 0.0 { f64::NAN } else { 1.0 - square / constant }
}

/// The mean square of differences of numbers up to `largest` from a mean of `count` of them; zero if it is no more than rounding makes of
/// equal numbers: a mean of n equal ones is off by at most n units in their last place, and the difference by two more.
pub(super) fn unless_rounding(mean_square: f64, largest: f64, count: usize) -> f64 {
    let rounding = (count as f64 + 2.0) * f64::EPSILON * largest;
    if mean_square <= rounding * rounding { 0.0 } else { mean_square }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_without_error_has_no_counterpart() {
        assert_eq!((against_constant(1.0, 4.0), against_constant(4.0, 4.0)), (0.75, 0.0));
        assert!(against_constant(0.0, 0.0).is_nan() && against_constant(1.0, 0.0).is_nan());
    }

    /// Seven tenths, summed, are not seven times a tenth.
    #[test]
    fn equal_numbers_have_no_spread() {
        let numbers = [0.1; 7];
        let mean = numbers.iter().sum::<f64>() / 7.0;
        let squares = numbers.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / 7.0;
        assert!(mean != 0.1 && squares > 0.0);
        assert_eq!(unless_rounding(squares, 0.1, 7), 0.0);
        assert_eq!(unless_rounding(1e-20, 0.1, 7), 1e-20);
    }
}
