//! What a column is known by: its cells, whatever it is called.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::counted::CountedSample;
use super::spacing::Spacing;

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
