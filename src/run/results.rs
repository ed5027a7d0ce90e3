//! What the store says of a whole experiment.

use super::RunError;
use super::plan::Plan;
use super::store::Store;
use crate::task::{Frame, Row, summarise};

/// The results of a whole experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    /// The rows, in grid order.
    pub rows: Vec<Row>,
    /// What the figure shows beyond them: the index of a cell, and a frame of it.
    pub frames: Vec<(usize, Frame)>,
    /// Seconds that the computation took, over all threads.
    pub seconds: f64,
    /// When the last result was finished, in seconds since 1970.
    pub finished: u64,
}

/// Cells whose records are in memory together.
const CELLS_AT_ONCE: usize = 1024;

/// Reads the results of a plan from the store, summarised over replicates, in grid order; none if some are missing.
///
/// # Errors
/// [`RunError::Store`].
pub(super) fn results(plan: &Plan<'_>, store: &Store) -> Result<Option<Results>, RunError> {
    let Some(keys) = plan.complete() else { return Ok(None) };
    let replicates = plan.experiment.meta.replicates as usize;
    let mut results = Results { rows: Vec::new(), frames: Vec::new(), seconds: 0.0, finished: 0 };
    for (part, keys) in keys.chunks(replicates * CELLS_AT_ONCE).enumerate() {
        for (cell, records) in store.results(keys)?.chunks_mut(replicates).enumerate() {
            let cell = part * CELLS_AT_ONCE + cell;
            let mut measured = Vec::with_capacity(replicates);
            for record in records {
                results.seconds += record.about.seconds;
                results.finished = results.finished.max(record.about.finished);
                let frames = std::mem::take(&mut record.frames);
                results.frames.extend(frames.into_iter().map(|frame| (cell, frame)));
                measured.push(std::mem::take(&mut record.measured));
            }
            results.rows.extend(summarise(cell, &measured));
        }
    }
    Ok(Some(results))
}
