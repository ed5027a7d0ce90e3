//! Running experiments: what is stored is looked up, the rest is computed in parallel and stored, rows come out
//! in order.

mod digests;
mod error;
mod execute;
mod explain;
mod load;
mod plan;
mod progress;
mod shard;
pub mod store;

pub use digests::{DataDigests, FileDigest};
pub use error::{CellFailure, RunError};
pub use execute::{Options, Results, execute, results};
pub use explain::{Reason, Stale, explain};
pub use load::load;
pub use plan::{Plan, Unit};
pub use progress::{Bars, Lines, Quiet, Watcher};
pub use shard::Shard;

use store::key::key;
