//! Sums over rows that do not fit in memory: one pass, constant memory, all cores. They are those of a variational model
//! ([`Summand`]), the same for each class ([`ClassSummand`]), a histogram ([`CountSummand`]), or rows and targets in the cells of a
//! box ([`LatticeSummand`]).
//!
//! Rows are cut into blocks of [`BLOCK`] rows by their number, whatever the number of threads or machines. A thread adds one
//! block after the other to its sums ([`SumRows`]), which are whole numbers: the total is the same to the last bit however the
//! work was shared out, and those of neighbouring parts add up ([`PartSums`]).

mod class_sums;
mod collect;
mod counts;
mod filters;
mod kernel;
mod lattice_summand;
mod lattice_sums;
mod part;
mod record;
mod sum;
mod summand;
mod sums;
mod targets;

pub use class_sums::{ClassSummand, ClassSums, class_of};
pub use collect::{BLOCK, collect, collect_here};
pub use counts::{CountSummand, Counts};
pub use kernel::{PackedKernel, Scratch};
pub use lattice_summand::LatticeSummand;
pub use lattice_sums::LatticeSums;
pub use part::PartSums;
pub use record::{FileRecord, Record};
pub use sum::{Sum, SumRows};
pub use summand::Summand;
pub use sums::Sums;
pub use targets::{Targets, WholeTargets};
