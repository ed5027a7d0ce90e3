//! Where results come from.

use std::path::PathBuf;

use super::{Clipped, PublicDigest};

/// What a run knows of its results that the experiment does not.
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
    pub clipped: Vec<Clipped>,
}
