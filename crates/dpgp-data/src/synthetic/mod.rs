//! Data that are generated, one file a kind.

mod moons;
mod sinc;
mod spirals;
mod stripes;
mod trips;

pub use moons::moons;
pub use sinc::sinc;
pub use spirals::spirals;
pub use stripes::stripes;
pub use trips::{TRIP_BATCH, TRIP_COLUMNS, trips};

/// Generated rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// One list of numbers per input.
    pub inputs: Vec<Vec<f64>>,
    /// One target per row.
    pub targets: Vec<f64>,
}
