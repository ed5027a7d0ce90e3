//! How attacks sample.

use rand_pcg::Pcg64;

use dpgp_task::{Known, Streams};

/// How attacks sample: from streams of their own, so that an audit draws nothing that a run has drawn.
#[derive(Debug, Clone)]
pub struct Attacks<'a> {
    /// Their random streams.
    pub streams: Streams,
    /// What has been computed already.
    pub known: &'a Known,
    /// The confidence of their bounds.
    pub confidence: f64,
}

impl Attacks<'_> {
    /// A stream of the block's own, apart from those of the task.
    pub(super) fn stream(&self, purpose: &str) -> Pcg64 {
        self.streams.of_block(&format!("audit {purpose}"))
    }
}
