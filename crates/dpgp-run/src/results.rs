//! What the store says of a whole experiment.

use super::plan::Plan;
use super::store::Store;
use super::{CellFailure, RunError};
use dpgp_task::{Frame, Row, summarise};

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
    /// The cells that could not be computed, and so have no row.
    pub failed: Vec<FailedCell>,
}

/// A cell that could not be computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedCell {
    /// Its place in the experiment.
    pub cell: usize,
    /// Why: the failure of its first replicate that has one.
    pub reason: String,
}

/// Cells whose records are in memory together.
const CELLS_AT_ONCE: usize = 1024;

/// Reads the results of a plan from the store, summarised over replicates, in grid order; none if some are missing.
///
/// # Errors
/// [`RunError::Store`].
pub(super) fn results(plan: &Plan<'_>, store: &Store) -> Result<Option<Results>, RunError> {
    let cells = plan.whole_cells();
    if cells.len() < plan.experiment.cells.len() {
        return Ok(None);
    }
    of_cells(plan, store, &cells).map(Some)
}

/// Reads the results of the cells that did not fail; none if all did.
///
/// # Errors
/// [`RunError::Store`].
pub(super) fn results_beside(
    plan: &Plan<'_>,
    store: &Store,
    failures: &[CellFailure],
) -> Result<Option<Results>, RunError> {
    let cells = plan.whole_cells();
    if cells.is_empty() {
        return Ok(None);
    }
    let results = of_cells(plan, store, &cells)?;
    let failed = (0..plan.experiment.cells.len()).filter(|cell| cells.binary_search(cell).is_err());
    let failed = failed.filter_map(|cell| FailedCell::among(failures, cell)).collect();
    Ok(Some(Results { failed, ..results }))
}

impl FailedCell {
    fn among(failures: &[CellFailure], cell: usize) -> Option<Self> {
        let failure = failures.iter().find(|failure| failure.cells.contains(&cell))?;
        Some(Self { cell, reason: failure.cause.to_string() })
    }
}

fn of_cells(plan: &Plan<'_>, store: &Store, cells: &[usize]) -> Result<Results, RunError> {
    let replicates = plan.experiment.meta.replicates as usize;
    let mut results =
        Results { rows: Vec::new(), frames: Vec::new(), seconds: 0.0, finished: 0, failed: Vec::new() };
    for part in cells.chunks(CELLS_AT_ONCE) {
        let mut stored = store.results(&plan.keys_of(part))?;
        for (&cell, records) in part.iter().zip(stored.chunks_mut(replicates)) {
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
    Ok(results)
}
