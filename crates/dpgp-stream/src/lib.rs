//! Sums over rows that do not fit in memory: one pass, constant memory, all cores. A summand makes the sums
//! of a variational model ([`Summand`]), the same for each class ([`ClassSummand`]), a histogram
//! ([`CountSummand`]), or the rows and targets in the cells of a box ([`LatticeSummand`]).
//!
//! Rows are numbered and cut into blocks of [`BLOCK`] rows, for any number of threads or machines. Each
//! thread adds blocks to its sums ([`SumRows`]), which are whole numbers. So the total is the same to the
//! last bit however the work was divided, and the sums of neighbouring parts add up ([`PartSums`]).

mod class_sums;
mod collect;
mod kernel;
mod lattice_sums;
mod summand;
mod sums;
mod targets;

pub use class_sums::{ClassSummand, ClassSums, class_of};
pub use class_sums::{CountSummand, Counts, RecordsOfRow};
pub use collect::{BLOCK, collect, collect_here};
pub use kernel::{PackedKernel, Scratch};
pub use lattice_sums::LatticeSummand;
pub use lattice_sums::LatticeSums;
pub use summand::PartSums;
pub use summand::Summand;
pub use summand::{Sum, SumRows};
pub use sums::Sums;
pub use sums::{FileRecord, Record};
pub use targets::{Targets, WholeTargets};
