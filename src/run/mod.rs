//! Running experiments: data are loaded, blocks and replicates are computed in parallel, rows come out in order.

mod error;
mod execute;
mod journal;
mod load;
mod progress;

pub use error::RunError;
pub use execute::{Options, execute};
pub use journal::Journal;
pub use load::load;
pub use progress::{Bar, Quiet, Watcher};
