//! Checks shared by several settings.

use super::{RangeSetting, SpecProblem};
use dpgp_number::{Finite, OutOfRangeError};

/// A value that is wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingError {
    /// The dotted key path of the value.
    pub path: String,
    /// The problem.
    pub problem: SpecProblem,
}

impl SettingError {
    /// A fault at a path.
    pub fn new(path: &str, problem: SpecProblem) -> Self {
        Self { path: path.to_owned(), problem }
    }
}

/// The outcome of a check.
pub type CheckResult = Result<(), SettingError>;

/// The failure of a check.
///
/// # Errors
/// Always.
pub fn fail(path: &str, problem: SpecProblem) -> CheckResult {
    Err(SettingError::new(path, problem))
}

/// Fails unless the number lies in the range; NaN lies in none.
///
/// # Errors
/// [`SpecProblem::OutOfRange`].
pub fn check_range(path: &str, inside: bool, range: &'static str, found: f64) -> CheckResult {
    if inside { Ok(()) } else { fail(path, OutOfRangeError::new(range, found).into()) }
}

/// Fails unless the number is greater than 0 and finite.
///
/// # Errors
/// [`SpecProblem::OutOfRange`].
pub fn check_positive(path: &str, found: f64) -> CheckResult {
    check_range(path, found > 0.0 && found.is_finite(), "greater than 0 and finite", found)
}

/// The most draws, restarts, centres or steps: far beyond any use, and safely within memory.
const MOST: usize = 1_000_000;

/// Fails unless the number is from 1 to 1,000,000.
///
/// # Errors
/// [`SpecProblem::OutOfRange`].
pub fn check_count(path: &str, found: usize) -> CheckResult {
    check_range(path, (1..=MOST).contains(&found), "from 1 to 1000000", found as f64)
}

/// Fails unless high lies above low, the keys below the path.
///
/// # Errors
/// [`SpecProblem::OutOfRange`].
pub fn check_bounds(path: &str, low: Finite, high: Finite) -> CheckResult {
    check_range(&format!("{path}.high"), high > low, "greater than `low` and finite", high.get())
}

/// Fails unless there are as many values as inputs.
///
/// # Errors
/// [`SpecProblem::WrongDimension`].
pub fn check_dimension(path: &str, inputs: usize, found: usize) -> CheckResult {
    if found == inputs { Ok(()) } else { fail(path, SpecProblem::WrongDimension { inputs, found }) }
}

/// The most points of a grid.
pub const MOST_POINTS: usize = 20_000;

/// Fails unless there is a rising range for each input, and their product is a grid that can be computed.
///
/// # Errors
/// [`SpecProblem::WrongDimension`], [`SpecProblem::OutOfRange`].
pub fn check_grid(path: &str, ranges: &[RangeSetting], inputs: usize) -> CheckResult {
    check_dimension(path, inputs, ranges.len())?;
    for (i, RangeSetting { from, to, points }) in ranges.iter().enumerate() {
        check_range(&format!("{path}.{i}.from"), from.is_finite(), "finite", *from)?;
        check_range(&format!("{path}.{i}.to"), to.is_finite() && to > from, "greater than `from` and finite", *to)?;
        let inside = (2..=MOST_POINTS).contains(points);
        check_range(&format!("{path}.{i}.points"), inside, "from 2 to 20000", *points as f64)?;
    }
    let total = ranges.iter().fold(1, |n: usize, range| n.saturating_mul(range.points));
    check_range(path, total <= MOST_POINTS, "a grid of at most 20000 points", total as f64)
}

/// Fails unless each point has a value for each input.
///
/// # Errors
/// [`SpecProblem::WrongDimension`].
pub fn check_points(path: &str, points: &[Vec<f64>], inputs: usize) -> CheckResult {
    points.iter().enumerate().try_for_each(|(i, point)| check_dimension(&format!("{path}.{i}"), inputs, point.len()))
}

/// Fails unless a row is left beyond the training rows.
///
/// # Errors
/// [`SpecProblem::NothingToTest`].
pub fn check_test_rows(path: &str, train: usize, rows: usize) -> CheckResult {
    if train < rows { Ok(()) } else { fail(path, SpecProblem::NothingToTest { train, rows }) }
}
