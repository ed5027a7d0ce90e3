//! Sums over some of the rows.

use serde::{Deserialize, Serialize};

use super::Sum;
use super::sum::are_possible;
use super::sums_record::SumsRecord;
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
