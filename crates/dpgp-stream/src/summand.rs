//! Sums over all rows, on all threads: what is summed ([`RowSummand`]), the sums of a part, and the filter of rows.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{KernelSums, QuantizedKernel, SumScratch, TargetQuantizer};
use dpgp_data::rows::RowStream;
use dpgp_data::{Comparison, DataError};
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
        self.kernel.units(self.targets.unit_value())
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

    fn add_rows(&self, columns: &mut [Vec<f64>], sums: &mut KernelSums, scratch: &mut SumScratch) {
        // Filters come before the clip: rows that do not pass are neither summed nor counted as clipped.
        retain_passing_rows(&self.filters, columns, self.inputs + 1);
        let targets = self.targets.quantize_targets(&columns[self.inputs]);
        sums.clipped += targets.clipped;
        let inputs: Vec<&[f64]> = columns[..self.inputs].iter().map(Vec::as_slice).collect();
        self.kernel.add_rows_to_sums(&inputs, &targets.numbers, sums, scratch);
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
    fn add_rows(&self, columns: &mut [Vec<f64>], sums: &mut Self::Sum, scratch: &mut Self::Scratch);
}

/// More rows than any files hold: so many numbers of 64 bits that count rows never overflow.
const MOST_ROWS: u64 = 1 << 48;

/// Whether `rows` can be a part of `all` rows: false for a damaged file.
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

/// Rows of a block: parts of the rows are distinguished by the numbers of their blocks.
pub const BLOCK: usize = 16_384;

/// The sums of some blocks, by their numbers; the rows begin with the first of them. Ends early where the rows do.
///
/// Threads take blocks from the rows in turn, so that reading and summing overlap, and each adds to sums of its own. No array
/// grows with the rows.
///
/// Obligation: a row enters one block, a block the sums of one thread, and those the total once; so every row counts once. Sums
/// are of whole numbers, which are the same in every order.
///
/// # Errors
/// The [`DataError`] of rows that cannot be read.
pub fn sum_blocks<T: RowSummand>(
    rows: &mut dyn RowStream,
    blocks: Range<u64>,
    summand: &T,
    threads: &rayon::ThreadPool,
) -> Result<PartialSums<T::Sum>, DataError> {
    let shared = SharedSumState::new(rows, blocks, summand);
    threads.broadcast(|_| shared.sum_remaining_blocks());
    shared.into_partial_sums()
}

/// The sums of all rows on this thread; the same to the last bit.
///
/// ```
/// use dpgp_data::rows::InMemoryRows;
/// use dpgp_stream::{QuantizedKernel, KernelSummand, TargetQuantizer, sum_rows_serially};
/// use nalgebra::DMatrix;
/// // One inducing input at 0, rows at 0 and 1 with targets 2 and 3: A = 2 + 3 e^(-1/2), B = 1 + e^-1.
/// let kernel = QuantizedKernel::new(1.0, &[1.0], &DMatrix::zeros(1, 1), 1.0);
/// let targets = TargetQuantizer { low: 0.0, high: 9.0, centre: 0.0, scale: 1.0, bound: 9.0 };
/// let summand = KernelSummand { kernel, targets, filters: Vec::new(), inputs: 1 };
/// let mut rows = InMemoryRows::new(vec![&[0.0, 1.0], &[2.0, 3.0]]);
/// let sums = sum_rows_serially(&mut rows, &summand)?.sums.statistics(summand.units());
/// // A correlation is rounded to 2^-22.
/// assert!((sums.a[0] - (2.0 + 3.0 * (-0.5f64).exp())).abs() < 1e-6);
/// assert!((sums.b[(0, 0)] - (1.0 + (-1f64).exp())).abs() < 1e-6);
/// # Ok::<(), dpgp_data::DataError>(())
/// ```
///
/// # Errors
/// The [`DataError`] of rows that cannot be read.
pub fn sum_rows_serially<T: RowSummand>(
    rows: &mut dyn RowStream,
    summand: &T,
) -> Result<PartialSums<T::Sum>, DataError> {
    let shared = SharedSumState::new(rows, 0..u64::MAX, summand);
    shared.sum_remaining_blocks();
    shared.into_partial_sums()
}

/// The rows and sums that the threads share.
struct SharedSumState<'a, T: RowSummand> {
    summand: &'a T,
    first: u64,
    source: Mutex<BlockSource<'a>>,
    total: Mutex<T::Sum>,
}

impl<'a, T: RowSummand> SharedSumState<'a, T> {
    fn new(rows: &'a mut dyn RowStream, blocks: Range<u64>, summand: &'a T) -> Self {
        let (first, total) = (blocks.start, Mutex::new(summand.zero()));
        let source = Mutex::new(BlockSource { rows, end: first, blocks, failed: None });
        Self { summand, first, source, total }
    }

    /// Takes block after block until none is left.
    fn sum_remaining_blocks(&self) {
        let mut columns = vec![Vec::new(); self.summand.columns()];
        let (mut sums, mut scratch) = (self.summand.zero(), T::Scratch::default());
        loop {
            // One thread reads while the others sum: the lock is held for a block of rows at a time.
            if !lock(&self.source).read_next_block(&mut columns) {
                break;
            }
            self.summand.add_rows(&mut columns, &mut sums, &mut scratch);
        }
        lock(&self.total).add(&sums);
    }

    fn into_partial_sums(self) -> Result<PartialSums<T::Sum>, DataError> {
        let source = self.source.into_inner().unwrap_or_else(PoisonError::into_inner);
        let sums = self.total.into_inner().unwrap_or_else(PoisonError::into_inner);
        source.failed.map_or(Ok(PartialSums { blocks: self.first..source.end, sums }), Err)
    }
}

/// A thread that panicked ends the whole program, so what it left behind is never used.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The rows that are left.
struct BlockSource<'a> {
    rows: &'a mut dyn RowStream,
    /// The numbers of those to come.
    blocks: Range<u64>,
    /// The number after the last that was read.
    end: u64,
    failed: Option<DataError>,
}

impl BlockSource<'_> {
    /// Reads the next block into the columns; whether there was one, which there is not at the end or after an error.
    fn read_next_block(&mut self, columns: &mut [Vec<f64>]) -> bool {
        let Some(number) = self.blocks.next() else { return false };
        columns.iter_mut().for_each(Vec::clear);
        let read = self.rows.read(columns, BLOCK);
        // A block that is not full is the last one: to read on would cut the rows elsewhere.
        if !matches!(read, Ok(BLOCK)) {
            self.blocks = 0..0;
        }
        match read {
            Ok(0) => false,
            Ok(_) => {
                self.end = number + 1;
                true
            }
            Err(error) => {
                self.failed = Some(error);
                false
            }
        }
    }
}
