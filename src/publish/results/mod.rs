//! Folders of results: what is written there, and whether it is fresh.

pub(super) mod committed;
pub(super) mod error;
mod folder;
mod freshness;
mod manifest;
mod reproduction;

pub use committed::{Committed, Guarantees, VerdictCounts};
pub use error::PublishError;
pub use folder::publish;
pub use freshness::stale;
pub use manifest::commit;
pub use reproduction::{REPRODUCTION, reproduction_markdown};
