//! How a study is run.

use std::sync::atomic::AtomicBool;

use super::{Pool, Shard, Watcher};
use dpgp_data::Silent;

/// How the missing part of an experiment is computed. None of it changes a number but the seed.
#[derive(Clone, Copy)]
pub struct RunOptions<'a> {
    /// The threads.
    pub pool: &'a Pool,
    /// Who is told how it goes.
    pub watcher: &'a dyn Watcher,
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
        Self { pool, watcher: &Silent, stop: &NEVER, seed: None, shard: Shard::WHOLE, fail_fast: false }
    }
}
