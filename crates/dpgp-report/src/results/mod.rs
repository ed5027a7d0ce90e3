//! Result folders: their contents and their freshness.

mod checks;
pub(super) mod committed;
mod counts;
pub(super) mod covered;
mod folder;
mod tidy;
mod told;
pub(super) mod unreproduced;

pub use checks::{CHECKS, PublishError, checks_markdown};
pub use committed::{CommittedResults, DeltaCheckCounts, ResultsSource};
pub use counts::{ClaimOutcomeCounts, PaperNumberCounts, ReproductionVerdict, VerdictCounts, agreement_summary};
pub use folder::{ensure_no_links, list_result_differences, publish};
pub use tidy::tidy_runs_csv;
pub use told::FindingRow;
pub use unreproduced::{PaperFindings, REPRODUCTION, collect_findings, reproduction_markdown};
