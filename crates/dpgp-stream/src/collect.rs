//! Sums all rows on all threads.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::{MergeableSum, PartialSums, RowSummand};
use dpgp_data::DataError;
use dpgp_data::rows::RowStream;

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
/// assert!((sums.a[0] - (2.0 + 3.0 * (-0.5f64).exp())).abs() < 1e-9);
/// assert!((sums.b[(0, 0)] - (1.0 + (-1f64).exp())).abs() < 1e-9);
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
            self.summand.add(&mut columns, &mut sums, &mut scratch);
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
