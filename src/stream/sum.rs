//! Summands and their sums.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::data::CellProblem;

/// Sums over some of the rows.
pub trait Sum: Clone + PartialEq + Send + Serialize + DeserializeOwned {
    /// Of these rows and others, in whole numbers.
    #[must_use]
    fn plus(self, other: &Self) -> Self;

    /// Whether it can be added to another: it is of as many numbers.
    fn fits(&self, other: &Self) -> bool;
}

/// Something that is summed over rows of numbers.
pub trait SumRows: Sync {
    /// The sums of some rows.
    type Sum: Sum;
    /// Memory that one thread works in.
    type Scratch: Default;

    /// How many columns of the rows it needs: the inputs, the target, then one for each filter.
    fn columns(&self) -> usize;

    /// The sums of no rows.
    fn zero(&self) -> Self::Sum;

    /// The sums of a block of rows, one list for each column, in the order of the rows. The columns may be changed.
    ///
    /// # Errors
    /// The first row that cannot be summed.
    fn sum(&self, columns: &mut [Vec<f64>], scratch: &mut Self::Scratch) -> Result<Self::Sum, Misfit>;
}

/// A row whose target has no place in the sums.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// The row, counted from 0.
    pub row: u64,
    /// The problem with its target.
    pub problem: CellProblem,
}
