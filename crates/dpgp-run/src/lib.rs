//! Runs experiments: reads stored results, computes and stores the rest in parallel, and returns rows in
//! order. [`Study::run`] runs an experiment of a [`Project`] on the threads of a [`Pool`], and returns a
//! [`StudyReport`].

mod audited;
mod clipped;
mod commit;
mod digests;
mod error;
mod explain;
mod load;
mod memory;
mod options;
mod own_tables;
mod plan;
mod program;
mod project;
mod results;
mod state;
pub mod store;
mod study;

pub use audited::{AuditOptions, AuditedCell, audit};
pub use audited::{FingerprintedSample, load_fingerprinted_sample, load_sample_from_text};
use clipped::clipped_in_own_files;
pub use clipped::{ClippedCounts, clipped_targets};
pub use commit::find_commit;
pub use digests::data_caveats;
pub use digests::{DataDigests, PublicDigest};
pub use error::{CellError, CellFailure, RunError};
pub use explain::{RecomputeReason, StaleResults};
pub use load::{load_points, load_sample};
pub use memory::Pool;
pub use memory::ensure_memory;
pub use memory::random_streams;
pub use options::Provenance;
pub use options::RunOptions;
pub use options::{PROGRAM, VERSION};
pub use own_tables::note_outside_files;
pub use plan::Shard;
pub use plan::{Plan, WorkUnit};
pub use program::ProgramError;
pub use project::{DataLocations, Project};
pub use results::{FailedCell, RunResults};
pub use results::{RunWatcher, create_watcher};
pub use state::{StateError, StateFolder, temporary_key};
pub use study::{Study, StudyReport};
