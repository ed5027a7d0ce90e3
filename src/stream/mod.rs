//! The sums of a variational model over rows that do not fit in memory: one pass, constant memory, all cores.
//!
//! Rows are cut into blocks of [`BLOCK`] rows by their number, whatever the number of threads or machines. Each block
//! is summed in order by one thread ([`Kernel`]), and blocks are added pairwise in a binary tree over their numbers
//! ([`Forest`]): the result is the same to the last bit however the work was shared out.

mod collect;
mod forest;
mod kernel;
mod record;
mod sums;
mod targets;

pub use collect::{BLOCK, Summand, collect, collect_here};
pub use forest::{Forest, Node};
pub use kernel::{Kernel, Scratch};
pub use record::{FileRecord, NodeRecord, Record};
pub use sums::Sums;
pub use targets::Targets;
