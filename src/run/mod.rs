//! Running experiments: what is stored is looked up, the rest is computed in parallel and stored, rows come out
//! in order.

mod clipped;
mod digests;
mod error;
mod execute;
mod explain;
pub mod ledger;
mod load;
mod plan;
mod progress;
mod shard;
pub mod store;

pub use clipped::{Clipped, clipped_in_own_files, clipped_targets};
pub use digests::{DataDigests, FileDigest};
pub use error::{CellFailure, RunError};
pub use execute::{Options, Results, execute, results};
pub use explain::{Reason, Stale, explain};
pub use load::{load, load_points, load_sample};
pub use plan::{Plan, Unit};
pub use progress::{Bars, Lines, Quiet, Watcher};
pub use shard::Shard;

use store::key::key;
