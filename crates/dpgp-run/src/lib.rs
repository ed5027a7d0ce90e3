//! Runs experiments: reads stored results, computes and stores the rest in parallel, and returns rows in
//! order. [`ExperimentRunner::run`] runs an experiment of a [`Project`] on the threads of a [`WorkerPool`], and returns a
//! [`ExperimentRunReport`].

mod audited;
mod commit;
mod digests;
mod error;
mod load;
mod memory;
mod own_tables;
mod plan;
mod program;
mod project;
mod results;
mod state;
pub mod store;
mod study;

pub use audited::{
    AuditOptions, AuditedCell, FingerprintedSample, audit, load_fingerprinted_sample, load_sample_from_text,
};
pub use commit::find_commit;
pub use digests::{DataDigests, PublicFileRecord, target_guarantee_caveats};
pub use error::{CellError, CellFailure, RunError};
pub use load::{load_prediction_points, load_sample};
pub use memory::{WorkerPool, ensure_memory, random_streams};
pub use own_tables::{
    ClippedCounts, clip_inside_bounds_warning, count_clipped_targets, is_own_file, report_outside_files, target_bounds,
};
pub use plan::{BlockReplicate, RecomputeReason, RunPlan, Shard, StaleResults};
pub use program::ProgramError;
pub use project::{DataLocations, Project};
pub use results::{FailedCell, PROGRAM, Provenance, RunOptions, RunResults, RunWatcher, VERSION, create_watcher};
pub use state::{StateError, StateFolder, generate_unsaved_key};
pub use study::{ExperimentRunReport, ExperimentRunner};
