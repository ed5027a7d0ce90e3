//! Running experiments: what is stored is looked up, the rest is computed in parallel and stored, rows come out in order.
//!
//! [`Study::run`] is the one way to run an experiment of a [`Project`], on the threads of a [`Pool`]; what comes out is a
//! [`StudyReport`].

mod audited;
mod clipped;
mod commit;
mod data_caveats;
mod digests;
mod error;
mod explain;
mod load;
mod load_dataset;
mod memory;
mod options;
mod own_tables;
mod owner;
mod person_rows;
mod plan;
mod pool;
mod program;
mod progress;
mod project;
mod provenance;
mod results;
mod shard;
mod state;
pub mod store;
mod streams;
mod study;
mod witnessed;

pub use audited::{AuditOptions, AuditedCell, audit};
use clipped::clipped_in_own_files;
pub use clipped::{Clipped, clipped_targets};
pub use commit::commit;
pub use data_caveats::data_caveats;
pub use digests::{DataDigests, PublicDigest};
pub use error::{CellFailure, RunError};
pub use explain::{Reason, Stale};
pub use load::{load_points, load_sample};
pub use memory::ensure_memory;
pub use options::RunOptions;
pub use own_tables::tell_own_files;
pub use plan::{Plan, Unit};
pub use pool::Pool;
pub use program::{PROGRAM, VERSION};
pub use progress::{Watcher, watcher};
pub use project::{DataPlaces, Project};
pub use provenance::Provenance;
pub use results::{FailedCell, Results};
pub use shard::Shard;
pub use state::{StateError, StateFolder, passing_key};
pub use streams::streams;
pub use study::{Study, StudyReport};
pub use witnessed::{WitnessedSample, load_compared, load_witnessed};
