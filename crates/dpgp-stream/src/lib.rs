//! Sums over rows that do not fit in memory: one pass, constant memory, all cores. A summand makes the sums
//! of a variational model ([`KernelSummand`]), the same for each class ([`ClassSummand`]), a histogram
//! ([`CountSummand`]), or the rows and targets in the cells of a box ([`LatticeSummand`]).
//!
//! Rows are numbered and cut into blocks of [`BLOCK`] rows, for any number of threads or machines. Each
//! thread adds blocks to its sums ([`RowSummand`]), which are whole numbers. So the total is the same to the
//! last bit however the work was divided, and the sums of neighbouring parts add up ([`PartialSums`]).

mod class_sums;
mod kernel;
mod lattice_sums;
mod summand;
mod sums;
mod targets;

pub use class_sums::{BinCounts, ClassSummand, ClassSums, CountSummand, RecordsPerRow, class_of};
pub use kernel::{CORRELATION_BITS, QuantizedKernel, SumScratch};
pub use lattice_sums::{LatticeSummand, LatticeSums};
pub use summand::{BLOCK, KernelSummand, MergeableSum, PartialSums, RowSummand, sum_blocks, sum_rows_serially};
pub use sums::{KernelSums, RowFileSummary, StoredPartialSums};
pub use targets::{IntegerTargets, TargetQuantizer};
