//! Options of a study, the name of this program, and the origin of results.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use super::{ClippedCounts, Pool, PublicDigest, RunWatcher, Shard};
use dpgp_data::SilentProgress;

/// How the missing part of an experiment is computed. None of it changes a number but the seed.
#[derive(Clone, Copy)]
pub struct RunOptions<'a> {
    /// The threads.
    pub pool: &'a Pool,
    /// Receiver of progress.
    pub watcher: &'a dyn RunWatcher,
    /// Set from outside to finish what is in flight and stop.
    pub stop: &'a AtomicBool,
    /// The seed; that of the spec where none is named.
    pub seed: Option<u32>,
    /// Which part of the work.
    pub shard: Shard,
    /// Whether to start nothing more after the first failure.
    pub fail_fast: bool,
}

/// The flag of a run that nobody stops.
static NEVER: AtomicBool = AtomicBool::new(false);

impl<'a> RunOptions<'a> {
    /// All of the work with the seed of the spec, in silence.
    pub fn new(pool: &'a Pool) -> Self {
        Self { pool, watcher: &SilentProgress, stop: &NEVER, seed: None, shard: Shard::WHOLE, fail_fast: false }
    }
}

/// The version, and the commit that a release build was made from. A build for development says that it is one: it may be of any
/// state of the files. A build without git or from a package has the version alone.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), env!("DPGP_BUILD"));

/// The program and its version, as certificates name it.
pub const PROGRAM: &str = concat!("dpgp ", env!("CARGO_PKG_VERSION"), env!("DPGP_BUILD"));

/// Facts of a run about its results that the experiment does not hold.
#[derive(Debug, Clone)]
pub struct Provenance {
    /// Each data file, with a digest if anybody can have it.
    pub data: Vec<PublicDigest>,
    /// Whether the rows are the user's own: exact numbers computed from them are not private.
    pub own_rows: bool,
    /// Whether they stand in the spec, so that a digest of the spec would let anyone check a guess of them.
    pub rows_in_spec: bool,
    /// The project's folder, whose commit is recorded.
    pub project: PathBuf,
    /// The seed used.
    pub seed: u32,
    /// The version of the numerics.
    pub numerics: u32,
    /// Seconds that the computation took, over all threads.
    pub seconds: f64,
    /// When the last result was finished, in seconds since 1970.
    pub finished: u64,
    /// Targets of the user's own files outside public bounds; not private.
    pub clipped: Vec<ClippedCounts>,
}
