//! Folders of results: what is written there, and whether it is fresh.

mod checks;
mod closing;
pub(super) mod committed;
mod counts;
pub(super) mod covered;
pub(super) mod error;
pub(super) mod examined;
mod folder;
mod freshness;
mod manifest;
mod reason;
mod reproduction;
mod shelf;
mod tally;
mod told;
pub(super) mod unreproduced;

pub use checks::{CHECKS, checks_markdown};
pub use closing::closing_sentence;
pub use committed::{Committed, Guarantees};
pub use counts::{OutcomeCounts, VerdictCounts};
pub use error::PublishError;
pub use folder::{ensure_no_links, publish};
pub use freshness::stale;
pub use reason::PlaceVerdict;
pub use reproduction::{REPRODUCTION, ToldPaper, reproduction_markdown, told_papers};
pub use shelf::Shelf;
pub use tally::Tally;
pub use told::ToldRow;
