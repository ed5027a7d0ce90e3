//! Sums over some of the rows.
//!
//! The sums of a regression on disk.

use serde::{Deserialize, Serialize};

use super::Sum;
use super::sum::are_possible;
use dpgp_gp::variational::{Statistics, SumsUnits, WholeSums};

/// The sums that a variational model needs of some rows: `A = sum_i k_i y_i`, `B = sum_i k_i k_i'`, the number of rows and
/// the squares of their targets. All are whole numbers, in units that the summand knows ([`SumsUnits`]), and without
/// rounding: the same in every order of the rows, and those of shards add up to the last bit.
///
/// Obligation: these are exact sums, as private as the rows; a release adds noise to A and B
/// (`SumsNoise::release_whole`).
/// `rows`, `squares` and `clipped` are private too and are for the holder of the data alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "SumsRecord", into = "SumsRecord")]
pub struct Sums {
    /// `A`, m numbers.
    pub a: Vec<i128>,
    /// The lower triangle of `B` (m x m), column by column.
    pub b: Vec<i128>,
    /// The rows.
    pub rows: u64,
    /// `sum_i y_i^2`.
    pub squares: i128,
    /// Rows whose target was clipped.
    pub clipped: u64,
}

impl Sums {
    /// Of no rows, for m inducing inputs.
    pub fn zero(m: usize) -> Self {
        Self { a: vec![0; m], b: vec![0; m * (m + 1) / 2], rows: 0, squares: 0, clipped: 0 }
    }

    /// As the model takes them; without noise.
    pub fn statistics(&self, units: SumsUnits) -> Statistics {
        self.whole(units).statistics(usize::try_from(self.rows).unwrap_or(usize::MAX))
    }

    /// A and B, in these units.
    pub fn whole(&self, units: SumsUnits) -> WholeSums<'_> {
        WholeSums { a: &self.a, b: &self.b, units }
    }
}

impl Sum for Sums {
    fn add(&mut self, other: &Self) {
        self.a.iter_mut().zip(&other.a).for_each(|(sum, more)| *sum += more);
        self.b.iter_mut().zip(&other.b).for_each(|(sum, more)| *sum += more);
        self.rows += other.rows;
        self.squares += other.squares;
        self.clipped += other.clipped;
    }

    fn fits(&self, other: &Self) -> bool {
        self.a.len() == other.a.len() && self.squares >= 0 && are_possible(self.clipped, self.rows)
    }
}

/// The numbers of some sums. Wide ones are written in decimal, as text: no reader of JSON keeps all their digits otherwise.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SumsRecord {
    /// Rows that pass the filters.
    rows: u64,
    /// Those whose target was clipped.
    clipped: u64,
    /// The sum of the squared targets.
    squares: String,
    /// `A`.
    a: Vec<String>,
    /// The lower triangle of `B`, column by column.
    b: Vec<String>,
}

impl From<Sums> for SumsRecord {
    fn from(Sums { a, b, rows, squares, clipped }: Sums) -> Self {
        Self { rows, clipped, squares: squares.to_string(), a: texts(&a), b: texts(&b) }
    }
}

impl TryFrom<SumsRecord> for Sums {
    type Error = &'static str;

    fn try_from(record: SumsRecord) -> Result<Self, Self::Error> {
        let SumsRecord { rows, clipped, squares, a, b } = record;
        let m = a.len();
        if b.len() != m * (m + 1) / 2 {
            return Err("the two sums are of different numbers of inducing inputs");
        }
        Ok(Self { a: wide(&a)?, b: wide(&b)?, rows, squares: number(&squares)?, clipped })
    }
}

fn texts(numbers: &[i128]) -> Vec<String> {
    numbers.iter().map(i128::to_string).collect()
}

fn wide(texts: &[String]) -> Result<Vec<i128>, &'static str> {
    texts.iter().map(|text| number(text)).collect()
}

/// A number that leaves room for as many others: sums of sums must not overflow.
fn number(text: &str) -> Result<i128, &'static str> {
    let number = text.parse::<i128>().map_err(|_| "a sum is no whole number of 128 bits")?;
    if number.unsigned_abs() < 1 << 120 { Ok(number) } else { Err("a sum is larger than any rows make it") }
}
