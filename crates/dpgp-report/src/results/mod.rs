//! Result folders: their contents and their freshness.

mod artefacts;
mod checks;
pub(super) mod committed;
mod counts;
pub(super) mod covered;
mod folder;
mod freshness;
mod told;
pub(super) mod unreproduced;

pub use checks::PublishError;
pub use checks::{CHECKS, checks_markdown};
pub use committed::ResultsSource;
pub use committed::{Committed, Guarantees};
pub use counts::PlaceVerdict;
pub use counts::Tally;
pub use counts::closing_sentence;
pub use counts::{OutcomeCounts, VerdictCounts};
pub use folder::{ensure_no_links, publish};
pub use freshness::stale;
pub use told::ToldRow;
pub use unreproduced::{REPRODUCTION, ToldPaper, reproduction_markdown, told_papers};
