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
pub use committed::{CommittedResults, GuaranteeCounts};
pub use counts::FindingVerdict;
pub use counts::PaperVerdictCounts;
pub use counts::agreement_summary;
pub use counts::{ClaimOutcomeCounts, VerdictCounts};
pub use folder::{ensure_no_links, publish};
pub use freshness::find_stale_results;
pub use told::FindingRow;
pub use unreproduced::{PaperFindings, REPRODUCTION, collect_findings, reproduction_markdown};
