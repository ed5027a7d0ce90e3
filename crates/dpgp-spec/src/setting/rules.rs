//! Checks shared by several settings.

use super::{Problem, RangeSetting};
use dpgp_number::{Finite, OutOfRange};

/// A value that is wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingError {
    /// The dotted key path of the value.
    pub path: String,
    /// The problem.
    pub problem: Problem,
}

impl SettingError {
    /// A fault at a path.
    pub fn new(path: &str, problem: Problem) -> Self {
        Self { path: path.to_owned(), problem }
    }
}

/// The outcome of a check.
pub type Checked = Result<(), SettingError>;

/// The failure of a check.
///
/// # Errors
/// Always.
pub fn fail(path: &str, problem: Problem) -> Checked {
    Err(SettingError::new(path, problem))
}

/// Fails unless the number lies in the range; NaN lies in none.
///
/// # Errors
/// [`Problem::OutOfRange`].
pub fn range(path: &str, inside: bool, range: &'static str, found: f64) -> Checked {
    if inside { Ok(()) } else { fail(path, OutOfRange::new(range, found).into()) }
}

/// Fails unless the number is greater than 0 and finite.
///
/// # Errors
/// [`Problem::OutOfRange`].
pub fn positive(path: &str, found: f64) -> Checked {
    range(path, found > 0.0 && found.is_finite(), "greater than 0 and finite", found)
}

/// The most draws, restarts, centres or steps: far beyond any use, and safely within memory.
const MOST: usize = 1_000_000;

/// Fails unless the number is from 1 to 1,000,000.
///
/// # Errors
/// [`Problem::OutOfRange`].
pub fn count(path: &str, found: usize) -> Checked {
    range(path, (1..=MOST).contains(&found), "from 1 to 1000000", found as f64)
}

/// Fails unless high lies above low, the keys below the path.
///
/// # Errors
/// [`Problem::OutOfRange`].
pub fn bounds(path: &str, low: Finite, high: Finite) -> Checked {
    range(&format!("{path}.high"), high > low, "greater than `low` and finite", high.get())
}

/// Fails unless there are as many values as inputs.
///
/// # Errors
/// [`Problem::WrongDimension`].
pub fn dimension(path: &str, inputs: usize, found: usize) -> Checked {
    if found == inputs { Ok(()) } else { fail(path, Problem::WrongDimension { inputs, found }) }
}

/// The most points of a grid.
pub const MOST_POINTS: usize = 20_000;

/// Fails unless there is a rising range for each input, and their product is a grid that can be computed.
///
/// # Errors
/// [`Problem::WrongDimension`], [`Problem::OutOfRange`].
pub fn check_grid(path: &str, ranges: &[RangeSetting], inputs: usize) -> Checked {
    dimension(path, inputs, ranges.len())?;
    for (i, RangeSetting { from, to, points }) in ranges.iter().enumerate() {
        range(&format!("{path}.{i}.from"), from.is_finite(), "finite", *from)?;
        range(&format!("{path}.{i}.to"), to.is_finite() && to > from, "greater than `from` and finite", *to)?;
        let inside = (2..=MOST_POINTS).contains(points);
        range(&format!("{path}.{i}.points"), inside, "from 2 to 20000", *points as f64)?;
    }
    let total = ranges.iter().fold(1, |n: usize, range| n.saturating_mul(range.points));
    range(path, total <= MOST_POINTS, "a grid of at most 20000 points", total as f64)
}

/// Fails unless each point has a value for each input.
///
/// # Errors
/// [`Problem::WrongDimension`].
pub fn points(path: &str, points: &[Vec<f64>], inputs: usize) -> Checked {
    points
        .iter()
        .enumerate()
        .try_for_each(|(i, point)| dimension(&format!("{path}.{i}"), inputs, point.len()))
}

/// Fails unless a row is left beyond the training rows.
///
/// # Errors
/// [`Problem::NothingToTest`].
pub fn to_test(path: &str, train: usize, rows: usize) -> Checked {
    if train < rows { Ok(()) } else { fail(path, Problem::NothingToTest { train, rows }) }
}
