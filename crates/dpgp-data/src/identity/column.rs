//! What a column is known by: its cells, whatever it is called.
//!
//! How close the numbers of a column stand.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::counted::CountedSample;

/// The evidence, in bits, by which two columns are those of the same rows.
const ENOUGH: f64 = 20.0;

/// The sum of the digests of all cells of a column modulo 2^128: that of their multiset.
///
/// ```
/// use dpgp_data::CellTotal;
/// let mut sum = CellTotal::default();
/// [u128::MAX, 3].iter().for_each(|digest| sum.add(*digest));
/// assert_eq!(String::from(sum), format!("{}2", "0".repeat(31)));
/// assert_eq!(CellTotal::try_from(String::from(sum)), Ok(sum));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CellTotal(u128);

/// A column of some rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnMark {
    /// What it was called; for people.
    pub name: String,
    /// The sum of the digests of its cells.
    pub total: CellTotal,
    /// Whether its numbers stand so close that some would be equal if they had been drawn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) crowded: bool,
    /// A sample of its distinct cells, and how often each stands there.
    pub(super) cells: CountedSample,
}

/// A column as its cells are read.
#[derive(Debug)]
pub(super) struct SeenColumn {
    pub name: String,
    total: CellTotal,
    cells: CountedSample,
    spacing: Spacing,
}

impl CellTotal {
    /// Adds the digest of a cell.
    pub fn add(&mut self, digest: u128) {
        self.0 = self.0.wrapping_add(digest);
    }
}

impl fmt::Display for CellTotal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl TryFrom<String> for CellTotal {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let digits = (text.len() == 32).then(|| u128::from_str_radix(&text, 16).ok()).flatten();
        digits.map(Self).ok_or("a sum of digests of cells has 32 hexadecimal digits")
    }
}

impl From<CellTotal> for String {
    fn from(total: CellTotal) -> Self {
        total.to_string()
    }
}

impl SeenColumn {
    /// Of which no cell was seen yet; so many distinct ones are remembered.
    pub fn new(name: &str, most: usize) -> Self {
        let (total, cells, spacing) = (CellTotal::default(), CountedSample::new(most), Spacing::default());
        Self { name: name.to_owned(), total, cells, spacing }
    }

    /// The same, of which no cell is a number.
    pub fn of_words(name: &str, most: usize) -> Self {
        let mut words = Self::new(name, most);
        words.space(None);
        words
    }

    /// Takes the digest of a cell.
    #[inline]
    pub fn insert(&mut self, digest: u128) {
        self.total.add(digest);
        self.cells.insert((digest >> 64) as u64);
    }

    /// Learns of a cell that holds a number, or none.
    #[inline]
    pub fn space(&mut self, number: Option<f64>) {
        self.spacing.insert(number);
    }

    /// What is known of it in the end.
    pub fn mark(self) -> ColumnMark {
        let crowded = self.spacing.is_crowded(self.cells.distinct());
        ColumnMark { name: self.name, total: self.total, crowded, cells: self.cells }
    }
}

impl ColumnMark {
    /// Adds the cells of more rows of the column.
    pub(super) fn merge(&mut self, other: &Self) {
        self.total.add(other.total.0);
        self.cells.merge(&other.cells);
        // Numbers may stand close in one part and not in all of them: then this column is no evidence, and the others still are.
        self.crowded |= other.crowded;
    }

    /// Whether two columns hold cells of the same rows, beyond what chance explains.
    ///
    /// Those that were laid out do not tell: numbers that stand close and equally often, such as serial numbers, and few values that
    /// stand equally often.
    pub fn shares_rows(&self, other: &Self) -> bool {
        !self.is_laid_out() && !other.is_laid_out() && self.cells.evidence(&other.cells) >= ENOUGH
    }

    fn is_laid_out(&self) -> bool {
        let even = self.cells.even();
        even.is_some_and(|times| self.crowded || (times > 1 && self.cells.is_complete()))
    }

    /// The share of cells that two columns have in common, of so many rows each, from 0 to 1.
    pub fn common(&self, rows: u64, other: &Self, of: u64) -> f64 {
        if self.total == other.total { 1.0 } else { self.cells.common(rows, &other.cells, of) }
    }
}

/// The most decimals of numbers that have a step.
const DECIMALS: i32 = 4;

/// How many pairs of equal numbers there would be, if numbers that stand close had been drawn: then one in twenty columns has none.
const PAIRS: f64 = 3.0;

/// How far a number may be off its step, in steps: it was read from text, or has 24 bits.
const OFF: f64 = 1e-4;

/// The range of the numbers of a column, and the step between them.
#[derive(Debug)]
pub(super) struct Spacing {
    least: f64,
    greatest: f64,
    /// The decimals of the step; more than there may be for numbers without one.
    decimals: i32,
    /// Ten to the power of them.
    scale: f64,
    /// Whether all cells are numbers.
    numbers: bool,
}

impl Default for Spacing {
    fn default() -> Self {
        Self { least: f64::INFINITY, greatest: f64::NEG_INFINITY, decimals: 0, scale: 1.0, numbers: true }
    }
}

impl Spacing {
    /// Takes a cell: a finite number, or none.
    #[inline]
    pub fn insert(&mut self, number: Option<f64>) {
        let Some(number) = number else {
            self.numbers = false;
            return;
        };
        self.least = self.least.min(number);
        self.greatest = self.greatest.max(number);
        while self.decimals <= DECIMALS && !is_whole(number * self.scale) {
            self.decimals += 1;
            self.scale *= 10.0;
        }
    }

    /// Whether so many distinct numbers stand so close that, drawn evenly from the steps in their range, some would be equal.
    pub fn is_crowded(&self, distinct: f64) -> bool {
        let steps = (self.greatest - self.least) * self.scale + 1.0;
        self.numbers && self.decimals <= DECIMALS && distinct * distinct >= 2.0 * PAIRS * steps
    }
}

#[inline]
fn is_whole(number: f64) -> bool {
    (number - number.round()).abs() <= OFF
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crowded(numbers: impl IntoIterator<Item = f64>) -> bool {
        let (mut spacing, mut distinct) = (Spacing::default(), std::collections::BTreeSet::new());
        for number in numbers {
            spacing.insert(Some(number));
            distinct.insert(number.to_bits());
        }
        spacing.is_crowded(distinct.len() as f64)
    }

    #[test]
    fn numbers_that_stand_close() {
        assert!(crowded((0..100).map(f64::from)));
        assert!(crowded((0..100).map(|i| f64::from(i) / 10.0)));
        assert!(crowded((0..100).map(|i| f64::from(i as f32 / 10.0)))); // of 24 bits
        assert!(crowded((0..200).map(|i| 1000.0 + 2.5 * f64::from(i))));
        assert!(!crowded((0..100).map(|i| f64::from(i * i * 37 % 100_003))));
        assert!(!crowded((0..100).map(|i| f64::from(i) / 7.0)));
        assert!(!crowded([5.0, 5.0]));
        let mut mixed = Spacing::default();
        (0..20).for_each(|i| mixed.insert(Some(f64::from(i))));
        assert!(mixed.is_crowded(20.0));
        mixed.insert(None);
        assert!(!mixed.is_crowded(20.0));
    }
}
