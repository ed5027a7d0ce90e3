//! Folders of results: what is written there, and whether it is fresh.

mod closing;
pub(super) mod committed;
mod confused;
mod counts;
pub(super) mod covered;
pub(super) mod error;
pub(super) mod examined;
mod folder;
mod freshness;
mod manifest;
mod reproduction;
mod shelf;
mod uniformity;
pub(super) mod unreproduced;

pub use closing::closing_sentence;
pub use committed::{Committed, Guarantees};
pub use counts::{OutcomeCounts, VerdictCounts};
pub use error::PublishError;
pub use folder::{ensure_no_links, publish};
pub use freshness::stale;
pub use reproduction::{REPRODUCTION, reproduction_markdown};
pub use shelf::Shelf;
