//! The random streams of a cell.

use dpgp_task::{Cell, Streams};

/// The streams of one replicate of the block that a cell belongs to.
pub fn streams(cell: &Cell, seed: u32, replicate: u32) -> Streams {
    Streams { seed, data: cell.data_id().to_string(), block: cell.block_id().to_string(), replicate }
}
