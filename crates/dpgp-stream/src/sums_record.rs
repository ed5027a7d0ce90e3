//! The sums of a regression on disk.

use serde::{Deserialize, Serialize};

use super::Sums;

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
