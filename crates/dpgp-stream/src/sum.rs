//! Summands and their sums.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Sums over some of the rows.
pub trait Sum: Clone + PartialEq + Send + Serialize + DeserializeOwned {
    /// Adds those of other rows, in whole numbers.
    fn add(&mut self, other: &Self);

    /// Whether it can be added to another: it is of as many numbers, and there are rows that make it.
    fn fits(&self, other: &Self) -> bool;
}

/// Something that is summed over rows of numbers.
///
/// Obligation: every row of numbers has its place in the sums, or none, by a public rule. A row that was refused would tell what stands
/// in it.
pub trait SumRows: Sync {
    /// The sums of some rows.
    type Sum: Sum;
    /// Memory that one thread works in.
    type Scratch: Default;

    /// How many columns of the rows it needs: the inputs, the target, then one for each filter.
    fn columns(&self) -> usize;

    /// The sums of no rows.
    fn zero(&self) -> Self::Sum;

    /// Adds a block of rows to sums: one list for each column, in the order of the rows. The columns may be changed.
    fn add(&self, columns: &mut [Vec<f64>], sums: &mut Self::Sum, scratch: &mut Self::Scratch);
}

/// More rows than any files hold: so many numbers of 64 bits that count rows never overflow.
const MOST_ROWS: u64 = 1 << 48;

/// Whether some rows can be of so many.
pub(super) fn are_possible(rows: u64, all: u64) -> bool {
    rows <= all && all <= MOST_ROWS
}
