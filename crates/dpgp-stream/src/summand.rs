//! Summands and the sums they make, the sums of a regression, and the filter of rows.

use std::ops::Range;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{KernelSums, QuantizedKernel, SumScratch, TargetQuantizer};
use dpgp_data::Comparison;
use dpgp_gp::variational::IntegerSumUnits;

/// The summand: the first columns that are read are inputs, then comes the target, then one for each filter.
#[derive(Debug, Clone)]
pub struct KernelSummand {
    /// The kernel and its inducing inputs.
    pub kernel: QuantizedKernel,
    /// The units of the targets.
    pub targets: TargetQuantizer,
    /// Only rows that pass all of these count; they keep their numbers.
    pub filters: Vec<(Comparison, f64)>,
    /// The number of inputs.
    pub inputs: usize,
}

impl KernelSummand {
    /// Value of one unit in its sums.
    pub fn units(&self) -> IntegerSumUnits {
        self.kernel.units(self.targets.unit())
    }
}

impl RowSummand for KernelSummand {
    type Sum = KernelSums;
    type Scratch = SumScratch;

    fn columns(&self) -> usize {
        self.inputs + 1 + self.filters.len()
    }

    fn zero(&self) -> KernelSums {
        KernelSums::zero(self.kernel.inducing_count())
    }

    fn add(&self, columns: &mut [Vec<f64>], sums: &mut KernelSums, scratch: &mut SumScratch) {
        // Filters come before the clip: rows that do not pass are neither summed nor counted as clipped.
        retain_passing_rows(&self.filters, columns, self.inputs + 1);
        let targets = self.targets.quantize_targets(&columns[self.inputs]);
        sums.clipped += targets.clipped;
        let inputs: Vec<&[f64]> = columns[..self.inputs].iter().map(Vec::as_slice).collect();
        self.kernel.add(&inputs, &targets.numbers, sums, scratch);
    }
}

/// The sums of a run of blocks.
///
/// ```
/// use dpgp_stream::{PartialSums, KernelSums};
/// let mut part = PartialSums { blocks: 0..3, sums: KernelSums::zero(1) };
/// assert!(!part.append_if_adjacent(&PartialSums { blocks: 4..5, sums: KernelSums::zero(1) }), "block 3 is missing");
/// assert!(part.append_if_adjacent(&PartialSums { blocks: 3..5, sums: KernelSums::zero(1) }));
/// assert_eq!(part.blocks, 0..5);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartialSums<S> {
    /// The numbers of the blocks.
    pub blocks: Range<u64>,
    /// Over all their rows.
    pub sums: S,
}

impl<S: MergeableSum> PartialSums<S> {
    /// Adds the part that begins where this one ends; does nothing and says so if another does.
    #[must_use]
    pub fn append_if_adjacent(&mut self, next: &Self) -> bool {
        let follows = self.blocks.end == next.blocks.start;
        if follows {
            self.blocks.end = next.blocks.end;
            self.sums.add(&next.sums);
        }
        follows
    }
}

/// Sums over some of the rows.
pub trait MergeableSum: Clone + PartialEq + Send + Serialize + DeserializeOwned {
    /// Adds those of other rows, in whole numbers.
    fn add(&mut self, other: &Self);

    /// Whether it can be added to another: it has as many numbers, and some rows can produce it.
    fn is_compatible_with(&self, other: &Self) -> bool;
}

/// Something that is summed over rows of numbers.
///
/// Obligation: every row of numbers has its place in the sums, or none, by a public rule. Refusing a row would reveal its contents.
pub trait RowSummand: Sync {
    /// The sums of some rows.
    type Sum: MergeableSum;
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
pub(super) fn is_possible_row_count(rows: u64, all: u64) -> bool {
    rows <= all && all <= MOST_ROWS
}

/// Whether a row passes all filters; each has its own column.
pub(super) fn passes_filters(filters: &[(Comparison, f64)], tested: &[Vec<f64>], row: usize) -> bool {
    // No comparison with NaN holds.
    filters.iter().zip(tested).all(|((is, value), column)| is.holds(column[row].partial_cmp(value)))
}

/// Removes rows that do not pass from the first `kept` columns. The columns of the filters follow them.
pub(super) fn retain_passing_rows(filters: &[(Comparison, f64)], columns: &mut [Vec<f64>], kept: usize) {
    if filters.is_empty() {
        return;
    }
    let (kept, tested) = columns.split_at_mut(kept);
    let keep: Vec<bool> = (0..tested[0].len()).map(|row| passes_filters(filters, tested, row)).collect();
    for column in kept {
        let mut row = 0..;
        column.retain(|_| row.next().is_some_and(|row: usize| keep[row]));
    }
}
