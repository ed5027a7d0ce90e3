//! Sums over rows that do not fit in memory: one pass, constant memory, all cores. They are those of a variational model
//! ([`Summand`]), the same for each class ([`ClassSummand`]), or a histogram ([`CountSummand`]).
//!
//! Rows are cut into blocks of [`BLOCK`] rows by their number, whatever the number of threads or machines. Each block
//! is summed in order by one thread ([`SumRows`]), and blocks are added pairwise in a binary tree over their numbers
//! ([`Forest`]): the result is the same to the last bit however the work was shared out.

mod class_sums;
mod collect;
mod counts;
mod error;
mod filters;
mod forest;
mod kernel;
mod record;
mod sum;
mod summand;
mod sums;
mod sums_record;
mod targets;

pub use class_sums::{ClassSummand, ClassSums, class_of};
pub use collect::{BLOCK, collect, collect_here};
pub use counts::{CountSummand, Counts};
pub use error::StreamError;
pub use forest::{Forest, Node};
pub use kernel::{PackedKernel, Scratch};
pub use record::{FileRecord, NodeRecord, Record};
pub use sum::{Misfit, Sum, SumRows};
pub use summand::Summand;
pub use sums::Sums;
pub use targets::{Targets, WholeTargets};
